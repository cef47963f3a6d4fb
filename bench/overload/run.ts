// Three times the load of the peak: whether throughput stays while the rest waits, and payers are served beside readers who
// wait.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metered } from '../load/meter.ts'
import type { Options } from '../options.ts'
import { writeJson } from '../report/json.ts'
import { createProgress, logLine } from '../report/progress.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { beginLoad, warmUp } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { overloaded, type Play, planOf, type Step } from './plan.ts'
import { plotOf, type Results, tablesOf } from './report.ts'
import { judge, linesOf, type Taken, workOf } from './summary.ts'

/** Until all connections are open, and what waits longest has waited. */
const warmSeconds = 2

export async function runOverload(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway and the service ...')
  const stage = await openStage(parts, ['service'])
  await warmUp(stage, options.seconds)
  const { seconds, rounds } = options
  const workloads = overloaded.filter((name) => options.workloads.includes(name))
  const steps = planOf({ rounds, workloads })
  const progress = createProgress(steps.length)
  const taken: Taken[] = []
  const failures: Results['failures'] = []
  for (const step of steps) {
    const { round, subject, phase } = step
    const noted = { round, subject, phase, connections: step.play.connections }
    const outcome = await take(stage, step, seconds).then(
      (figures) => {
        taken.push({ ...noted, ...figures })
        const work = workOf({ subject, measured: figures.measured }).toFixed(0)
        return `${work}/s, ${figures.measured.refused.count} refused`
      },
      (error: Error) => {
        if (parts.disposed) throw error
        failures.push({ ...noted, reason: error.message })
        return `FAILED: ${error.message}`
      },
    )
    logLine(progress(`round ${round}, ${subject}, ${phase}, ${noted.connections} connections: ${outcome}`))
    await removeOpenOrders(stage.books)
  }
  const results: Results = {
    machine: await machineOf(stage),
    options: { seconds, rounds, workloads },
    targets: judge(taken),
    lines: linesOf(taken),
    taken,
    failures,
  }
  writeJson(options.out, 'overload', results, ['taken'])
  if (results.lines.length > 0) writeFileSync(join(options.out, 'overload.svg'), plotOf(results))
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${options.out}: overload.json, overload.svg`)
  return failures.length === 0
}

async function take(
  stage: Stage,
  { play, besides }: Step,
  seconds: number,
): Promise<Pick<Taken, 'measured' | 'besides'>> {
  const both = [play, ...(besides ? [besides] : [])].map((each) => measureOne(stage, each, seconds))
  // Both have ended, even if one fails.
  await Promise.allSettled(both)
  const [measured, second] = await Promise.all(both)
  return { measured: measured as Metered, ...(second && { besides: second }) }
}

async function measureOne(stage: Stage, play: Play, seconds: number): Promise<Metered> {
  const load = await beginLoad(stage, 'service', { ...play, seconds, warmSeconds })
  try {
    await load.measuring()
    return await load.measured()
  } finally {
    await load.finished()
  }
}
