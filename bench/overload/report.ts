// The tables and the plot of an overload, made from its results alone.
import { draw } from '../report/plot.ts'
import type { Spread } from '../report/spread.ts'
import { counted, milliseconds, ratio, table, whole } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'
import { type Judged, keptShare, type Line, type Taken } from './summary.ts'

export type Failure = Pick<Taken, 'round' | 'subject' | 'phase' | 'connections'> & { reason: string }

export type Results = {
  machine: Machine
  options: { seconds: number; rounds: number; workloads: string[] }
  targets: Judged[]
  lines: Line[]
  taken: Taken[]
  failures: Failure[]
}

const columns: { head: string; cell(line: Line): string }[] = [
  { head: 'load', cell: nameOf },
  { head: 'connections', cell: ({ connections }) => connections.join(', ') },
  { head: 'work/s', cell: ({ work }) => whole(work) },
  { head: 'refused/s', cell: ({ refused }) => whole(refused) },
  { head: 'p50 of work', cell: ({ workP50Ms }) => milliseconds(workP50Ms) },
  { head: 'p99 of work', cell: ({ workP99Ms }) => milliseconds(workP99Ms) },
  { head: 'p50 of refusals', cell: ({ refusedP50Ms }) => milliseconds(refusedP50Ms) },
  { head: 'p99 of refusals', cell: ({ refusedP99Ms }) => milliseconds(refusedP99Ms) },
]

export function tablesOf({ machine, options, targets, lines, failures }: Results): string {
  const { rounds, seconds } = options
  const described =
    `${describeMachine(machine)}; ${counted(rounds, 'round')} of ${seconds} s. Figures are medians; ratios are taken ` +
    'within a round, and given with the least and the most. The payers’ work is their confirms and cancels.\n'
  const judged = targets.map(({ name, bound, limit, measured, met }) => [
    name,
    `${bound} ${limit}`,
    ratio(measured),
    met ? 'met' : 'missed',
  ])
  const parts = [
    described,
    table(['target', 'wanted', 'measured', ''], judged),
    table(
      columns.map(({ head }) => head),
      lines.map((line) => columns.map(({ cell }) => cell(line))),
    ),
    failures.map(({ reason, ...line }) => `- FAILED: round ${line.round}, ${nameOf(line)}: ${reason}\n`).join(''),
  ]
  return parts.filter((text) => text !== '').join('\n')
}

function nameOf({ subject, phase }: Pick<Line, 'subject' | 'phase'>): string {
  return `${subject}, ${phase}`
}

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export function plotOf({ lines, options }: Results): string {
  const { rounds, seconds } = options
  return draw({
    title: 'Work done and refused when more comes than is let in',
    subtitle: `median of ${counted(rounds, 'round')} of ${seconds} s; thin line: least to most; the payers’ work: confirms and cancels`,
    unit: 'a second',
    scale: 'linear',
    markName: `${keptShare} of the peak, or of the calm`,
    series: [
      { name: 'work done', colour: 'blue' },
      { name: 'refused', colour: 'amber' },
    ],
    groups: lines.map((line) => ({
      label: `${nameOf(line)} (${line.connections.join(', ')})`,
      bars: [barOf('work done', line.work, markOf(line, lines)), barOf('refused', line.refused)],
    })),
    format: (value) => thousands.format(value),
  })
}

function barOf(series: string, { median, least, most }: Spread, mark?: number) {
  return { series, value: median, least, most, mark }
}

function markOf({ subject, phase }: Line, lines: Line[]): number | undefined {
  if (phase === 'peak' || phase === 'calm') return undefined
  const beside = lines.find((each) => each.subject === subject && (each.phase === 'peak' || each.phase === 'calm'))
  return beside && beside.work.median * keptShare
}
