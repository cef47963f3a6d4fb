// A horizontal bar chart as SVG, with a group of bars for each measurement. Readable on light and dark backgrounds. The
// title of a bar has its value, spread and mark.
import { type Colour, escaped, page } from './svg.ts'

export type Bar = {
  /** Which of the series it belongs to. */
  series: string
  value: number
  least: number
  most: number
  /** The target: a line across the bar. */
  mark?: number | undefined
}

export type Plot = {
  title: string
  /** Under the title: conditions and unit. */
  subtitle: string
  /** Of the axis. */
  unit: string
  scale: 'linear' | 'logarithmic'
  /** The name of the mark in the legend, where there is one. */
  markName?: string
  series: { name: string; colour: Colour }[]
  groups: { label: string; bars: Bar[] }[]
  format(value: number): string
}

const width = 900
const top = 96
const bottom = 52
const right = 76
const barHeight = 13
const barGap = 3
const groupGap = 14
/** Width of a character of the labels, rather too wide. */
const letterWidth = 7.2

export function draw(plot: Plot): string {
  const left = 24 + letterWidth * Math.max(...plot.groups.map(({ label }) => label.length))
  const axis = axisOf(plot)
  const x = (value: number) => left + axis.share(value) * (width - left - right)
  let y = top
  const groups = plot.groups.map((group) => {
    const drawn = drawGroup(plot, group, { x, y, left })
    y += heightOf(group) + groupGap
    return drawn
  })
  const foot = y
  const grid = axis.ticks.map((tick) => {
    const at = x(tick).toFixed(1)
    const line = `<line class="grid" x1="${at}" x2="${at}" y1="${top - 8}" y2="${foot}"/>`
    return `${line}<text class="quiet" x="${at}" y="${foot + 16}" text-anchor="middle">${plot.format(tick)}</text>`
  })
  const middle = ((left + width - right) / 2).toFixed(1)
  return page(plot, { width, height: foot + bottom }, [
    ...drawLegend(plot),
    ...grid,
    ...groups.flat(),
    `<text class="quiet" x="${middle}" y="${foot + 38}" text-anchor="middle">${escaped(plot.unit)}</text>`,
  ])
}

type Group = Plot['groups'][number]

function heightOf({ bars }: Group): number {
  return bars.length * (barHeight + barGap)
}

function drawGroup(plot: Plot, group: Group, place: { x(value: number): number; y: number; left: number }): string[] {
  const { x, y, left } = place
  const middle = y + (heightOf(group) - barGap) / 2 + 4
  const label = `<text x="${(left - 12).toFixed(1)}" y="${middle}" text-anchor="end">${escaped(group.label)}</text>`
  const bars = group.bars.map((bar, index) => drawBar(plot, bar, { x, left, y: y + index * (barHeight + barGap) }))
  return [label, ...bars]
}

function drawBar(plot: Plot, bar: Bar, place: { x(value: number): number; y: number; left: number }): string {
  const { x, y, left } = place
  const { value, least, most, mark } = bar
  const [centre, end] = [y + barHeight / 2, y + barHeight]
  const at = (number: number) => x(number).toFixed(1)
  // Right of everything drawn, so that nothing crosses the figure.
  const textAt = (Math.max(x(most), mark === undefined ? 0 : x(mark)) + 6).toFixed(1)
  const spread = `${plot.format(value)} (${plot.format(least)} to ${plot.format(most)})`
  const wanted = mark === undefined ? '' : `, ${plot.markName} ${plot.format(mark)}`
  return [
    `<g><title>${escaped(`${bar.series}: ${spread}${wanted}`)}</title>`,
    `<rect class="${plot.series.find(({ name }) => name === bar.series)?.colour}" x="${left.toFixed(1)}" y="${y}" ` +
      `width="${(x(value) - left).toFixed(1)}" height="${barHeight}"/>`,
    `<path class="spread" fill="none" d="M${at(least)} ${centre}H${at(most)}M${at(least)} ${y + 3}V${end - 3}` +
      `M${at(most)} ${y + 3}V${end - 3}"/>`,
    mark === undefined ? '' : `<path class="mark" d="M${at(mark)} ${y - 2}V${end + 2}"/>`,
    `<text x="${textAt}" y="${end - 2}">${plot.format(value)}</text></g>`,
  ].join('')
}

function drawLegend({ series, markName }: Plot): string[] {
  let x = 20
  const entries = series.map(({ name, colour }) => {
    const entry =
      `<rect class="${colour}" x="${x}" y="64" width="12" height="12"/>` +
      `<text x="${x + 18}" y="74">${escaped(name)}</text>`
    x += 42 + name.length * letterWidth
    return entry
  })
  if (!markName) return entries
  const mark = `<path class="mark" d="M${x + 6} 62V78"/><text x="${x + 18}" y="74">${escaped(markName)}</text>`
  return [...entries, mark]
}

export type Axis = { ticks: number[]; share(value: number): number }

function axisOf({ groups, scale }: Plot): Axis {
  const values = groups.flatMap(({ bars }) =>
    bars.flatMap(({ value, least, most, mark = most }) => [value, least, most, mark]),
  )
  return scale === 'linear' ? linearAxis(values) : logarithmicAxis(values)
}

export function linearAxis(values: number[]): Axis {
  const most = Math.max(...values, Number.MIN_VALUE)
  // About five steps of a round length.
  const power = 10 ** Math.floor(Math.log10(most / 5))
  const step = power * ([1, 2, 5].find((each) => most / (each * power) <= 6) ?? 10)
  const steps = Math.ceil(most / step)
  return {
    ticks: Array.from({ length: steps + 1 }, (_, index) => index * step),
    share: (value) => value / (steps * step),
  }
}

/** From a power of ten to a power of ten, with 2 and 5 between them marked as well. */
function logarithmicAxis(values: number[]): Axis {
  const positive = values.filter((value) => value > 0)
  const from = Math.floor(Math.log10(Math.min(...positive)))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...positive))))
  const powers = Array.from({ length: to - from }, (_, index) => 10 ** (from + index))
  const ticks = [...powers.flatMap((power) => [power, 2 * power, 5 * power]), 10 ** to]
  return { ticks, share: (value) => Math.max(0, (Math.log10(value) - from) / (to - from)) }
}
