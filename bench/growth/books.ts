// The big books; and beside them, in databases of their own, books that commands can read whole in minutes: large ones,
// and a quarter of those. Generated, or kept by an earlier run.
import { rmSync } from 'node:fs'
import type pg from 'pg'
import type { EmbeddedServer } from '../../src/db/embedded/server.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Line, runCommands, type StepName } from '../books/commands.ts'
import { type Counts, countRows, generate } from '../books/generate.ts'
import { type BooksServer, newDirectory, startServer } from '../books/server.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { thousands } from '../report/report.ts'
import { connectTo } from '../stage/books.ts'

type Connection = EmbeddedServer['connection']

export type BigBooks = { client: pg.Client; connection: Connection; counts: Counts; generatedSeconds: number | null }
export type Sizes = { server: BooksServer; full: BigBooks; large: BigBooks; small: BigBooks }

/** The size of existing books is counted. */
export async function openFull(
  parts: AsyncDisposableStack,
  { orders, keep, books }: Options,
): Promise<Pick<Sizes, 'server' | 'full'>> {
  const server = await (books === undefined ? startServer({ keep }, parts) : findServer(parts, books))
  return { server, full: await openBooks(parts, server.connection, books === undefined ? orders : null) }
}

export async function openSizes(parts: AsyncDisposableStack, options: Options): Promise<Sizes> {
  const { server, full } = await openFull(parts, options)
  const { linear } = options
  const beside = async (size: number) => {
    const database = `books_of_${size}`
    await provideDatabase(full.client, database)
    return openBooks(parts, { ...server.connection, database }, size)
  }
  return { server, full, large: await beside(linear), small: await beside(Math.floor(linear / 4)) }
}

/** The URL that `--keep` printed, as a connection: only a server of this machine, whose processes can be measured. */
function connectionOf(url: string): Connection {
  const { pathname, searchParams, hostname, port, username, password } = new URL(url)
  const of = (name: string, otherwise: string) => searchParams.get(name) ?? decodeURIComponent(otherwise)
  return {
    host: of('host', hostname),
    port: Number(of('port', port || '5432')),
    database: pathname.slice(1),
    user: of('user', username),
    password: of('password', password),
  }
}

/** Existing books stay. The directory of the processes is removed. */
async function findServer(parts: AsyncDisposableStack, url: string): Promise<BooksServer> {
  const connection = connectionOf(url)
  const directory = newDirectory()
  parts.defer(() => rmSync(directory, { recursive: true, force: true }))
  const client = await connectTo({ connection }, parts)
  const { rows } = await client.query<{ place: string; generated: boolean }>(
    `select current_setting('data_directory') as place, to_regclass('standin.movements') is not null as generated`,
  )
  if (!rows[0]?.generated) throw new Error(`--books: no books were generated at ${url}`)
  return { connection, directory, dataDirectory: rows[0].place }
}

async function provideDatabase(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
  if (rowCount === 0) await client.query(`create database ${name}`)
}

/** The seconds it took to generate that many orders; null where they exist already. */
async function openBooks(
  parts: AsyncDisposableStack,
  connection: Connection,
  orders: number | null,
): Promise<BigBooks> {
  const client = await connectTo({ connection }, parts)
  await migrate(client)
  const generatedSeconds = orders === null ? null : await generateOnce(client, orders)
  const counts = await countRows(client)
  logLine(`Books of ${thousands(counts.orders)} orders and ${thousands(counts.entries)} ledger entries.`)
  return { client, connection, counts, generatedSeconds }
}

async function generateOnce(client: pg.Client, orders: number): Promise<number | null> {
  const { rows } = await client.query<{ generated: boolean; begun: boolean }>(
    `select to_regclass('standin.movements') is not null as generated, to_regclass('draft') is not null as begun`,
  )
  if (rows[0]?.begun) throw new Error('the generation of these books was interrupted: start over without --books')
  if (rows[0]?.generated) return null
  logLine(`Generating ${thousands(orders)} orders ...`)
  const startedAt = performance.now()
  const took = () => (performance.now() - startedAt) / 1_000
  await generate(client, orders, { onStep: (step) => logLine(`  ${took().toFixed(0)} s: ${step}`) })
  return took()
}

const spanText = `
  select to_char(min(moved_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "from",
         to_char(max(moved_at) at time zone 'UTC' + interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "to",
         exists (select from reconciliations) as reconciled
  from standin.movements`

/**
 * Only what was generated is reconciled: the list of movements does not have the payments of an earlier measurement.
 * The first reconciliation stores the movements, so it is measured apart from those after it.
 */
export async function runOn(books: BigBooks, { directory }: BooksServer, signal: AbortSignal): Promise<Line[]> {
  const { rows } = await books.client.query<{ from: string; to: string; reconciled: boolean }>(spanText)
  const { from = '', to = '', reconciled = false } = rows[0] ?? {}
  const steps: StepName[] = reconciled ? ['audit', 'reconcile again'] : ['audit', 'reconcile', 'reconcile again']
  const { counts, connection } = books
  return await runCommands(counts, { connection, directory, steps, span: { from, to }, signal })
}
