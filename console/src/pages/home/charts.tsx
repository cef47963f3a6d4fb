// Charts per day, and the orders by status, each a link to its orders. Each chart can be shown as a table, for screen readers and
// exact numbers.
import { BarChart, CompositeChart, LineChart } from '@mantine/charts'
import { Anchor, Paper, Progress, Table, Text, Title } from '@mantine/core'
import { useId } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { drawnColorOf, StatusBadge, toneOf } from '../../format/status-badge.tsx'
import { Chart, drawnColors as colors, useDrawn } from '../../parts/charts/chart.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './home.module.css'

type Home = Data<'home'>

/** Lines also differ in their dashes. What badges show has their colours. */
export function Charts({ data: { days, orders, ordersExpired } }: { data: Home }) {
  const { home } = useWords()
  const { won, number } = useFormats()
  const rows = days.map((each) => ({ ...each, ordersDeclined: each.ordersFailed - each.ordersExpired }))
  const drawn = useDrawn(rows)
  const isEmpty = Object.values(orders).every((count) => count === 0)
  if (isEmpty) {
    return (
      <Paper withBorder p="xl">
        <Text ta="center" c="dimmed">
          {home.noOrders}
        </Text>
      </Paper>
    )
  }
  const { common } = drawn
  type Drawn = Exclude<keyof (typeof rows)[number], 'day' | 'conversion'>
  const axisOf = (...names: Drawn[]) => drawn.axisOf((row) => names.map((name) => row[name]))
  return (
    <div className={classes.charts}>
      <Chart
        title={home.netPaidChart}
        days={days}
        columns={[
          [home.paid, ({ captured }) => won(captured)],
          [home.returned, ({ returned }) => won(returned)],
          [home.netPaid, ({ netPaid }) => won(netPaid)],
        ]}
      >
        <BarChart
          {...common}
          valueFormatter={won}
          yAxisProps={axisOf('netPaid')}
          yAxisLabel={home.wonAxis}
          maxBarWidth={32}
          series={[{ name: 'netPaid', label: home.netPaid, color: colors.first }]}
        />
      </Chart>
      <Chart
        title={home.ordersChart}
        days={days}
        columns={[
          [home.created, ({ ordersMade }) => number(ordersMade)],
          [home.confirmed, ({ ordersConfirmed }) => number(ordersConfirmed)],
          [home.declined, ({ ordersFailed, ordersExpired: expired }) => number(ordersFailed - expired)],
          [home.expired, ({ ordersExpired: expired }) => number(expired)],
          [home.cancelled, ({ ordersCancelled }) => number(ordersCancelled)],
          [home.refunded, ({ ordersRefunded }) => number(ordersRefunded)],
        ]}
      >
        <LineChart
          {...common}
          withDots={days.length <= 31}
          curveType="linear"
          yAxisProps={axisOf('ordersMade', 'ordersConfirmed', 'ordersDeclined', 'ordersExpired')}
          yAxisLabel={home.ordersAxis}
          series={[
            { name: 'ordersMade', label: home.created, color: colors.first },
            { name: 'ordersConfirmed', label: home.confirmed, color: drawnColorOf.good, strokeDasharray: '6 3' },
            { name: 'ordersDeclined', label: home.declined, color: drawnColorOf.bad, strokeDasharray: '2 3' },
            { name: 'ordersExpired', label: home.expired, color: drawnColorOf.over, strokeDasharray: '1 4' },
          ]}
        />
      </Chart>
      <Chart
        title={home.creditsChart}
        days={days}
        columns={[
          [home.sold, ({ creditsSold }) => number(creditsSold)],
          [home.spent, ({ creditsSpent }) => number(creditsSpent)],
          [home.takenBack, ({ creditsTakenBack }) => number(creditsTakenBack)],
          [home.outstanding, ({ creditsOutstanding }) => number(creditsOutstanding)],
        ]}
      >
        <CompositeChart
          {...common}
          withDots={false}
          curveType="linear"
          yAxisProps={axisOf('creditsSold', 'creditsSpent')}
          yAxisLabel={home.perDayAxis}
          withRightYAxis
          rightYAxisProps={axisOf('creditsOutstanding')}
          rightYAxisLabel={home.outstanding}
          maxBarWidth={20}
          series={[
            { type: 'bar', name: 'creditsSold', label: home.sold, color: colors.first },
            { type: 'bar', name: 'creditsSpent', label: home.spent, color: colors.second },
            {
              type: 'line',
              name: 'creditsOutstanding',
              label: home.outstanding,
              color: colors.third,
              yAxisId: 'right',
            },
          ]}
        />
      </Chart>
      <States orders={orders} expired={ordersExpired} />
    </div>
  )
}

/** In the list of orders both are FAILED. */
const filterOf: Record<string, string> = {
  DECLINED: 'status=FAILED&failure=declined',
  EXPIRED: 'status=FAILED&failure=expired',
}

/** A table with bars: the small counts matter, and a pie chart would hide them. */
function States({ orders, expired }: { orders: Home['orders']; expired: number }) {
  const { home } = useWords()
  const { number, percent } = useFormats()
  const titleId = useId()
  const { FAILED: failed, PENDING, CONFIRMED, ...others } = orders
  const counts = { PENDING, CONFIRMED, DECLINED: failed - expired, EXPIRED: expired, ...others }
  const states = Object.entries(counts)
  const all = states.reduce((sum, [, count]) => sum + count, 0)
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={titleId}>
      <Title order={3} size="h5" mb="xs" id={titleId}>
        {home.statesChart}
      </Title>
      <Table verticalSpacing={8} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{home.state}</Table.Th>
            <Table.Th scope="col" ta="right">
              {home.count}
            </Table.Th>
            <Table.Th scope="col" ta="right">
              {home.share}
            </Table.Th>
            <Table.Td w="40%" visibleFrom="xs" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {states.map(([state, count]) => (
            <Table.Tr key={state}>
              <Table.Th scope="row" fw={400}>
                <Anchor component={Link} href={`/orders?${filterOf[state] ?? `status=${state}`}`}>
                  <StatusBadge status={state} />
                </Anchor>
              </Table.Th>
              <Table.Td ta="right">{number(count)}</Table.Td>
              <Table.Td ta="right">{percent(count / all)}</Table.Td>
              <Table.Td visibleFrom="xs" aria-hidden="true">
                <Progress value={(count / all) * 100} color={drawnColorOf[toneOf[state] ?? 'calm']} size="sm" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
