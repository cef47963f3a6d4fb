// `npm run spends`: how many credits-spends a second the internal API serves, over many customers and on one hot customer,
// shared statements beside one statement per request. Starts a PostgreSQL of its own with full durability, the listener
// and the load in processes of their own. Figures are ratios within a round; rounds are repeated, and the median is told.
// Exit code 0: measured, and the books are right afterwards; 1: not so; 2: wrong arguments.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, createPool, type Database, statement } from '../../src/db/database.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { LoadInput, LoadOutput } from './load.ts'
import { type Options, readOptions, WrongArguments } from './options.ts'
import type { ServerInput } from './server.ts'

const pepper = 'a pepper for this measurement'
const log = { warn: () => undefined, error: () => undefined }
const ways = ['shared', 'one by one'] as const
const workloads = ['many customers', 'one hot customer'] as const
type Way = (typeof ways)[number]
type Workload = (typeof workloads)[number]
type Measured = {
  way: Way
  workload: Workload
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Of the listener's process, for one spend. */
  cpuMicroseconds: number
  /** With those that warmed it up. */
  acknowledged: number
}

const say = (text: string) => process.stderr.write(`${text}\n`)
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

async function main(options: Options): Promise<boolean> {
  await using parts = new AsyncDisposableStack()
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'prepaid-credits-spends-'))
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  const server = await startEmbedded({ dataDir: join(directory, 'data') })
  parts.defer(async () => {
    await server.stop()
    for (const place of [dirname(server.dataDirectory), directory]) rmSync(place, { recursive: true, force: true })
  })
  const customerIds = await fill(server, options.customers)
  const pool = createPool({ connection: server.connection, maxConnections: 4, log })
  parts.defer(() => pool.end())
  const database = createDatabase(pool, log)
  const { token } = await issueToken(database, [{ version: 1, secret: pepper }], 'bench')

  const measured: Measured[] = []
  for (let round = 1; round <= options.rounds; round += 1) {
    // The other way round every other time: what the first leaves behind falls on both.
    for (const way of round % 2 === 1 ? ways : ways.toReversed()) {
      for (const workload of workloads) {
        say(`Round ${round} of ${options.rounds}: ${workload}, ${way} ...`)
        const chosen = workload === 'many customers' ? customerIds : customerIds.slice(0, 1)
        measured.push({ way, workload, ...(await measure({ way, token, customerIds: chosen }, server, options)) })
      }
    }
  }
  process.stdout.write(table(measured, options))
  return await areBooksRight(
    database,
    measured.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
  )
}

/** Customers with more credits than anybody can spend meanwhile, granted by one entry each. */
async function fill({ connection }: EmbeddedServer, customers: number): Promise<string[]> {
  const client = new pg.Client(connection)
  await client.connect()
  await migrate(client)
  const { rows } = await client.query<{ customerId: string }>(fillText, [customers])
  await client.query('vacuum analyze')
  await client.end()
  return rows.map((row) => row.customerId)
}

const fillText = `
  with customer as (
    insert into customers (customer_id) select gen_random_uuid() from generate_series(1, $1::int) returning customer_id
  ),
  filled as (
    select customer_id, 1000000000 as credits,
           ledger_entry_hash('', customer_id, 1, 'GRANT', 1000000000, 1000000000, 'filled', null, now(), 0, 0, null, null)
             as entry_hash
    from customer
  ),
  account as (
    insert into accounts (customer_id, balance, last_entry, last_hash, moved_at)
    select customer_id, credits, 1, entry_hash, now() from filled
  )
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, created_at, held_delta,
                              held_after, entry_hash)
  select customer_id, 1, 'GRANT', credits, credits, 'filled', now(), 0, 0, entry_hash from filled
  returning customer_id as "customerId"`

/** Every spend that was acknowledged is an entry, no other is, and every account is the sum of its ledger. */
async function areBooksRight(database: Database, acknowledged: number): Promise<boolean> {
  const [row] = await database.run<{ spends: number; wrong: number }>(sumBooksStatement)
  say(
    `${acknowledged} spends were acknowledged, the ledger has ${row?.spends}; accounts that are wrong: ${row?.wrong}.`,
  )
  return row?.spends === acknowledged && row.wrong === 0
}

const sumBooksStatement = statement(
  'bench.sumBooks',
  `select coalesce(sum(entries) - count(*), 0)::bigint as "spends",
          count(*) filter (where (balance, last_entry) is distinct from (summed, entries)) as "wrong"
  from accounts
  left join (select customer_id, sum(delta) as summed, count(*) as entries from ledger_entries group by customer_id) e
    using (customer_id)`,
)

async function measure(
  { way, token, customerIds }: { way: Way; token: string; customerIds: string[] },
  { connection }: EmbeddedServer,
  { connections, seconds }: Options,
): Promise<Omit<Measured, 'way' | 'workload'>> {
  const server = start<ServerInput>('./server.ts', { way, connection, pepper })
  try {
    const { url } = await answerOf<{ url: string }>(server)
    const warm = await loadOnce({ url, token, customerIds, connections, seconds: 1 })
    const before = await usage(server)
    const load = await loadOnce({ url, token, customerIds, connections, seconds })
    const [failed] = [...warm.failed, ...load.failed]
    if (failed) throw new Error(`a spend was answered with ${failed}`)
    const { spends, p50Ms, p99Ms } = load
    return {
      ...{ perSecond: spends / load.seconds, p50Ms, p99Ms, acknowledged: warm.spends + spends },
      cpuMicroseconds: ((await usage(server)) - before) / spends,
    }
  } finally {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
}

function start<Input>(file: string, input: Input): ChildProcess {
  return fork(here(file), [JSON.stringify(input)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

async function answerOf<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`a process ended with ${code}`)))
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message as Message
}

async function loadOnce(input: LoadInput): Promise<LoadOutput> {
  return answerOf<LoadOutput>(start('./load.ts', input))
}

async function usage(server: ChildProcess): Promise<number> {
  server.send('usage')
  return (await answerOf<{ cpuMicroseconds: number }>(server)).cpuMicroseconds
}

function table(measured: Measured[], { connections, rounds, seconds }: Options): string {
  const lines = [
    `Spends a second, ${connections} connections, median of ${rounds} rounds of ${seconds} s (least to most).`,
  ]
  lines.push(
    '',
    '| workload | shared | one by one | ratio | p50 | p99 | processor time |',
    '|---|---|---|---|---|---|---|',
  )
  for (const workload of workloads) {
    const of = (way: Way) => measured.filter((each) => each.way === way && each.workload === workload)
    const [shared, single] = [of('shared'), of('one by one')]
    const ratios = shared.map((each, round) => each.perSecond / (single[round]?.perSecond ?? Number.NaN))
    const both = (pick: (each: Measured) => number, unit: string) =>
      `${median(shared.map(pick)).toFixed(1)} / ${median(single.map(pick)).toFixed(1)} ${unit}`
    lines.push(
      `| ${workload} | ${spread(shared.map((each) => each.perSecond))} | ${spread(single.map((each) => each.perSecond))} ` +
        `| ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}) ` +
        `| ${both((each) => each.p50Ms, 'ms')} | ${both((each) => each.p99Ms, 'ms')} ` +
        `| ${both((each) => each.cpuMicroseconds, 'µs')} |`,
    )
  }
  return `${lines.join('\n')}\n`
}

function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

function spread(values: number[]): string {
  return `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`
}

try {
  process.exitCode = (await main(readOptions(process.argv.slice(2)))) ? 0 : 1
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
