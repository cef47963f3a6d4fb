// The figures of today and of this month, compared with the period before. Each that has a list behind it is a link to it.
import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { koreanDayOf } from '../../../../src/core/korean-days.ts'
import type { Data } from '../../api/client.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Figure } from '../../parts/figure.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './home.module.css'

type Home = Data<'home'>
type Period = Home['today']
type Sums = NonNullable<Period['comparison']>['now']

export function Figures({ data: { today, month, creditsOutstanding } }: { data: Home }) {
  const { home } = useWords()
  const { number, percent, hour } = useFormats()
  const { conversion } = month
  return (
    <Stack gap="md">
      <PeriodFigures
        title={home.today}
        hint={today.comparison ? home.todayCompared(hour(today.comparison.upTo)) : home.todayHint}
        period={today}
      >
        <Figure
          label={home.outstanding}
          value={number(creditsOutstanding)}
          hint={home.outstandingHint}
          href="/customers?sort=balance"
        />
      </PeriodFigures>
      <PeriodFigures
        title={home.month}
        hint={month.comparison ? home.monthCompared(hour(month.comparison.upTo)) : home.monthHint}
        period={month}
      >
        <Figure
          label={home.conversion}
          value={conversion === null ? '–' : percent(conversion)}
          hint={
            <>
              {conversion === null ? home.noConversion : home.conversionHint}
              <Change period={month} of={(sums) => sums.conversion} format={percent} isShare />
            </>
          }
          href={ordersOf(month)}
        />
      </PeriodFigures>
    </Stack>
  )
}

/** The days of a period, for the list behind a figure. */
function daysOf({ from, to }: Period): string {
  const [first, last] = [from, to].map((moment) => koreanDayOf(new Date(moment)))
  return `from=${first}&to=${last}`
}

const ordersOf = (period: Period) => `/orders?${daysOf(period)}`

function paymentsOf(period: Period, group?: 'paid' | 'failed'): string {
  return `/books?tab=payments${group ? `&group=${group}` : ''}&${daysOf(period)}`
}

type PeriodProps = { title: string; hint: string; period: Period; children: ReactNode }

function PeriodFigures({ title, hint, period, children }: PeriodProps) {
  const { home } = useWords()
  const { won, number } = useFormats()
  const expired = number(period.ordersExpired)
  const declined = number(period.ordersFailed - period.ordersExpired)
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
          label={home.netPaid}
          value={won(period.netPaid)}
          hint={
            <>
              {home.netPaidHint(won(period.captured), won(period.returned))}
              <Change period={period} of={(sums) => sums.netPaid} format={won} />
            </>
          }
          href={paymentsOf(period)}
        />
        <Figure
          label={home.ordersCreated}
          value={number(period.ordersMade)}
          hint={<Change period={period} of={(sums) => sums.ordersMade} format={number} />}
          href={ordersOf(period)}
        />
        <Figure
          label={home.ordersPaid}
          value={number(period.ordersConfirmed)}
          hint={
            <>
              {home.ordersPaidHint}
              <Change period={period} of={(sums) => sums.ordersConfirmed} format={number} />
            </>
          }
          href={paymentsOf(period, 'paid')}
        />
        <Figure
          label={home.ordersFailed}
          value={number(period.ordersFailed)}
          hint={
            <>
              {home.failedHint(declined, expired)}
              <Change period={period} of={(sums) => sums.ordersFailed} format={number} />
            </>
          }
          href={paymentsOf(period, 'failed')}
        />
        <Figure
          label={home.creditsSold}
          value={number(period.creditsSold)}
          hint={
            <>
              {home.takenBackHint(number(period.creditsTakenBack))}
              <Change period={period} of={(sums) => sums.creditsSold} format={number} />
            </>
          }
          href={paymentsOf(period, 'paid')}
        />
        <Figure
          label={home.creditsSpent}
          value={number(period.creditsSpent)}
          hint={<Change period={period} of={(sums) => sums.creditsSpent} format={number} />}
        />
        <Figure
          label={home.adjusted}
          value={<Credits value={period.creditsAdjusted} signed />}
          hint={home.adjustedHint}
        />
        {children}
      </div>
    </section>
  )
}

type ChangeProps = {
  period: Period
  of(sums: Sums): number | null
  format(value: number): string
  /** A share of something: without a change in percent. */
  isShare?: boolean
}

/** In percent of the period before, up to the same time. */
function Change({ period: { comparison }, of, format, isShare = false }: ChangeProps) {
  const { home } = useWords()
  const { change } = useFormats()
  const [now, before] = comparison ? [of(comparison.now), of(comparison.before)] : [null, null]
  if (now === null || before === null) return null
  const hasChange = !isShare && before > 0
  return (
    <Text span inherit display="block">
      {home.change(hasChange ? change(now / before - 1) : null, format(now), format(before))}
    </Text>
  )
}
