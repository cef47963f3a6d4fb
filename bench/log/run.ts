// What the transparency log costs and takes: the same load on a service whose worker keeps the log and on one whose worker does
// not, each with books of its own, in turns; the time from a commit to the log, proofs in a log of many millions of leaves, the
// appending of old entries, disk. The log of a side has caught up before the next measurement begins, so that no side pays for
// the other; what it had left to do at the end of a measurement is reported.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { publish } from '../report/report.ts'
import { machineOf } from '../stage/machine.ts'
import { warmUp } from '../stage/measure.ts'
import { measureSides } from '../stage/sides.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { measureBigLog } from './big-log.ts'
import { measureDelays } from './delay.ts'
import { reportOf, type Side } from './report.ts'

const workloads: WorkloadName[] = ['spend over many customers', 'confirm']
const warmSeconds = 2
const delayRounds = 3
const withoutLog = fileURLToPath(new URL('./without-log.ts', import.meta.url))

export async function runLog(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting the gateway and the service, with the log and without it ...')
  const { machine, failures, ...ofService } = await measureService(parts, options)
  const measured = { ...ofService, ...(await measureBigLog(parts, options)) }
  return publish(options.out, 'log', { machine, ...reportOf(measured, options), failures }, measured)
}

/** All of it has ended before the large log is built: the processors are for one thing at a time. */
async function measureService(parts: AsyncDisposableStack, { seconds, rounds }: Options) {
  const own = new AsyncDisposableStack()
  parts.defer(() => own.disposeAsync())
  const stages = await openSides(own, seconds)
  const kept = stages['with the log']
  const taken = await measureSides(
    stages,
    { rounds, seconds, warmSeconds, workloads },
    async (side) => ({ behind: side === 'with the log' ? await entriesBehind(kept) : null }),
    async (side) => {
      if (side === 'with the log') await awaitLog(kept)
    },
  )
  logLine('Measuring the time from a commit to the log ...')
  const delays = await measureDelays(kept, seconds * delayRounds)
  const machine = await machineOf(kept)
  await own.disposeAsync()
  return { ...taken, delays, machine }
}

async function openSides(parts: AsyncDisposableStack, seconds: number): Promise<Record<Side, Stage>> {
  const [kept, left] = [await openStage(parts, []), await openStage(parts, [])]
  await kept.enter('service')
  await left.enter('service', ['--import', withoutLog])
  for (const stage of [kept, left]) await warmUp(stage, seconds)
  await awaitLog(kept)
  if ((await entriesBehind(left)) === 0) throw new Error('the service without the log has kept it')
  return { 'with the log': kept, 'without it': left }
}

const behindText = `
  select (select sum(last_entry) from accounts)::float8 - coalesce((select size from log_head), 0)::float8 as behind`

async function entriesBehind({ books }: Stage): Promise<number> {
  const { rows } = await books.client.query<{ behind: number }>(behindText)
  return rows[0]?.behind ?? 0
}

const lookEveryMs = 100
const mostWaitMs = 600_000

async function awaitLog(stage: Stage): Promise<void> {
  const latest = performance.now() + mostWaitMs
  while ((await entriesBehind(stage)) > 0) {
    if (performance.now() > latest) throw new Error('the log does not catch up')
    await sleep(lookEveryMs)
  }
}
