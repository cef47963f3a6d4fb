// The home page: figures of today and of this month, what needs attention, and trends. It polls while it is visible and shows the
// time of its data.
import { Alert, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useEndpoint } from '../../api/hooks.ts'
import { Time } from '../../format/time.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { Attention } from './attention.tsx'
import { Figures } from './figures.tsx'

/** Loaded separately: the charts are the largest part of the console, and the figures do not wait for them. */
const Charts = lazy(async () => ({ default: (await import('./charts.tsx')).Charts }))

const refreshMs = 30_000
const spans = ['7', '30', '90', '365'] as const

export function HomePage() {
  const { home } = useWords()
  const [days, setDays] = useQueryState('days', spans, '30')
  const { data, error, refetch } = useEndpoint('home', { query: { days } }, { refetchMs: refreshMs, keepLast: true })
  return (
    <>
      <PageHeader
        title={home.title}
        detail={
          <Text size="xs" c="dimmed" component="div" mih="2.8em">
            {data && (
              <>
                {home.asOf} <Time at={data.asOf} />
                <br />
                {home.refreshes}
              </>
            )}
          </Text>
        }
      />
      <Stack gap="lg">
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {data?.figuresUpTo && (
          <Alert variant="light" color="yellow" role="status">
            {home.incomplete} <Time at={data.figuresUpTo} />
          </Alert>
        )}
        {data?.expiredUpTo && !data.figuresUpTo && (
          <Alert variant="light" color="yellow" role="status">
            {home.expiredIncomplete} <Time at={data.expiredUpTo} />
          </Alert>
        )}
        {data ? <Figures data={data} /> : !error && <Skeleton height={220} />}
        {data && <Attention data={data} />}
        <section aria-labelledby="over-time">
          <Group justify="space-between" mb="sm">
            <Title order={2} size="h4" id="over-time">
              {home.overTime}
            </Title>
            <SegmentedControl
              size="xs"
              aria-label={home.span}
              value={days}
              onChange={(value) => setDays(value as typeof days)}
              data={spans.map((value) => ({ value, label: home.spans[value] }))}
            />
          </Group>
          {data && (
            <Suspense fallback={<Waiting />}>
              <Charts data={data} />
            </Suspense>
          )}
        </section>
      </Stack>
    </>
  )
}
