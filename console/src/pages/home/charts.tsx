// Charts per day, and the orders by status, each a link to its orders. Each chart can be shown as a table, for screen readers and
// exact numbers.
import '@mantine/charts/styles.css'
import { BarChart, CompositeChart, LineChart } from '@mantine/charts'
import { Anchor, Box, Button, Group, Paper, Progress, Table, Text, Title } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { drawnColorOf, StatusBadge, toneOf } from '../../format/status-badge.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './home.module.css'
import { niceTicks } from './ticks.ts'

type Home = Data<'home'>
type DayFigures = Home['days'][number]

const chartHeight = 240
/** A contrast of 3:1 in both colour schemes; lines also differ in their dashes. What badges show has their colours. */
const colors = { first: 'ink.5', second: 'teal.7', third: 'orange.8' }

export function Charts({ data: { days, orders, ordersExpired } }: { data: Home }) {
  const { home } = useWords()
  const { won, number, compact, shortDay } = useFormats()
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
  const rows = days.map((each) => ({
    ...each,
    ordersDeclined: each.ordersFailed - each.ordersExpired,
    label: shortDay(each.day),
  }))
  type Drawn = Exclude<keyof (typeof rows)[number], 'day' | 'label' | 'conversion'>
  const axisOf = (...names: Drawn[]) => {
    const ticks = niceTicks(rows.flatMap((row) => names.map((name) => row[name])))
    const domain: [number, number] = [ticks[0] as number, ticks.at(-1) as number]
    return { tickFormatter: compact, width: 64, ticks, domain, interval: 0 as const }
  }
  const common = {
    h: chartHeight,
    data: rows,
    dataKey: 'label',
    withLegend: true,
    tickLine: 'none' as const,
    valueFormatter: (value: number) => number(value),
    xAxisProps: { minTickGap: 24 },
    // In the order of the series.
    legendProps: { verticalAlign: 'bottom' as const, itemSorter: null },
  }
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

type ChartColumn = [header: string, cell: (day: DayFigures) => string]
type ChartProps = { title: string; days: DayFigures[]; columns: ChartColumn[]; children: ReactNode }

function Chart({ title, days, columns, children }: ChartProps) {
  const { home } = useWords()
  const [isTable, setIsTable] = useState(false)
  const titleId = useId()
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={titleId}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5" id={titleId}>
          {title}
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={() => setIsTable(!isTable)} aria-describedby={titleId}>
          {isTable ? home.showChart : home.showTable}
        </Button>
      </Group>
      {isTable ? <DaysTable title={title} days={days} columns={columns} /> : children}
    </Paper>
  )
}

/** Newest first. */
function DaysTable({ title, days, columns }: Omit<ChartProps, 'children'>) {
  const { home } = useWords()
  const { day: dayText } = useFormats()
  return (
    // A scrollable element must be reachable by keyboard.
    <Box className={classes.chartTable} tabIndex={0} role="group" aria-label={title}>
      <Table fz="xs" verticalSpacing={4} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{home.day}</Table.Th>
            {columns.map(([header]) => (
              <Table.Th key={header} scope="col" ta="right">
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map((day) => (
            <Table.Tr key={day.day}>
              <Table.Th scope="row" fw={400}>
                {dayText(day.day)}
              </Table.Th>
              {columns.map(([header, cell]) => (
                <Table.Td key={header} ta="right">
                  {cell(day)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
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
