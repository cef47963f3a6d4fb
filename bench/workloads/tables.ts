// The results of a run as Markdown, made from its JSON alone: `docs/performance.md` shows some of these lines.
import { counted, milliseconds, percent, ratio, table, whole } from '../report/table.ts'
import { describeMachine } from '../stage/machine.ts'
import type { Results } from './results.ts'
import type { RatioName, Summary } from './summary.ts'
import type { Judged } from './targets.ts'

const ratioTexts: Record<RatioName, string> = {
  bare: 'requests a second to the bare route',
  'plain insert': 'requests a second to plain inserts',
  naive: 'requests a second to the naive twin',
  'p50 to naive': 'p50 to the naive twin',
}

export function tablesOf(results: Results): string {
  const parts = [describe(results), targetsTable(results.targets), workloadsTable(results.summaries)]
  return [...parts, failuresOf(results)].filter((text) => text !== '').join('\n')
}

function describe({ machine, options, stolen, plainInsertBy, plainInserts }: Results): string {
  const { rounds, seconds } = options
  const inserts = plainInserts.map(({ perSecond }) => Math.round(perSecond)).join(', ')
  const others =
    stolen === undefined
      ? ''
      : ` During a measurement the host gave at most ${percent(stolen)} of the processors' time to other machines.`
  return (
    `${describeMachine(machine)}; ` +
    `${counted(rounds, 'round')} of ${seconds} s. Figures are medians; ratios are taken within a round, and given with the least and the ` +
    `most. p50, p99, CPU for each request and memory are those of the service.${others}` +
    `${inserts && ` Plain inserts a second, by ${plainInsertBy}, in each round: ${inserts}.`}\n`
  )
}

function targetsTable(targets: Judged[]): string {
  if (targets.length === 0) return ''
  const rows = targets.map(({ workload, connections, ratio: name, bound, limit, measured, met }) => [
    `${workload}, ${counted(connections, 'connection')}: ${ratioTexts[name]}`,
    `${bound} ${limit.toFixed(2)}`,
    ratio(measured),
    met ? 'met' : 'missed',
  ])
  return table(['target', 'wanted', 'measured', ''], rows)
}

const columns: { head: string; cell(summary: Summary): string }[] = [
  { head: 'workload', cell: ({ workload }) => workload },
  { head: 'connections', cell: ({ connections }) => `${connections}` },
  { head: 'service/s', cell: ({ contenders }) => whole(contenders.service.perSecond) },
  { head: 'bare/s', cell: ({ contenders }) => whole(contenders.bare.perSecond) },
  { head: 'naive/s', cell: ({ contenders }) => whole(contenders.naive.perSecond) },
  { head: 'to bare', cell: ({ ratios }) => ratio(ratios.bare) },
  { head: 'to naive', cell: ({ ratios }) => ratio(ratios.naive) },
  { head: 'p50', cell: ({ contenders }) => milliseconds(contenders.service.p50Ms) },
  { head: 'p99', cell: ({ contenders }) => milliseconds(contenders.service.p99Ms) },
  { head: 'CPU bare', cell: ({ contenders }) => whole(contenders.bare.serviceCpuMicroseconds, ' µs') },
  { head: 'CPU service', cell: ({ contenders }) => whole(contenders.service.serviceCpuMicroseconds, ' µs') },
  { head: 'CPU database', cell: ({ contenders }) => whole(contenders.service.databaseCpuMicroseconds, ' µs') },
  { head: 'memory', cell: ({ contenders }) => whole(contenders.service.megabytes, ' MB') },
]

function workloadsTable(summaries: Summary[]): string {
  return table(
    columns.map(({ head }) => head),
    summaries.map((summary) => columns.map(({ cell }) => cell(summary))),
  )
}

function failuresOf({ failures }: Results): string {
  return failures
    .map(({ round, connections, workload, contender, reason }) => {
      const name = `round ${round}, ${counted(connections, 'connection')}, ${workload}, ${contender}`
      return `- FAILED: ${name}: ${reason}\n`
    })
    .join('')
}
