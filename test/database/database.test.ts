// How failures of the database are handled, and that its numbers arrive exactly.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { AssertionFailed } from '../../src/core/assert.ts'
import { Refusal } from '../../src/core/errors.ts'
import {
  confirmCommits,
  createDatabase,
  createPool,
  type FailureKind,
  failureKind,
  isTooSlow,
  retryScopeOf,
  statement,
} from '../../src/db/database.ts'
import { quoted, type Sql, sql } from '../../src/db/sql.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

let testDatabase: TestDatabase
before(async () => {
  testDatabase = await createTestDatabase({ template: 'template0' })
})
after(() => testDatabase.drop())

test('a statement takes SQL that was composed of SQL: the compiler refuses any other text', () => {
  const name: string = "x'; drop table orders; --"
  const table = sql`orders`
  assert.equal(sql`select ${1} from ${table} where ${'true'} and name = ${quoted(name)}`.at(-1), "'")
  // @ts-expect-error: a value is a parameter
  assert.ok(sql`select from orders where name = '${name}'`)
  // @ts-expect-error: a text that was put together elsewhere
  assert.ok(statement.global('test.composed', `select from ${table}`))
})

const withState = (code: string, message = 'as scripted') => Object.assign(new Error(message), { code })

const sqlStates: Record<FailureKind, string> = {
  again: '40001 40P01',
  away: '08000 08001 08003 08004 08006 08P01 57P01 57P02 57P03 25006',
  busy: '53000 53100 53200 53300 53400 55P03 57014',
  input: '22001 22003 22021 22P02 22P05 23001 23502 23503 23505 23514 23P01',
  bug: '0A000 25P02 26000 28P01 3D000 42501 42601 42703 42P01 55000 57P04 P0001 XX000',
}

for (const [kind, states] of Object.entries(sqlStates)) {
  test(`SQLSTATE ${states} is ${kind}`, () => {
    for (const state of states.split(' ')) {
      assert.equal(failureKind(withState(state)), kind, state)
      assert.equal(retryScopeOf(withState(state)), kind === 'input' ? 'each-input' : undefined, state)
    }
  })
}

test('an internal error that ends the session is away, as when it cannot begin on a full disk', () => {
  const error = withState('XX000', 'could not write init file')
  assert.equal(failureKind(Object.assign(error, { severity: 'FATAL' })), 'away')
  assert.equal(failureKind(Object.assign(error, { severity: 'ERROR' })), 'bug')
})

const withoutState: [error: Error, kind: FailureKind][] = [
  [withState('ECONNRESET', 'read ECONNRESET'), 'away'],
  [withState('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'), 'away'],
  [withState('EPIPE', 'write EPIPE'), 'away'],
  [withState('ENOENT', 'connect ENOENT /tmp/.s.PGSQL.5432'), 'away'],
  [withState('ETIMEDOUT', 'connect ETIMEDOUT'), 'away'],
  [withState('EHOSTUNREACH', 'connect EHOSTUNREACH'), 'away'],
  [withState('ENOTFOUND', 'getaddrinfo ENOTFOUND db'), 'away'],
  [withState('EAI_AGAIN', 'getaddrinfo EAI_AGAIN db'), 'away'],
  [new Error('Connection terminated unexpectedly'), 'away'],
  [new Error('failure on connection marked as essential: worker1:5432'), 'away'],
  [withState('XX000', 'server closed the connection unexpectedly\n\tThis probably means …'), 'away'],
  [new Error('Connection terminated'), 'away'],
  [new Error('Connection terminated due to connection timeout'), 'busy'],
  [new Error('Client has encountered a connection error and is not queryable'), 'away'],
  [new Error('Client was closed and is not queryable'), 'away'],
  [new Error('timeout exceeded when trying to connect'), 'busy'],
  [new TypeError('undefined is not a function'), 'bug'],
  [new AssertionFailed('wrong'), 'bug'],
  [new Error(''), 'bug'],
]

for (const [error, kind] of withoutState) {
  test(`${error.name} "${error.message}" without a SQLSTATE is ${kind}`, () => assert.equal(failureKind(error), kind))
}

test('a batch is repeated row by row where one was locked for too long, input by input where one was refused; a slow statement is no lock', () => {
  const causedBy = (state: string) => Object.assign(new Error('refused'), { cause: withState(state) })
  assert.deepEqual(
    [causedBy('55P03'), withState('23514'), causedBy('57014')].map((error) => [retryScopeOf(error), isTooSlow(error)]),
    [
      ['each-row', false],
      ['each-input', false],
      [undefined, true],
    ],
  )
})

