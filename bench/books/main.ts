// `npm run books -- --orders 1000000`: how long the audit and the reconciliation take, and how much memory, on books of
// that size. Starts a PostgreSQL of its own with full durability, fills it, runs the commands as an operator would, and
// prints a table. Exit code 0: measured, and the commands found what they had to find; 1: not; 2: wrong arguments.
import { readArguments, readWholeNumber, WrongArguments } from '../../harness/options.ts'
import { Client } from '../../src/db/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { logLine } from '../report/progress.ts'
import { columnsTable, thousands } from '../report/report.ts'
import { type Line, rowsOf, runCommands, stepNames } from './commands.ts'
import { type Counts, countRows, days, generate } from './generate.ts'
import { startServer } from './server.ts'

const commandLine = {
  options: {
    orders: { type: 'string', default: '1000000' },
    keep: { type: 'boolean', default: false },
  },
  usage: ' (npm run books -- [--orders N] [--keep])',
} as const

/** `keep` leaves the server running and prints its URL, to look at what was generated. */
type Options = { orders: number; keep: boolean }

function readOptions(args: string[]): Options {
  return readArguments(args, commandLine, ({ orders, keep }) => ({
    orders: readWholeNumber('--orders', orders, { least: 1_000, most: 100_000_000 }),
    keep,
  }))
}

async function main(options: Options): Promise<boolean> {
  await using parts = new AsyncDisposableStack()
  const interrupted = Promise.withResolvers<never>()
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      ending.abort()
      interrupted.reject(new Error(`ended by ${signal}`))
    })
  }
  return await Promise.race([run(options, parts, ending.signal), interrupted.promise])
}

async function run(options: Options, parts: AsyncDisposableStack, signal: AbortSignal): Promise<boolean> {
  const { connection, directory } = await startServer(options, parts)
  const client = new Client(connection)
  await client.connect()
  await migrate(client)
  logLine(`Generating ${thousands(options.orders)} orders ...`)
  const startedAt = performance.now()
  await generate(client, options.orders)
  const seconds = (performance.now() - startedAt) / 1_000
  const counts = await countRows(client)
  await client.end()

  const lines: Line[] = [
    { step: 'generate', rows: rowsOf(counts), seconds, peakMegabytes: null, outcome: describe(counts) },
    ...(await runCommands(counts, { connection, directory, signal, steps: stepNames, span: spanOf() })),
  ]
  process.stdout.write(columnsTable(lines, columns))
  return lines.every(({ outcome }) => !outcome.startsWith('FAILED'))
}

/** The generated books, in whole days. */
function spanOf(): { from: string; to: string } {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  return { from: day(days + 1), to: day(-1) }
}

function describe(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${thousands(count)} ${name}`)
    .join(', ')
}

const columns: Record<string, (line: Line) => string> = {
  step: ({ step }) => step,
  rows: ({ rows }) => thousands(rows),
  seconds: ({ seconds }) => seconds.toFixed(1),
  'rows/s': ({ rows, seconds }) => thousands(rows / seconds),
  'peak MB': ({ peakMegabytes }) => peakMegabytes?.toFixed(0) ?? '–',
  outcome: ({ outcome }) => outcome,
}

try {
  process.exitCode = (await main(readOptions(process.argv.slice(2)))) ? 0 : 1
} catch (error) {
  logLine((error as Error).message)
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
