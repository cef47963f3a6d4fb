// One webhook endpoint: what waits, fails and is dead, each attempt with its answer, and the actions on it. The tab is in the URL.
import { Anchor, SimpleGrid, Stack, Tabs, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { AgeSince } from '../../format/time.tsx'
import { Figure } from '../../parts/figure.tsx'
import { LabelledTime } from '../../parts/labelled-time.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { ActionsTable } from '../action-log/actions-table.tsx'
import { Attempts } from './attempts.tsx'
import { DeadEvents } from './dead-events.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointStatus, Types } from './events.tsx'
import { WaitingEvents } from './waiting-events.tsx'

type Endpoint = Data<'eventEndpoint'>

const panels = {
  attempts: ({ endpointId }: Endpoint) => <Attempts endpointId={endpointId} />,
  waiting: (endpoint: Endpoint) => <WaitingEvents endpoint={endpoint} />,
  dead: (endpoint: Endpoint) => <DeadEvents endpoint={endpoint} />,
  trail: ({ endpointId }: Endpoint) => <ActionsTable subject={endpointId} isOnItsPage />,
} satisfies Record<string, (endpoint: Endpoint) => ReactNode>

type Tab = keyof typeof panels
const tabs = Object.keys(panels) as Tab[]
const refetchMs = 5_000

export function EndpointPage({ params: { endpointId = '' } }: { params: { endpointId?: string } }) {
  const { endpoint: words } = useWords().events
  const [tab] = useQueryState<Tab>('tab', tabs, 'attempts')
  const { data, error, refetch } = useEndpoint('eventEndpoint', { params: { endpointId } }, { refetchMs })
  return (
    <>
      <PageHeader
        title={data?.host ?? words.title}
        tab={words.tab(words.tabs[tab], data?.host ?? words.title)}
        detail={<Id value={endpointId} />}
        actions={
          <Anchor component={Link} href="/events" size="sm">
            {words.back}
          </Anchor>
        }
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <Details endpoint={data} /> : !error && <Waiting />}
    </>
  )
}

function Details({ endpoint }: { endpoint: Endpoint }) {
  const { endpoint: words } = useWords().events
  const { number } = useFormats()
  const [tab, setTab] = useQueryState<Tab>('tab', tabs, 'attempts')
  const { endpointId, status, types, createdAt, waitingEvents, waitingCustomers, failingSince, deadEvents } = endpoint
  const place = `/events/${endpointId}`
  return (
    <Stack gap="md">
      <div>
        <EndpointStatus endpoint={endpoint} />
        {status === 'DISABLED' && (
          <Text size="sm" mt={4}>
            {words.disabled}
          </Text>
        )}
      </div>
      <SimpleGrid cols={3} spacing={{ base: 'xs', sm: 'sm' }}>
        <Figure
          label={words.waiting}
          value={number(waitingEvents)}
          hint={waitingEvents > 0 && words.ofCustomers(number(waitingCustomers))}
          href={`${place}?tab=waiting`}
        />
        <Figure
          label={words.failing}
          value={failingSince ? <AgeSince at={failingSince} /> : words.notFailing}
          href={place}
        />
        <Figure label={words.dead} value={number(deadEvents)} href={`${place}?tab=dead`} />
      </SimpleGrid>
      <div>
        <Text size="sm">
          <Text span inherit c="dimmed">{`${words.types} `}</Text>
          <Types types={types} />
        </Text>
        <LabelledTime label={words.added} at={createdAt} />
      </div>
      <EndpointActions endpoint={endpoint} />
      <Tabs value={tab} onChange={(next) => setTab((next ?? 'attempts') as Tab)} keepMounted={false}>
        <Tabs.List mb="md">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => (
          <Tabs.Panel key={name} value={name}>
            {panels[name](endpoint)}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}
