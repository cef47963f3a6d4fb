// The workloads on the service beside the same on its ceilings, and the targets of the service: ratios to what was measured
// beside it. A figure is the median over the rounds. A missed target is shown as missed.
import { type WorkloadName, workloadNames } from '../load/workloads.ts'
import { ratioWithin, spreadOver } from '../report/figures.ts'
import {
  brief,
  columnsTable,
  counted,
  percent,
  type Report,
  ratio,
  type TargetResult,
  targetsTable,
  whole,
} from '../report/report.ts'
import type { Figures } from '../stage/measure.ts'
import type { ContenderName } from '../stage/stage.ts'

export type Measurement = Figures & {
  round: number
  connections: number
  workload: WorkloadName
  contender: ContenderName
}

/** Measured beside a purchase with that many connections. */
export type Inserts = { round: number; connections: number; perSecond: number }

export type Measured = { plainInsertBy: 'pgbench' | 'node'; measurements: Measurement[]; plainInserts: Inserts[] }

type Group = Record<ContenderName, Measurement[]> &
  Pick<Measurement, 'workload' | 'connections'> & { inserts: Inserts[] }

export function groupsOf({ measurements, plainInserts }: Pick<Measured, 'measurements' | 'plainInserts'>): Group[] {
  const groups = Map.groupBy(measurements, ({ workload, connections }) => `${workload}, ${connections}`)
  return [...groups.values()].map((group) => {
    const { workload, connections } = group[0] as Measurement
    const of = (name: ContenderName) => group.filter(({ contender }) => contender === name)
    const inserts = plainInserts.filter((each) => workload === 'purchase' && each.connections === connections)
    return { workload, connections, service: of('service'), bare: of('bare'), naive: of('naive'), inserts }
  })
}

const perSecond = (each: { perSecond: number }) => each.perSecond

/** The service's throughput to that of a ceiling, or its p50 to that of the naive twin. */
export const ratios = {
  'rate to the bare route': ({ service, bare }: Group) => ratioWithin(service, bare, perSecond),
  'rate to plain inserts': ({ service, inserts }: Group) => ratioWithin(service, inserts, perSecond),
  'rate to the naive twin': ({ service, naive }: Group) => ratioWithin(service, naive, perSecond),
  'p50 to the naive twin': ({ service, naive }: Group) => ratioWithin(service, naive, ({ p50Ms }) => p50Ms),
}
type RatioName = keyof typeof ratios

/** The connections at which throughput is compared with its targets, and at which the plain insert is measured. */
export const busyConnections = 64

const throughputs: [WorkloadName, RatioName, number][] = [
  ['purchase', 'rate to the bare route', 0.65],
  ['purchase', 'rate to plain inserts', 0.75],
  ['purchase', 'rate to the naive twin', 2],
  // The bare route makes the exchange with the gateway too.
  ['confirm', 'rate to the bare route', 0.75],
  ['status', 'rate to the bare route', 0.8],
  ['balance', 'rate to the bare route', 0.8],
  ['packages', 'rate to the bare route', 0.95],
  ['spend over many customers', 'rate to the bare route', 0.6],
]

/** A single request is not batched with others: batching must not cost latency without load. */
const mostOfLatency = 1.1

/** Targets whose ratio was measured in this run. */
export function targetResults(groups: Group[]): TargetResult[] {
  function resultOf(workload: WorkloadName, connections: number, name: RatioName, least: number, most: number) {
    const group = groups.find((each) => each.workload === workload && each.connections === connections)
    const measured = group ? ratios[name](group) : null
    if (!measured) return []
    const wanted = least > 0 ? `≥ ${least.toFixed(2)}` : `≤ ${most.toFixed(2)}`
    const met = measured.median >= least && measured.median <= most
    return [{ name: `${workload}, ${counted(connections, 'connection')}: ${name}`, wanted, measured, met }]
  }
  return [
    ...throughputs.flatMap(([workload, name, least]) => resultOf(workload, busyConnections, name, least, Infinity)),
    ...workloadNames.flatMap((workload) => resultOf(workload, 1, 'p50 to the naive twin', 0, mostOfLatency)),
  ]
}

const of = (contender: ContenderName, figure: keyof Figures) => (group: Group) =>
  spreadOver(group[contender], (each) => each[figure])

const columns: Record<string, (group: Group) => string> = {
  workload: ({ workload }) => workload,
  connections: ({ connections }) => `${connections}`,
  'service/s': (group) => whole(of('service', 'perSecond')(group)),
  'bare/s': (group) => whole(of('bare', 'perSecond')(group)),
  'naive/s': (group) => whole(of('naive', 'perSecond')(group)),
  'to bare': (group) => ratio(ratios['rate to the bare route'](group)),
  'to naive': (group) => ratio(ratios['rate to the naive twin'](group)),
  'p50, ms': (group) => brief(of('service', 'p50Ms')(group)),
  'p99, ms': (group) => brief(of('service', 'p99Ms')(group)),
  'CPU bare, µs': (group) => whole(of('bare', 'serviceCpuMicroseconds')(group)),
  'CPU service, µs': (group) => whole(of('service', 'serviceCpuMicroseconds')(group)),
  'CPU database, µs': (group) => whole(of('service', 'databaseCpuMicroseconds')(group)),
  'memory, MB': (group) => whole(of('service', 'megabytes')(group)),
}

export function reportOf(
  measured: Measured,
  { rounds, seconds }: { rounds: number; seconds: number },
): Pick<Report, 'how' | 'tables'> {
  const { measurements, plainInsertBy, plainInserts } = measured
  const groups = groupsOf(measured)
  const inserts = plainInserts.map((each) => Math.round(each.perSecond)).join(', ')
  const stolen = Math.max(0, ...measurements.map((each) => each.stolen))
  return {
    how:
      `${counted(rounds, 'round')} of ${seconds} s. p50, p99, CPU for each request and memory are those of the service. During a measurement the host gave at most ` +
      `${percent(stolen)} of the processors' time to other machines.` +
      `${inserts && ` Plain inserts a second, by ${plainInsertBy}, in each round: ${inserts}.`}`,
    tables: [targetsTable(targetResults(groups)), columnsTable(groups, columns)],
  }
}
