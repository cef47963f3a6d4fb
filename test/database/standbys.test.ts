// A database with a synchronous standby: nothing is acknowledged before the standby has it, a failover loses nothing, and a
// server that is not the primary gets no statement.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openLink } from '../../harness/link.ts'
import { takeFreePorts } from '../../harness/ports.ts'
import { type Cleaner, defer, newDataDir } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import {
  findAdjustmentState,
  findRequest,
  insertAdjustment,
  insertRequest,
} from '../../src/credits/adjustments/adjust.sql.ts'
import { reverseAll } from '../../src/credits/adjustments/reverse.sql.ts'
import { removeBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { openRestrictedHold, spendRestricted } from '../../src/credits/budgets/restricted.sql.ts'
import { findHolds, openHolds } from '../../src/credits/holds/holds.sql.ts'
import { findUses } from '../../src/credits/references.sql.ts'
import { spendAll } from '../../src/credits/spend.sql.ts'
import { createCustomer } from '../../src/customers/customers.sql.ts'
import { Client, type Connection, confirmCommitsText, createHosts, hostsOf, placeOf } from '../../src/db/connect.ts'
import { createDatabase, createPool, type Database, statement } from '../../src/db/database.ts'
import { prepare } from '../../src/db/prepare.ts'
import { waitForPrimary } from '../../src/db/primary.ts'
import { createWriteHealth } from '../../src/db/write-health.ts'
import { findOrdersOfKeys, insertOrders } from '../../src/payments/orders.sql.ts'
import { packageOf, paymentMethod } from '../../src/payments/packages.ts'
import { insertNotification } from '../../src/payments/recovery/notifications.sql.ts'
import { pingDatabase } from '../../src/telemetry/ping.sql.ts'
import { type Node, startNode, startStandby } from '../support/database/standby.ts'

const addMark = statement.global('test.addMark', 'insert into marks values ($1) on conflict do nothing')
const listMarks = statement.global('test.listMarks', 'select id from marks order by id')
const sleepStatement = statement.global('test.sleep', 'select pg_sleep(0.2)')
const patience = { retries: Number.POSITIVE_INFINITY, limitMs: 30_000 }

const dataDir = newDataDir({ after })
let node: Node
before(async () => {
  node = await startNode(dataDir)
  await node.query('create table marks (id int primary key)')
})

/** With both its connections open. */
async function open(t: Cleaner, connection: Connection): Promise<Database> {
  const pool = createPool({ connection, maxConnections: 2, log: silentLog })
  defer(t, () => pool.end())
  const database = createDatabase(pool, silentLog, { patience })
  await Promise.all([database.run(sleepStatement), database.run(sleepStatement)])
  return database
}

const waitingText = `select pid from pg_stat_activity where wait_event = 'SyncRep'`

async function waitingCommit(previous?: number): Promise<number> {
  let pid: number | undefined
  await until('a commit waits for the standby', async () => {
    pid = (await node.query<{ pid: number }>(waitingText)).find((row) => row.pid !== previous)?.pid
    return pid !== undefined
  })
  return pid ?? 0
}

/** A moment after new sessions show the setting: the checkpointer has to read it, too. */
async function untilCommitsWait(): Promise<void> {
  const probe = new Client(node.connection)
  await probe.connect()
  await probe.query('set synchronous_commit = on')
  const pid = (await probe.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  let isOver = false
  const commits = (async () => {
    while (!isOver) await probe.query(confirmCommitsText)
  })().catch(() => undefined)
  try {
    await until('commits wait', async () => (await node.query(waitingText)).length > 0)
  } finally {
    isOver = true
    await node.query('select pg_terminate_backend($1)', [pid])
    await until('none waits', async () => (await node.query(waitingText)).length === 0)
    await commits
  }
}

/** Commits wait for a standby that is not there, until the end of `work`. */
async function withoutStandby(work: () => Promise<void>): Promise<void> {
  await node.configure('synchronous_standby_names', 'absent')
  try {
    await untilCommitsWait()
    await work()
  } finally {
    await node.configure('synchronous_standby_names', '')
  }
}

test('a commit whose wait for the standby is cancelled is not acknowledged before a standby has it', async (t) => {
  const database = await open(t, node.connection)
  let isAcknowledged = false
  let added: Promise<unknown> = Promise.resolve()
  await withoutStandby(async () => {
    added = database.run(addMark, [1]).then(() => {
      isAcknowledged = true
    })
    const cancelled = await waitingCommit()
    await node.query('select pg_cancel_backend($1)', [cancelled])
    // It is visible, on this server alone.
    await until('the commit is done', async () => (await node.query('select from marks where id = 1')).length === 1)
    await waitingCommit(cancelled)
    assert.equal(isAcknowledged, false)
  })
  await added
  assert.equal(isAcknowledged, true)
  assert.deepEqual(await database.run(listMarks), [{ id: 1 }])
})

test('a session that is ended during that wait: the repeat finds the row, and is not acknowledged either', async (t) => {
  const database = await open(t, node.connection)
  let isAcknowledged = false
  let added: Promise<unknown> = Promise.resolve()
  await withoutStandby(async () => {
    added = database.run(addMark, [2]).then(() => {
      isAcknowledged = true
    })
    const ended = await waitingCommit()
    await node.query('select pg_terminate_backend($1)', [ended])
    await waitingCommit(ended)
    assert.equal(isAcknowledged, false)
  })
  await added
  assert.equal(isAcknowledged, true)
})

test('a repeated request is not answered with what only this server has, on whichever connection', async (t) => {
  await prepare({ place: 'of the test', owner: node.connection, serving: node.connection })
  const database = await open(t, node.connection)
  const [customerId, adjustmentId, holdId] = [randomUUID(), randomUUID(), randomUUID()]
  await createCustomer(database, customerId, 'repeats')
  const adjustment = {
    customerId,
    adjustmentId,
    kind: 'GOODWILL' as const,
    credits: 100,
    reason: 'test',
    actor: 'test',
  }
  await insertAdjustment(database, adjustment, 1_000)
  await insertRequest(database, { ...adjustment, adjustmentId: holdId })
  const { packageType, price: amount, credits } = packageOf('BASIC')
  const bought = { packageType, paymentMethod, amount, credits }
  const order = { customerId, orderId: 'order-of-the-test', idempotencyKey: 'key', maxPending: 0, ...bought }
  await insertOrders(database, [order])
  const spend = { customerId, credits: 1, reference: 'spend', serviceId: 'test' }
  const hold = { ...spend, reference: 'hold', holdId, expiresInSeconds: 60 }
  const reversal = { ...spend, adjustmentId, reversedReference: 'spend', reason: 'test' }
  const payment = { orderId: order.orderId, paymentKey: 'payment-key', status: 'DONE' }
  const notification = { transmissionId: 'test', eventType: 'PAYMENT_STATUS_CHANGED', ...payment }
  // The first of each writes, or finds what another has written; the second finds it.
  const requests: Record<string, () => Promise<unknown>> = {
    purchase: () => findOrdersOfKeys(database, [order]),
    spend: () => spendAll(database, [spend]),
    'spend under a budget': () => spendRestricted(database, spend),
    hold: () => openHolds(database, [hold]),
    'hold under a budget': () => openRestrictedHold(database, hold),
    reversal: () => reverseAll(database, [reversal]),
    'use of a reference': () => findUses(database, [spend]),
    'end of a hold': () => findHolds(database, [{ ...hold, mayManageHolds: false }]),
    adjustment: () => findAdjustmentState(database, adjustment),
    'request of an adjustment': () => findRequest(database, holdId),
    'removal of a budget': () => removeBudget(database, holdId),
    notification: () => insertNotification(database, notification),
  }
  for (const [name, request] of Object.entries(requests)) {
    await request()
    let isAnswered = false
    let repeated: Promise<unknown> = Promise.resolve()
    await withoutStandby(async () => {
      repeated = request().then(() => {
        isAnswered = true
      })
      await waitingCommit()
      assert.equal(isAnswered, false, name)
    })
    await repeated
  }
})

test('a new connection reads nothing that only this server has', async (t) => {
  const pool = createPool({ connection: node.connection, maxConnections: 1, log: silentLog })
  defer(t, () => pool.end())
  let hasRead = false
  let read: Promise<unknown> = Promise.resolve()
  await withoutStandby(async () => {
    read = createDatabase(pool, silentLog, { patience })
      .run(listMarks)
      .then(() => {
        hasRead = true
      })
    await waitingCommit()
    assert.equal(hasRead, false)
  })
  await read
})

test('while commits wait, a command can read, and a service that cannot connect leaves no session behind', async (t) => {
  const [forCommand, forService] = (['command', 'service'] as const).map((use) => {
    const pool = createPool({ connection: node.connection, maxConnections: 1, use, log: silentLog })
    defer(t, () => pool.end())
    return createDatabase(pool, silentLog)
  })
  await withoutStandby(async () => {
    assert.ok((await forCommand?.run(listMarks))?.length)
    await assert.rejects(async () => forService?.run(listMarks), { code: 'SVC001' })
    await until('no session waits', async () => (await node.query(waitingText)).length === 0)
  })
})

test('a new connection whose commits are not confirmed in time does not fail the next one', async () => {
  const { Client, accept } = createHosts(node.connection, 'service', 'optional')
  const primary = { isStandby: false, acceptsWrites: true, hasStandbys: true }
  const state = { ...primary, synchronousCommit: 'on', clientMinMessages: 'notice' }
  const connectionWhere = (confirm: () => Promise<unknown>) =>
    Object.assign(new Client(), {
      query: async ({ text }: { text: string }) => (text === confirmCommitsText ? confirm() : { rows: [state] }),
    })
  await assert.rejects(accept(connectionWhere(() => Promise.reject(new Error('not confirmed')))), /not confirmed/)
  await assert.doesNotReject(accept(connectionWhere(async () => undefined)))
})

test('readiness: a primary that does not confirm commits, and one without a standby where one is required', async (t) => {
  const database = await open(t, node.connection)
  const findFault = createWriteHealth(database, 'optional')
  assert.equal(await findFault(), undefined)
  assert.equal(await createWriteHealth(database, 'required')(), 'the database has no synchronous standby')
  await withoutStandby(async () => {
    assert.equal(await findFault(), 'the database does not confirm commits')
    // Every probe waits for the same commit.
    assert.equal(await findFault(), 'the database does not confirm commits')
    assert.equal((await node.query(waitingText)).length, 1)
  })
  await until('it is ready again', async () => (await findFault()) === undefined)
})

/** A start that waits instead fails the test: by its line, and soon. */
const refusedAtOnce = { databaseWaitMs: 5_000, onWait: (line: string) => assert.fail(line) }

test('a start is refused where a commit does not wait for the standbys, or there are none and they are required', async () => {
  await assert.rejects(
    waitForPrimary(node.connection, 'x', { use: 'service', standbys: 'required' }),
    /^Error: The database x has no synchronous standby .* DATABASE_STANDBYS is required: set one up/,
  )
  await waitForPrimary(node.connection, 'x', { use: 'command', standbys: 'required' })
  const settings = [
    ['synchronous_commit', 'local', 'a failover would lose payments that were answered'],
    ['synchronous_commit', 'remote_write', 'a failover would lose payments that were answered'],
    ['client_min_messages', 'error', 'which hides that a commit is not on its standby'],
  ]
  for (const [name, value, risk] of settings) {
    await node.query(`alter role credits set ${name} = ${value}`)
    const start = () => waitForPrimary(node.connection, 'x', { use: 'service', ...refusedAtOnce })
    await start()
    await withoutStandby(() =>
      assert.rejects(start(), new RegExp(`^Error: The database x has ${name} = ${value}, ${risk}: take`)),
    )
    await node.query(`alter role credits reset ${name}`)
  }
})

test('the hosts of a URL, and the place for people', () => {
  const hosts = (connectionString: string) => hostsOf({ connectionString }).map((each) => Object.values(each)[0])
  for (const single of ['postgres://u:a,b@h/db', 'postgres://u:a%2Cb@h:1/db?x=1,2', 'postgres:///db?host=/run/a,b']) {
    assert.deepEqual(hosts(single), [single])
  }
  assert.deepEqual(hosts('postgresql://u:p@s,s@h1:1,[::1]:2,h3/db?sslmode=require'), [
    'postgresql://u:p@s,s@h1:1/db?sslmode=require',
    'postgresql://u:p@s,s@[::1]:2/db?sslmode=require',
    'postgresql://u:p@s,s@h3/db?sslmode=require',
  ])
  assert.equal(placeOf('postgres://u:p@h1:1,h2/db'), 'db at h1:1,h2')
  assert.equal(placeOf('postgres:///db?host=/run'), 'db at the local socket')
})

test('however many connections to a host fail, the next one is to the host after it', async () => {
  const ports = await takeFreePorts(3)
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const { Client } = createHosts({ connectionString: `postgres://u:p@${hosts}/db` }, 'service', 'optional')
  const failed = (client: InstanceType<typeof Client>) => new Promise<Error>((resolve) => client.connect(resolve))
  const errors = await Promise.all([new Client(), new Client()].map(failed))
  assert.ok(errors.every((error) => /ECONNREFUSED/.test(error.message)))
  assert.equal(new Client().port, ports[1])
})

/** A TCP address of a server that listens on a socket. */
async function forward(t: Cleaner, to: Node['connection'], port = 0): Promise<number> {
  const link = await openLink(port, { path: `${to.host}/.s.PGSQL.${to.port}` })
  defer(t, () => link.close())
  return link.port
}

test('a start waits for a primary, and not for a wrong password', async (t) => {
  const lines: string[] = []
  const [port = 0] = await takeFreePorts(1)
  const { connection } = node
  const connectionString = `postgres://${connection.user}:${connection.password}@127.0.0.1:${port}/credits`
  const waiting = waitForPrimary({ connectionString }, 'x', {
    use: 'command',
    databaseWaitMs: 30_000,
    onWait: (line) => lines.push(line),
  })
  await until('it waits', () => lines.length > 0)
  await forward(t, connection, port)
  await waiting
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /^The database x cannot be reached: .*ECONNREFUSED.*\. Waiting for up to 30 s\.$/)

  const wrong = { connectionString: connectionString.replace(connection.password, 'wrong') }
  await assert.rejects(
    waitForPrimary(wrong, 'x', { use: 'command', ...refusedAtOnce }),
    /password authentication failed/,
  )
})

test('of several hosts a start waits for one that may be the primary soon, though another refuses the password', async (t) => {
  const other = await startNode(newDataDir(t))
  const [port = 0] = await takeFreePorts(1)
  const { user, password } = node.connection
  const hosts = `127.0.0.1:${await forward(t, other.connection)},127.0.0.1:${port}`
  const connectionString = `postgres://${user}:${password}@${hosts}/credits`
  const reasons: string[] = []
  const onWait = (reason: string) => void reasons.push(reason)
  const waiting = waitForPrimary({ connectionString }, 'x', { use: 'command', databaseWaitMs: 30_000, onWait })
  await Promise.race([waiting, until('it waits', () => reasons.length > 0)])
  await forward(t, node.connection, port)
  await waiting
  assert.match(reasons.join(), /password authentication failed.*ECONNREFUSED/)
})

test('of several hosts the primary is used, and after a failover the new one, with everything acknowledged', async (t) => {
  const standby = await startStandby(t, node)
  const ports = [await forward(t, standby.connection), await forward(t, node.connection)]
  const { user, password, database: name } = node.connection
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const connectionString = `postgres://${user}:${password}@${hosts}/${name}`
  assert.equal(placeOf(connectionString), `credits at ${hosts}`)
  const database = await open(t, { connectionString })
  await database.run(addMark, [10])
  assert.deepEqual(await pingDatabase(database), { standbys: 1 })

  await node.kill()
  const added = database.run(addMark, [11])
  await standby.configure('synchronous_standby_names', '')
  await standby.query('select pg_promote()')
  await added
  const marks = await standby.query<{ id: number }>('select id from marks where id >= 10 order by id')
  assert.deepEqual(marks, [{ id: 10 }, { id: 11 }])
})