/** Fails as scripted, then answers; an unused error would make the next test's count wrong. */
function scriptedConnections(...errors: unknown[]) {
  const queries: object[] = []
  const warned: string[] = []
  const connections = {
    async query(query: { name: string; text: string; values: unknown[] }) {
      queries.push(query)
      if (errors.length > 0) throw errors.shift()
      return { rows: [{ one: 1 }] }
    },
  }
  const log = { ...silentLog, warn: (fields: object) => void warned.push((fields as { kind: string }).kind) }
  return { database: createDatabase(connections, log), queries, warned }
}

const select = statement.global('test.select', 'select 1 as one where $1')
const terminated = () => new Error('Connection terminated unexpectedly')
const isUnavailable = (error: unknown) => error instanceof Refusal && error.code === 'SVC001'

test('a statement that is refused for lack of disk, memory or connections, or as read-only, is remembered for readiness, and no other', async () => {
  const noted = async (state: string) => {
    const { database } = scriptedConnections(withState(state))
    await database.run(select, [true]).catch(() => undefined)
    return database.refusedWrites?.last?.sqlstate
  }
  const refused = ['53000', '53100', '53200', '53300', '25006']
  const others = ['40001', '57P01', '57014', '55P03', '23505']
  assert.deepEqual(await Promise.all(refused.map(noted)), refused)
  assert.deepEqual(new Set(await Promise.all(others.map(noted))), new Set([undefined]))
})

test('a statement that failed by a conflict or a lost connection is run again with the same values', async () => {
  for (const error of [
    withState('40001'),
    withState('40P01'),
    withState('57P01'),
    withState('ECONNRESET'),
    terminated(),
  ]) {
    const { database, queries, warned } = scriptedConnections(error)
    assert.deepEqual(await database.run(select, [true]), [{ one: 1 }])
    const query = { name: 'test.select', text: 'select 1 as one where $1', values: [true] }
    // What a lost connection has committed is confirmed before the answer.
    const confirming = failureKind(error) === 'away' ? [{ ...confirmCommits, values: [] }] : []
    assert.deepEqual(queries, [query, query, ...confirming])
    assert.equal(warned.length, 1)
  }
})

test('what a lost connection may have committed is confirmed also when the repeat first loses a conflict', async () => {
  const { database, queries } = scriptedConnections(terminated(), withState('40001'))
  await database.run(select)
  assert.deepEqual(queries.at(-1), { ...confirmCommits, values: [] })
})

test('a statement is run four times at most; then the caller is refused with SVC001', async () => {
  const succeeds = scriptedConnections(withState('40001'), terminated(), withState('57P03'))
  assert.deepEqual(await succeeds.database.run(select), [{ one: 1 }])
  assert.deepEqual(succeeds.warned, ['again', 'away', 'away'])
  const fails = scriptedConnections(terminated(), terminated(), terminated(), terminated())
  await assert.rejects(fails.database.run(select), isUnavailable)
  assert.equal(fails.queries.length, 4)
})

test('a command repeats a statement for its whole patience, however long the statement ran before it first failed', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const minuteMs = 60_000
  const patience = { retries: Number.POSITIVE_INFINITY, limitMs: minuteMs, waitsForConnections: true }
  /** Each query but the last loses its connection after its number of minutes. */
  const run = (...minutes: number[]) => {
    const query = async () => {
      const lasts = minutes.shift()
      if (lasts === undefined) return { rows: [{ one: 1 }] }
      nowMs += lasts * minuteMs
      throw terminated()
    }
    return createDatabase({ query }, silentLog, { patience }).run(select)
  }
  assert.deepEqual(await run(10, 1), [{ one: 1 }])
  await assert.rejects(run(10, 1, 1), isUnavailable)
})

for (const { state, what } of [
  { state: '25006', what: 'a server that is still read-only' },
  { state: '40001', what: 'a statement that still loses to others' },
  { state: '40P01', what: 'a statement that still ends in a deadlock' },
]) {
  test(`${what} after the repeats of a request is waited for no longer, by a command either`, async () => {
    let queries = 0
    const query = async () => {
      queries += 1
      if (queries > 6) return { rows: [{ one: 1 }] }
      throw withState(state)
    }
    const patience = { retries: Number.POSITIVE_INFINITY, limitMs: 60_000, waitsForConnections: true }
    await assert.rejects(createDatabase({ query }, silentLog, { patience }).run(select), isUnavailable)
    assert.equal(queries, 4)
  })
}

test('a busy database refuses with SVC001 at once: running it again would add to its load', async () => {
  for (const error of [
    withState('57014'),
    withState('55P03'),
    withState('53300'),
    new Error('timeout exceeded when trying to connect'),
  ]) {
    const { database, queries, warned } = scriptedConnections(error)
    await assert.rejects(database.run(select), isUnavailable)
    assert.equal(queries.length, 1)
    assert.deepEqual(warned, ['busy'])
  }
})

