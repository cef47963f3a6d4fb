// How a command's result is shown: JSON for scripts; for people lines and tables, with times as they are on their clocks
// and how far that is from UTC, in the form in which the commands take them.
import { visible } from '../../core/visible.ts'
import { type Cell, fields, type Look, table } from './layout.ts'

const thousands = new Intl.NumberFormat('en-US')
const leastFieldWidth = 12

export function render(result: object | object[], look: Look & { json?: boolean | undefined } = {}): string {
  if (look.json) return `${visible(JSON.stringify(result))}\n`
  if (Array.isArray(result)) return tableOf(result, look)
  const [lists, singles] = partition(Object.entries(result))
  const entries = singles.map(([name, value]): [string, Cell] => [name, cell(value)])
  const tables = lists.map(([name, rows]) => `\n${name}\n${tableOf(rows as object[], look)}`)
  return [fields(entries, look, leastFieldWidth), ...tables].join('')
}

type Entry = [name: string, value: unknown]

/** Lists of objects are shown as tables behind the rest. */
function partition(entries: Entry[]): [lists: Entry[], singles: Entry[]] {
  const isList = ([, value]: Entry) => Array.isArray(value)
  return [entries.filter(isList), entries.filter((entry) => !isList(entry))]
}

function tableOf(rows: object[], look: Look): string {
  const [first] = rows
  if (!first) return 'None.\n'
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])))
  return table(names, cells, look)
}

const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function cell(value: unknown): Cell {
  if (typeof value === 'number') return { text: thousands.format(value), isNumber: true }
  // Nothing in a column of numbers keeps it one.
  if (value === null || value === undefined) return { text: '-', isNumber: true }
  return { text: textOf(value), isNumber: false }
}

function textOf(value: unknown): string {
  if (value instanceof Date) return localTime(value)
  if (typeof value === 'string') return isoPattern.test(value) ? localTime(new Date(value)) : visible(value)
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
