// The use per day as a chart: the values that have used the most, one on the other, and the others together.
import { BarChart } from '@mantine/charts'
import { daysFromTo } from '../../../../src/core/korean-days.ts'
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { Chart, type ChartColumn, drawnColors, useDrawn } from '../../parts/charts/chart.tsx'
import { useWords } from '../../words/words.tsx'

type Used = Data<'use'>

const colors = Object.values(drawnColors)
const colorOfOthers = 'gray.6'

/** The credits of each series, by its place: the values with the highest sums, and last all others. */
type DayOfUse = { day: string; series: number[] }

function daysOf({ from, to, rows, sums }: Used): { names: (string | null)[]; days: DayOfUse[] } {
  const names = sums.slice(0, colors.length).map(({ value }) => value)
  const ofDay = Map.groupBy(rows, ({ day }) => day)
  const days = daysFromTo(from, to).map((day) => {
    const series = [...names, null].map(() => 0)
    for (const { value, credits } of ofDay.get(day) ?? []) {
      const found = names.indexOf(value)
      const place = found === -1 ? names.length : found
      series[place] = (series[place] ?? 0) + credits
    }
    return { day, series }
  })
  return { names, days }
}

export function UseChart({ data }: { data: Used }) {
  const { use: words } = useWords().customers
  const { number } = useFormats()
  const { names, days } = daysOf(data)
  const { common, axisOf } = useDrawn(days)
  const hasOthers = data.sums.length > names.length
  const series = [
    ...names.map((name, place) => ({ label: name ?? words.without, color: colors[place] ?? colorOfOthers })),
    ...(hasOthers ? [{ label: words.others, color: colorOfOthers }] : []),
  ].map((each, place) => ({ ...each, name: `series.${place}` }))
  const heights = (row: DayOfUse) => [
    row.series.filter((credits) => credits > 0).reduce((sum, credits) => sum + credits, 0),
    row.series.filter((credits) => credits < 0).reduce((sum, credits) => sum + credits, 0),
  ]
  return (
    <Chart
      title={words.chart}
      days={days}
      columns={series.map(
        ({ label }, place): ChartColumn<DayOfUse> => [label, (row) => number(row.series[place] ?? 0)],
      )}
    >
      <BarChart
        {...common}
        type="stacked"
        barChartProps={{ stackOffset: 'sign' }}
        yAxisProps={axisOf(heights)}
        yAxisLabel={words.columns.credits}
        maxBarWidth={32}
        series={series}
      />
    </Chart>
  )
}