test('a command waits for a connection that is not accepted in time, and not for a server that is busy', async () => {
  const patience = { retries: 3, limitMs: 60_000, waitsForConnections: true }
  const runAfter = (error: unknown) => {
    const errors = [error]
    const query = async () => {
      if (errors.length > 0) throw errors.shift()
      return { rows: [{ one: 1 }] }
    }
    return createDatabase({ query }, silentLog, { patience }).run(select)
  }
  assert.deepEqual(await runAfter(new Error('timeout exceeded when trying to connect')), [{ one: 1 }])
  await assert.rejects(runAfter(withState('53300')), isUnavailable)
})

test('an input error and an unknown error are thrown unchanged, without a retry', async () => {
  for (const error of [withState('23505'), withState('22P02'), withState('42P01'), new TypeError('a bug')]) {
    const { database, queries, warned } = scriptedConnections(error)
    await assert.rejects(database.run(select), (thrown) => thrown === error)
    assert.equal(queries.length, 1)
    assert.deepEqual(warned, [])
  }
})

test('bigint arrives as a number, exact up to 2^53 - 1; beyond that it is an error, never a rounded number', async () => {
  const database = createDatabase(testDatabase.pool, silentLog)
  const read = (text: string) =>
    database.run<{ value: unknown }>(
      statement.global(`test.bigint ${text}`, sql`select ${text as Sql}::bigint as value`),
    )
  for (const value of [0, 1, -1, 100_000, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    assert.deepEqual(await read(`(${value})`), [{ value }])
  }
  assert.deepEqual(await read('null'), [{ value: null }])
  for (const text of ['9007199254740992', '9007199254740993', '(-9007199254740992)', '9223372036854775807']) {
    await assert.rejects(read(text), AssertionFailed)
  }
  assert.deepEqual(await read('7'), [{ value: 7 }], 'the connection is still usable')
})

test('the server ends a statement after 5 s, a wait for a lock after 2 s, an idle transaction after 10 s', async () => {
  const limited = createPool({ connection: testDatabase.connection, maxConnections: 2, log: silentLog })
  const [limits] = (
    await limited.query(`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`)
  ).rows
  assert.deepEqual(limits, { statement: '5s', lock: '2s', idle: '10s' })
  await limited.end()
})

test('the statements of a command have no time limit, also where the role or the database has one', async () => {
  const { database } = testDatabase.connection
  await testDatabase.query(`alter database "${database}" set statement_timeout = '3s'`)
  const pool = createPool({
    connection: testDatabase.connection,
    maxConnections: 1,
    statementLimitMs: 'none',
    use: 'command',
    log: silentLog,
  })
  try {
    const { rows } = await pool.query(`select current_setting('statement_timeout') as "limit"`)
    assert.deepEqual(rows, [{ limit: '0' }])
  } finally {
    await pool.end()
    await testDatabase.query(`alter database "${database}" reset statement_timeout`)
  }
})

test('a connection that dies while idle is replaced, and the process keeps running', async () => {
  const warned: string[] = []
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warned.push(message) }
  const pool = createPool({ connection: testDatabase.connection, maxConnections: 1, log })
  const database = createDatabase(pool, log)
  const processId = statement.global('test.processId', 'select pg_backend_pid() as pid')
  const [before] = await database.run<{ pid: number }>(processId)
  await testDatabase.query('select pg_terminate_backend($1)', [before?.pid])
  const [now] = await database.run<{ pid: number }>(processId)
  assert.notEqual(now?.pid, before?.pid)
  assert.ok(warned.length > 0)
  await pool.end()
})

test('an error on a connection that a pool has handed out, or has just taken back as broken, does not end the process', async () => {
  const pool = createPool({ connection: testDatabase.connection, maxConnections: 1, log: silentLog })
  const client = await pool.connect()
  const ended = () => client.emit('error', withState('57P01'))
  assert.doesNotThrow(ended, 'before the caller has done anything with it')
  client.release(terminated())
  assert.doesNotThrow(ended, 'the error that the pool listens for')
  assert.doesNotThrow(ended, 'another one')
  await pool.end()
})

test('a connection that dies during a statement is replaced, and the statement is run again', async () => {
  const database = createDatabase(testDatabase.pool, silentLog)
  await testDatabase.query('create table tries (number serial)')
  const client = new pg.Client(testDatabase.connection)
  await client.connect()
  await client.query('begin; lock tries in access exclusive mode')
  const blocked = database.run<{ count: number }>(statement.global('test.count', 'select count(*) as count from tries'))
  const blockedBy = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%count from tries'`
  let pids: { pid: number }[] = []
  while (pids.length === 0) pids = await testDatabase.query<{ pid: number }>(blockedBy)
  await client.query('select pg_terminate_backend($1)', [pids[0]?.pid])
  await client.query('insert into tries default values; commit')
  await client.end()
  assert.deepEqual(await blocked, [{ count: 1 }])
})
