// The campaign's own PostgreSQL: a real server with fsync on, from the npm binaries, in the campaign's directory. It
// can be crashed (an immediate shutdown without a checkpoint) and started again at the same address.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { queryEveryGroup, queryOrEveryGroup } from '../../harness/citus/every-group.ts'
import { clusterOf, databaseUrl } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { connectWorkers } from '../../src/db/cluster/cluster.ts'
import { Client, type Standbys } from '../../src/db/connect.ts'
import { findPostmaster, isAlive, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { serviceLogin } from '../../src/db/embedded/role.ts'
import { startEmbedded } from '../../src/db/embedded/server.ts'
import { prepare } from '../../src/db/prepare.ts'
import { repeatWhileAway } from '../../src/db/primary.ts'

const crashLimitMs = 20_000

/** One server can be crashed. */
export type Server = Postgres & {
  kind: 'server'
  /** Returns when it serves again. */
  crash(): Promise<void>
}

/** What the campaign needs of its database, whether it is one server or a cluster. */
export type Postgres = {
  /** While a fault has it. */
  busy: boolean
  /** For a line of the log. */
  description: string
  /** Customers are on several servers. */
  isSpread: boolean
  /** The name shows in pg_stat_activity which sessions are the campaign's own. */
  urlFor(applicationName: string): string
  /** As the role of the services, with its rights only. */
  servingUrlFor(applicationName: string): string
  ownerPassword: string
  servingPassword: string
  /** Whether commits wait for one. */
  standbys: Standbys
  prepare(): Promise<unknown>
  stop(): Promise<void>
  /** For a process that is about to exit. */
  endNow(): void
  remove(): void
}

/** One that survives the loss of its primary. */
export type Replicated = Postgres & {
  /** When the primary was lost, and when the cluster was complete again: times of the monotonic clock. */
  outages: { kind: string; fromMs: number; toMs: number }[]
  /** For so long the lost primary may still be the primary. */
  leaseSeconds: number
  /** The largest difference between the clocks of two nodes. */
  clockSpreadMs: number
}

export const isReplicated = (postgres: Postgres): postgres is Replicated => 'outages' in postgres

export async function startPostgres(directory: string): Promise<Server> {
  const dataDir = join(directory, 'postgres')
  const server = await startEmbedded({ dataDir })
  const serving = { ...server.connection, ...serviceLogin(dataDir) }
  let crashing: Promise<unknown> = Promise.resolve()
  let wanted = true
  const postmasterId = () => findPostmaster(server.dataDirectory)?.pid

  async function crashAndStart(): Promise<void> {
    const pid = postmasterId()
    if (pid !== undefined) {
      process.kill(pid, 'SIGQUIT')
      await until('the database server is gone', () => !isAlive(pid), crashLimitMs)
    }
    if (wanted) await startEmbedded({ dataDir })
  }

  return {
    kind: 'server',
    busy: false,
    description: 'a database',
    isSpread: false,
    urlFor: (applicationName: string) => `${databaseUrl(server.connection)}&application_name=${applicationName}`,
    servingUrlFor: (applicationName: string) => `${databaseUrl(serving)}&application_name=${applicationName}`,
    ownerPassword: server.connection.password,
    servingPassword: serving.password,
    standbys: 'optional',
    prepare: () => prepare({ place: 'of the campaign', owner: server.connection, serving, embedded: serving }),
    async crash(): Promise<void> {
      crashing = crashAndStart()
      await crashing
    },
    /** Waits for a crash under way, which would start it again. */
    async stop(): Promise<void> {
      wanted = false
      await crashing.catch(() => undefined)
      await stopPostmaster(server.dataDirectory)
    },
    endNow(): void {
      const pid = postmasterId()
      if (pid !== undefined) process.kill(pid, 'SIGQUIT')
    },
    /** As root the cluster may lie outside of this directory, and its socket where the path would be too long. */
    remove(): void {
      const home = dirname(clusterOf(dataDir))
      for (const path of home === dataDir ? [server.connection.host] : [server.connection.host, home])
        rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Reads the books for the checks. */
export type Books = {
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Where customers are on several servers, in each group of them. */
  queryEach<Row extends object>(text: string): Promise<Row[]>
}

export type CampaignBooks = Awaited<ReturnType<typeof openBooks>>

/** The connection may be one that a fault has ended; what is asked is harmless when it is repeated. */
const patiently = <Value>(read: () => Promise<Value>) =>
  repeatWhileAway('of the campaign', { databaseWaitMs: 30_000 }, read)

/** The campaign's own connection. A lost one is an error of the query, never of the process. */
export async function openBooks(postgres: Postgres) {
  const { isSpread } = postgres
  const connectionString = postgres.urlFor('chaos')
  const pool = new pg.Pool({
    Client,
    connectionString,
    max: 4,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 60_000,
  })
  pool.on('error', () => undefined)
  if (isSpread) await connectWorkers(pool, { connection: { connectionString }, maxConnections: 2, log: silentLog })
  return {
    pool,
    query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      return patiently(async () =>
        isSpread ? queryOrEveryGroup<Row>(pool, text, values) : (await pool.query(text, values)).rows,
      )
    },
    queryEach<Row extends object>(text: string): Promise<Row[]> {
      return patiently(async () => (isSpread ? queryEveryGroup<Row>(pool, text) : (await pool.query(text)).rows))
    },
    close: () => pool.end(),
  }
}
