// The workloads: each on the service, on the bare routes and on the naive twin, side by side, round by round.
import { createPlainInsert } from '../ceilings/plain-insert.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { counted, percent, publish, short } from '../report/report.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { measure, warmUp } from '../stage/measure.ts'
import { type ContenderName, contenderNames, openStage } from '../stage/stage.ts'
import { takeAll, takeTurns } from '../stage/turns.ts'
import { busyConnections, type Measured, reportOf } from './report.ts'

const warmSeconds = 1

export async function runWorkloads(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway, the service, the bare routes and the naive twin ...')
  const stage = await openStage(parts)
  const { seconds, out } = options
  await warmUp(stage, seconds)
  const plainInsert = createPlainInsert(stage, options)
  const measured: Measured = { plainInsertBy: plainInsert.by, measurements: [], plainInserts: [] }
  const steps = planOf(options)
  logLine(`Measuring: ${steps.length} times ${seconds} s, and ${warmSeconds} s to warm up each ...`)
  const failures = await takeAll(parts, steps, {
    nameOf: ({ round, connections, workload, contender }) =>
      `round ${round}, ${counted(connections, 'connection')}, ${workload}, ${contender}`,
    async take({ contender, ...step }) {
      const { round, connections, workload } = step
      if (contender === 'plain insert') {
        const perSecond = await plainInsert.measure(seconds, warmSeconds)
        measured.plainInserts.push({ round, connections, perSecond })
        return `${perSecond.toFixed(0)}/s (${plainInsert.by})`
      }
      const figures = await measure(stage, contender, { workload, connections, seconds, warmSeconds })
      measured.measurements.push({ ...step, contender, ...figures })
      const { perSecond, p50Ms, p99Ms, stolen } = figures
      return `${perSecond.toFixed(0)}/s, p50 ${short(p50Ms)} ms, p99 ${short(p99Ms)} ms, stolen ${percent(stolen)}`
    },
    afterEach: () => removeOpenOrders(stage.books),
  })
  const report = { machine: await machineOf(stage), ...reportOf(measured, options), failures }
  return publish(out, 'workloads', report, measured)
}

type Wanted = { rounds: number; connections: number[]; workloads: WorkloadName[] }
type Step = { connections: number; workload: WorkloadName; contender: ContenderName | 'plain insert' }

/** All contenders of a workload one after the other. */
export function planOf({ rounds, connections, workloads }: Wanted): (Step & { round: number })[] {
  // The plain insert has its own clients: once in a round is enough.
  const besides = connections.includes(busyConnections) ? busyConnections : connections[0]
  const groups = connections.flatMap((count) =>
    workloads.map((workload) => {
      const inserts = workload === 'purchase' && count === besides ? (['plain insert'] as const) : []
      return [...contenderNames, ...inserts].map((contender): Step => ({ connections: count, workload, contender }))
    }),
  )
  return takeTurns(rounds, groups)
}
