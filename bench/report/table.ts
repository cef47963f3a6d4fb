// Markdown tables, and how figures are written in them.
import type { Spread } from './spread.ts'

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const nothing = '–'

export function table(head: string[], rows: string[][]): string {
  // The first column names the row; figures are aligned to the right.
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

export function whole(spread: Spread | null, unit = ''): string {
  return spread ? `${thousands.format(spread.median)}${unit}` : nothing
}

export function milliseconds(spread: Spread | null): string {
  return spread ? `${short(spread.median)} ms` : nothing
}

/** Median, least and most: a ratio without its spread proves nothing. */
export function ratio(spread: Spread | null): string {
  return spread ? `${fixed(spread.median)} (${fixed(spread.least)} to ${fixed(spread.most)})` : nothing
}

function fixed(value: number): string {
  return value.toFixed(2)
}

/** Three significant digits: 0.41, 7.03, 35.8, 174. */
export function short(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
