// The figures of today and of this month, compared with the period before. Each is a link to the list behind it.
import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { koreanDayOf } from '../../../../src/core/korean-days.ts'
import type { Data } from '../../api/client.ts'
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

/** The list of the orders of a period. */
function ordersOf({ from, to }: Period, status?: string): string {
  const [first, last] = [from, to].map((moment) => koreanDayOf(new Date(moment)))
  return `/orders?${status ? `status=${status}&` : ''}from=${first}&to=${last}`
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
          href={ordersOf(period, 'CONFIRMED')}
        />
        <Figure
          label={home.ordersCreated}
          value={number(period.ordersMade)}
          hint={
            <>
              {home.ordersHint(number(period.ordersConfirmed))}
              <Change period={period} of={(sums) => sums.ordersMade} format={number} />
            </>
          }
          href={ordersOf(period)}
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
          href={ordersOf(period, 'FAILED')}
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
          href={ordersOf(period, 'CONFIRMED')}
        />
        <Figure
          label={home.creditsSpent}
          value={number(period.creditsSpent)}
          hint={
            <>
              {period.creditsAdjusted !== 0 && home.adjustedHint(number(period.creditsAdjusted))}
              <Change period={period} of={(sums) => sums.creditsSpent} format={number} />
            </>
          }
          href="/customers?sort=balance"
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
      {home.change(hasChange ? change(now / before - 1) : null, format(before))}
    </Text>
  )
}
