// Figures over time as SVG: one panel below the other, each with its own axis from zero, on one axis of minutes. The
// title of a point has its figure.
import { linearAxis } from './plot.ts'
import { type Colour, escaped, page } from './svg.ts'

export type Panel = {
  name: string
  colour: Colour
  points: { minute: number; value: number }[]
  format(value: number): string
}

const [width, left, right, top, bottom] = [900, 84, 30, 92, 44]
const panelHeight = 170
const panelGap = 44

export function drawLines(texts: { title: string; subtitle: string }, panels: Panel[]): string {
  const drawnPanels = panels.filter(({ points }) => points.length > 0)
  const minutes = linearAxis(drawnPanels.flatMap(({ points }) => points.map(({ minute }) => minute)))
  const x = (minute: number) => left + minutes.share(minute) * (width - left - right)
  const foot = top + drawnPanels.length * (panelHeight + panelGap) - panelGap
  const ticks = minutes.ticks.map((tick) => {
    const at = x(tick).toFixed(1)
    return `<text class="quiet" x="${at}" y="${foot + 16}" text-anchor="middle">${Number(tick.toFixed(2))}</text>`
  })
  const drawn = drawnPanels.flatMap((panel, index) => drawPanel(panel, top + index * (panelHeight + panelGap), x))
  const unit = `<text class="quiet" x="${(left + width - right) / 2}" y="${foot + 36}" text-anchor="middle">minutes</text>`
  return page(texts, { width, height: foot + bottom }, [...drawn, ...ticks, unit])
}

function drawPanel({ name, colour, points, format }: Panel, y: number, x: (minute: number) => number): string[] {
  const axis = linearAxis(points.map(({ value }) => value))
  const height = (value: number) => (y + panelHeight - axis.share(value) * panelHeight).toFixed(1)
  const grid = axis.ticks.map((tick) => {
    const at = height(tick)
    const line = `<line class="grid" x1="${left}" x2="${width - right}" y1="${at}" y2="${at}"/>`
    return `${line}<text class="quiet" x="${left - 8}" y="${Number(at) + 4}" text-anchor="end">${format(tick)}</text>`
  })
  const path = points.map(({ minute, value }) => `${x(minute).toFixed(1)} ${height(value)}`).join('L')
  const dots = points.map(
    ({ minute, value }) =>
      `<circle class="${colour}" cx="${x(minute).toFixed(1)}" cy="${height(value)}" r="3">` +
      `<title>${escaped(`${name}: ${format(value)}`)}</title></circle>`,
  )
  return [
    `<text x="${left}" y="${y - 10}">${escaped(name)}</text>`,
    ...grid,
    `<path class="spread" fill="none" d="M${path}"/>`,
    ...dots,
  ]
}
