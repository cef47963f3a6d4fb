// A chart per day in its frame. It can be shown as a table, for screen readers and exact numbers.
import '@mantine/charts/styles.css'
import { Box, Button, Group, Paper, Table, Title } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { useFormats } from '../../format/formats.ts'
import { useWords } from '../../words/words.tsx'
import classes from './chart.module.css'
import { niceTicks } from './ticks.ts'

const chartHeight = 240
/** A contrast of 3:1 in both colour schemes. */
export const drawnColors = { first: 'ink.5', second: 'teal.7', third: 'orange.8' }

/** What all charts of these rows have in common, and an axis for the values of some of them. */
export function useDrawn<Row extends { day: string }>(rows: Row[]) {
  const { number, compact, shortDay } = useFormats()
  return {
    common: {
      h: chartHeight,
      data: rows.map((row) => ({ ...row, label: shortDay(row.day) })),
      dataKey: 'label',
      withLegend: true,
      tickLine: 'none' as const,
      valueFormatter: (value: number) => number(value),
      xAxisProps: { minTickGap: 24 },
      // In the order of the series.
      legendProps: { verticalAlign: 'bottom' as const, itemSorter: null },
    },
    axisOf(values: (row: Row) => number[]) {
      const ticks = niceTicks(rows.flatMap(values))
      const domain: [number, number] = [ticks[0] as number, ticks.at(-1) as number]
      return { tickFormatter: compact, width: 64, ticks, domain, interval: 0 as const }
    },
  }
}

type Row = { day: string }
export type ChartColumn<Each extends Row> = [header: string, cell: (row: Each) => string]
type ChartProps<Each extends Row> = { title: string; days: Each[]; columns: ChartColumn<Each>[]; children: ReactNode }

export function Chart<Each extends Row>({ title, days, columns, children }: ChartProps<Each>) {
  const { common } = useWords()
  const [isTable, setIsTable] = useState(false)
  const titleId = useId()
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={titleId}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5" id={titleId}>
          {title}
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={() => setIsTable(!isTable)} aria-describedby={titleId}>
          {isTable ? common.showChart : common.showTable}
        </Button>
      </Group>
      {isTable ? <DaysTable title={title} days={days} columns={columns} /> : children}
    </Paper>
  )
}

/** Newest first. */
function DaysTable<Each extends Row>({ title, days, columns }: Omit<ChartProps<Each>, 'children'>) {
  const { common } = useWords()
  const { day: dayText } = useFormats()
  return (
    // A scrollable element must be reachable by keyboard.
    <Box className={classes.table} tabIndex={0} role="group" aria-label={title}>
      <Table fz="xs" verticalSpacing={4} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{common.day}</Table.Th>
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
