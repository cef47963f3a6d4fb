// Results and targets of the growth: big books beside new ones, and large books beside small ones. Tables and plot are
// made from the results alone.
import { type Line, rowsOf } from '../books/commands.ts'
import type { Counts } from '../books/generate.ts'
import type { WorkloadName } from '../load/workloads.ts'
import { draw } from '../report/plot.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { counted, ratio, short, table, whole } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'
import type { Figures } from '../stage/measure.ts'
import type { Reading } from './statement.ts'

export const sides = ['empty', 'full'] as const
export type Side = (typeof sides)[number]
export type Size = 'small' | 'large' | 'full'
export type Measurement = Figures & { round: number; workload: WorkloadName; side: Side }

/** Target for the throughput on big books to that on new ones. */
const leastRatio = 0.9
/** Target for the time per row: linear, within the spread of two equal measurements. */
const mostGrowth = 1.1

export type Workload = { workload: WorkloadName; empty: Spread; full: Spread; p99Ms: Spread; ratio: Spread }
export type Command = { step: string; smallPerMillion: number; largePerMillion: number; growth: number }
/** `small` and `big`: milliseconds for 1,000 entries. */
export type Statement = { name: string; small: Spread; big: Spread; growth: Spread }

export type Results = {
  machine: Machine
  options: { seconds: number; rounds: number; connections: number }
  books: Record<Size, { counts: Counts; generatedSeconds: number | null; commands: Line[] }>
  measurements: Measurement[]
  readings: Record<'small' | 'full', Reading[]>
  failures: string[]
}

/** A round in which one side failed is left out. */
export function workloadsOf(measurements: Measurement[]): Workload[] {
  const groups = Map.groupBy(measurements, ({ workload }) => workload)
  return [...groups].flatMap(([workload, group]) => {
    const perSecond = (side: Side) => spreadOf(group.filter((each) => each.side === side).map((each) => each.perSecond))
    const rounds = [...Map.groupBy(group, ({ round }) => round).values()].flatMap((round) => {
      const [empty, full] = sides.map((side) => round.find((each) => each.side === side))
      return empty && full ? [full.perSecond / empty.perSecond] : []
    })
    const p99Ms = spreadOf(group.filter(({ side }) => side === 'full').map((each) => each.p99Ms))
    const [empty, full, ratio] = [perSecond('empty'), perSecond('full'), spreadOf(rounds)]
    return empty && full && ratio && p99Ms ? [{ workload, empty, full, p99Ms, ratio }] : []
  })
}

export function commandsOf(smallBooks: Line[], largeBooks: Line[]): Command[] {
  const perMillion = ({ rows, seconds }: Line) => (seconds * 1_000_000) / rows
  return largeBooks.flatMap((line) => {
    const small = smallBooks.find(({ step }) => step === line.step)
    if (!small || [small, line].some(({ outcome }) => outcome.startsWith('FAILED'))) return []
    const [smallPerMillion, largePerMillion] = [perMillion(small), perMillion(line)]
    return [{ step: line.step, smallPerMillion, largePerMillion, growth: largePerMillion / smallPerMillion }]
  })
}

/**
 * Down one statement, and between the books: the cost of a page may depend on its depth, or on the size of the books.
 */
export function statementsOf({ small: ofSmall, full }: Results['readings']): Statement[] {
  const entries = thousands.format(full[0]?.entries ?? 0)
  const depth = `statement, 1,000 entries: of the first tenth, of all ${entries}`
  const smallAndBig = full.flatMap((big, index) => {
    const small = ofSmall[index]
    return small ? [[small.allMs, big.allMs] as const] : []
  })
  return [
    ...compare(
      depth,
      full.map(({ firstMs, allMs }) => [firstMs, allMs] as const),
    ),
    ...compare('statement, 1,000 entries: of the small books, of the full ones', smallAndBig),
  ]
}

function compare(name: string, pairs: (readonly [number, number])[]): Statement[] {
  const [small, big] = [spreadOf(pairs.map(([each]) => each)), spreadOf(pairs.map(([, each]) => each))]
  const growth = spreadOf(pairs.map(([first, second]) => second / first))
  return small && big && growth ? [{ name, small, big, growth }] : []
}

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const verdict = (met: boolean) => (met ? 'met' : 'missed')

