// A flame graph as SVG: the root at the bottom, its callees above it, each as wide as its share of the time. Readable
// on light and dark backgrounds; the full text of a box is in its title.
import { colours, escaped, page } from '../report/svg.ts'
import type { Frame } from './cpu-profile.ts'
import { ownerColours } from './owners.ts'

const [width, margin, top, bottom] = [1_200, 20, 96, 20]
const rowHeight = 18
/** Of the whole; narrower boxes cannot be pointed at. */
const leastShare = 0.003
const letterWidth = 6.2
const fewestLetters = 3

type Box = { frame: Frame; depth: number; from: number; share: number }

export function boxesOf(root: Frame): Box[] {
  function place(frame: Frame, depth: number, from: number): Box[] {
    const share = frame.micros / root.micros
    if (share < leastShare) return []
    let at = from
    const above = frame.children.flatMap((child) => {
      const placed = place(child, depth + 1, at)
      at += child.micros / root.micros
      return placed
    })
    return [{ frame, depth, from, share }, ...above]
  }
  return root.micros > 0 ? place(root, 0, 0) : []
}

export function drawFlame(texts: { title: string; subtitle: string }, root: Frame): string {
  const boxes = boxesOf(root)
  const rows = Math.max(0, ...boxes.map(({ depth }) => depth)) + 1
  const foot = top + rows * rowHeight
  const drawn = boxes.map((box) => drawBox(box, foot - (box.depth + 1) * rowHeight))
  return page(texts, { width, height: foot + bottom }, [boxStyle(), ...drawLegend(), ...drawn])
}

/** Text on a box contrasts with its colour, not with the background. */
function boxStyle(): string {
  const text = (theme: 'light' | 'dark') =>
    Object.entries(colours).map(([name, colour]) => `.on-${name} { fill: ${inkOn(colour[theme])}; font-size: 11px }`)
  return `<style>\n${text('light').join('\n')}\n@media (prefers-color-scheme: dark) {\n${text('dark').join('\n')}\n}\n</style>`
}

function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
  return 0.299 * red + 0.587 * green + 0.114 * blue > 125 ? '#14171b' : '#ffffff'
}

function drawBox({ frame, from, share }: Box, y: number): string {
  const x = margin + from * (width - 2 * margin)
  // A thin gap between boxes.
  const boxWidth = Math.max(0.5, share * (width - 2 * margin) - 0.6)
  const { name, place, owner } = frame
  const colour = ownerColours[owner]
  const title = `${name}${place && ` (${place})`}, ${owner}: ${(share * 100).toFixed(1)} %`
  const letters = Math.floor((boxWidth - 6) / letterWidth)
  const shown = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`
  return [
    `<g><title>${escaped(title)}</title>`,
    `<rect class="${colour}" x="${x.toFixed(1)}" y="${y}" width="${boxWidth.toFixed(1)}" height="${rowHeight - 1}"/>`,
    letters < fewestLetters
      ? ''
      : `<text class="on-${colour}" x="${(x + 3).toFixed(1)}" y="${y + 13}">${escaped(shown)}</text>`,
    '</g>',
  ].join('')
}

function drawLegend(): string[] {
  let x = margin
  return Object.entries(ownerColours).map(([owner, colour]) => {
    const entry =
      `<rect class="${colour}" x="${x}" y="64" width="12" height="12"/>` +
      `<text x="${x + 18}" y="74">${escaped(owner)}</text>`
    x += 48 + owner.length * letterWidth
    return entry
  })
}
