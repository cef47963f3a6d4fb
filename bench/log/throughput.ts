// What the log costs requests: the same load on a service whose worker keeps the log and on one whose worker does not, each with
// books of its own, in turns. The log of a side has caught up before the next measurement begins, so that no side pays for the
// other; what it had left to do at the end of a measurement is reported.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { WorkloadName } from '../load/workloads.ts'
import { createProgress, logLine } from '../report/progress.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { measure, warmUp } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { takeTurns } from '../stage/turns.ts'
import { type Measurement, type Side, sides } from './results.ts'

export const workloads: WorkloadName[] = ['spend over many customers', 'confirm']
export const connections = 64
const warmSeconds = 2
const withoutLog = fileURLToPath(new URL('./without-log.ts', import.meta.url))

export type Sides = Record<Side, Stage>

export async function openSides(parts: AsyncDisposableStack, seconds: number): Promise<Sides> {
  const [kept, left] = [await openStage(parts, []), await openStage(parts, [])]
  await kept.enter('service')
  await left.enter('service', ['--import', withoutLog])
  for (const stage of [kept, left]) await warmUp(stage, seconds)
  await awaitLog(kept)
  if ((await entriesBehind(left)) === 0) throw new Error('the service without the log has kept it')
  return { 'with the log': kept, 'without it': left }
}

export async function measureSides(
  stages: Sides,
  { rounds, seconds }: { rounds: number; seconds: number },
  failures: string[],
): Promise<Measurement[]> {
  const steps = takeTurns(rounds, workloads, sides)
  const progress = createProgress(steps.length)
  const measurements: Measurement[] = []
  logLine(`Measuring: ${steps.length} times ${seconds} s, and ${warmSeconds} s to warm up each ...`)
  for (const step of steps) {
    const { round, workload, side } = step
    const stage = stages[side]
    const name = `round ${round}, ${workload}, ${side}`
    try {
      const figures = await measure(stage, 'service', { workload, connections, seconds, warmSeconds })
      const behind = side === 'with the log' ? await entriesBehind(stage) : null
      measurements.push({ ...step, ...figures, behind })
      logLine(progress(`${name}: ${figures.perSecond.toFixed(0)}/s, ${behind ?? '–'} entries not in the log`))
    } catch (error) {
      // A failure does not stop the other measurements.
      if (stage.parts.disposed) throw error
      failures.push(`${name}: ${(error as Error).message}`)
      logLine(progress(`${name}: FAILED: ${(error as Error).message}`))
    }
    if (side === 'with the log') await awaitLog(stage)
    await removeOpenOrders(stage.books)
  }
  return measurements
}

const behindText = `
  select (select sum(last_entry) from accounts)::float8 - coalesce((select size from log_head), 0)::float8 as behind`

async function entriesBehind({ books }: Stage): Promise<number> {
  const { rows } = await books.client.query<{ behind: number }>(behindText)
  return rows[0]?.behind ?? 0
}

const lookEveryMs = 100
const mostWaitMs = 600_000

export async function awaitLog(stage: Stage): Promise<void> {
  const latest = performance.now() + mostWaitMs
  while ((await entriesBehind(stage)) > 0) {
    if (performance.now() > latest) throw new Error('the log does not catch up')
    await sleep(lookEveryMs)
  }
}
