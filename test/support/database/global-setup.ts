// Before the first test file: starts one real PostgreSQL for the whole run, with a template database that has all migrations
// and the service role with its rights. After the last: stops the server and removes its directory.
import { accessSync, chmodSync, constants, globSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { type Citus, startCitus } from '../../../harness/citus/citus.ts'
import { queryEveryGroup } from '../../../harness/citus/every-group.ts'
import { diskVariable } from '../../../harness/processes.ts'
import { ownName } from '../../../src/db/embedded/files.ts'
import { isAlive, stopPostmaster } from '../../../src/db/embedded/postmaster.ts'
import { serviceLogin } from '../../../src/db/embedded/role.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/db/embedded/server.ts'
import { prepare } from '../../../src/db/prepare.ts'
import {
  clusterOwner,
  clusterVariable,
  openTestPool,
  serverVariable,
  type TestServer,
  templateName,
} from './database.ts'

const memory = '/dev/shm'
/** Short, since the paths of sockets in it are limited; the process id follows. */
const prefix = 'credits-run-'

/** A run uses less than two: the databases, a WAL of 1 GB at most, the clusters of the tests that start their own. */
const neededBytes = 4e9

/**
 * In memory, where there is enough of it: a commit waits for no disk, and a clone of the template takes 25 ms instead of
 * 350. The durability settings stay on (a service refuses to start without them); after a kill, memory has the same files as
 * a disk.
 */
function fastPlace(): string {
  try {
    const { bavail, bsize } = statfsSync(memory)
    accessSync(memory, constants.W_OK)
    if (bavail * bsize >= neededBytes) return memory
  } catch {
    // There is none, or it is not ours.
  }
  return tmpdir()
}

/** A killed run leaves its server running, in memory that later runs need. */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of readdirSync(place).filter((each) => each.startsWith(prefix))) {
    if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue
    try {
      await stopPostmaster(join(place, name, 'data/postgres'))
      for (const node of globSync('citus/*/', { cwd: join(place, name) })) await stopPostmaster(join(place, name, node))
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Another user's.
    }
  }
}

let server: EmbeddedServer | undefined
let citus: Citus | undefined
let directory: string | undefined

export async function globalSetup(): Promise<void> {
  const place = fastPlace()
  await removeAbandoned(place)
  directory = join(place, `${prefix}${ownName()}`)
  mkdirSync(directory)
  // As root the server runs as another user, which needs access; otherwise it would choose another directory.
  chmodSync(directory, 0o755)
  // Temporary files of the tests go there too.
  process.env[diskVariable] = tmpdir()
  process.env.TMPDIR = directory
  if (process.env[clusterVariable]) {
    await setUpCluster(directory)
    return
  }
  const dataDir = join(directory, 'data')
  server = await startEmbedded({ dataDir })
  try {
    await fillTemplate(server, dataDir)
  } catch (error) {
    // A set-up that fails is not torn down by the runner.
    await globalTeardown()
    throw error
  }
}

const serving = { user: 'credits_service', password: 'of the tests' }

/** The same on a coordinator with three workers. A database is cloned on each of them. */
async function setUpCluster(place: string): Promise<void> {
  citus = await startCitus(place)
  await citus.onEveryNode(
    `create role ${serving.user} login password '${serving.password}'`,
    `create role ${clusterOwner} login`,
  )
  await citus.createDatabase(templateName)
  const owner = { ...citus.coordinator, database: templateName }
  await prepare({ place: 'of the tests', owner, serving: { ...owner, ...serving } })
  // The first transaction in a group makes its views: once here, not in every clone.
  const pool = await openTestPool(owner, { isCluster: true })
  await queryEveryGroup(pool, 'select 1')
  await pool.end()
  // Citus looks after every database that accepts connections, and one that is in use cannot be cloned.
  await citus.onEveryNode(
    `alter database ${templateName} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${templateName}'`,
  )
  const { coordinator, workers } = citus
  process.env[serverVariable] = JSON.stringify({ owner: coordinator, workers, serving } satisfies TestServer)
}

async function fillTemplate(server: EmbeddedServer, dataDir: string): Promise<void> {
  await query({ ...server.connection }, `create database ${templateName}`)
  const owner = { ...server.connection, database: templateName }
  const serving = serviceLogin(dataDir)
  const embedded = { ...owner, ...serving }
  await prepare({ place: 'of the tests', owner, serving: embedded, embedded })
  process.env[serverVariable] = JSON.stringify({ owner: server.connection, serving } satisfies TestServer)
}

/** A test that was ended did not stop its own. */
async function stopThoseOfTests(place: string): Promise<void> {
  const lockFiles = globSync('*/*/postgres/postmaster.pid', { cwd: place })
  for (const file of lockFiles) await stopPostmaster(join(place, dirname(file)))
}

export async function globalTeardown(): Promise<void> {
  try {
    await server?.stop()
    await citus?.stop()
    if (directory) await stopThoseOfTests(directory)
  } finally {
    if (directory) rmSync(directory, { recursive: true, force: true })
    server = undefined
    citus = undefined
    directory = undefined
  }
}

async function query(connection: EmbeddedServer['connection'], text: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
