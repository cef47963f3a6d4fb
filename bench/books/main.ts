// `npm run books -- --orders 1000000`: how long the audit and the reconciliation take, and how much memory, on books of
// that size. Starts a PostgreSQL of its own with full durability, fills it, runs the commands as an operator would, and
// prints a table. Exit code 0: measured, and the commands found what they had to find; 1: not; 2: wrong arguments.

import { WrongArguments } from '../../harness/options.ts'
import { Client } from '../../src/db/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Line, rowsOf, runCommands, stepNames } from './commands.ts'
import { type Counts, countRows, days, generate } from './generate.ts'
import { type Options, readOptions } from './options.ts'
import { startServer } from './server.ts'

const thousands = new Intl.NumberFormat('en-US')
const logLine = (text: string) => process.stderr.write(`${text}\n`)

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
  logLine(`Generating ${thousands.format(options.orders)} orders ...`)
  const startedAt = performance.now()
  await generate(client, options.orders)
  const seconds = (performance.now() - startedAt) / 1_000
  const counts = await countRows(client)
  await client.end()

  const lines: Line[] = [
    { step: 'generate', rows: rowsOf(counts), seconds, peakMegabytes: null, outcome: describe(counts) },
    ...(await runCommands(counts, { connection, directory, signal, steps: stepNames, span: spanOf(), logLine })),
  ]
  process.stdout.write(table(lines))
  return lines.every(({ outcome }) => !outcome.startsWith('FAILED'))
}

/** The generated books, in whole days. */
function spanOf(): { from: string; to: string } {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  return { from: day(days + 1), to: day(-1) }
}

function describe(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${thousands.format(count)} ${name}`)
    .join(', ')
}

function table(lines: Line[]): string {
  const head = ['step', 'rows', 'seconds', 'rows/s', 'peak MB', 'outcome']
  const cells = lines.map(({ step, rows, seconds, peakMegabytes, outcome }) => [
    step,
    thousands.format(rows),
    seconds.toFixed(1),
    thousands.format(Math.round(rows / seconds)),
    peakMegabytes === null ? '-' : peakMegabytes.toFixed(0),
    outcome,
  ])
  const widths = head.map((title, column) =>
    Math.max(...[title, ...cells.map((line) => line[column] ?? '')].map((text) => text.length)),
  )
  return [head, ...cells]
    .map((line) =>
      line
        .map((text, column) =>
          column === 0 || column === 5 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

try {
  process.exitCode = (await main(readOptions(process.argv.slice(2)))) ? 0 : 1
} catch (error) {
  logLine((error as Error).message)
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
