// Opens the database of a process: the one at DATABASE_URL, or the embedded one in DATA_DIR, with all migrations applied by
// its owner and connections of the serving role. Used by the service and by the commands, which also work while no service
// runs. A service does not start on a database that could lose or falsify its data.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Tallies } from '../core/tallies.ts'
import { connectWorkers } from './cluster/cluster.ts'
import { isCoordinator } from './cluster/distribute.ts'
import { type Connection, placeOf, type Standbys } from './connect.ts'
import { requireFinished } from './copy/unfinished.ts'
import {
  brief,
  createDatabase,
  createPool,
  type Database,
  type Log,
  type Patience,
  type Plans,
  type PoolSettings,
  type WatchStatement,
} from './database.ts'
import { openDataDir } from './embedded/location.ts'
import { AloneElsewhere, joinUsers, lockDataDirectory } from './embedded/lock.ts'
import { requireNotMoved } from './embedded/moved.ts'
import { findPostmaster } from './embedded/postmaster.ts'
import { currentPassword, serviceLogin } from './embedded/role.ts'
import { type EmbeddedServer, startEmbedded } from './embedded/server.ts'
import { type Places, prepare } from './prepare.ts'
import { repeatWhileAway, waitForPrimary, waitLine } from './primary.ts'
import { selfCheck } from './self-check.ts'
import { findPooling, type Pooling, warnOfPlainText } from './session-check.ts'

export type OpenDatabase = {
  /** The serving role's connection, for parts that need one of their own. */
  serving: Places['serving']
  /** For statements over many rows: the worker, the commands. */
  database: Database
  /** For requests: connections that nothing else uses, and statements that are planned once. */
  requestDatabase: Database
  /** The connections of the two. */
  pools: Record<'background' | 'requests', pg.Pool>
  /** How the statements of requests are planned, on a cluster those of its coordinator. */
  plans: Plans
  /** Where it is, to show to people. */
  place: string
  close(): Promise<void>
}

/** The share of a service's connections that the worker and deliveries have. */
const backgroundShare = 0.4

/** An attempt fails when the server is being stopped at that moment. */
const maxJoinAttempts = 5
/** Before a server that has ended and could not be started, as on a full disk, is started once more. */
const failedStartPauseMs = 5_000

export type OpenOptions = {
  databaseUrl: string | undefined
  /** The owner's, who migrates and grants rights; undefined: the role of databaseUrl does both. */
  migrationDatabaseUrl?: string | undefined
  dataDir: string
  databaseConnections: number
  /**
   * The service owns its data directory and stops the embedded server; a command only uses it. `alone`: a command that needs
   * the server for itself, without a service or another command.
   */
  use: 'service' | 'command' | 'alone'
  production?: boolean
  durability?: 'server' | 'provider'
  standbys?: Standbys
  /** How long to wait for a database that does not answer or accepts no writes: about as long as a failover takes. */
  databaseWaitMs?: number
  /** Called with a line for people when a wait begins. */
  onWait?: (line: string) => void
  tallies?: Tallies
  /** Called for every statement that the two databases run. */
  watch?: WatchStatement
  log: Log
}

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  let isReported = false
  const onWait = (line: string) => {
    if (!isReported) options.onWait?.(line)
    isReported = true
  }
  async function open(databaseWaitMs = options.databaseWaitMs ?? 0): Promise<OpenDatabase> {
    const { places, leave } = await reach({ ...options, databaseWaitMs, onWait })
    return connectTo(options, places, leave)
  }
  // A primary that was found can be lost before everything is prepared.
  return options.databaseUrl ? repeatWhileAway(placeOf(options.databaseUrl), { ...options, onWait }, open) : open()
}

export type Reached = { places: Places; leave(): Promise<void> }

/** Finds the database and the roles, without changing anything in it. The embedded server runs until `leave`. */
export async function reach(options: OpenOptions): Promise<Reached> {
  const { databaseUrl, migrationDatabaseUrl } = options
  if (databaseUrl) {
    const serving = { connectionString: databaseUrl }
    const owner = migrationDatabaseUrl ? { connectionString: migrationDatabaseUrl } : serving
    const place = placeOf(databaseUrl)
    await waitForPrimary(serving, place, options)
    if (owner !== serving) await waitForPrimary(owner, placeOf(migrationDatabaseUrl ?? ''), options)
    return { places: { place, owner, serving }, leave: async () => undefined }
  }
  const dataDir = openDataDir(options.dataDir)
  requireNotMoved(dataDir)
  const login = serviceLogin(dataDir)
  const { server, users } = await startAndJoin(dataDir)
  const leave = options.use === 'command' ? users.leave : await own(server, users, dataDir, options)
  const embedded = { ...server.connection, ...login }
  const serving = { ...embedded, password: currentPassword(dataDir, login.password) }
  return { places: { place: server.dataDirectory, owner: server.connection, serving, embedded }, leave }
}

type Users = Awaited<ReturnType<typeof joinUsers>>

