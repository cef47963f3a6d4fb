// Row 16 of the decisions and 2.9 of the failure catalogue: an order without a confirm in time expires and is FAILED.
// Never one whose payment was captured; of a concurrent expiry and confirm one is refused.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { movements, orderInState, totalCalls } from '../support/service/orders.ts'
import {
  contextOver,
  losingAnswerOf,
  openContexts,
  operationStates,
  operationsOf,
  settleAll,
} from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService({ settings: { pendingOrdersPerCustomer: 0 } })
})
after(() => service.close())
afterEach(async () => {
  await service.sandbox.clearFaults()
  await settleAll(service)
})

const lifetimeMs = 3_600_000
const sweep = (context = service.payments) => expireOrders(context.database, lifetimeMs)

/** Makes the orders this much older. */
async function age(orderIds: string[], ms = lifetimeMs + 1_000): Promise<void> {
  const text = `update orders set created_at = created_at - $2::int * interval '1 ms' where order_id = any($1)`
  await service.database.query(text, [orderIds, ms])
}

test('a PENDING order past its lifetime is FAILED, with an expiry instead of a confirm and without a gateway call', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const calls = totalCalls(service)
  await age([order.orderId])
  assert.deepEqual(await sweep(), { expired: 1, more: false })
  assert.equal(await customer.status(order.orderId), 'FAILED')
  assert.deepEqual(await movements(service, customer.customerId), [])
  const [operation, ...others] = await operationsOf(service, order.orderId)
  const { kind, state, paymentKey, attempts } = operation ?? {}
  assert.deepEqual([kind, state, paymentKey, attempts, others], ['CONFIRM', 'EXPIRED', null, 0, []])
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  const refused = await order.confirm()
  assertRefused(refused, 'VAL003')
  assert.equal(refused.body.message, 'The order is FAILED, not PENDING.')
  assertRefused(await customer.cancel(order.paymentKey), 'NOT000')
  assert.equal(totalCalls(service), calls)
  const data = (await customer.as<Record<string, unknown>>(`/${order.orderId}`)).body.data
  assert.deepEqual([data.status, data.confirmedAt], ['FAILED', null])
})

test('a younger order, and one in any other state, does not expire', async () => {
  const customer = await service.newCustomer()
  const { orderId: young } = await customer.paidOrder()
  await age([young], lifetimeMs - 60_000)
  const closed = []
  for (const status of ['CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const) {
    closed.push({ status, ...(await orderInState(service, customer, status)) })
  }
  await age(closed.map(({ orderId }) => orderId))
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  for (const { orderId, status } of closed) assert.equal(await customer.status(orderId), status)
  assert.equal(await customer.status(young), 'PENDING')
})

for (const [kind, result, status] of [
  ['reset-after', 'approve', 'CONFIRMED'],
  ['reset-before', 'approve', 'CONFIRMED'],
  ['reset-after', 'decline', 'FAILED'],
] as const) {
  test(`E3: an order with an open confirm (${result}, ${kind}) does not expire until that is settled: ${status}`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder('STANDARD', result)
    await service.sandbox.setFaults([{ on: 'confirm', kind, times: 1 }])
    assertRefused(await order.confirm(), 'SVC001')
    await age([order.orderId])
    assert.deepEqual(await sweep(), { expired: 0, more: false })
    assert.equal(await customer.status(order.orderId), 'PENDING')
    await settleAll(service)
    assert.equal(await customer.status(order.orderId), status)
    assert.deepEqual(await sweep(), { expired: 0, more: false })
    assert.equal(await customer.credits(), status === 'CONFIRMED' ? 21 : 0)
  })
}

test('E2: an expired order cannot get a confirm, nor a confirmed one an expiry', async () => {
  const customer = await service.newCustomer()
  const [expired, confirmed] = [await customer.paidOrder(), await customer.confirmedOrder()]
  await age([expired.orderId])
  await sweep()
  const insert = (orderId: string, paymentKey: string | null, state: string) =>
    service.database.queryOf(
      customer.customerId,
      `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, state, holder_id,
         lease_until, closed_at, closed_by)
       values ($1, gen_random_uuid(), $2, 'CONFIRM', $3, 20000, $4, gen_random_uuid(), now(),
         case $4 when 'OPEN' then null else now() end, case $4 when 'OPEN' then null else gen_random_uuid() end)`,
      [customer.customerId, orderId, paymentKey, state],
    )
  const constraint = 'payment_operations_one_success_of_kind'
  await assert.rejects(insert(expired.orderId, expired.paymentKey, 'OPEN'), { constraint })
  await assert.rejects(insert(confirmed.orderId, null, 'EXPIRED'), { constraint })
})

test('E1: two sweepers at once fail each order once', async () => {
  const customer = await service.newCustomer()
  const orderIds = []
  for (let number = 0; number < 60; number += 1) orderIds.push((await customer.purchase('BASIC')).body.data.orderId)
  await age(orderIds)
  const sweepers = await openContexts(service, 2)
  try {
    const swept = await Promise.all(sweepers.contexts.map(async (context) => (await sweep(context)).expired))
    // Each skips the rows that the other has locked; rows that both skipped are handled in the next sweep.
    const rest = (await sweep()).expired
    assert.equal(
      swept.reduce((sum, each) => sum + each, rest),
      60,
    )
  } finally {
    await sweepers.close()
  }
  for (const orderId of orderIds) assert.deepEqual(await operationStates(service, orderId), ['CONFIRM EXPIRED'])
})

