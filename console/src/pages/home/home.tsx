// The home page: figures of today and of this month, what needs attention, and trends. It polls while it is visible and shows the
// time of its data.
import { Alert, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { Figure } from '../../parts/figure.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { Attention } from './attention.tsx'
import classes from './home.module.css'

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
          <Text size="xs" c="dimmed" component="div" mih="1.4em">
            {data && (
              <Group gap={6}>
                {home.asOf} <Time at={data.asOf} /> {home.refreshes}
              </Group>
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

type Period = Data<'home'>['today']

function Figures({ data }: { data: Data<'home'> }) {
  const { home } = useWords()
  const { number } = useFormats()
  return (
    <Stack gap="md">
      <PeriodFigures title={home.today} hint={home.todayHint} period={data.today} />
      <PeriodFigures title={home.month} hint={home.monthHint} period={data.month}>
        <Figure label={home.outstanding} value={number(data.creditsOutstanding)} hint={home.outstandingHint} />
      </PeriodFigures>
    </Stack>
  )
}

function PeriodFigures(props: { title: string; hint: string; period: Period; children?: ReactNode }) {
  const { title, hint, period, children } = props
  const { home } = useWords()
  const { won, number, percent } = useFormats()
  const { conversion } = period
  return (
    <section aria-label={title}>
      <Group gap="xs" align="baseline" mb={6}>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      </Group>
      <div className={classes.figures}>
        <Figure
          label={home.revenue}
          value={won(period.revenue)}
          hint={home.revenueHint(won(period.captured), won(period.returned))}
        />
        <Figure
          label={home.ordersCreated}
          value={number(period.ordersMade)}
          hint={home.ordersHint(number(period.ordersConfirmed), number(period.ordersFailed))}
        />
        <Figure
          label={home.conversion}
          value={conversion === null ? '–' : percent(conversion)}
          hint={conversion === null ? home.noConversion : home.conversionHint}
        />
        <Figure
          label={home.creditsSold}
          value={number(period.creditsSold)}
          hint={home.takenBackHint(number(period.creditsTakenBack))}
        />
        <Figure
          label={home.creditsSpent}
          value={number(period.creditsSpent)}
          hint={period.creditsAdjusted === 0 ? undefined : home.adjustedHint(number(period.creditsAdjusted))}
        />
        {children}
      </div>
    </section>
  )
}
