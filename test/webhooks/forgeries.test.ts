// Payment webhooks are not signed: any sender that knows the address can claim anything. Only the gateway's answer to a
// lookup changes an order (rows W4, W5, C25 of the failure catalogue).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrderStatus } from '../../src/payments/kinds.ts'
import { processNotifications, purgeNotifications } from '../../src/payments/recovery/notifications.ts'
import { closeAll } from '../support/closing.ts'
import {
  notificationOf,
  notificationsOf,
  outcomesOf,
  startTestWebhooks,
  type TestWebhooks,
} from '../support/gateway/webhooks.ts'
import { movements, orderInState, totalCalls } from '../support/service/orders.ts'
import { discrepanciesOf, operationStates } from '../support/service/recovery.ts'
import { assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let webhooks: TestWebhooks
before(async () => {
  service = await startTestService()
  webhooks = await startTestWebhooks(service)
})
after(() => closeAll(webhooks, service))

/** Sends the notification, processes it, and returns its outcome. */
async function notify(orderId: string, paymentKey: string | null, status: string): Promise<string | null | undefined> {
  assert.equal(
    (await webhooks.post(notificationOf({ orderId, paymentKey: paymentKey ?? 'pay_none', status }))).status,
    200,
  )
  return (await outcomesOf(service, orderId)).at(-1)
}

const claims = ['DONE', 'CANCELED', 'PARTIAL_CANCELED', 'ABORTED', 'EXPIRED', 'WAITING_FOR_DEPOSIT', 'UNKNOWN_STATUS']
const states: OrderStatus[] = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED']

for (const status of states) {
  test(`W4: no claim about the payment of an order that is ${status} changes anything`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, status)
    const before = [await movements(service, customer.customerId), await operationStates(service, order.orderId)]
    for (const claim of claims) {
      for (const paymentKey of [order.paymentKey, 'pay_unknown']) {
        const outcome = await notify(order.orderId, paymentKey, claim)
        assert.match(outcome ?? '', /^(agrees|nothing new)$/, `${claim} ${paymentKey}`)
      }
    }
    assert.equal(await customer.status(order.orderId), status)
    const after = [await movements(service, customer.customerId), await operationStates(service, order.orderId)]
    assert.deepEqual(after, before)
    assert.deepEqual(await discrepanciesOf(service, order.orderId), [])
  })
}

test('W4: DONE for a PENDING order that was not paid grants nothing and captures nothing', async () => {
  const customer = await service.newCustomer()
  const { orderId } = (await customer.purchase('PRO')).body.data
  assert.equal(await notify(orderId, 'pay_forged', 'DONE'), 'agrees')
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await operationStates(service, orderId), [])
  const paid = await customer.paidOrder('PRO')
  assert.equal(await notify(paid.orderId, paid.paymentKey, 'DONE'), 'agrees')
  assert.equal(await customer.status(paid.orderId), 'PENDING')
  const [payment] = await service.sandbox.paymentsOf(paid.orderId)
  assert.equal(payment?.status, 'IN_PROGRESS')
  assertSuccess(await paid.confirm(), 200)
})

for (const claim of ['DONE', 'CANCELED']) {
  test(`W4: ${claim} for an order with another customer’s payment key changes neither order`, async () => {
    const [victim, thief] = [await service.newCustomer(), await service.newCustomer()]
    const paid = await victim.confirmedOrder('STANDARD')
    const calls = { ...service.calls }
    for (const status of ['PENDING', 'CONFIRMED', 'FAILED'] as const) {
      const { orderId } = await orderInState(service, thief, status)
      const [credits, confirms] = [await thief.credits(), service.calls.confirm]
      assert.equal(await notify(orderId, paid.paymentKey, claim), 'agrees')
      assert.equal(await thief.status(orderId), status)
      assert.deepEqual([await thief.credits(), service.calls.confirm], [credits, confirms])
      assert.deepEqual(await discrepanciesOf(service, orderId), [])
    }
    assert.equal(service.calls.cancel, calls.cancel)
    assert.equal(await victim.status(paid.orderId), 'CONFIRMED')
    assert.equal(await victim.credits(), 21)
    const [payment] = await service.sandbox.paymentsOf(paid.orderId)
    assert.equal(payment?.status, 'DONE')
  })
}

