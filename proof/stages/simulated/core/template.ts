// The private PostgreSQL of simulations, with a template database in which the clock and randomness are those of the scheduler:
// now(), clock_timestamp(), random() and gen_random_uuid() of pg_catalog are replaced in place. They keep their object ids, so
// defaults, triggers and functions with a search path of their own use them too, and no statement of the service changes. The
// planner inlines an SQL function; it has to, since the executor calls a function with a built-in id by its id.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { ownName } from '../../../../src/db/embedded/files.ts'
import { findPostmaster, isAlive, stopPostmaster } from '../../../../src/db/embedded/postmaster.ts'
import { serviceLogin } from '../../../../src/db/embedded/role.ts'
import { type EmbeddedServer, startEmbedded } from '../../../../src/db/embedded/server.ts'
import { prepare } from '../../../../src/db/prepare.ts'

export type Template = {
  /** For what a run writes outside of the database: it goes away with the server, also after a kill. */
  directory: string
  socketPath: string
  owner: EmbeddedServer['connection']
  servingRole: string
  /** A fresh copy under `runName`, instead of the one before. */
  clone(): Promise<void>
  drop(): Promise<void>
  close(): Promise<void>
}

const memory = '/dev/shm'
const neededBytes = 2e9

/** Commits wait for no disk there. The settings of durability stay on: the service refuses to start without them. */
function fastPlace(): string {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= neededBytes ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** The id of the process follows. */
const prefix = 'credits-simulation-'
const namePattern = /^credits-simulation-(\d+)-/

/** A program that was killed leaves its server running, in memory that later ones need. */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of existsSync(place) ? readdirSync(place) : []) {
    const pid = namePattern.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      await stopPostmaster(join(place, name, 'data/postgres'))
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Another user's.
    }
  }
}

/** Whatever a background process does, or decides by load, is off: the order of rows must follow from the statements. */
const settings = [
  'autovacuum = off',
  // Counts of rows come later than the rows.
  'track_counts = off',
  'synchronize_seqscans = off',
  'max_parallel_workers_per_gather = 0',
  'jit = off',
  'checkpoint_timeout = 86400',
  'max_wal_size = 10000',
]

const templateName = 'simulation'
/** The same in every run: the service shows and compares the name of its database. One run at a time has it. */
export const runName = 'credits_simulated'
/**
 * Before the date of every machine: what PostgreSQL knows by its own clock, the beginning of a transaction in pg_stat_activity,
 * is later than every simulated time then, on every day.
 */
export const startsAt = '2020-03-02T00:00:00Z'
/** For what is written before a run sets its own time. */
export const beforeTheRun = '2020-01-01T00:00:00Z'

const time = `$$select current_setting('simulation.now')::timestamptz$$`
const digest = `md5(current_setting('simulation.seed') || nextval('simulation.draws'))`
const functions = [
  'create schema simulation',
  'create sequence simulation.draws',
  'grant usage on schema simulation to public',
  'grant usage on sequence simulation.draws to public',
  ...['now', 'transaction_timestamp', 'statement_timestamp'].map(
    (name) => `create or replace function pg_catalog.${name}() returns timestamptz language sql stable as ${time}`,
  ),
  `create or replace function pg_catalog.clock_timestamp() returns timestamptz language sql volatile as ${time}`,
  // The number of the simulated connection.
  `create or replace function pg_catalog.pg_backend_pid() returns int language sql stable
     as $$select current_setting('simulation.session')::int$$`,
  `create or replace function pg_catalog.random() returns float8 language sql volatile
     as $$select ('x' || left(${digest}, 8))::bit(32)::bigint / 4294967296::float8$$`,
  `create or replace function pg_catalog.gen_random_uuid() returns uuid language sql volatile
     as $$select overlay(overlay(${digest} placing '4' from 13) placing '8' from 17)::uuid$$`,
]

export async function openTemplate(): Promise<Template> {
  // In both places, before the free memory decides between them.
  for (const place of [memory, tmpdir()]) await removeAbandoned(place)
  const directory = join(fastPlace(), `${prefix}${ownName()}`)
  mkdirSync(directory)
  // As root the server runs as another user, which needs access.
  chmodSync(directory, 0o755)
  const dataDir = join(directory, 'data')
  const server = await startEmbedded({ dataDir })
  const parts = new AsyncDisposableStack()
  const endNow = () => {
    const pid = findPostmaster(server.dataDirectory)?.pid
    if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  }
  process.once('exit', endNow)
  parts.defer(async () => {
    process.off('exit', endNow)
    await stopPostmaster(server.dataDirectory)
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  })
  try {
    // Simulated connections bring no password: SCRAM has randomness of the server's own.
    writeFileSync(join(server.dataDirectory, 'pg_hba.conf'), 'local all all trust\n')
    const admin = new pg.Client(server.connection)
    await admin.connect()
    parts.defer(() => admin.end())
    for (const setting of settings) await admin.query(`alter system set ${setting}`)
    await admin.query('select pg_reload_conf()')
    await admin.query(`alter role all set simulation.now = '${beforeTheRun}'`)
    await admin.query(`alter role all set simulation.seed = 'template'`)
    await admin.query('alter role all set simulation.session = 0')
    await admin.query(`create database ${templateName}`)
    const owner = { ...server.connection, database: templateName }
    await fill(owner, functions)
    const serving = { ...owner, ...serviceLogin(dataDir) }
    await prepare({ place: 'of the simulation', owner, serving, embedded: serving })
    return {
      directory,
      socketPath: join(server.connection.host, `.s.PGSQL.${server.connection.port}`),
      owner: server.connection,
      servingRole: serving.user,
      ...clonesOf(admin),
      close: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

/** The copies of the template, by a connection of its owner. */
export function clonesOf(admin: pg.Client): Pick<Template, 'clone' | 'drop'> {
  const drop = async () => void (await admin.query(`drop database if exists ${runName} with (force)`))
  return {
    async clone() {
      await drop()
      await admin.query(`create database ${runName} template ${templateName} strategy file_copy`)
      await admin.query(`revoke temporary on database ${runName} from public`)
    },
    drop,
  }
}

async function fill(connection: EmbeddedServer['connection'], texts: string[]): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}
