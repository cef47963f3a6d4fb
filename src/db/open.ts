// Brings up the database a process works with: the one at DATABASE_URL, or the embedded one in DATA_DIR, with all
// migrations applied. Used by the service and by the command line, which also works while no service runs.
import pg from 'pg'
import { createDatabase, createPool, type Database, type Log, type PoolSettings } from './database.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { openDataDir } from './embedded-location.ts'
import { joinUsers, lockDataDirectory } from './embedded-lock.ts'
import { migrate } from './migrate.ts'

export type OpenDatabase = {
  /** For what walks over many rows: the worker, the commands. */
  database: Database
  /** For requests: connections that nothing else can take up, and statements that are planned once. */
  requestDatabase: Database
  /** Where it is, for people. */
  place: string
  close(): Promise<void>
}

/** Of the connections of a service: the worker's, and those of deliveries. */
const shareOfOthers = 0.4

/** Each attempt that fails has met a server on its way down. */
const maxJoinAttempts = 5

export type OpenOptions = {
  databaseUrl: string | undefined
  dataDir: string
  databaseConnections: number
  /** The service owns its data directory and stops the embedded server; a command borrows it. */
  use: 'service' | 'command'
  log: Log
}

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { databaseUrl } = options
  if (databaseUrl) {
    const connection = { connectionString: databaseUrl }
    const opened = await connectTo(options, connection, placeOf(databaseUrl), async () => undefined)
    openDataDir(options.dataDir)
    return opened
  }
  const dataDir = openDataDir(options.dataDir)
  const { server, users } = await startAndJoin(dataDir)
  const leave = options.use === 'service' ? await own(server, users, dataDir, options.log) : users.leave
  return connectTo(options, server.connection, server.dataDirectory, leave)
}

type Users = Awaited<ReturnType<typeof joinUsers>>

/** The last user of a server may be stopping it while we arrive: then it is started again. */
async function startAndJoin(dataDir: string, attempt = 1): Promise<{ server: EmbeddedServer; users: Users }> {
  const server = await startEmbedded({ dataDir })
  try {
    return { server, users: await joinUsers(server) }
  } catch (error) {
    if (attempt === maxJoinAttempts) throw error
    return startAndJoin(dataDir, attempt + 1)
  }
}

/** The service owns the directory: it stops the server, whoever uses it. */
async function own(server: EmbeddedServer, users: Users, dataDir: string, log: Log): Promise<() => Promise<void>> {
  try {
    // Two services on one database harm nothing but each other's stop; it is for a person to end one of them.
    const lock = await lockDataDirectory(server, dataDir, (error) => log.error({ dataDir }, error.message))
    return async () => {
      await server.stop()
      await lock.release()
      await users.leave()
    }
  } catch (error) {
    await users.leave()
    throw error
  }
}

async function connectTo(
  { use, databaseConnections, log }: OpenOptions,
  connection: PoolSettings['connection'],
  place: string,
  leave: () => Promise<void>,
): Promise<OpenDatabase> {
  try {
    await applyMigrations(connection, place)
  } catch (error) {
    await leave()
    throw error
  }
  const others = use === 'service' ? Math.max(1, Math.floor(databaseConnections * shareOfOthers)) : databaseConnections
  const forRequests = use === 'service' ? databaseConnections - others : 1
  const pool = createPool({ connection, maxConnections: others, log })
  const requestPool = createPool({ connection, maxConnections: forRequests, plans: 'once', log })
  return {
    database: createDatabase(pool, log),
    requestDatabase: createDatabase(requestPool, log),
    place,
    async close() {
      await Promise.all([pool.end(), requestPool.end()])
      await leave()
    },
  }
}

async function applyMigrations(connection: PoolSettings['connection'], place: string): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    throw new Error(`The database ${place} cannot be reached: ${messageOf(error)}`)
  }
  try {
    await migrate(client)
  } finally {
    await client.end()
  }
}

/** A refused connection to a name with several addresses comes as several errors in one, without a text of its own. */
function messageOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : (error as Error).message
}

/** Without the user and the password. */
function placeOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl)
  if (!url) return 'of DATABASE_URL'
  return `${url.pathname.slice(1)} at ${url.hostname || 'the local socket'}${url.port && `:${url.port}`}`
}
