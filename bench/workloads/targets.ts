// The targets of the service, as ratios to what was measured beside it. A missed target is shown as missed.
import { type WorkloadName, workloadNames } from '../load/workloads.ts'
import type { Spread } from '../report/spread.ts'
import type { RatioName, Summary } from './summary.ts'

export type Target = {
  workload: WorkloadName
  connections: number
  ratio: RatioName
  bound: 'at least' | 'at most'
  limit: number
}

/** The connections at which throughput is judged and the plain insert is measured. */
export const busyConnections = 64

const throughputs: [WorkloadName, RatioName, number][] = [
  ['purchase', 'bare', 0.65],
  ['purchase', 'plain insert', 0.75],
  ['purchase', 'naive', 2],
  // The bare route makes the exchange with the gateway too.
  ['confirm', 'bare', 0.75],
  ['status', 'bare', 0.8],
  ['balance', 'bare', 0.8],
  ['packages', 'bare', 0.95],
  ['spend over many customers', 'bare', 0.6],
]

export const targets: Target[] = [
  ...throughputs.map(
    ([workload, ratio, limit]): Target => ({
      workload,
      connections: busyConnections,
      ratio,
      bound: 'at least',
      limit,
    }),
  ),
  // A single request is not batched with others: batching must not cost latency without load.
  ...workloadNames.map(
    (workload): Target => ({ workload, connections: 1, ratio: 'p50 to naive', bound: 'at most', limit: 1.1 }),
  ),
]

export type Judged = Target & { measured: Spread; met: boolean }

/** Targets whose ratio was measured in this run. */
export function judge(summaries: Summary[]): Judged[] {
  return targets.flatMap((target) => {
    const { workload, connections, ratio, bound, limit } = target
    const summary = summaries.find((each) => each.workload === workload && each.connections === connections)
    const measured = summary?.ratios[ratio]
    if (!measured) return []
    return [{ ...target, measured, met: bound === 'at least' ? measured.median >= limit : measured.median <= limit }]
  })
}
