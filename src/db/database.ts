// The database for the rest of the service: named statements, one at a time, each its own transaction. No transaction or
// connection can be held across anything else, least of all a gateway call. Every statement given to `run` may be repeated
// with the same values: when a connection is lost it is unknown whether the commit happened, and repeating is the only way to
// find out. Begin, finish and purchase carry their own ids for that.
import pg from 'pg'
import { assert } from '../core/assert.ts'
import { backoffMs } from '../core/backoff.ts'
import type { RetryScope } from '../core/batch.ts'
import { sleep } from '../core/clock.ts'
import { refuse } from '../core/errors.ts'
import { createTallies, type Tallies } from '../core/tallies.ts'
import {
  type Connection,
  confirmCommitsText,
  confirmed,
  createHosts,
  readOnly,
  type Standbys,
  type Use,
} from './connect.ts'
import { type Sql, type SqlText, sql } from './sql.ts'

/** What a statement is about decides where it runs when the tables are spread over several servers. */
export type About = 'customer' | 'customers' | 'each group' | 'global'

export type Statement = {
  name: string
  text: string
  about: About
  /** With a step: how it runs where one server does not have all of its rows. */
  apart?: { step: Statement; rest: Statement; restValues: number }
}

/**
 * What a statement about a customer does that is about no customer. `text` is CTEs, of which the last has the name of the step;
 * it has a row when the rest may happen, and reads `rows`, which has a row when the step may.
 */
export type Step = { name: Sql; text(rows: Sql): Sql; statement: Statement }

export type Database = {
  run<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>
  /** Where the customer is, when the tables are spread over several servers. */
  groupOf?(customerId: string): number
  /** The id of no customer, whose rows would be in this group; undefined: there is one group. */
  anchor?: string
  /** One for each group of customers: a statement about every group then runs in that one alone. */
  groups?: Database[]
  /** Those of `groups` that this process sweeps now. Undefined: it shares with no other. */
  sweptGroups?: Database[]
  /** One group of each server: for what is about the server. */
  workers?(): Database[]
  /** For readiness; tests may leave it out. */
  refusedWrites?: RefusedWrites
}

/** The last statement that the server refused because it accepts no writes. Shared by the databases of a process. */
export type RefusedWrites = { last: { sqlstate: string } | null }

export type NamedQuery = { name: string; text: string; values: unknown[] }

/** What leads to each group of customers, and to the right one. */
export type Cluster = {
  /** One for each group: an id of no customer, whose rows would be in it. */
  anchors: string[]
  /** The connections to wherever the group is at the moment. */
  connectionsOf(group: number): Connections
  /** The database that runs each statement where its rows are. */
  route(coordinator: Database, groups: Database[]): Database
}

/** What `run` needs of pg's Pool. Tests inject their faults here. */
export type Connections = {
  query(query: NamedQuery): Promise<{ rows: unknown[] }>
  /** For a repeat; left out, it is done with two queries. */
  queryAndConfirm?(query: NamedQuery): Promise<{ rows: unknown[] }>
  /** When they lead to the coordinator of a cluster. */
  cluster?: Cluster
}

export type Log = { warn(fields: object, message: string): void; error(fields: object, message: string): void }

/** Every statement by its name, of the files that are loaded. */
export const definedStatements = new Map<string, Statement>()

/**
 * The text of one that answers a repeated request with what the first has written, with a condition that is true: what it has read
 * is on the standbys where commits wait for them.
 */
type Text<Given extends string> = SqlText<Given> | ((replicated: Sql) => Sql)

/**
 * Statements are prepared under their name, once per connection: planning the larger ones takes milliseconds. A name has one
 * text: a connection that has prepared the first would run it for the second.
 */
function define<Given extends string>(about: About, name: string, given: Text<Given>): Statement {
  const text = typeof given === 'string' ? given : given(confirmed)
  assert(typeof given === 'string' || text.includes(confirmed), `${name} answers before the standbys have what it read`)
  assert((definedStatements.get(name)?.text ?? text) === text, `two statements are named ${name}`)
  const defined = { name, text, about }
  definedStatements.set(name, defined)
  return defined
}

