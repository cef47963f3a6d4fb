// Checks how the service is connected to PostgreSQL. A pooler in between may ignore the time limits, or spread the statements of
// a connection over sessions without their prepared statements: the start would succeed and most requests fail.
import type pg from 'pg'
import { type Database, type Log, statement } from './database.ts'

/** In milliseconds, as pg sends them when it connects. */
const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const

const direct = 'Connect to PostgreSQL itself, or through a pooler'
const preparedAdvice =
  `${direct} that keeps sessions (PgBouncer: pool_mode = session) or carries prepared statements over (PgBouncer 1.21 or ` +
  'later: max_prepared_statements).'
const limitsAdvice = `${direct} that ignores these parameters, with the same limits set for the role (alter role … set statement_timeout = …).`

const standbysAdvice =
  'The statements of one connection run in different sessions of the server: after a failover it would not be noticed that a ' +
  `session is a new one, and shows what a standby may not have. ${direct} that keeps sessions (PgBouncer: pool_mode = session).`

/** Whether each connection is one session of the server, or each transaction of it may be in another. */
export type Pooling = 'session' | 'transaction'

/** The pool is for this alone, and has two connections. */
export async function findPooling(pool: pg.Pool): Promise<Pooling> {
  await using connections = new AsyncDisposableStack()
  const client = await connect(pool)
  connections.defer(async () => client.release(true))
  const lacking = await limitsNotInForce(client)
  if (lacking.length > 0) {
    throw new Error(
      `${lacking.join(', ')}: a pooler in between ignores the parameters of the connection. ${limitsAdvice}`,
    )
  }
  const other = await connect(pool)
  connections.defer(async () => other.release(true))
  const first = await sessionOf(client)
  // A pooler would most likely assign the same free server connection again: so another transaction holds it during the second
  // query of the first connection.
  await other.query('begin')
  const second = await sessionOf(client).catch((error) => {
    if (error.code !== unknownStatement) throw error
    throw new Error(
      `The statements of one connection run in different sessions of the server, which lack its prepared statements. ${preparedAdvice}`,
    )
  })
  await other.query('rollback')
  if (first === second) return 'session'
  const { rows } = await client.query<{ names: string }>(`select current_setting('synchronous_standby_names') as names`)
  if (rows[0]?.names !== '') throw new Error(standbysAdvice)
  return 'transaction'
}

/** PgBouncer refuses parameters that it is not configured to pass on or to ignore. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: Error) => {
    if (!/startup parameter/.test(error.message)) throw error
    throw new Error(`A pooler in between reports: ${error.message}. ${limitsAdvice}`)
  })
}

const unknownStatement = '26000'

/** Prepared, as all statements of the service are. */
async function sessionOf(client: pg.PoolClient): Promise<number | undefined> {
  const query = { name: 'db.findSession', text: 'select pg_backend_pid() as pid' }
  return (await client.query<{ pid: number }>(query)).rows[0]?.pid
}

/** Compares with what pg sent: the limits of the pool, or those of the URL instead. */
async function limitsNotInForce(client: pg.PoolClient): Promise<string[]> {
  const { connectionParameters: sent } = client as unknown as { connectionParameters: Record<string, unknown> }
  const text = 'select name, setting::int as "inForce" from pg_settings where name = any($1) order by name'
  const { rows } = await client.query<{ name: string; inForce: number }>(text, [limits])
  return rows
    .filter(({ name, inForce }) => Number(sent[name]) > 0 && inForce !== Number(sent[name]))
    .map(({ name, inForce }) => `${name} is ${inForce} ms instead of ${sent[name]} ms`)
}

const findTransportStatement = statement.global(
  'db.findTransport',
  `select host(inet_client_addr()) as "address", (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as "encrypted"`,
)

/** Null for a local socket. */
type Transport = { address: string | null; encrypted: boolean | null }

/** Without TLS the network between could read and change every statement, and read the password. */
export async function warnOfPlainText(database: Database, log: Log): Promise<void> {
  const [transport] = await database.run<Transport>(findTransportStatement)
  const { address = null, encrypted = false } = transport ?? {}
  const isLocal = address === null || address.startsWith('127.') || address === '::1'
  if (isLocal || encrypted) return
  log.warn({ address }, 'the database is reached over a network without TLS: set sslmode=verify-full in DATABASE_URL')
}
