// One customer: balance, statement, use, orders, lots, adjustments, API keys, holds, budgets, limits and audit log. The tab is in
// the URL.
import { Anchor, SimpleGrid, Stack, Tabs, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { koreanDayOf } from '../../../../src/core/korean-days.ts'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { Figure } from '../../parts/figure.tsx'
import { LabelledTime } from '../../parts/labelled-time.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useTabInView } from '../../shell/tab-in-view.ts'
import { useWords } from '../../words/words.tsx'
import { ActionsTable } from '../action-log/actions-table.tsx'
import { FiguresUpTo } from '../customers/figures-up-to.tsx'
import { Adjustments } from './adjustments.tsx'
import { Budgets } from './budgets.tsx'
import { Holds } from './holds.tsx'
import { Keys } from './keys.tsx'
import { Limits } from './limits.tsx'
import { Lots } from './lots.tsx'
import { Notes } from './notes.tsx'
import { OrdersOfCustomer } from './orders-of-customer.tsx'
import { Statement } from './statement.tsx'
import { SuspensionButton, SuspensionNotice } from './suspension.tsx'
import { Use } from './use.tsx'

type Customer = Data<'customer'>

const panels = {
  statement: ({ customerId }: Customer) => <Statement customerId={customerId} />,
  use: ({ customerId }: Customer) => <Use customerId={customerId} />,
  orders: ({ customerId }: Customer) => <OrdersOfCustomer customerId={customerId} />,
  lots: ({ customerId }: Customer) => <Lots customerId={customerId} />,
  adjustments: ({ customerId }: Customer) => <Adjustments customerId={customerId} />,
  keys: (customer: Customer) => <Keys customer={customer} />,
  holds: ({ customerId }: Customer) => <Holds customerId={customerId} />,
  budgets: ({ customerId }: Customer) => <Budgets customerId={customerId} />,
  limits: (customer: Customer) => <Limits customer={customer} />,
  trail: ({ customerId }: Customer) => <ActionsTable subject={customerId} isOnItsPage />,
} satisfies Record<string, (customer: Customer) => ReactNode>

type Tab = keyof typeof panels
const tabs = Object.keys(panels) as Tab[]

export function CustomerPage({ params: { customerId = '' } }: { params: { customerId?: string } }) {
  const { customers } = useWords()
  const { data, error, refetch } = useEndpoint('customer', { params: { customerId } })
  const [tab] = useQueryState<Tab>('tab', tabs, 'statement')
  return (
    <>
      <PageHeader
        title={data ? (data.name ?? customers.nameless) : customers.customer.title}
        tab={data && `${data.name ?? customers.nameless} · ${customers.customer.tabs[tab]}`}
        detail={<Id value={customerId} />}
        actions={
          <Anchor component={Link} href="/customers" size="sm">
            {customers.customer.back}
          </Anchor>
        }
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <Details customer={data} /> : !error && <Waiting />}
    </>
  )
}

function Details({ customer }: { customer: Customer }) {
  const { customer: words } = useWords().customers
  const [tab, setTab] = useQueryState<Tab>('tab', tabs, 'statement')
  const { customerId, balance, held, available, netPaid, orders, lastPurchaseAt, createdAt, suspendedAt } = customer
  const tabList = useTabInView(tab)
  const { number, won, day } = useFormats()
  const hrefOf = (name: Tab) => `/customers/${customerId}?tab=${name}`
  return (
    <Stack gap="md">
      <SuspensionNotice suspendedAt={suspendedAt} />
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing={{ base: 'xs', sm: 'sm' }}>
        <Figure
          label={words.available}
          value={<Credits value={available} />}
          hint={<Hint text={suspendedAt ? words.unavailableHint : words.availableHint} />}
          href={hrefOf('statement')}
        />
        <Figure
          label={words.held}
          value={<Credits value={held} />}
          hint={<Hint text={words.heldHint} />}
          href={hrefOf('holds')}
        />
        <Figure label={words.balance} value={<Credits value={balance} />} href={hrefOf('statement')} />
        <Figure
          label={words.netPaid}
          value={won(netPaid)}
          hint={<Hint text={words.netPaidHint} />}
          href={hrefOf('orders')}
        />
        <Figure label={words.orders} value={number(orders)} href={hrefOf('orders')} />
        <Figure
          label={words.lastPurchase}
          value={lastPurchaseAt ? day(koreanDayOf(new Date(lastPurchaseAt))) : '–'}
          hint={lastPurchaseAt ? undefined : words.noPurchase}
          href={hrefOf('orders')}
        />
      </SimpleGrid>
      <FiguresUpTo at={customer.figuresUpTo} />
      <LabelledTime label={words.since} at={createdAt} />
      <SuspensionButton customer={customer} />
      <Notes customer={customer} />
      <Tabs value={tab} onChange={(next) => setTab((next ?? 'statement') as Tab)} keepMounted={false}>
        <Tabs.List mb="md" ref={tabList}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => (
          <Tabs.Panel key={name} value={name}>
            {panels[name](customer)}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

/** Hidden on narrow screens. */
function Hint({ text }: { text: string }) {
  return (
    <Text span inherit visibleFrom="sm">
      {text}
    </Text>
  )
}
