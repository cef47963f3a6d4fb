// How the service connects to PostgreSQL: with TLS over a network, and possibly through a pooler. The service starts through
// a pooler that keeps sessions and statement limits; with any other the start is refused with one line, so that no requests
// fail later.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { databaseUrl, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { type OpenOptions, openDatabase } from '../../src/db/open.ts'
import { findPooling, warnOfPlainText } from '../../src/db/session-check.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { type PoolerOptions, startPooler } from '../support/database/pooler.ts'

const dataDir = newDirectory({ after })
let database: OwnTestDatabase
before(async () => {
  database = await createTestDatabase({ maxConnections: 2 })
})
after(() => database.drop())

async function refusalOf(url: string, options: Partial<OpenOptions> = {}): Promise<string | undefined> {
  const common = { databaseUrl: url, databaseConnections: 2, dataDir, use: 'service', log: silentLog } as const
  try {
    await (await openDatabase({ ...common, ...options })).close()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const limits = { statement_timeout: 5_000, lock_timeout: 2_000, idle_in_transaction_session_timeout: 10_000 }
const sessions =
  'The statements of one connection run in different sessions of the server, which lack its prepared statements. Connect to ' +
  'PostgreSQL itself, or through a pooler that keeps sessions (PgBouncer: pool_mode = session) or carries prepared ' +
  'statements over (PgBouncer 1.21 or later: max_prepared_statements).'
const limitsAdvice =
  'Connect to PostgreSQL itself, or through a pooler that ignores these parameters, with the same limits set for the role ' +
  '(alter role … set statement_timeout = …).'
const leftOut =
  'idle_in_transaction_session_timeout is 0 ms instead of 10000 ms, lock_timeout is 0 ms instead of 2000 ms, ' +
  `statement_timeout is 0 ms instead of 5000 ms: a pooler in between ignores the parameters of the connection. ${limitsAdvice}`
const refused = `A pooler in between reports: unsupported startup parameter: statement_timeout. ${limitsAdvice}`

const poolers: [what: string, options: PoolerOptions, refusal: string | undefined][] = [
  ['keeps sessions and limits is accepted', { mode: 'session', limits }, undefined],
  ['changes sessions between transactions makes the start fail', { mode: 'transaction', limits }, sessions],
  ['ignores the statement limits makes the start fail', { mode: 'session' }, leftOut],
  ['refuses the statement limits makes the start fail', { mode: 'session', refuses: 'statement_timeout' }, refused],
]
for (const [what, options, refusal] of poolers) {
  test(`a pooler that ${what}`, async (t) => {
    assert.equal(await refusalOf(await startPooler(t, database.connection, options)), refusal)
  })
}

test('statement limits set in DATABASE_URL are in force, and the service starts with them', async () => {
  assert.equal(await refusalOf(`${databaseUrl(database.connection)}&statement_timeout=4000`), undefined)
})

test('a session that ends while nothing is under way on it fails the check, and is no uncaught error', async () => {
  const { pool } = database
  let first: pg.PoolClient | undefined
  async function connectFirst() {
    first = await pool.connect()
    return first
  }
  async function connectOther() {
    const pid = (await first?.query('select pg_backend_pid() as pid'))?.rows[0].pid
    const ended = new Promise<void>((resolve) => first?.once('end', resolve))
    const other = await pool.connect()
    await other.query('select pg_terminate_backend($1)', [pid])
    await ended
    return other
  }
  const connects = [connectFirst, connectOther].values()
  const scripted = { connect: () => connects.next().value?.() } as unknown as pg.Pool
  await assert.rejects(findPooling(scripted), /not queryable/)
})

/** As PgBouncer from 1.21 on in transaction mode: each query may be in another session, which has the prepared statements. */
function transactionPooler(standbys: string): pg.Pool {
  let session = 0
  async function query(query: string | { name?: string }) {
    session += 1
    if (typeof query === 'object' && query.name) return { rows: [{ pid: session }] }
    return { rows: `${query}`.includes('synchronous_standby_names') ? [{ names: standbys }] : [] }
  }
  const client = { query, connectionParameters: {}, on: () => undefined, release: () => undefined }
  return { connect: async () => client } as unknown as pg.Pool
}

test('a pooler that carries prepared statements over is accepted, unless a failover has to be noticed', async () => {
  assert.equal(await findPooling(transactionPooler('')), 'transaction')
  await assert.rejects(findPooling(transactionPooler('n2')), /after a failover .* pool_mode = session/)
})

test('a database reached over a network without TLS causes a warning; over a socket, loopback or TLS it does not', async () => {
  const warning = 'the database is reached over a network without TLS: set sslmode=verify-full in DATABASE_URL'
  const transports: [address: string | null, encrypted: boolean | null, warnings: string[]][] = [
    [null, null, []],
    ['127.0.0.1', false, []],
    ['::1', false, []],
    ['10.0.0.7', true, []],
    ['10.0.0.7', false, [warning]],
    ['fd00::7', false, [warning]],
  ]
  for (const [address, encrypted, expected] of transports) {
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_: object, message: string) => warnings.push(message) as never }
    // The test server listens only on a socket.
    const connections = { query: async () => ({ rows: [{ address, encrypted }] }) }
    await warnOfPlainText(createDatabase(connections, silentLog), log)
    assert.deepEqual(warnings, expected, `${address} ${encrypted}`)
  }
})

test('commands work through any pooler, among them audit', async (t) => {
  const url = await startPooler(t, database.connection, { mode: 'session' })
  assert.equal(await refusalOf(url, { use: 'command' }), undefined)
})
