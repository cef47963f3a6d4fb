// What a request costs each server of a cluster, beside one PostgreSQL: the same load on customers of one group, which are on
// one worker, and on customers of all groups. A processor time is the same on a machine that is too small for so many servers;
// a throughput is not.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../../harness/process-usage.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { writeJson } from '../report/json.ts'
import { logLine } from '../report/progress.ts'
import { counted, short } from '../report/table.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { beginLoad, warmUp } from '../stage/measure.ts'
import {
  type Counts,
  differenceOf,
  type Idle,
  idleOf,
  linesOf,
  type Measurement,
  measuredOnClusters,
  type Reach,
  type Results,
  reaches,
  tablesOf,
} from './results.ts'
import { openSetup, type Setup } from './setups.ts'

const sizes = [0, 1, 2, 3]
/** PostgreSQL counts transactions once a second from the beginning of the load on: the measurement is in between. */
const warmSeconds = 1.5
/** Of a load with every request, before a setup is measured. */
const usedSeconds = 3
/** The kernel counts hundredths of a second. */
const idleSeconds = 10

export async function runCluster(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const startedAt = performance.now()
  const minutesUsed = () => (performance.now() - startedAt) / 60_000
  logLine('Starting PostgreSQL alone, and clusters of one, two and three workers ...')
  const setups = await Promise.all(sizes.map((workers) => openSetup(parts, workers)))
  const { seconds, minutes = 0 } = options
  const loads = options.connections.flatMap((connections) =>
    measuredOnClusters
      .filter((name) => options.workloads.includes(name))
      .map((workload) => ({ workload, connections, seconds, warmSeconds })),
  )
  const taken: Taken = { measurements: [], idle: [], failures: [] }
  const beganAt = minutesUsed()
  logLine(
    `Measuring, after ${beganAt.toFixed(1)} min: rounds of ${seconds} s each, as many as fit in ${minutes} min ...`,
  )
  let round = 0
  do {
    round += 1
    const idle = await countIdle(setups)
    taken.idle.push(...setups.map(({ workers }, index) => ({ round, workers, servers: idle[index] ?? [] })))
    const all = setups.map((setup, index) => ({ setup, idle: idle[index] ?? [] }))
    for (const { setup, idle } of round % 2 === 1 ? all : all.toReversed()) {
      await measureSetup(setup, { round, loads, idle }, taken)
    }
  } while (minutesUsed() + (minutesUsed() - beganAt) / round <= minutes)
  const { measurements, idle, failures } = taken
  const results: Results = {
    machine: await machineOf((setups[0] as Setup).stages['all groups']),
    options: { seconds, rounds: round },
    lines: linesOf(measurements),
    idle: idleOf(idle),
    measurements,
    failures,
  }
  writeJson(options.out, 'cluster', results, ['measurements'])
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${options.out}: cluster.json`)
  return failures.length === 0
}

type Taken = Pick<Results, 'measurements' | 'failures'> & { idle: Idle[] }
type Load = { workload: WorkloadName; connections: number; seconds: number; warmSeconds: number }
type Round = { round: number; loads: Load[]; idle: Counts[] }

async function measureSetup(setup: Setup, { round, loads, idle }: Round, taken: Taken): Promise<void> {
  const { workers } = setup
  // One PostgreSQL has no groups.
  for (const reach of workers === 0 ? reaches.slice(0, 1) : reaches) {
    // Connections that are not used for a minute are closed, with their plans, and keys are forgotten.
    await warmUp(setup.stages[reach], usedSeconds)
    for (const load of loads) {
      const { workload, connections } = load
      const name = `round ${round}, ${counted(workers, 'worker')}, ${reach}, ${workload}, ${counted(connections, 'connection')}`
      try {
        const figures = await measure(setup, reach, load, idle)
        taken.measurements.push({ round, workers, reach, workload, connections, ...figures })
        const used = figures.servers.map(({ cpuMicroseconds }) => short(cpuMicroseconds)).join(', ')
        logLine(`${name}: ${figures.perSecond.toFixed(0)}/s, processor time of the servers ${used} µs`)
      } catch (error) {
        // A failure does not stop the other measurements.
        if (setup.stages[reach].parts.disposed) throw error
        taken.failures.push(`${name}: ${(error as Error).message}`)
        logLine(`${name}: FAILED: ${(error as Error).message}`)
      }
      await removeOpenOrders(setup.stages[reach].books)
      await setup.checkpoint()
    }
  }
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
