// How the service performs on big books: the same load on new books and on big ones, side by side; and the commands
// that read whole books, on large ones beside a quarter of them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Line } from '../books/commands.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { publish } from '../report/report.ts'
import { type Books, fill } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { warmUp } from '../stage/measure.ts'
import { measureSides } from '../stage/sides.ts'
import { customersOfStage, openStage, type Stage } from '../stage/stage.ts'
import { type BigBooks, openSizes, runOn, type Sizes } from './books.ts'
import { type Measured, reportOf, type Side, type Size } from './report.ts'
import { busiestCustomer, type Reading, readStatement } from './statement.ts'

const workloads: WorkloadName[] = ['purchase', 'confirm', 'balance', 'spend over many customers']
const warmSeconds = 1

export async function runGrowth(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const { seconds, rounds, out } = options
  const sizes = await openSizes(parts, options)
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
  for (const stage of Object.values(stages)) await warmUp(stage, seconds)
  const taken = await measureSides(stages, { rounds, seconds, warmSeconds, workloads }, async () => ({}))
  failures.push(...taken.failures)
  const small = await openStage(parts, ['service'], await playableOf(sizes, 'small'), withoutWorker)
  const sizeOf = ({ counts, generatedSeconds }: BigBooks, lines: Line[]) => ({
    counts,
    generatedSeconds,
    commands: lines,
  })
  const measured: Measured = {
    books: {
      full: sizeOf(sizes.full, []),
      large: sizeOf(sizes.large, commands.large),
      small: sizeOf(sizes.small, commands.small),
    },
    measurements: taken.measurements,
    readings: {
      small: await readAll(small, 'small', rounds, failures),
      full: await readAll(stages.full, 'full', rounds, failures),
    },
  }
  const report = { machine: await machineOf(stages.full), ...reportOf(measured, options), failures }
  return publish(out, 'growth', report, measured)
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
