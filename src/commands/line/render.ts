// Formats the result of a command: JSON for scripts; lines and tables for people. Times are local with their UTC offset,
// a format that the commands accept as input.
import { visible } from '../../core/visible.ts'
import { type Cell, fields, type OutputFormat, table } from './layout.ts'

const thousands = new Intl.NumberFormat('en-US')
const minFieldWidth = 12

export function render(result: object | object[], format: OutputFormat & { json?: boolean | undefined } = {}): string {
  if (format.json) return `${visible(JSON.stringify(result))}\n`
  if (Array.isArray(result)) return tableOf(result, format)
  const [lists, singles] = partition(Object.entries(result))
  const entries = singles.map(([name, value]): [string, Cell] => [name, cell(value)])
  const tables = lists.map(([name, rows]) => `\n${name}\n${tableOf(rows as object[], format)}`)
  return [fields(entries, format, minFieldWidth), ...tables].join('')
}

type Entry = [name: string, value: unknown]

const isNumbers = (value: unknown[]): value is number[] => typeof value[0] === 'number'
const isTexts = (value: unknown[]): value is string[] => typeof value[0] === 'string'

/** Lists of objects are shown as tables after the single values. */
function partition(entries: Entry[]): [lists: Entry[], singles: Entry[]] {
  const isList = ([, value]: Entry) => Array.isArray(value) && !isNumbers(value) && !isTexts(value)
  return [entries.filter(isList), entries.filter((entry) => !isList(entry))]
}

function tableOf(rows: object[], format: OutputFormat): string {
  const [first] = rows
  if (!first) return 'None.\n'
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])))
  return table(names, cells, format)
}

const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function cell(value: unknown): Cell {
  if (typeof value === 'number') return { text: thousands.format(value), isNumber: true }
  // Counts as a number, so that a column of numbers with gaps stays aligned to the right.
  if (value === null || value === undefined) return { text: '-', isNumber: true }
  return { text: textOf(value), isNumber: false }
}

function textOf(value: unknown): string {
  if (value instanceof Date) return localTime(value)
  if (typeof value === 'string') return isoPattern.test(value) ? localTime(new Date(value)) : visible(value)
  if (Array.isArray(value) && isNumbers(value)) return value.map((number) => thousands.format(number)).join('; ')
  if (Array.isArray(value) && isTexts(value)) return visible(value.join())
  if (isCounts(value))
    return Object.entries(value)
      .map(([name, count]) => `${name} ${thousands.format(count)}`)
      .join(', ')
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const minuteMs = 60_000

/** 2026-01-31T09:00:00+09:00: to the second, with Z where the clock is UTC. */
export function localTime(time: Date, minutesAhead = -time.getTimezoneOffset()): string {
  const seconds = new Date(time.getTime() + minutesAhead * minuteMs).toISOString().slice(0, 19)
  if (minutesAhead === 0) return `${seconds}Z`
  const [hours, minutes] = [Math.floor(Math.abs(minutesAhead) / 60), Math.abs(minutesAhead) % 60]
  const two = (number: number) => `${number}`.padStart(2, '0')
  return `${seconds}${minutesAhead < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
}

function isCounts(value: unknown): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).length > 0 && Object.values(value).every((each) => typeof each === 'number')
}
