// The clock of the database may step back: a standby with another clock takes over, or NTP sets it. The times of one
// order stay in sequence whatever the clock does. The tests simulate a step by moving stored times ahead of the clock,
// which is the same for a statement.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { listMigrations } from '../../src/db/migrate.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { operationStates, settleAll } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())
afterEach(async () => {
  await service.sandbox.clearFaults()
  await settleAll(service)
  await recordPlayedActions(service.database)
  assert.deepEqual((await audit(service.payments.database)).violations, [])
})

const stepMs = 30_000

/** Steps the clock back behind all times of the order, which has moved no credits yet. */
async function stepBack(orderId: string): Promise<void> {
  const step = `${stepMs} ms`
  await service.database.query('update orders set created_at = created_at + $2::interval where order_id = $1', [
    orderId,
    step,
  ])
  await service.database.query(
    'update payment_operations set opened_at = opened_at + $2::interval where order_id = $1',
    [orderId, step],
  )
}

async function boughtBeforeTheStep() {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await stepBack(order.orderId)
  return { customer, ...order }
}

type Times = {
  created: number
  confirmed: number | null
  granted: number | null
  operations: { kind: string; opened: number; closed: number }[]
  entries: number[]
  events: number[]
}

/** Times in microseconds; lists are oldest first. */
async function timesOf(orderId: string): Promise<Times> {
  const [times] = await service.database.query<Times>(
    `with second as (select 1000000 as microseconds)
     select (extract(epoch from o.created_at) * microseconds)::bigint as created,
       (extract(epoch from o.confirmed_at) * microseconds)::bigint as confirmed,
       (select (extract(epoch from e.created_at) * microseconds)::bigint from ledger_entries e
        where e.order_id = o.order_id and e.kind = 'GRANT') as granted,
       (select json_agg(json_build_object('kind', p.kind, 'opened', (extract(epoch from p.opened_at) * microseconds)::bigint,
                                          'closed', (extract(epoch from p.closed_at) * microseconds)::bigint)
                        order by p.kind = 'CONFIRM' desc, p.opened_at)
        from payment_operations p where p.order_id = o.order_id) as operations,
       array(select (extract(epoch from e.created_at) * microseconds)::bigint from ledger_entries e
             where e.order_id = o.order_id order by e.entry_number) as entries,
       array(select (extract(epoch from v.created_at) * microseconds)::bigint from events v
             where v.data ->> 'orderId' = o.order_id order by v.event_number) as events
     from orders o cross join second where o.order_id = $1`,
    [orderId],
  )
  return times ?? assert.fail(`no order ${orderId}`)
}

/** Created first, then each operation; entries and events in sequence, none before the order. */
async function assertInOrder(orderId: string): Promise<Times> {
  const times = await timesOf(orderId)
  const { created, confirmed, granted, operations, entries, events } = times
  for (const list of [[created, ...operations.flatMap(({ opened, closed }) => [opened, closed])], entries, events]) {
    assert.deepEqual(
      list,
      list.toSorted((one, other) => one - other),
      JSON.stringify(times),
    )
  }
  for (const time of [...entries, ...events]) assert.ok(time >= created, JSON.stringify(times))
  assert.equal(confirmed, granted)
  return times
}

test('4.3 confirmedAt is not before createdAt when the clock steps back between purchase and confirm', async () => {
  const { customer, orderId, confirm } = await boughtBeforeTheStep()
  assertSuccess(await confirm(), 200)
  const { data } = (await customer.as<{ createdAt: string; confirmedAt: string }>(`/${orderId}`)).body
  assert.ok(data.confirmedAt >= data.createdAt, JSON.stringify(data))
  await assertInOrder(orderId)
})

test('a cancel after a step of the clock is after the confirm, and so are its rollback and its event', async () => {
  const { customer, orderId, paymentKey, confirm } = await boughtBeforeTheStep()
  assertSuccess(await confirm(), 200)
  assertSuccess(await customer.cancel(paymentKey), 200)
  const { operations, entries, events } = await assertInOrder(orderId)
  assert.deepEqual([operations.length, entries.length, events.length], [2, 3, 2])
})

test('a refund after a step of the clock is after the confirm, also when no credits are left to remove', async () => {
  for (const spent of [0, 21]) {
    const { customer, orderId, confirm } = await boughtBeforeTheStep()
    assertSuccess(await confirm(), 200)
    if (spent > 0) {
      const spending = { customerId: customer.customerId, credits: spent, reference: orderId, serviceId: 'svc_test' }
      assert.equal((await service.payments.credits.spend(spending)).spent, spent)
    }
    await refund(service.payments, { orderId, reason: 'decided by the platform' })
    const { operations, events } = await assertInOrder(orderId)
    assert.deepEqual([operations.length, events.length], [2, 2])
  }
})

test('an order that expires after a step of the clock ends after it was created', async () => {
  const { customer, orderId } = await boughtBeforeTheStep()
  assert.equal((await expireOrders(service.payments.database, -2 * stepMs)).expired, 1)
  assert.equal(await customer.status(orderId), 'FAILED')
  const { events } = await assertInOrder(orderId)
  assert.equal(events.length, 1)
})

test('a confirm whose answer was lost is settled after it was opened when the clock steps back meanwhile', async () => {
  const customer = await service.newCustomer()
  const { orderId, confirm } = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'hang-after', times: 1 }])
  assertRefused(await confirm(), 'SVC001')
  await stepBack(orderId)
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  await assertInOrder(orderId)
})

test('money for a FAILED order is returned after the time at which the order failed', async () => {
  const { customer, orderId, paymentKey, amount } = await boughtBeforeTheStep()
  await expireOrders(service.payments.database, -2 * stepMs)
  await service.sandbox.capture(paymentKey, orderId, amount)
  assert.equal(await review(service.payments, { customerId: customer.customerId, orderId }, paymentKey), 'repaired')
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM EXPIRED', 'RETURN APPROVED'])
  await assertInOrder(orderId)
})

test('I-10: an order whose confirmedAt an earlier version stored before its createdAt is repaired by the migration', async () => {
  const { orderId } = await (await service.newCustomer()).confirmedOrder()
  await service.database.query(
    `update orders set created_at = confirmed_at + interval '30 seconds' where order_id = $1`,
    [orderId],
  )
  await recordPlayedActions(service.database)
  const { violations } = await audit(service.payments.database)
  assert.deepEqual(
    violations.map((violation) => [violation.invariant, violation.orderId]),
    [['I-10', orderId]],
  )
  const { text } = listMigrations().find(({ version }) => version === 18) ?? assert.fail('no such migration')
  await service.database.query(text.slice(text.indexOf('update orders')))
  const { created, confirmed } = await timesOf(orderId)
  assert.equal(created, confirmed)
})
