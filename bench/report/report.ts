// The report of a measurement: Markdown tables, how figures are written in them, and the files in bench/results. The tables
// are committed, and docs/performance.md explains them; the JSON file has every single measurement, and is not.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeMachine, type Machine } from '../stage/machine.ts'
import type { Spread } from './figures.ts'
import { logLine } from './progress.ts'

/** `how` it was measured follows the machine. */
export type Report = { machine: Machine; how: string; tables: string[]; failures: string[] }

export function textOf({ machine, how, tables, failures }: Report): string {
  const failed = failures.map((failure) => `- FAILED: ${failure}\n`).join('')
  return [`${describeMachine(machine)}; ${how}\n`, ...tables, failed].filter((part) => part !== '').join('\n')
}

/** Prints the report and writes it with its measurements. Returns whether nothing failed. */
export function publish(directory: string, name: string, report: Report, measured: object): boolean {
  const text = textOf(report)
  const { machine, failures } = report
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${name}.md`), text)
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify({ machine, ...measured, failures }, null, 2)}\n`)
  process.stdout.write(text)
  logLine(`Written to ${directory}: ${name}.md, ${name}.json`)
  return failures.length === 0
}

/** Empty without rows. */
export function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  // The first column names the row; figures are aligned to the right.
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** A table by its columns. */
export function columnsTable<Row>(rows: readonly Row[], columns: Record<string, (row: Row) => string>): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)))
  return table(Object.keys(columns), cells)
}

export type TargetResult = { name: string; wanted: string; measured: Spread | string; met: boolean }

export function targetsTable(results: TargetResult[]): string {
  const rows = results.map(({ name, wanted, measured, met }) => [
    name,
    wanted,
    typeof measured === 'string' ? measured : ratio(measured),
    verdict(met),
  ])
  return table(['target', 'wanted', 'measured', ''], rows)
}

export const verdict = (met: boolean) => (met ? 'met' : 'missed')

const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
export const thousands = (value: number) => format.format(value)

const median = (spread: Spread | null | undefined, write: (value: number) => string) =>
  spread ? write(spread.median) : '–'

/** The unit of a column is in its head. */
export const whole = (spread: Spread | null) => median(spread, thousands)
export const brief = (spread: Spread | null | undefined, unit?: string) =>
  median(spread, (value) => (unit ? `${short(value)} ${unit}` : short(value)))
export const few = (spread: Spread | null | undefined) => median(spread, (value) => value.toFixed(3))

/** Median, least and most: a ratio without its spread proves nothing. */
export function ratio(spread: Spread | null): string {
  if (!spread) return '–'
  const [middle, least, most] = [spread.median, spread.least, spread.most].map((value) => value.toFixed(2))
  return `${middle} (${least}–${most})`
}

/** Three significant digits: 0.41, 7.03, 35.8, 174. */
export function short(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`
}