test('C25: ABORTED and EXPIRED after DONE leave the order CONFIRMED, each after one lookup', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  for (const claim of ['ABORTED', 'EXPIRED']) {
    const lookups = service.calls.fetchPayment
    assert.equal(await notify(orderId, paymentKey, claim), 'agrees')
    assert.equal(service.calls.fetchPayment, lookups + 1)
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  }
  assert.equal(await customer.credits(), 21)
})

test('W5: a notification of an unknown order is processed as such, without a call to the gateway', async () => {
  const calls = totalCalls(service)
  for (const orderId of ['ord_unknown', `ord_${'0'.repeat(36)}`]) {
    assert.equal(await notify(orderId, 'pay_unknown', 'DONE'), 'no such order')
  }
  assert.equal(totalCalls(service), calls)
})

test('W9: a notification that needs a lookup waits for a lookup slot, one that needs none does not', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  let waited = 0
  const waitForLookupSlot = async () => {
    waited += 1
  }
  for (const [notified, waits] of [
    [{ orderId, paymentKey, status: 'DONE' }, 0],
    [{ orderId: 'ord_unknown', status: 'DONE' }, 0],
    [{ orderId, paymentKey, status: 'ABORTED' }, 1],
    [{ orderId, paymentKey: 'pay_forged', status: 'DONE' }, 1],
  ] as const) {
    waited = 0
    await webhooks.post(notificationOf(notified))
    assert.deepEqual(await processNotifications({ ...service.payments, waitForLookupSlot }), { taken: 1, more: false })
    assert.equal(waited, waits, JSON.stringify(notified))
  }
})

test('forged notifications do not prevent the effect of a true one', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey)
  for (const [key, claim] of [
    ['pay_forged', 'CANCELED'],
    [paymentKey, 'DONE'],
    [paymentKey, 'CANCELED'],
    [paymentKey, 'ABORTED'],
  ] as const) {
    await webhooks.post(notificationOf({ orderId, paymentKey: key, status: claim }))
  }
  await outcomesOf(service, orderId)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
})

test('a payment captured outside this service and then notified makes the PENDING order CONFIRMED, once', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount, confirm } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const sent = service.calls.confirm
  assert.equal(await notify(orderId, paymentKey, 'DONE'), 'repaired')
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  assert.equal(await notify(orderId, paymentKey, 'DONE'), 'nothing new')
  const answer = await confirm()
  assertSuccess(answer, 200)
  assert.deepEqual([answer.body.data.creditsAdded, answer.body.data.totalCredits], [21, 21])
  assert.equal(service.calls.confirm, sent)
})

test('every notification is closed by the run that processed it, however soon after its arrival', async () => {
  const { database } = service.payments
  for (let round = 0; round < 100; round += 1) {
    const orderId = `ord_soon_${round}`
    await service.database.query(
      `insert into webhook_notifications (transmission_id, order_id, event_type) values ($1, $1, 'PAYMENT_STATUS_CHANGED')`,
      [orderId],
    )
    await processNotifications({ ...service.payments, database })
    assert.deepEqual(
      (await notificationsOf(service, orderId)).map(({ outcome }) => outcome),
      ['no such order'],
    )
  }
})

test('where as many notifications are due as a process takes at once, there may be more', async () => {
  await service.database.query(
    `insert into webhook_notifications (transmission_id, order_id, event_type)
     select 'one_of_51_' || n, 'ord_of_51_' || n, 'E' from generate_series(1, 51) n`,
  )
  assert.deepEqual(await processNotifications(service.payments), { taken: 50, more: true })
  assert.deepEqual(await processNotifications(service.payments), { taken: 1, more: false })
})

test('notifications processed 30 days ago are deleted; unprocessed ones are kept, however old', async () => {
  await service.database.query(
    `insert into webhook_notifications (transmission_id, order_id, event_type, received_at, processed_at, outcome)
     select 'old_' || n, 'ord_old', 'E', now() - n * interval '1 day', now() - n * interval '1 day', 'agrees'
     from generate_series(28, 33) n
     union all select 'open', 'ord_old', 'E', now() - interval '99 days', null, null`,
  )
  assert.deepEqual(await purgeNotifications(service.payments), { more: false })
  const left = (await notificationsOf(service, 'ord_old')).map(({ transmissionId }) => transmissionId)
  assert.deepEqual(left, ['open', 'old_29', 'old_28'])
})
