// `npm run books -- --orders 1000000`: how long the audit and the reconciliation take, and how much memory, on books of
// that size. Starts a PostgreSQL of its own with full durability, fills it, runs the commands as an operator would, and
// prints a table. Exit code 0: measured, and the commands found what they had to; 1: not so; 2: wrong arguments.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { databaseUrl } from '../../test/support/processes.ts'
import { type Counts, countRows, days, generate } from './generate.ts'
import { type Measured, measure } from './measure.ts'
import { type Options, readOptions, WrongArguments } from './options.ts'
import { type StandIn, startStandIn } from './stand-in.ts'

type Line = { step: string; rows: number; seconds: number; peakMegabytes: number | null; outcome: string }

const thousands = new Intl.NumberFormat('en-US')
const say = (text: string) => process.stderr.write(`${text}\n`)

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
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'prepaid-credits-books-'))
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  const connection = await startServer(options, parts, directory)
  const client = new pg.Client(connection)
  client.on('error', () => undefined)
  await client.connect()
  await migrate(client)
  say(`Generating ${thousands.format(options.orders)} orders ...`)
  const startedAt = performance.now()
  await generate(client, options.orders)
  const seconds = (performance.now() - startedAt) / 1_000
  const counts = await countRows(client)
  await client.end()

  const standIn = await startStandIn(connection)
  parts.defer(standIn.close)
  const lines: Line[] = [
    { step: 'generate', rows: rowsOf(counts), seconds, peakMegabytes: null, outcome: describe(counts) },
    ...(await runCommands(counts, { connection, directory, standIn, signal })),
  ]
  process.stdout.write(table(lines))
  return lines.every(({ outcome }) => !outcome.startsWith('FAILED'))
}

type Connection = EmbeddedServer['connection']

async function startServer(options: Options, parts: AsyncDisposableStack, directory: string): Promise<Connection> {
  const server = await startEmbedded({ dataDir: join(directory, 'data') })
  if (options.keep) {
    say(`The books stay at ${databaseUrl(server.connection)}`)
    return server.connection
  }
  parts.defer(async () => {
    await server.stop()
    // As root the cluster may lie outside of our directory.
    for (const place of [dirname(server.dataDirectory), directory]) {
      rmSync(place, { recursive: true, force: true, maxRetries: 3 })
    }
  })
  return server.connection
}

type Setting = { connection: Connection; directory: string; standIn: StandIn; signal: AbortSignal }

async function runCommands(counts: Counts, setting: Setting): Promise<Line[]> {
  const { connection, directory, standIn, signal } = setting
  const environment = {
    DATABASE_URL: databaseUrl(connection),
    DATA_DIR: join(directory, 'command'),
    GATEWAY: 'toss',
    TOSS_API_URL: standIn.url,
    TOSS_CLIENT_KEY: 'test_ck_of_the_stand_in',
    TOSS_SECRET_KEY: 'test_sk_of_the_stand_in',
    KEY_PEPPER: 'a pepper for this measurement',
  }
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  const reconcile = ['reconcile', '--from', day(days + 1), '--to', day(-1), '--json']
  const lines: Line[] = []
  for (const { step, args, rows } of [
    { step: 'audit', args: ['audit', '--json'], rows: rowsOf(counts) },
    { step: 'reconcile', args: reconcile, rows: counts.movements },
    { step: 'reconcile again', args: reconcile, rows: counts.movements },
    { step: 'audit again', args: ['audit', '--json'], rows: rowsOf(counts) },
  ]) {
    say(`Running ${args.join(' ')} ...`)
    const measured = await measure(args, environment, signal)
    const { seconds, peakMegabytes } = measured
    lines.push({ step, rows, seconds, peakMegabytes, outcome: outcomeOf(measured) })
  }
  const { pages, payments } = standIn.requests
  say(`The gateway was asked for ${thousands.format(pages)} pages and ${thousands.format(payments)} payments.`)
  return lines
}

/** The result without its lists: the figures say enough in a table. */
function outcomeOf({ code, stdout, stderr }: Measured): string {
  if (code === 2) return `FAILED: ${stderr.split('\n')[0]}`
  try {
    const result = Object.entries(JSON.parse(stdout) as object).filter(([, value]) => !Array.isArray(value))
    return `exit ${code}, ${JSON.stringify(Object.fromEntries(result))}`
  } catch {
    return `FAILED: exit ${code}, ${(stderr || stdout).trim().split('\n').at(-1)}`
  }
}

function rowsOf({ customers, orders, entries, operations, holds, events }: Counts): number {
  return customers + orders + entries + operations + holds + events
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
  say((error as Error).message)
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
