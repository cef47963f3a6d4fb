// How the service performs on big books: the same load on new books and on big ones, side by side; and the commands
// that read whole books, on large ones beside a quarter of them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Line } from '../books/commands.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { writeJson } from '../report/json.ts'
import { createProgress, logLine } from '../report/progress.ts'
import { type Books, fill, removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { measure, warmUp } from '../stage/measure.ts'
import { customersOfStage, openStage, type Stage } from '../stage/stage.ts'
import { takeTurns } from '../stage/turns.ts'
import { type BigBooks, openSizes, runOn, type Sizes } from './books.ts'
import { type Measurement, plotOf, type Results, type Side, type Size, sides, tablesOf } from './results.ts'
import { busiestCustomer, type Reading, readStatement } from './statement.ts'

const workloads: WorkloadName[] = ['purchase', 'confirm', 'balance', 'spend over many customers']
const connections = 64
const warmSeconds = 1

export async function runGrowth(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  if (!options.big) throw new Error('the size of the books is missing')
  const sizes = await openSizes(parts, options.big)
  // Before the load: the gateway's list does not have the payments of the load.
  const commands = await runAll(parts, sizes)
  const failures = Object.values(commands).flatMap((lines) =>
    lines.filter(({ outcome }) => outcome.startsWith('FAILED')).map(({ step, outcome }) => `${step}: ${outcome}`),
  )
  logLine('Starting the gateway and the service, on new books and on the big ones ...')
  const stages: Record<Side, Stage> = {
    empty: await openStage(parts, ['service'], undefined, withoutWorker),
    full: await openStage(parts, ['service'], await playableOf(sizes, 'full'), withoutWorker),
  }
  for (const side of sides) await warmUp(stages[side], options.seconds)
  const measurements = await measureAll(stages, options, failures)
  const small = await openStage(parts, ['service'], await playableOf(sizes, 'small'), withoutWorker)
  const readings = {
    small: await readAll(small, 'small', options.rounds, failures),
    full: await readAll(stages.full, 'full', options.rounds, failures),
  }
  const { seconds, rounds } = options
  const sizeOf = ({ counts, generatedSeconds }: BigBooks, lines: Line[]) => ({
    counts,
    generatedSeconds,
    commands: lines,
  })
  const results: Results = {
    machine: await machineOf(stages.full),
    options: { seconds, rounds, connections },
    books: {
      full: sizeOf(sizes.full, []),
      large: sizeOf(sizes.large, commands.large),
      small: sizeOf(sizes.small, commands.small),
    },
    measurements,
    readings,
    failures,
  }
  writeJson(options.out, 'growth', results)
  const plot = plotOf(results)
  if (plot) writeFileSync(join(options.out, 'growth-ratios.svg'), plot)
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${options.out}: growth.json${plot ? ', growth-ratios.svg' : ''}`)
  return failures.length === 0
}

async function runAll(parts: AsyncDisposableStack, sizes: Sizes): Promise<Record<'small' | 'large', Line[]>> {
  const ending = new AbortController()
  parts.defer(() => ending.abort())
  const run = (books: BigBooks) => runOn(books, sizes.server, ending.signal)
  return { small: await run(sizes.small), large: await run(sizes.large) }
}

/** Pending orders of generated books are older than a day: a worker would expire them during the load. */
const withoutWorker = { WORKER: 'off' }

/** With customers for a load. */
async function playableOf({ server, ...sizes }: Sizes, size: Size): Promise<Books> {
  const { client, connection } = sizes[size]
  const { dataDirectory } = server
  const directory = join(server.directory, size)
  mkdirSync(directory, { recursive: true })
  return { directory, server: { connection, dataDirectory }, client, ...(await fill(client, customersOfStage)) }
}

async function measureAll(
  stages: Record<Side, Stage>,
  { rounds, seconds }: Options,
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
      measurements.push({ ...step, ...figures })
      logLine(progress(`${name}: ${figures.perSecond.toFixed(0)}/s, p99 ${figures.p99Ms.toFixed(2)} ms`))
    } catch (error) {
      // A failure does not stop the other measurements.
      if (stage.parts.disposed) throw error
      failures.push(`${name}: ${(error as Error).message}`)
      logLine(progress(`${name}: FAILED: ${(error as Error).message}`))
    }
    await removeOpenOrders(stage.books)
  }
  return measurements
}

async function readAll(stage: Stage, size: Size, rounds: number, failures: string[]): Promise<Reading[]> {
  const customerId = await busiestCustomer(stage.books.client)
  logLine(`Reading the statement of the customer with the most entries, ${size} ...`)
  const readings: Reading[] = []
  try {
    // Read once before: the first pages would pay for cold caches.
    for (let round = 0; round <= rounds; round += 1) readings.push(await readStatement(stage, customerId))
  } catch (error) {
    if (stage.parts.disposed) throw error
    failures.push(`statement, ${size}: ${(error as Error).message}`)
  }
  return readings.slice(1)
}
