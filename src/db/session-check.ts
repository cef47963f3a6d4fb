// How the service reaches PostgreSQL. Each connection has to be a session of its own at the server: time limits that are
// asked for at connect, settings and prepared statements belong to the session. A pooler that hands the statements of one
// connection to changing sessions, or ignores the limits, would let the start pass and most requests fail.
import type pg from 'pg'
import { type Database, type Log, statement } from './database.ts'

/** In milliseconds, as pg sends them when it connects. */
const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const

const sessionsAdvice =
  'Connect to PostgreSQL itself, or through a pooler that keeps sessions (PgBouncer: pool_mode = session).'
const limitsAdvice =
  'Connect to PostgreSQL itself, or through a pooler that keeps sessions and ignores these parameters, with the same ' +
  'limits set for the role (alter role … set statement_timeout = …).'

export async function requireSessions(pool: pg.Pool, otherPool: pg.Pool): Promise<void> {
  await using connections = new AsyncDisposableStack()
  const client = await connect(pool)
  connections.defer(async () => client.release(true))
  const lacking = await limitsNotInForce(client)
  if (lacking.length > 0) {
    throw new Error(`${lacking.join(', ')}: a pooler in between ignores what is asked for at connect. ${limitsAdvice}`)
  }
  const other = await connect(otherPool)
  connections.defer(async () => other.release(true))
  const first = await sessionOf(client)
  // A pooler gives a free server connection to the next who asks, most likely the same one again: so another transaction
  // holds it while the first connection asks a second time.
  await other.query('begin')
  const second = await sessionOf(client)
  await other.query('rollback')
  if (first === second) return
  throw new Error(`The statements of one connection run in different sessions of the server. ${sessionsAdvice}`)
}

/** PgBouncer refuses what it is not configured to pass on or to ignore. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: Error) => {
    if (!/startup parameter/.test(error.message)) throw error
    throw new Error(`A pooler in between says: ${error.message}. ${limitsAdvice}`)
  })
}

async function sessionOf(client: pg.PoolClient): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
}

/** What was asked for is what pg sent: the limits of the pool, or those of the URL in their place. */
async function limitsNotInForce(client: pg.PoolClient): Promise<string[]> {
  const { connectionParameters: asked } = client as unknown as { connectionParameters: Record<string, unknown> }
  const text = 'select name, setting::int as "inForce" from pg_settings where name = any($1) order by name'
  const { rows } = await client.query<{ name: string; inForce: number }>(text, [limits])
  return rows
    .filter(({ name, inForce }) => Number(asked[name]) > 0 && inForce !== Number(asked[name]))
    .map(({ name, inForce }) => `${name} is ${inForce} ms instead of ${asked[name]} ms`)
}

const findTransportStatement = statement(
  'db.findTransport',
  `select host(inet_client_addr()) as "address", (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as "encrypted"`,
)

/** Null on a socket of this machine. */
type Transport = { address: string | null; encrypted: boolean | null }

/** Whoever is on the way between the two could read and change every statement, the password included. */
export async function warnOfPlainText(database: Database, log: Log): Promise<void> {
  const [transport] = await database.run<Transport>(findTransportStatement)
  const { address = null, encrypted = false } = transport ?? {}
  const isLocal = address === null || address.startsWith('127.') || address === '::1'
  if (isLocal || encrypted) return
  log.warn({ address }, 'the database is reached over a network without TLS: set sslmode=verify-full in DATABASE_URL')
}