export const statement = {
  /** Its first value is the id of a customer. */
  ofCustomer: <Given extends string>(name: string, text: Text<Given>) => define('customer', name, text),
  /**
   * Its first value is an array of ids of customers, and the other arrays belong to them one by one. Rows are found again by their
   * ids, not by their order.
   */
  ofCustomers: <Given extends string>(name: string, text: Text<Given>) => define('customers', name, text),
  /**
   * About a customer, with a step, whose values follow its own: one commit where one server has the rows of both. Elsewhere the step
   * is a commit of its own before the rest, and stays when the rest does not happen.
   */
  ofCustomerAndStep(name: string, step: Step, text: (step: (rows: Sql) => Sql) => Sql): Statement {
    const rest = define(
      'customer',
      `${name}Apart`,
      text((rows) => sql`${step.name} as (select from ${rows})`),
    )
    const restValues = Math.max(...[...rest.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
    const moved = (rows: Sql) =>
      step.text(rows).replace(/\$(\d+)/g, (_, number) => `$${restValues + Number(number)}`) as Sql
    const whole = define('customer', name, text(moved))
    return Object.assign(whole, { apart: { step: step.statement, rest, restValues } })
  },
  /** About every customer, in each group of them for itself. */
  ofEachGroup: <Given extends string>(name: string, text: Text<Given>) => define('each group', name, text),
  /** About what belongs to no customer, or about all of them at once. */
  global: <Given extends string>(name: string, text: Text<Given>) => define('global', name, text),
}

/** A step, which is also a statement of its own. */
export function defineStep(name: Sql, statementName: string, text: (rows: Sql) => Sql): Step {
  const alone = sql`with ${text(sql`(values (1)) as given`)} select from ${name}`
  return { name, text, statement: statement.global(statementName, alone) }
}

// Kinds of failures by SQLSTATE. The first line that matches decides.
//   again     rolled back: the transaction lost a conflict with another one
//   away      the server or the connection is gone; it is unknown whether the commit happened
//   busy      the server answers and cannot serve now; repeating would add to its load
//   input     the values violate a rule of the schema
const lockTimeout = '55P03'
const statementTimeout = '57014'
const uniqueViolation = '23505'
const restrictViolation = '23001'
const failures: { sqlstate: RegExp; kind: 'again' | 'away' | 'busy' | 'input' }[] = [
  { sqlstate: /^(40001|40P01)$/, kind: 'again' },
  // On a cluster: the customers have moved to another server.
  { sqlstate: /^MV001$/, kind: 'again' },
  // Read-only: a proxy leads to a standby that is being promoted, or to a primary that has become one.
  { sqlstate: /^(08...|57P0[1-3]|25006)$/, kind: 'away' },
  { sqlstate: /^(55P03|57014|53...)$/, kind: 'busy' },
  { sqlstate: /^(22|23)...$/, kind: 'input' },
]

/** node-postgres and Node's sockets report a lost connection without a SQLSTATE. */
const lostConnection = /^(ECONN|EPIPE|ENOENT|EHOSTUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/
const lostConnectionText =
  /Connection terminated|Client has encountered a connection error|not queryable|Query read timeout/
/** Errors of the pool, which has no free connection, and of a connection that is not accepted. */
const connectTimeoutText = /timeout exceeded when trying to connect|due to connection timeout|timeout expired/

export type FailureKind = 'again' | 'away' | 'busy' | 'input' | 'bug'

/** Errors of Citus when a worker cannot be reached. */
const lostWorkerText = /failure on connection marked as essential|server closed the connection unexpectedly/

/** The server has ended the session, or could not begin it: its disk is full, for example. */
const endedSession = { code: 'XX000', severity: 'FATAL' }

export function failureKind(error: unknown): FailureKind {
  const { code = '', message = '', severity } = (error ?? {}) as { code?: string; message?: string; severity?: string }
  if (connectTimeoutText.test(message)) return 'busy'
  if (code === endedSession.code && severity === endedSession.severity) return 'away'
  if (lostConnection.test(code) || lostConnectionText.test(message) || lostWorkerText.test(message)) return 'away'
  return failures.find(({ sqlstate }) => sqlstate.test(code))?.kind ?? 'bug'
}

/**
 * How to split a batch that failed because of one of its inputs: by input when its values were refused, by row when one was
 * locked for longer than a statement waits. Nothing of the statement has happened, and the other parts may succeed.
 */
export function retryScopeOf(error: unknown): RetryScope | undefined {
  if ((error as { cause?: { code?: string } })?.cause?.code === lockTimeout) return 'each-row'
  return failureKind(error) === 'input' ? 'each-input' : undefined
}

/** It took longer than a statement may, and nothing of it has happened. */
export function isTooSlow(error: unknown): boolean {
  return (error as { cause?: { code?: string } })?.cause?.code === statementTimeout
}

/** A unique index has refused a row: another transaction has inserted the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: string })?.code === uniqueViolation
}

/** A trigger of the schema has refused it. */
export function isRestrictViolation(error: unknown): boolean {
  return (error as { code?: string })?.code === restrictViolation
}

/** No disk space, memory or connections, or a read-only server: writes fail first. */
const refusedWrite = /^(53...|25006)$/

/** How often and for how long a statement is repeated while the server is unavailable. */
export type Patience = {
  retries: number
  /** From the beginning of the statement; of one without a time limit, from its first failure. */
  limitMs: number
  /** Also while no connection is accepted in time; requests would only queue up. */
  waitsForConnections?: boolean
  onWait?: (reason: string) => void
}

/** For a caller that waits: a restart of PostgreSQL takes about 300 ms, a failover longer than a caller should wait. */
export const brief: Patience = { retries: 3, limitMs: 5_000 }

/** Pauses of 20, 150 and then 400 ms, give or take half. */
const backoff = { firstMs: 20, factor: 7.5, longestMs: 400, jitter: 0.5 }

export const confirmCommits = statement.global('db.confirmCommits', confirmCommitsText)

/** Called when a statement begins, with its name; what it returns, when the statement has ended. */
export type WatchStatement = (name: string) => () => void

export type DatabaseOptions = {
  tallies?: Pick<Tallies, 'statements'> | undefined
  refusedWrites?: RefusedWrites | undefined
  patience?: Patience | undefined
  watch?: WatchStatement | undefined
}

/** On one server, or on a cluster: then each group of customers has a database of its own behind it. */
export function createDatabase(connections: Connections, log: Log, options: DatabaseOptions = {}): Database {
  const database = createOne(connections, log, options)
  const { cluster } = connections
  if (!cluster) return database
  const shared = { ...options, refusedWrites: database.refusedWrites }
  const groups = cluster.anchors.map((anchor, number) => ({
    ...createOne(cluster.connectionsOf(number), log, shared),
    anchor,
  }))
  return cluster.route(database, groups)
}

function createOne(connections: Connections, log: Log, options: DatabaseOptions): Database {
  const { watch } = options
  const database = createUnwatched(connections, log, options)
  if (!watch) return database
  return {
    ...database,
    async run<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]> {
      const end = watch(statement.name)
      try {
        return await database.run<Row>(statement, values)
      } finally {
        end()
      }
    },
  }
}

function createUnwatched(connections: Connections, log: Log, options: DatabaseOptions): Database {
  const { tallies: { statements } = createTallies(), refusedWrites = { last: null }, patience = brief } = options
  return {
    refusedWrites,
    async run<Row extends object>({ name, text }: Statement, values: unknown[] = []): Promise<Row[]> {
      let patientSinceMs = patience.waitsForConnections ? undefined : performance.now()
      let wasAway = false
      let briefFailures = 0
      for (let attempt = 0; ; attempt += 1) {
        try {
          const query = { name, text, values }
          const { rows } = wasAway ? await queryAndConfirm(connections, query) : await connections.query(query)
          return rows as Row[]
        } catch (error) {
          const kind = failureKind(error)
          if (kind === 'bug' || kind === 'input') throw error
          statements.failures[kind] += 1
          const { code, message = '' } = error as { code?: string; message?: string }
          if (code && refusedWrite.test(code)) refusedWrites.last = { sqlstate: code }
          log.warn({ statement: name, sqlstate: code, error: message, attempt, kind }, 'statement failed')
          // Long waits are for a failover: a server that is still read-only after the brief ones was configured to be.
          if (kind === 'again' || code === readOnly) briefFailures += 1
          const isSpent = attempt >= patience.retries || briefFailures > brief.retries
          patientSinceMs ??= performance.now()
          const isTooLate = performance.now() - patientSinceMs > patience.limitMs
          const isBusy = kind === 'busy' && !(patience.waitsForConnections && connectTimeoutText.test(message))
          if (isBusy || isSpent || isTooLate) {
            throw Object.assign(refuse('SVC001'), { cause: error })
          }
          wasAway ||= kind === 'away'
          if (attempt === brief.retries) patience.onWait?.(message)
          statements.retries += 1
          await sleep(backoffMs(attempt, backoff))
        }
      }
    },
  }
}

/**
 * The first attempt may have committed, and on its server alone: the repeat could find its row and write nothing. On one
 * connection, so that the server which has answered confirms.
 */
async function queryAndConfirm(connections: Connections, query: NamedQuery): Promise<{ rows: unknown[] }> {
  if (connections.queryAndConfirm) return connections.queryAndConfirm(query)
  if (!(connections instanceof pg.Pool)) {
    const result = await connections.query(query)
    await connections.query({ ...confirmCommits, values: [] })
    return result
  }
  const client = await connections.connect()
  try {
    const result = await client.query(query)
    await client.query(confirmCommits)
    client.release()
    return result
  } catch (error) {
    client.release(error as Error)
    throw error
  }
}

/** bigint arrives as text; KRW, credits and entry numbers are far below the limit of exact integers. */
function parseExactInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `${text} is not an exact integer in JavaScript`)
  return value
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? parseExactInteger : pg.types.getTypeParser(oid, format)) as never,
}