/** The last process that used the server may be stopping it right now: then it is started again. */
async function startAndJoin(dataDir: string, attempt = 1): Promise<{ server: EmbeddedServer; users: Users }> {
  const server = await startEmbedded({ dataDir })
  try {
    return { server, users: await joinUsers(server, dataDir) }
  } catch (error) {
    if (attempt === maxJoinAttempts || error instanceof AloneElsewhere) throw error
    return startAndJoin(dataDir, attempt + 1)
  }
}

/** The service owns the directory: it stops the server even if commands use it. `alone` excludes all others. */
async function own(
  server: EmbeddedServer,
  users: Users,
  dataDir: string,
  { use, log }: OpenOptions,
): Promise<() => Promise<void>> {
  let isLeaving = false
  let starting = Promise.resolve(true)
  /** Nothing else starts it while the service runs. A server that only recovers is waited for. */
  async function startAgain(): Promise<void> {
    if (use !== 'service' || isLeaving || findPostmaster(server.dataDirectory)) return
    log.error({ dataDir }, 'the embedded PostgreSQL has ended: it is started again')
    starting = startEmbedded({ dataDir }).then(
      () => true,
      (err) => {
        log.error({ dataDir, err }, 'the embedded PostgreSQL was not started')
        return false
      },
    )
    if (!(await starting)) await sleep(failedStartPauseMs, undefined, { ref: false })
  }
  try {
    if (use === 'alone') await users.requireAlone()
    // Two services on one database only disturb each other's stop; a person has to end one of them.
    const onLost = (error: Error) => log.error({ dataDir }, error.message)
    const lock = await lockDataDirectory(server, dataDir, { onLost, onAway: startAgain })
    return async () => {
      isLeaving = true
      await starting
      if (use === 'service') await server.stop()
      await lock.release()
      await users.leave()
    }
  } catch (error) {
    await users.leave()
    throw error
  }
}

/** Migrates, grants rights and connects. `isCopy`: it has just been filled from a copy, which is checked next. */
export async function connectTo(
  options: OpenOptions,
  places: Places,
  leave: () => Promise<void>,
  { isCopy = false } = {},
): Promise<OpenDatabase> {
  const { use, databaseConnections, standbys, tallies, watch, log } = options
  const { place, serving: connection } = places
  const parts = new AsyncDisposableStack()
  parts.defer(leave)
  try {
    await prepare(places, { isCopy })
    const background =
      use === 'service' ? Math.max(1, Math.floor(databaseConnections * backgroundShare)) : databaseConnections
    const forRequests = use === 'service' ? databaseConnections - background : 1
    const pooling = use === 'service' ? await checkPooling(connection, log) : 'transaction'
    // Settings of a session would be those of others too, where sessions are shared. Commands do without them.
    const ownPlans = pooling === 'session' ? 'once' : 'as needed'
    const ofUse = use === 'service' ? { use } : { use: 'command' as const, statementLimitMs: 'none' as const }
    const common = { connection, log, standbys, ...ofUse }
    const forBackground: PoolSettings = { ...common, maxConnections: background }
    const requests: PoolSettings = { ...common, maxConnections: forRequests, plans: ownPlans }
    const pool = createPool(forBackground)
    parts.defer(() => pool.end())
    const isCluster = await isCoordinator(pool)
    // Citus plans a statement by its values.
    const plans = isCluster ? 'as needed' : ownPlans
    const requestPool = createPool({ ...requests, plans })
    parts.defer(() => requestPool.end())
    if (isCluster) {
      await connectWorkers(pool, forBackground)
      await connectWorkers(requestPool, requests)
    }
    // Again, now that a process which starts to fill it can see our session.
    if (!isCopy) await requireFinished(pool, places.embedded !== undefined, place)
    const patience = use === 'service' || places.embedded ? brief : createPatience(options, place)
    const database = createDatabase(pool, log, { tallies, patience, watch })
    if (use === 'service' || isCopy) await selfCheck(database, options)
    if (use === 'service') await warnOfPlainText(database, log)
    // Sandbox mode keeps its generated secrets there, whichever database it is.
    openDataDir(options.dataDir)
    return {
      serving: connection,
      database,
      requestDatabase: createDatabase(requestPool, log, {
        tallies,
        patience,
        watch,
        refusedWrites: database.refusedWrites,
      }),
      pools: { background: pool, requests: requestPool },
      plans,
      place,
      close: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

/** A caller waits for a service; a command has until the end of a failover. */
function createPatience({ databaseWaitMs = 0, onWait }: OpenOptions, place: string): Patience {
  const limitMs = Math.max(databaseWaitMs, brief.limitMs)
  return {
    retries: Number.POSITIVE_INFINITY,
    limitMs,
    waitsForConnections: true,
    onWait: (reason) => onWait?.(waitLine(`The database ${place} is away: ${reason}`, limitMs)),
  }
}

async function checkPooling(connection: Connection, log: Log): Promise<Pooling> {
  const pool = createPool({ connection, maxConnections: 2, log })
  try {
    return await findPooling(pool)
  } finally {
    await pool.end()
  }
}
