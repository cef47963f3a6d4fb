// Summarises the measurements. A figure is the median over the rounds; a ratio is taken within a round, where both
// sides had the same machine, and then its median.
import type { WorkloadName } from '../load/workloads.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import type { Figures } from '../stage/measure.ts'
import { type ContenderName, contenderNames } from '../stage/stage.ts'

export type Measurement = Figures & {
  round: number
  connections: number
  workload: WorkloadName
  contender: ContenderName
}

/** Measured beside a purchase with that many connections. */
export type Inserts = { round: number; connections: number; perSecond: number }

/** The service's throughput to that of a ceiling, or its p50 to that of the naive twin. */
export const ratioNames = ['bare', 'plain insert', 'naive', 'p50 to naive'] as const
export type RatioName = (typeof ratioNames)[number]

export type Summary = {
  workload: WorkloadName
  connections: number
  contenders: Record<ContenderName, Record<keyof Figures, Spread | null>>
  ratios: Record<RatioName, Spread | null>
}

type Round = Partial<Record<ContenderName, Measurement>> & { inserts?: Inserts | undefined }

/** Undefined in a round in which one of the two failed. */
const ratioIn: Record<RatioName, (round: Round) => number | undefined> = {
  bare: ({ service, bare }) => service && bare && service.perSecond / bare.perSecond,
  'plain insert': ({ service, inserts }) => service && inserts && service.perSecond / inserts.perSecond,
  naive: ({ service, naive }) => service && naive && service.perSecond / naive.perSecond,
  'p50 to naive': ({ service, naive }) => service && naive && service.p50Ms / naive.p50Ms,
}

const figureNames = [
  'perSecond',
  'p50Ms',
  'p99Ms',
  'serviceCpuMicroseconds',
  'databaseCpuMicroseconds',
  'megabytes',
] satisfies (keyof Figures)[]

export function summarise(measurements: Measurement[], inserts: Inserts[]): Summary[] {
  const groups = Map.groupBy(measurements, ({ workload, connections }) => `${workload}, ${connections}`)
  return [...groups.values()].map((group) => {
    const { workload, connections } = group[0] as Measurement
    const rounds = roundsOf(group, workload === 'purchase' ? inserts : [])
    const ratios = ratioNames.map((name) => [name, spreadOf(rounds.flatMap((round) => ratioIn[name](round) ?? []))])
    const contenders = contenderNames.map((name) => [name, figuresOf(group.filter((each) => each.contender === name))])
    return {
      workload,
      connections,
      contenders: Object.fromEntries(contenders) as Summary['contenders'],
      ratios: Object.fromEntries(ratios) as Summary['ratios'],
    }
  })
}

function roundsOf(group: Measurement[], inserts: Inserts[]): Round[] {
  return [...Map.groupBy(group, ({ round }) => round).values()].map((measured) => {
    const [{ round, connections } = { round: 0, connections: 0 }] = measured
    return {
      ...Object.fromEntries(measured.map((each) => [each.contender, each])),
      inserts: inserts.find((each) => each.round === round && each.connections === connections),
    }
  })
}

function figuresOf(measurements: Measurement[]): Record<keyof Figures, Spread | null> {
  const spreads = figureNames.map((name) => [name, spreadOf(measurements.flatMap((each) => each[name] ?? []))])
  return Object.fromEntries(spreads) as Record<keyof Figures, Spread | null>
}
