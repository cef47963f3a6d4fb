// Charts per day, and the orders by status. Each chart can be shown as a table, for screen readers and exact numbers.
import '@mantine/charts/styles.css'
import { BarChart, CompositeChart, LineChart } from '@mantine/charts'
import { Button, Group, Paper, Progress, Table, Text, Title } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './home.module.css'

type Home = Data<'home'>
type DayFigures = Home['days'][number]

const chartHeight = 240
/** A contrast of 3:1 in both colour schemes; lines also differ in their dashes. */
const colors = { first: 'ink.5', second: 'teal.7', third: 'orange.8' }

export function Charts({ data: { days, orders } }: { data: Home }) {
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
  const rows = days.map((each) => ({ ...each, label: shortDay(each.day) }))
  const common = {
    h: chartHeight,
    data: rows,
    dataKey: 'label',
    withLegend: true,
    tickLine: 'none' as const,
    valueFormatter: (value: number) => number(value),
    yAxisProps: { tickFormatter: compact, width: 52 },
    xAxisProps: { minTickGap: 24 },
    legendProps: { verticalAlign: 'bottom' as const },
  }
  return (
    <div className={classes.charts}>
      <Chart
        title={home.revenueChart}
        days={days}
        columns={[
          [home.paid, ({ captured }) => won(captured)],
          [home.returned, ({ returned }) => won(returned)],
          [home.revenue, ({ revenue }) => won(revenue)],
        ]}
      >
        <BarChart
          {...common}
          valueFormatter={won}
          maxBarWidth={32}
          series={[{ name: 'revenue', label: home.revenue, color: colors.first }]}
        />
      </Chart>
      <Chart
        title={home.ordersChart}
        days={days}
        columns={[
          [home.created, ({ ordersMade }) => number(ordersMade)],
          [home.confirmed, ({ ordersConfirmed }) => number(ordersConfirmed)],
          [home.failed, ({ ordersFailed }) => number(ordersFailed)],
          [home.cancelled, ({ ordersCancelled }) => number(ordersCancelled)],
          [home.refunded, ({ ordersRefunded }) => number(ordersRefunded)],
        ]}
      >
        <LineChart
          {...common}
          withDots={days.length <= 31}
          curveType="linear"
          series={[
            { name: 'ordersMade', label: home.created, color: colors.first },
            { name: 'ordersConfirmed', label: home.confirmed, color: colors.second, strokeDasharray: '6 3' },
            { name: 'ordersFailed', label: home.failed, color: colors.third, strokeDasharray: '2 3' },
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
          withRightYAxis
          rightYAxisProps={{ tickFormatter: compact, width: 52 }}
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
      <States orders={orders} />
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
        <Button size="compact-xs" variant="subtle" onClick={() => setIsTable(!isTable)} aria-describedby={titleId}>
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
    <section className={classes.chartTable} tabIndex={0} aria-label={title}>
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
    </section>
  )
}

const stateColors: Record<keyof Home['orders'], string> = {
  PENDING: 'yellow.8',
  CONFIRMED: 'teal.7',
  FAILED: 'red.6',
  CANCELLED: 'gray.6',
  REFUNDED: 'blue.6',
}

/** A table with bars: the small counts matter, and a pie chart would hide them. */
function States({ orders }: Pick<Home, 'orders'>) {
  const { home } = useWords()
  const { number, percent } = useFormats()
  const titleId = useId()
  const states = Object.entries(orders) as [keyof Home['orders'], number][]
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
                <StatusBadge status={state} />
              </Table.Th>
              <Table.Td ta="right">{number(count)}</Table.Td>
              <Table.Td ta="right">{percent(count / all)}</Table.Td>
              <Table.Td visibleFrom="xs" aria-hidden="true">
                <Progress value={(count / all) * 100} color={stateColors[state]} size="sm" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