/**
 * `once`: a statement is planned once per connection, for values of any size, and never with a sequential scan. For requests,
 * whose statements find their rows by key: PostgreSQL would plan them again for every small batch, and that takes longer than
 * running them. `as needed`: statements over many rows may need another plan for other values.
 */
export type Plans = 'once' | 'as needed'

export type PoolSettings = {
  connection: Connection
  maxConnections: number
  plans?: Plans
  /** How long a statement may take. `none`: of a command, which a person waits for and can interrupt. */
  statementLimitMs?: number | 'none'
  use?: Use
  standbys?: Standbys | undefined
  /** Whether several queries may be sent before the first is answered. */
  pipeline?: boolean
  log: Log
}

/** As statements, not as connection options: those would replace the ones in DATABASE_URL or PGOPTIONS. */
const plannedOnce = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off'

/** The name of the connections of services and commands in pg_stat_activity. */
export const applicationName = 'prepaid-credits'

export function createPool(settings: PoolSettings): pg.Pool {
  const {
    connection,
    maxConnections,
    plans = 'as needed',
    statementLimitMs = 5_000,
    use = 'service',
    standbys = 'optional',
    pipeline = false,
    log,
  } = settings
  const hosts = createHosts(connection, use, standbys)
  const pool = new pg.Pool({
    Client: hosts.Client,
    onConnect: async (client: pg.ClientBase) => {
      await hosts.accept(client)
      if (plans === 'once') await client.query(plannedOnce)
    },
    types,
    ...(pipeline && { pipeline }),
    max: maxConnections,
    // As long as a request's statement may take. Less would refuse requests, and fail a start, on a machine whose processors
    // are taken: PostgreSQL can need seconds there to accept a connection.
    connectionTimeoutMillis: 5_000,
    ...limitsOf(statementLimitMs),
    // A server that died silently is noticed after 20 s, also during a statement without a time limit.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: 60_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    application_name: applicationName,
  })
  // A connection that is lost while idle emits an error; without a listener it would end the process. Not logged while the pool
  // is ending: a server that stops then closes connections that are being closed here.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ error: error.message }, 'an idle database connection was lost')
  })
  return pool
}

function limitsOf(limitMs: number | 'none'): pg.PoolConfig {
  // As text: pg does not send a 0, and a limit that the role has would be in force.
  if (limitMs === 'none') return { statement_timeout: '0' as never }
  // A connection that died silently would block its statement, and the batch behind it, until TCP gives up. Longer than the
  // server's own limit, so that a slow statement fails there first.
  return { statement_timeout: limitMs, query_timeout: limitMs + 2_000 }
}

const readTimeStatement = statement.global('db.readTime', 'select now() as "now"')

/** The clock of the database decides: that of a process may be wrong. */
export async function readDatabaseTime(database: Database): Promise<Date> {
  const [row] = await database.run<{ now: Date }>(readTimeStatement)
  assert(row, 'the statement has one row')
  return row.now
}
