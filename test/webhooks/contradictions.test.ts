// The gateway contradicts itself: two notifications of opposite content, a cancel that is taken back, a part that was cancelled and
// restored. Our books follow what a lookup shows, and each leaves at most one discrepancy, whatever notices it first.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { reconcile } from '../../src/payments/books/reconcile.ts'
import { closeAll } from '../support/closing.ts'
import { arrived, outcomesOf, startTestWebhooks, type TestWebhooks } from '../support/gateway/webhooks.ts'
import { movements } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { discrepanciesOf, settleAll } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let webhooks: TestWebhooks
before(async () => {
  service = await startTestService()
  webhooks = await startTestWebhooks(service)
  await service.sandbox.setWebhookUrl(webhooks.url)
})
after(() => closeAll(webhooks, service))
afterEach(async () => {
  await service.sandbox.clearFaults()
  await settleAll(service)
})

const hourMs = 3_600_000
const run = () => {
  const now = Date.now()
  return reconcile(service.payments, { from: new Date(now - hourMs), to: new Date(now + hourMs) })
}

/** Open ones about the order, and about movements of its payment. */
async function openOf(orderId: string): Promise<string[]> {
  const rows = await service.database.query<{ kind: string }>(
    `select kind from discrepancies where resolved_at is null and (order_id = $1 or detail #>> '{stored,orderId}' = $1)`,
    [orderId],
  )
  return rows.map(({ kind }) => kind)
}

test('DONE and ABORTED of one payment 46 ms apart: a lookup decides, and nothing is in doubt', async () => {
  const customer = await service.newCustomer()
  for (const [result, status] of [
    ['approve', 'CONFIRMED'],
    ['decline', 'FAILED'],
  ] as const) {
    const order = await customer.paidOrder('STANDARD', result)
    await service.sandbox.setFaults([{ on: 'webhook', kind: 'contradict', times: 1 }])
    const answer = await order.confirm()
    if (result === 'approve') assertSuccess(answer, 200)
    else assertRefused(answer, 'VAL003')
    await arrived(service, order.orderId, 2)
    await outcomesOf(service, order.orderId)
    assert.equal(await customer.status(order.orderId), status)
    assert.deepEqual(await discrepanciesOf(service, order.orderId), [])
  }
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

for (const first of ['a notification', 'a reconciliation'] as const) {
  test(`a cancel of the customer that the gateway takes back is one discrepancy, first noticed by ${first}`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    assertSuccess(await customer.cancel(paymentKey), 200)
    await run()
    await service.sandbox.restore(paymentKey)
    await arrived(service, orderId, 3)
    if (first === 'a notification') await outcomesOf(service, orderId)
    await run()
    assert.deepEqual(await openOf(orderId), ['NOT_CANCELLED_AT_GATEWAY'])
    assert.equal(await customer.status(orderId), 'CANCELLED')
    await service.sandbox.cancel(paymentKey)
    await arrived(service, orderId, 4)
    await outcomesOf(service, orderId)
    await run()
    assert.equal((await openOf(orderId)).includes('NOT_CANCELLED_AT_GATEWAY'), false)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  })
}

test('a part that was cancelled and restored leaves what the gateway shows, and at most one discrepancy', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey, 5_000)
  await arrived(service, orderId, 2)
  await outcomesOf(service, orderId)
  assert.deepEqual(await openOf(orderId), ['PARTLY_CANCELLED_AT_GATEWAY'])
  await service.sandbox.restore(paymentKey)
  await arrived(service, orderId, 3)
  await outcomesOf(service, orderId)
  assert.deepEqual(await openOf(orderId), [])
  await run()
  assert.deepEqual(await openOf(orderId), [])
})

test('a row of a cancel that our books do not have is a discrepancy, also of an order that disagrees', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey, 5_000)
  await arrived(service, orderId, 2)
  await outcomesOf(service, orderId)
  await service.database.pool.query(
    `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
    values ($1, $2, $3, 'CANCEL', 777, now() - interval '1 minute')`,
    [`forged_${orderId}`, paymentKey, orderId],
  )
  await run()
  assert.deepEqual((await openOf(orderId)).sort(), ['MOVEMENT_NOT_LISTED', 'PARTLY_CANCELLED_AT_GATEWAY'])
})

test('an accepted part that the gateway restores is one discrepancy', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey, 5_000)
  await outcomesOf(service, orderId)
  await run()
  await acceptPartOf(service.payments, { customerId: customer.customerId, orderId })
  await service.sandbox.restore(paymentKey)
  await run()
  await arrived(service, orderId, 3)
  await outcomesOf(service, orderId)
  assert.deepEqual(await openOf(orderId), ['NOT_CANCELLED_AT_GATEWAY'])
})