export function tablesOf(results: Results): string {
  const { small, large } = results.books
  const parts = [
    describe(results),
    workloadsTable(workloadsOf(results.measurements)),
    linearTable(statementsOf(results.readings), commandsOf(small.commands, large.commands)),
    commandsTable(results.books),
    results.failures.map((failure) => `- FAILED: ${failure}\n`).join(''),
  ]
  return parts.filter((text) => text !== '').join('\n')
}

function describe({ machine, options, books }: Results): string {
  const sizes = [books.full, books.large, books.small].map(({ counts, generatedSeconds }) => {
    const how = generatedSeconds === null ? 'as they were found' : `generated in ${generatedSeconds.toFixed(0)} s`
    return `${thousands.format(counts.orders)} orders with ${thousands.format(counts.entries)} ledger entries, ${how}`
  })
  const { rounds, seconds, connections } = options
  return (
    `${describeMachine(machine)}; ${counted(rounds, 'round')} of ${seconds} s, ${counted(connections, 'connection')}. ` +
    `Full: ${sizes[0]}; large: ${sizes[1]}; small: ${sizes[2]}. Ratios are taken within a round.\n`
  )
}

function workloadsTable(workloads: Workload[]): string {
  const head = ['workload', 'empty/s', 'full/s', 'p99 full', 'full to empty', `wanted at least ${leastRatio}`]
  const rows = workloads.map(({ workload, empty, full, p99Ms, ratio: measured }) => {
    const figures = [whole(empty), whole(full), `${short(p99Ms.median)} ms`, ratio(measured)]
    return [workload, ...figures, verdict(measured.median >= leastRatio)]
  })
  return rows.length === 0 ? '' : table(head, rows)
}

function linearTable(statements: Statement[], commands: Command[]): string {
  const head = ['grows with the books', 'small', 'big', 'big to small', `wanted at most ${mostGrowth}`]
  const rows = commands.map(({ step, smallPerMillion, largePerMillion, growth }) => {
    const figures = [smallPerMillion, largePerMillion].map((seconds) => `${short(seconds)} s`)
    return [`${step}, a million rows`, ...figures, growth.toFixed(2), verdict(growth <= mostGrowth)]
  })
  for (const { name, small, big, growth } of statements) {
    const figures = [small, big].map(({ median }) => `${short(median)} ms`)
    rows.push([name, ...figures, ratio(growth), verdict(growth.median <= mostGrowth)])
  }
  return rows.length === 0 ? '' : table(head, rows)
}

function commandsTable(books: Results['books']): string {
  const rows = (['small', 'large'] as const).flatMap((size) =>
    books[size].commands.map(({ step, rows: count, seconds, peakMegabytes }) => [
      `${step}, ${size}`,
      thousands.format(count),
      seconds.toFixed(1),
      peakMegabytes === null ? '–' : `${peakMegabytes.toFixed(0)} MB`,
    ]),
  )
  return table(['command', 'rows', 'seconds', 'peak memory'], rows)
}

/** Null when no workload was measured on both sides. */
export function plotOf({ measurements, options, books }: Results): string | null {
  const workloads = workloadsOf(measurements)
  if (workloads.length === 0) return null
  const { rounds, seconds, connections } = options
  const { counts } = books.full
  const series = 'full to empty'
  return draw({
    title: `Throughput with ${thousands.format(counts.orders)} orders to that of new books`,
    subtitle:
      `${thousands.format(rowsOf(counts))} rows; ${counted(connections, 'connection')}, ` +
      `median of ${counted(rounds, 'round')} of ${seconds} s; thin line: least to most`,
    unit: 'ratio',
    scale: 'linear',
    markName: 'target, at least',
    series: [{ name: series, colour: 'blue' }],
    groups: workloads.map(({ workload, ratio: { median: value, least, most } }) => ({
      label: workload,
      bars: [{ series, value, least, most, mark: leastRatio }],
    })),
    format: (value) => value.toFixed(2),
  })
}
