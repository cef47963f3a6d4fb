// Results and targets of the transparency log. The tables are made from the results alone.
import type { WorkloadName } from '../load/workloads.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { counted, ratio, short, table, whole } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'
import type { Figures } from '../stage/measure.ts'

export const sides = ['with the log', 'without it'] as const
export type Side = (typeof sides)[number]
/** `behind`: entries that were not in the log when the load ended. */
export type Measurement = Figures & { round: number; workload: WorkloadName; side: Side; behind: number | null }

export type Percentiles = { p50: number; p99: number; most: number }
/** The appending of entries from before the log, and what it takes on disk. */
export type Sealing = { entries: number; runs: number; seconds: number; tileMegabytes: number; runMegabytes: number }
export type BigLog = {
  leaves: number
  runs: number
  tileMegabytes: number
  runMegabytes: number
  proofs: number
  ms: Percentiles
}

/** Targets. */
const leastRatio = 0.98
const mostProofMs = 5

export type Comparison = {
  workload: WorkloadName
  kept: Spread
  left: Spread
  /** Requests a second with the log to those without it, and processor time of service and database for a request. */
  ratio: Spread
  cpuRatio: Spread | null
  behind: Spread | null
}

export type Results = {
  machine: Machine
  options: { seconds: number; rounds: number; connections: number }
  comparisons: Comparison[]
  /** Seconds after its commit until an entry is in the log. */
  delay: { entries: number; seconds: Percentiles }
  sealing: Sealing
  bigLog: BigLog
  measurements: Measurement[]
  failures: string[]
}

export function percentilesOf(values: number[]): Percentiles {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), most: at(1) }
}

/** A round in which one side failed is left out. */
export function comparisonsOf(measurements: Measurement[]): Comparison[] {
  return [...Map.groupBy(measurements, ({ workload }) => workload)].flatMap(([workload, group]) => {
    const of = (side: Side) => group.filter((each) => each.side === side)
    const pairs = of('with the log').flatMap((kept) => {
      const left = of('without it').find(({ round }) => round === kept.round)
      return left ? [[kept, left] as const] : []
    })
    const perSecond = (side: Side) => spreadOf(of(side).map((each) => each.perSecond))
    const cpuRatios = pairs.flatMap(([one, other]) => {
      const [kept, left] = [cpuOf(one), cpuOf(other)]
      return kept === null || left === null ? [] : [kept / left]
    })
    const [kept, left] = [perSecond('with the log'), perSecond('without it')]
    const ratios = spreadOf(pairs.map(([one, other]) => one.perSecond / other.perSecond))
    const behind = spreadOf(group.flatMap((each) => each.behind ?? []))
    return kept && left && ratios
      ? [{ workload, kept, left, ratio: ratios, cpuRatio: spreadOf(cpuRatios), behind }]
      : []
  })
}

function cpuOf({ serviceCpuMicroseconds, databaseCpuMicroseconds }: Figures): number | null {
  if (serviceCpuMicroseconds === null || databaseCpuMicroseconds === null) return null
  return serviceCpuMicroseconds + databaseCpuMicroseconds
}

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const verdict = (met: boolean) => (met ? 'met' : 'missed')

export function tablesOf(results: Results): string {
  const { comparisons, failures } = results
  const parts = [
    describe(results),
    targetsTable(results),
    comparisons.length > 0 ? comparisonsTable(comparisons) : '',
    logTable(results),
    failures.map((failure) => `- FAILED: ${failure}\n`).join(''),
  ]
  return parts.filter((text) => text !== '').join('\n')
}

function describe({ machine, options }: Results): string {
  const { rounds, seconds, connections } = options
  return (
    `${describeMachine(machine)}; ${counted(rounds, 'round')} of ${seconds} s, ${counted(connections, 'connection')}. ` +
    'Ratios are taken within a round, and given with the least and the most.\n'
  )
}

function targetsTable({ comparisons, bigLog }: Results): string {
  const rows = comparisons.map(({ workload, ratio: measured }) => [
    `${workload}: requests a second with the log to those without it`,
    `at least ${leastRatio}`,
    ratio(measured),
    verdict(measured.median >= leastRatio),
  ])
  const { leaves, proofs, ms } = bigLog
  rows.push([
    `proof of an entry among ${thousands.format(leaves)} leaves, p99 of ${thousands.format(proofs)}`,
    `under ${mostProofMs} ms`,
    `${short(ms.p99)} ms`,
    verdict(ms.p99 < mostProofMs),
  ])
  return table(['target', 'wanted', 'measured', ''], rows)
}

function comparisonsTable(comparisons: Comparison[]): string {
  const head = [
    'workload',
    'with the log/s',
    'without it/s',
    'CPU of a request, with to without',
    'not in the log at the end',
  ]
  const rows = comparisons.map(({ workload, kept, left, cpuRatio, behind }) => [
    workload,
    whole(kept),
    whole(left),
    ratio(cpuRatio),
    whole(behind, ' entries'),
  ])
  return table(head, rows)
}

function logTable({ delay, sealing, bigLog }: Results): string {
  const of = ({ p50, p99, most }: Percentiles, unit: string) => `${short(p50)}, ${short(p99)}, ${short(most)} ${unit}`
  const perMillion = (value: number, { entries }: { entries: number }) => short((value * 1_000_000) / entries)
  const big = { entries: bigLog.leaves }
  return table(
    ['the log', 'measured'],
    [
      [
        `from a commit to the log under load, p50, p99 and most of ${thousands.format(delay.entries)} entries`,
        of(delay.seconds, 's'),
      ],
      [
        `proof of an entry among ${thousands.format(bigLog.leaves)} leaves, database included, p50, p99 and most`,
        of(bigLog.ms, 'ms'),
      ],
      ['appending entries from before, a million of them', `${perMillion(sealing.seconds, sealing)} s`],
      [
        'disk for a million entries: tiles, and where entries are',
        `${perMillion(sealing.tileMegabytes, sealing)} MB, ${perMillion(sealing.runMegabytes, sealing)} MB`,
      ],
      [
        `disk per million leaves, in a log of ${thousands.format(bigLog.leaves)}: tiles, and where entries are`,
        `${perMillion(bigLog.tileMegabytes, big)} MB, ${perMillion(bigLog.runMegabytes, big)} MB`,
      ],
    ],
  )
}