test('E4: a sweep whose commit result was lost on the wire has failed its orders once', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.paidOrder()
  await age([orderId])
  const connections = losingAnswerOf(service.database.pool, 'payments.expireOrders')
  assert.deepEqual(await sweep(contextOver(service.payments, connections)), { expired: 0, more: false })
  assert.equal(connections.lost(), true)
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM EXPIRED'])
})

test('E5: a backlog of 1,500 orders expires in batches of 500', async () => {
  const { customerId } = await service.newCustomer()
  await service.database.query(
    `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, created_at)
     select $1, 'backlog_' || n, 'BASIC', 'CARD', 1000, 1, now() - interval '2 hours' from generate_series(1, 1500) n`,
    [customerId],
  )
  const swept = []
  do swept.push(await sweep())
  while (swept.at(-1)?.more)
  assert.deepEqual(
    swept.map(({ expired, more }) => `${expired} ${more}`),
    ['500 true', '500 true', '500 true', '0 false'],
  )
  const [row] = await service.database.query(
    `select (select count(*) from orders where customer_id = $1 and status = 'FAILED') as failed,
       (select count(distinct order_id) from payment_operations where customer_id = $1 and state = 'EXPIRED') as expired`,
    [customerId],
  )
  assert.deepEqual(row, { failed: 1500, expired: 1500 })
})

test('E3: more orders with open confirms than fit into a batch do not prevent later orders from expiring', async () => {
  const { customerId } = await service.newCustomer()
  await service.database.query(
    `with old as (
      insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, created_at)
      select $1, 'confirming_' || n, 'BASIC', 'CARD', 1000, 1, now() - interval '3 hours' from generate_series(1, 600) n
      returning customer_id, order_id, amount
    )
    insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, holder_id, lease_until)
    select customer_id, gen_random_uuid(), order_id, 'CONFIRM', 'pay_' || order_id, amount, gen_random_uuid(), now()
    from old`,
    [customerId],
  )
  const customer = await service.newCustomer()
  const { orderId } = await customer.paidOrder()
  await age([orderId])
  assert.deepEqual(await sweep(), { expired: 1, more: false })
  assert.equal(await customer.status(orderId), 'FAILED')
  // The gateway has none of these confirms: once they are deleted, their orders expire too.
  await service.database.query('delete from payment_operations where customer_id = $1', [customerId])
  assert.deepEqual(
    [await sweep(), await sweep()].map(({ expired }) => expired),
    [500, 100],
  )
})

test('C26: with a sweep and a confirm at the same moment, 240 times over, exactly one succeeds', async () => {
  const customer = await service.newCustomer()
  const sweepers = await openContexts(service, 2)
  const ends: Record<string, number> = { CONFIRMED: 0, FAILED: 0 }
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  let headStartMs = 0
  try {
    for (let round = 0; round < 30; round += 1) {
      const orders = await Promise.all(Array.from({ length: 8 }, () => customer.paidOrder('BASIC')))
      await age(orders.map(({ orderId }) => orderId))
      // Sometimes the sweep starts first, sometimes the confirm.
      const [answers] = await Promise.all([
        pause(headStartMs).then(() => Promise.all(orders.map((order) => order.confirm()))),
        ...sweepers.contexts.map((context) => pause(round % 6).then(() => sweep(context))),
      ])
      const confirmed = answers.filter(({ body }) => body.code === 'SUCCESS').length
      // The side that has lost every race of a round starts earlier in the next: a sweep of several servers takes longer.
      if (confirmed === orders.length) headStartMs = 2 * headStartMs + 1
      if (confirmed === 0) headStartMs = Math.floor(headStartMs / 2)
      await sweep()
      const rows = await service.database.query<{ orderId: string; status: string; states: string }>(
        `select o.order_id as "orderId", o.status, string_agg(p.kind || ' ' || p.state, ', ') as states
         from orders o join payment_operations p using (customer_id, order_id)
         where o.order_id = any($1) group by o.order_id, o.status`,
        [orders.map(({ orderId }) => orderId)],
      )
      assert.equal(rows.length, orders.length)
      for (const { orderId, status, states } of rows) {
        ends[status] = (ends[status] ?? 0) + 1
        const answer = answers[orders.findIndex((order) => order.orderId === orderId)]
        const expected = status === 'CONFIRMED' ? ['SUCCESS', 'CONFIRM APPROVED'] : ['VAL003', 'CONFIRM EXPIRED']
        assert.deepEqual([answer?.body.code, states], expected)
      }
    }
  } finally {
    await sweepers.close()
  }
  assert.equal((ends.CONFIRMED ?? 0) + (ends.FAILED ?? 0), 240, JSON.stringify(ends))
  assert.ok(ends.CONFIRMED && ends.FAILED, `both results of the race must occur: ${JSON.stringify(ends)}`)
  const kept = (await service.sandbox.payments())
    .filter(({ status }) => status === 'DONE')
    .map(({ orderId }) => orderId)
  const text = `select order_id as "orderId" from orders where status = 'FAILED' and order_id = any($1)`
  assert.deepEqual(await service.database.query(text, [kept]), [])
})

test('C26: a confirm of an order past its lifetime, before the sweep, succeeds like any other', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await age([order.orderId])
  assertSuccess(await order.confirm(), 200)
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
})
