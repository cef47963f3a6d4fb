// The services with the transparency log and without it beside each other, the log itself, and the targets.
import { type Percentiles, percentilesOf, ratioWithin, spreadOver } from '../report/figures.ts'
import {
  columnsTable,
  counted,
  type Report,
  ratio,
  short,
  type TargetResult,
  table,
  targetsTable,
  thousands,
  whole,
} from '../report/report.ts'
import type { Figures } from '../stage/measure.ts'
import { type Compared, compareSides, connections, type Measurement as OfSide } from '../stage/sides.ts'

export type Side = 'with the log' | 'without it'
/** `behind`: entries that were not in the log when the load ended. */
export type Measurement = OfSide<Side> & { behind: number | null }

/** The appending of entries from before the log, and what it takes on disk. */
export type Sealing = { entries: number; runs: number; seconds: number; tileMegabytes: number; runMegabytes: number }
/** `proofsMs`: of each proof. */
export type BigLog = { leaves: number; runs: number; tileMegabytes: number; runMegabytes: number; proofsMs: number[] }

/** Targets. */
const leastRatio = 0.98
const mostProofMs = 5

export type Measured = {
  measurements: Measurement[]
  /** Seconds after its commit until an entry is in the log. */
  delays: number[]
  sealing: Sealing
  bigLog: BigLog
}

function cpuOf({ serviceCpuMicroseconds, databaseCpuMicroseconds }: Figures): number | null {
  if (serviceCpuMicroseconds === null || databaseCpuMicroseconds === null) return null
  return serviceCpuMicroseconds + databaseCpuMicroseconds
}

const perSecond = (each: Figures) => each.perSecond

const columns: Record<string, (compared: Compared<Measurement>) => string> = {
  workload: ({ workload }) => workload,
  'with the log/s': ({ ones }) => whole(spreadOver(ones, perSecond)),
  'without it/s': ({ others }) => whole(spreadOver(others, perSecond)),
  'CPU of a request, with to without': ({ ones, others }) => ratio(ratioWithin(ones, others, cpuOf)),
  'entries not in the log at the end': ({ ones }) => whole(spreadOver(ones, ({ behind }) => behind)),
}

export function reportOf(
  { measurements, delays, sealing, bigLog }: Measured,
  { rounds, seconds }: { rounds: number; seconds: number },
): Pick<Report, 'how' | 'tables'> {
  const compared = compareSides<Side, Measurement>(measurements, ['with the log', 'without it'])
  return {
    how:
      `${counted(rounds, 'round')} of ${seconds} s, ${counted(connections, 'connection')}. ` +
      'Ratios are taken within a round, and given with the least and the most.',
    tables: [
      targetsTable(targetResults(compared, bigLog)),
      columnsTable(compared, columns),
      logTable(delays, sealing, bigLog),
    ],
  }
}

function targetResults(compared: Compared<Measurement>[], { leaves, proofsMs }: BigLog): TargetResult[] {
  const { p99 } = percentilesOf(proofsMs)
  return [
    ...compared.map(({ workload, ratio: measured }) => ({
      name: `${workload}: rate with the log to that without it`,
      wanted: `≥ ${leastRatio}`,
      measured,
      met: measured.median >= leastRatio,
    })),
    {
      name: `proof of an entry among ${thousands(leaves)} leaves, p99 of ${thousands(proofsMs.length)}`,
      wanted: `under ${mostProofMs} ms`,
      measured: `${short(p99)} ms`,
      met: p99 < mostProofMs,
    },
  ]
}

function logTable(delays: number[], sealing: Sealing, bigLog: BigLog): string {
  const of = ({ p50, p99, most }: Percentiles, unit: string) => `${short(p50)}, ${short(p99)}, ${short(most)} ${unit}`
  const perMillion = (value: number, entries: number) => short((value * 1_000_000) / entries)
  const disk = ({ tileMegabytes, runMegabytes }: Sealing | BigLog, entries: number) =>
    `${perMillion(tileMegabytes, entries)} MB, ${perMillion(runMegabytes, entries)} MB`
  const leaves = thousands(bigLog.leaves)
  return table(
    ['the log', 'measured'],
    [
      [
        `from a commit to the log under load, p50, p99 and most of ${thousands(delays.length)} entries`,
        of(percentilesOf(delays), 's'),
      ],
      [
        `proof of an entry among ${leaves} leaves, database included, p50, p99 and most`,
        of(percentilesOf(bigLog.proofsMs), 'ms'),
      ],
      ['appending entries from before, a million of them', `${perMillion(sealing.seconds, sealing.entries)} s`],
      ['disk for a million entries: tiles, and where entries are', disk(sealing, sealing.entries)],
      [`disk per million leaves, in a log of ${leaves}: tiles, and where entries are`, disk(bigLog, bigLog.leaves)],
    ],
  )
}
