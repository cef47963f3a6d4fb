// A database of its own for a test file: a clone of the migrated template, dropped afterwards. The service connects as the
// service role, as in production, so every test shows that its few rights are sufficient; a test's own statements run as the
// owner.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { queryOrEveryGroup } from '../../../harness/citus/every-group.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { connectWorkers } from '../../../src/db/cluster/cluster.ts'
import { createPool, type PoolSettings } from '../../../src/db/database.ts'
import { type Places, placesOf, type ServerConnection } from './places.ts'

export const serverVariable = 'TEST_POSTGRES_SERVER'
/** Set: the tests run on a cluster of servers. */
export const clusterVariable = 'TEST_CLUSTER'
/** A role of a cluster's servers. */
export const clusterOwner = 'credits_owner'
export const templateName = 'credits_template'

export type TestServer = {
  owner: ServerConnection
  /** The workers of a cluster, whose coordinator is the server of the owner. */
  workers?: ServerConnection[]
  serving: Pick<ServerConnection, 'user' | 'password'>
}

function readServer(): TestServer {
  const text = process.env[serverVariable]
  if (!text)
    throw new Error(
      'Run the tests with `npm test`: their PostgreSQL is started by test/support/database/global-setup.ts.',
    )
  return JSON.parse(text)
}

/** The server started by the global set-up, connected as its owner. */
export function testServer(): ServerConnection {
  return readServer().owner
}

/** That one, and the workers of a cluster. */
export function testServers(): ServerConnection[] {
  const { owner, workers = [] } = readServer()
  return [owner, ...workers]
}

export type TestDatabase = Places & {
  /** The connection of the service role. */
  connection: ServerConnection
  pool: pg.Pool
  /** Runs one statement as the owner, for data that no endpoint returns. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  drop(): Promise<void>
}

/** With the connection of the owner, who has every right. */
export type OwnTestDatabase = TestDatabase & { ownerConnection: ServerConnection; ownerPool: pg.Pool }

async function onServer(...texts: string[]): Promise<void> {
  await Promise.all(testServers().map((server) => runOn(server, texts)))
}

async function runOn(server: ServerConnection, texts: string[]): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}

const inUse = '55006'

/** On a cluster the daemons of the other servers may connect to it again in the meantime. */
async function isDropped(database: string): Promise<boolean> {
  try {
    await onServer(`drop database if exists ${database} with (force)`)
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== inUse) throw error
    return false
  }
}

export type TestPoolOptions = Omit<Partial<PoolSettings>, 'connection'> & {
  /** The database is one of a cluster. */
  isCluster?: boolean
}

/** To a clone of the template: the connections of a service, also where the tests run on a cluster. */
export async function openTestPool(
  connection: ServerConnection,
  { isCluster = readServer().workers !== undefined, ...options }: TestPoolOptions = {},
): Promise<pg.Pool> {
  const settings = { maxConnections: 10, log: silentLog, ...options, connection }
  // Citus plans a statement by its values.
  const pool = createPool(isCluster ? { ...settings, plans: 'as needed' } : settings)
  if (isCluster) await connectWorkers(pool, settings)
  return pool
}

/** A database that is not a clone of the template has no granted rights: everything belongs to the owner. */
export async function createTestDatabase({
  template = templateName,
  maxConnections = 10,
} = {}): Promise<OwnTestDatabase> {
  const { owner, workers, serving } = readServer()
  const database = `test_${randomBytes(8).toString('hex')}`
  // Rights of PUBLIC on a database are not cloned with it.
  await onServer(
    // By file copy: writing the WAL of a whole template costs more.
    `create database ${database} template ${template} strategy file_copy`,
    `revoke temporary on database ${database} from public`,
  )
  const ownerConnection = { ...owner, database }
  const connection = template === templateName ? { ...ownerConnection, ...serving } : ownerConnection
  // As for requests: every statement of the tests has the plan that it has in production.
  const isCluster = workers !== undefined && template === templateName
  const open = (each: ServerConnection) => openTestPool(each, { maxConnections, plans: 'once', isCluster })
  const [pool, ownerPool] = await Promise.all([open(connection), open(ownerConnection)])
  // So that statements of the tests are not mistaken for those of a service.
  ownerPool.options.application_name = 'by hand'
  return {
    connection,
    pool,
    ownerConnection,
    ownerPool,
    query: <Row extends object>(text: string, values: unknown[] = []) =>
      isCluster
        ? queryOrEveryGroup<Row>(ownerPool, text, values)
        : ownerPool.query(text, values).then(({ rows }) => rows as Row[]),
    ...placesOf(ownerPool, { owner: ownerConnection, serving: connection }, isCluster),
    async drop() {
      await Promise.allSettled([pool.end(), ownerPool.end()])
      await until(`${database} is dropped`, () => isDropped(database))
    },
  }
}
