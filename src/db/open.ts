// Brings up the database a process works with: the one at DATABASE_URL, or the embedded one in DATA_DIR, with all
// migrations applied. Used by the service and by the command line, which also works while no service runs.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createDatabase, createPool, type Database, type Log, type PoolSettings } from './database.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { lockDataDirectory } from './embedded-lock.ts'
import { migrate } from './migrate.ts'

export type OpenDatabase = {
  database: Database
  /** Where it is, for people. */
  place: string
  close(): Promise<void>
}

export type OpenOptions = {
  databaseUrl: string | undefined
  dataDir: string
  databaseConnections: number
  /** The service owns its data directory and stops the embedded server; a command borrows it. */
  use: 'service' | 'command'
  log: Log
}

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { databaseUrl, log, databaseConnections: maxConnections } = options
  if (databaseUrl) {
    const leave = options.use === 'service' ? writeProcessId(options.dataDir) : async () => undefined
    return connectTo(
      { connection: { connectionString: databaseUrl }, maxConnections, log },
      placeOf(databaseUrl),
      leave,
    )
  }
  const server = await startEmbedded({ dataDir: options.dataDir })
  const leave = await (options.use === 'service' ? own(server, options) : borrow(server, options))
  return connectTo({ connection: server.connection, maxConnections, log }, server.dataDirectory, leave)
}

/** The owner of the directory stops the server. */
async function own(server: EmbeddedServer, { dataDir, log }: OpenOptions): Promise<() => Promise<void>> {
  // Two services on one database harm nothing but each other's stop; it is for a person to end one of them.
  const lock = await lockDataDirectory(server, dataDir, (error) => log.error({ dataDir }, error.message))
  const removeProcessId = writeProcessId(dataDir)
  return async () => {
    await removeProcessId()
    await server.stop()
    await lock.release()
  }
}

/** Who borrows the server stops it only after starting it, and if nobody else has come. */
async function borrow(server: EmbeddedServer, { dataDir }: OpenOptions): Promise<() => Promise<void>> {
  return async () => {
    const lock = server.adopted ? undefined : await lockDataDirectory(server, dataDir).catch(() => undefined)
    if (!lock) return
    await server.stop()
    await lock.release()
  }
}

/** DATA_DIR/service.pid: whoever wants to stop the service sends its signal there. */
function writeProcessId(dataDir: string): () => Promise<void> {
  const file = join(dataDir, 'service.pid')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(file, `${process.pid}\n`)
  return async () => rmSync(file, { force: true })
}

async function connectTo(settings: PoolSettings, place: string, leave: () => Promise<void>): Promise<OpenDatabase> {
  try {
    await applyMigrations(settings.connection, place)
  } catch (error) {
    await leave()
    throw error
  }
  const pool = createPool(settings)
  return {
    database: createDatabase(pool, settings.log),
    place,
    async close() {
      await pool.end()
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
  const { hostname, port, pathname } = new URL(databaseUrl)
  return `${pathname.slice(1)} at ${hostname || 'the local socket'}${port && `:${port}`}`
}
