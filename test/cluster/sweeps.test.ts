// The sweeps of a cluster are shared out among the processes, and one that is killed leaves no group without them. Only on a
// cluster: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cleaner, callerOf, databaseUrl, newDataDir, startService } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { leastUuid } from '../../src/core/ids.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import { clusterVariable, createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

const peppers = [{ version: 1, secret: 'one pepper for all processes' }] as const

let database: OwnTestDatabase
/** One of each group, in their order. */
let keys: string[]
before(async () => {
  if (skip) return
  database = await createTestDatabase()
  const direct = createDatabase(database.pool, silentLog)
  const { groups, groupOf } = direct
  assert.ok(groups && groupOf)
  const idIn = (number: number) => {
    for (;;) {
      const id = crypto.randomUUID()
      if (groupOf(id) === number) return id
    }
  }
  keys = await Promise.all(groups.map(async (_, number) => (await issueKey(direct, peppers, idIn(number))).apiKey))
})

after(() => database?.drop())

const start = (t: Cleaner) =>
  startService(t, newDataDir(t), {
    DATABASE_URL: databaseUrl(database.connection),
    MIGRATION_DATABASE_URL: databaseUrl(database.ownerConnection),
    KEY_PEPPER: peppers[0].secret,
    // Expired ones are swept four times a second.
    PENDING_ORDER_LIFETIME_MS: '1000',
  })

/** An order in each group; returns which of them are PENDING. */
async function orderInEachGroup({ publicUrl }: { publicUrl: string }): Promise<() => Promise<number[]>> {
  const orders = await Promise.all(
    keys.map(async (key) => {
      const caller = callerOf(publicUrl, key)
      const { orderId } = (await caller.purchase('BASIC')).body.data
      return () => caller.status(orderId)
    }),
  )
  return async () => {
    const statuses = await Promise.all(orders.map((status) => status()))
    return [...statuses.keys()].filter((number) => statuses[number] === 'PENDING')
  }
}

const listText = 'select from sweeping_processes where lease_until > now()'

/** Waits until this many processes have a lease, and each has claimed it when all the others had one. */
async function untilShared(processes: number): Promise<void> {
  const isReached = async (text: string, values?: unknown[]) =>
    (await database.query(text, values)).length === processes
  await until(`${processes} processes have a lease`, () => isReached(listText))
  const [{ now }] = (await database.query('select now()')) as [{ now: Date }]
  const claimedSince = `select from sweeping_processes where lease_until - interval '10 s' > $1`
  await until('each has claimed again', () => isReached(claimedSince, [now]))
}

test('a process sweeps its own groups alone; those of one that hangs when its lease is over', { skip }, async (t) => {
  const service = await start(t)
  await untilShared(1)
  await database.query(`insert into sweeping_processes values ($1, now() + interval '1 hour')`, [leastUuid])
  // The groups change hands every minute.
  await until('a minute has begun', () => new Date().getSeconds() < 30, 60_000)
  await untilShared(2)
  const pending = await orderInEachGroup(service)
  await until('the orders of half the groups are expired', async () => (await pending()).length === 4)
  await sleep(2_000)
  assert.equal((await pending()).length, 4)
  await database.query('update sweeping_processes set lease_until = now() where process_id = $1', [leastUuid])
  await until('all are expired', async () => (await pending()).length === 0)
  await service.stop()
  assert.deepEqual(await database.query(listText), [])
})

test('when one of two processes is killed, the other sweeps all groups soon after', { skip }, async (t) => {
  const [first, second] = await Promise.all([start(t), start(t)])
  await untilShared(2)
  const before = await orderInEachGroup(first)
  await until('the two sweep all groups', async () => (await before()).length === 0)
  await first.kill()
  const startedAt = performance.now()
  const pending = await orderInEachGroup(second)
  await until('the other one sweeps all groups', async () => (await pending()).length === 0)
  t.diagnostic(`${Math.round(performance.now() - startedAt)} ms after the kill`)
  assert.equal((await database.query(listText)).length, 1)
})
