// The workloads: each on the service, on the bare routes and on the naive twin, side by side, round by round.
import { createPlainInsert } from '../ceilings/plain-insert.ts'
import type { Options } from '../options.ts'
import { createProgress, logLine } from '../report/progress.ts'
import { counted, percent } from '../report/table.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { measure, warmUp } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { planOf, type Step } from './plan.ts'
import { writePlots } from './plots.ts'
import { type Results, readResults, writeResults } from './results.ts'
import { summarise } from './summary.ts'
import { tablesOf } from './tables.ts'
import { judge } from './targets.ts'

const warmSeconds = 1

type Measured = Pick<Results, 'plainInsertBy' | 'measurements' | 'plainInserts' | 'failures'>

export async function runWorkloads(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway, the service, the bare routes and the naive twin ...')
  const stage = await openStage(parts)
  await warmUp(stage, options.seconds)
  const measured = await measureAll(stage, options)
  const summaries = summarise(measured.measurements, measured.plainInserts)
  const { seconds, rounds, connections, workloads } = options
  writeResults(options.out, {
    machine: await machineOf(stage),
    options: { seconds, rounds, connections, workloads },
    stolen: Math.max(0, ...measured.measurements.map(({ stolen }) => stolen)),
    targets: judge(summaries),
    summaries,
    ...measured,
  })
  const results = readResults(options.out)
  const files = writePlots(options.out, results)
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${options.out}: workloads.json, ${files.join(', ')}`)
  return measured.failures.length === 0
}

async function measureAll(stage: Stage, options: Options): Promise<Measured> {
  const plainInsert = createPlainInsert(stage, options)
  const measured: Measured = { plainInsertBy: plainInsert.by, measurements: [], plainInserts: [], failures: [] }
  const steps = planOf(options)
  const progress = createProgress(steps.length)
  logLine(`Measuring: ${steps.length} times ${options.seconds} s, and ${warmSeconds} s to warm up each ...`)

  async function take({ contender, ...step }: Step): Promise<string> {
    const { round, connections, workload } = step
    if (contender === 'plain insert') {
      const perSecond = await plainInsert.measure(options.seconds, warmSeconds)
      measured.plainInserts.push({ round, connections, perSecond })
      return `${perSecond.toFixed(0)}/s (${plainInsert.by})`
    }
    const wanted = { workload, connections, seconds: options.seconds, warmSeconds }
    const figures = await measure(stage, contender, wanted)
    measured.measurements.push({ ...step, contender, ...figures })
    return `${figures.perSecond.toFixed(0)}/s, p50 ${figures.p50Ms.toFixed(2)} ms, p99 ${figures.p99Ms.toFixed(2)} ms, stolen ${percent(figures.stolen)}`
  }

  /** A failure does not stop the other measurements. */
  async function takeOrNote(step: Step): Promise<string> {
    try {
      return await take(step)
    } catch (error) {
      if (stage.parts.disposed) throw error
      const reason = (error as Error).message
      measured.failures.push({ ...step, reason })
      return `FAILED: ${reason}`
    }
  }

  for (const step of steps) {
    const outcome = await takeOrNote(step)
    const { round, connections, workload, contender } = step
    const name = `round ${round}, ${counted(connections, 'connection')}, ${workload}, ${contender}`
    logLine(progress(`${name}: ${outcome}`))
    await removeOpenOrders(stage.books)
  }
  return measured
}
