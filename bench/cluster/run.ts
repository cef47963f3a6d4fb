// What a request costs each server of a cluster, beside one PostgreSQL: the same load on customers of one group, which are on
// one worker, and on customers of all groups. A processor time is the same on a machine that is too small for that many
// servers; a throughput is not.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../../harness/process-usage.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { counted, publish, short } from '../report/report.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { beginLoad, warmUp } from '../stage/measure.ts'
import type { Stage } from '../stage/stage.ts'
import { inTurn, takeAll } from '../stage/turns.ts'
import {
  type Counts,
  differenceOf,
  type Measured,
  type Measurement,
  measuredOnClusters,
  type Reach,
  reaches,
  reportOf,
} from './report.ts'
import { openSetup, type Setup } from './setups.ts'

const sizes = [0, 1, 2, 3]
/** PostgreSQL counts transactions once a second from the beginning of the load on: the measurement is in between. */
const warmSeconds = 1.5
/** The length of a load with every request, before a setup is measured. */
const usedSeconds = 3
/** The kernel counts hundredths of a second. */
const idleSeconds = 10

export async function runCluster(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const startedAt = performance.now()
  const minutesUsed = () => (performance.now() - startedAt) / 60_000
  logLine('Starting PostgreSQL alone, and clusters of one, two and three workers ...')
  const setups = await Promise.all(sizes.map((workers) => openSetup(parts, workers)))
  const { seconds, minutes, out } = options
  const loads = options.connections.flatMap((connections) =>
    measuredOnClusters
      .filter((name) => options.workloads.includes(name))
      .map((workload) => ({ workload, connections, seconds, warmSeconds })),
  )
  const measured: Measured = { measurements: [], idle: [] }
  const failures: string[] = []
  const beganAt = minutesUsed()
  logLine(
    `Measuring, after ${beganAt.toFixed(1)} min: rounds of ${seconds} s each, as many as fit in ${minutes} min ...`,
  )
  let round = 0
  do {
    round += 1
    const idle = await countIdle(setups)
    measured.idle.push(...setups.map(({ workers }, index) => ({ round, workers, servers: idle[index] ?? [] })))
    const steps = inTurn(
      round,
      setups.map((setup, index) => ({ setup, idle: idle[index] ?? [] })),
    ).flatMap((each) => reachesOf(each.setup).flatMap((reach) => loads.map((load) => ({ ...each, reach, load }))))
    failures.push(...(await measureRound(parts, round, steps, measured.measurements)))
  } while (minutesUsed() + (minutesUsed() - beganAt) / round <= minutes)
  const machine = await machineOf((setups[0] as Setup).stages['all groups'])
  const report = { machine, ...reportOf(measured, { rounds: round, seconds }), failures }
  return publish(out, 'cluster', report, measured)
}

type Load = { workload: WorkloadName; connections: number; seconds: number; warmSeconds: number }
type Step = { setup: Setup; idle: Counts[]; reach: Reach; load: Load }

/** One PostgreSQL has no groups. */
const reachesOf = ({ workers }: Setup) => (workers === 0 ? reaches.slice(0, 1) : reaches)

/** Returns the failures. */
async function measureRound(
  parts: AsyncDisposableStack,
  round: number,
  steps: Step[],
  measurements: Measurement[],
): Promise<string[]> {
  let warm: Stage | undefined
  return await takeAll(parts, steps, {
    nameOf: ({ setup: { workers }, reach, load: { workload, connections } }) =>
      `round ${round}, ${counted(workers, 'worker')}, ${reach}, ${workload}, ${counted(connections, 'connection')}`,
    async take({ setup, idle, reach, load }) {
      const { workload, connections } = load
      // Connections that are not used for a minute are closed, with their plans, and keys are forgotten.
      if (warm !== setup.stages[reach]) await warmUp(setup.stages[reach], usedSeconds)
      warm = setup.stages[reach]
      const figures = await measure(setup, reach, load, idle)
      measurements.push({ round, workers: setup.workers, reach, workload, connections, ...figures })
      const used = figures.servers.map(({ cpuMicroseconds }) => short(cpuMicroseconds)).join(', ')
      return `${figures.perSecond.toFixed(0)}/s, processor time of the servers ${used} µs`
    },
    async afterEach({ setup, reach }) {
      await removeOpenOrders(setup.stages[reach].books)
      await setup.checkpoint()
    },
  })
}

/** All at the same time: a second of each server. */
async function countIdle(setups: Setup[]): Promise<Counts[][]> {
  const countAll = () => Promise.all(setups.map((setup) => setup.count()))
  const before = await countAll()
  await sleep(idleSeconds * 1_000)
  return (await countAll()).map((after, index) => differenceOf(before[index] ?? [], after, idleSeconds))
}

type Figures = Pick<Measurement, 'perSecond' | 'serviceCpuMicroseconds' | 'servers'>

async function measure(setup: Setup, reach: Reach, wanted: Load, idle: Counts[]): Promise<Figures> {
  const load = await beginLoad(setup.stages[reach], 'service', wanted)
  const serviceCpuSeconds = () => cpuSecondsOf(load.contender.pid) ?? 0
  try {
    await load.measuring()
    const before = await setup.count()
    const serviceBefore = serviceCpuSeconds()
    const { seconds, done } = await load.measured()
    const service = serviceCpuSeconds() - serviceBefore
    const after = differenceOf(before, await setup.count())
    const idleMeanwhile = idle.map(({ cpuMicroseconds, transactions }) => ({
      cpuMicroseconds: cpuMicroseconds * seconds,
      transactions: transactions * seconds,
    }))
    return {
      perSecond: done.count / seconds,
      serviceCpuMicroseconds: (service * 1_000_000) / done.count,
      servers: differenceOf(idleMeanwhile, after, done.count),
    }
  } finally {
    await load.finished()
  }
}
