// Section 4.6 and rows 26 to 31 of the decisions: the input, responses and refusals of a cancel. Gateway faults are in
// faults/cancel.test.ts.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { movements, orderInState, spend, totalCalls } from '../support/service/orders.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  secretKey,
  startTestService,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())
afterEach(() => service.sandbox.clearFaults())

/** Metadata echoes paymentKey and reason exactly as they were sent. */
function assertCancelFailed(answer: Answer<unknown>, paymentKey: string, reason = 'changed my mind'): void {
  assert.deepEqual([answer.status, answer.body.code], [400, 'PAYMENT_CANCEL_FAILED'], answer.text)
  assert.deepEqual(answer.body.metadata, { paymentKey, reason })
  assert.equal(typeof answer.body.message, 'string')
}

/** A cancellation made directly at the gateway, as in its dashboard. */
async function cancelAtGateway(paymentKey: string, cancelAmount?: number): Promise<void> {
  const response = await fetch(`${service.sandboxUrl}/v1/payments/${paymentKey}/cancel`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${secretKey}:`)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cancelReason: 'dashboard', cancelAmount }),
  })
  assert.equal(response.status, 200)
}

test('4.6: a cancel answers 200 with SUCCESS, message null and a text in data; the credits are rolled back', async () => {
  const customer = await service.newCustomer()
  const [kept, order] = [await customer.confirmedOrder('PRO'), await customer.confirmedOrder('STANDARD')]
  const answer = await customer.cancel(order.paymentKey)
  assertSuccess(answer, 200)
  assert.equal(answer.body.message, null)
  assert.deepEqual(answer.body.data, { message: 'The payment is cancelled and its credits are taken back.' })
  assert.equal(await customer.status(order.orderId), 'CANCELLED')
  assert.equal(await customer.status(kept.orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 110)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 110', 'GRANT 21', 'ROLLBACK -21'])
  const [payment] = await service.sandbox.paymentsOf(order.orderId)
  assert.deepEqual([payment?.status, payment?.balanceAmount, payment?.cancels?.length], ['CANCELED', 0, 1])
})

test('4.6: the reason goes to the gateway as it was sent', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  const reason = '  고객 변심 "quoted" \\ <b>💳</b>\n\tand more  '
  assertSuccess(await customer.cancel(order.paymentKey, reason), 200)
  const [payment] = await service.sandbox.paymentsOf(order.orderId)
  const cancels = payment?.cancels as { cancelReason: string }[] | undefined
  assert.deepEqual(
    cancels?.map((each) => each.cancelReason),
    [reason],
  )
})

for (const [status, message] of [
  ['FAILED', 'The payment is not captured: there is nothing to cancel.'],
  ['CANCELLED', 'The payment is already cancelled.'],
  ['REFUNDED', 'The payment is already refunded.'],
] as const) {
  test(`4.6: the payment of an order that is ${status} cannot be cancelled: PAYMENT_CANCEL_FAILED`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, status)
    const [calls, credits] = [totalCalls(service), await customer.credits()]
    const reason = ' as sent: "é" 💳 '
    const answer = await customer.cancel(order.paymentKey, reason)
    assertCancelFailed(answer, order.paymentKey, reason)
    assert.equal(answer.body.message, message)
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(order.orderId), status)
    assert.equal(await customer.credits(), credits)
  })
}

test('4.6: a cancel is refused when the credits are spent, and nothing changes at the gateway', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder('STANDARD')
  assert.equal(await spend(service, customer.customerId, 1), true)
  const calls = totalCalls(service)
  assertCancelFailed(await customer.cancel(order.paymentKey), order.paymentKey)
  assert.equal(totalCalls(service), calls)
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 20)
  assert.equal((await service.sandbox.paymentsOf(order.orderId))[0]?.status, 'DONE')
  // Credits do not belong to a purchase: those of another one make the balance sufficient again.
  await customer.confirmedOrder('BASIC')
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.equal(await customer.credits(), 0)
})

test('4.6: an unknown paymentKey and one of another customer are the same NOT000, byte for byte, without a gateway call', async () => {
  const [owner, otherCustomer] = [await service.newCustomer(), await service.newCustomer()]
  const order = await owner.confirmedOrder()
  const unconfirmed = await owner.paidOrder()
  const failed = await orderInState(service, owner, 'FAILED')
  const cancelled = await orderInState(service, owner, 'CANCELLED')
  const calls = totalCalls(service)
  const foreign = await otherCustomer.cancel(order.paymentKey)
  assertRefused(foreign, 'NOT000')
  assert.equal(foreign.body.metadata, null)
  for (const { paymentKey } of [failed, cancelled, unconfirmed]) {
    assert.equal((await otherCustomer.cancel(paymentKey)).text, foreign.text)
  }
  for (const key of ['x', '../../v1/x', "';--", `${order.paymentKey}x`, order.orderId, 'k'.repeat(200)]) {
    assert.equal((await owner.cancel(key)).text, foreign.text, key)
  }
  // It was never sent to us in a confirm, so it is unknown.
  assert.equal((await owner.cancel(unconfirmed.paymentKey)).text, foreign.text)
  assert.equal(totalCalls(service), calls)
  assert.equal(await owner.status(order.orderId), 'CONFIRMED')
})

test('5.5: with many cancels at once, of own and foreign payments, each customer cancels only its own payment', async () => {
  const customers = await Promise.all(Array.from({ length: 4 }, () => service.newCustomer()))
  const orders = await Promise.all(customers.map(async (owner) => ({ owner, order: await owner.confirmedOrder() })))
  const requests = orders.flatMap(({ owner, order }) =>
    customers.map((caller) => ({ own: owner === caller, caller, order })),
  )
  const answers = await Promise.all(
    requests.map(async ({ own, caller, order }) => ({ own, answer: await caller.cancel(order.paymentKey) })),
  )
  for (const { own, answer } of answers) {
    if (own) assertSuccess(answer, 200)
    else assertRefused(answer, 'NOT000')
  }
  for (const customer of customers) {
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  }
})

test('4.6: with many cancels of one payment at once, one gets the 200; one call to the gateway, one rollback', async () => {
  for (let round = 0; round < 5; round += 1) {
    const customer = await service.newCustomer()
    const order = await customer.confirmedOrder()
    const sent = service.calls.cancel
    const answers = await Promise.all(Array.from({ length: 20 }, () => customer.cancel(order.paymentKey)))
    const codes = answers.map((answer) => answer.body.code)
    assert.equal(codes.filter((code) => code === 'SUCCESS').length, 1, codes.join())
    for (const code of codes) assert.match(code, /^(SUCCESS|PAYMENT_CANCEL_FAILED|SVC001)$/)
    assert.equal(service.calls.cancel, sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  }
})

test('4.6: a payment that was cancelled directly at the gateway, whole or in parts, becomes CANCELLED by the cancel', async () => {
  const cancelledAtGateway: { title: string; amounts: (number | undefined)[]; cancelsThen: number }[] = [
    { title: 'whole', amounts: [undefined], cancelsThen: 1 },
    { title: 'a part: our cancel covers the rest', amounts: [5_000], cancelsThen: 2 },
    { title: 'all of it in parts', amounts: [5_000, 15_000], cancelsThen: 2 },
  ]
  for (const { title, amounts, cancelsThen } of cancelledAtGateway) {
    const customer = await service.newCustomer()
    const order = await customer.confirmedOrder()
    for (const amount of amounts) await cancelAtGateway(order.paymentKey, amount)
    assertSuccess(await customer.cancel(order.paymentKey), 200)
    assert.equal(await customer.status(order.orderId), 'CANCELLED', title)
    assert.equal(await customer.credits(), 0)
    const [payment] = await service.sandbox.paymentsOf(order.orderId)
    assert.deepEqual([payment?.balanceAmount, payment?.cancels?.length], [0, cancelsThen], title)
  }
})

test('5.6: X-Idempotency-Key is ignored on cancel, whatever its value or form', async () => {
  const customer = await service.newCustomer()
  const [one, other] = [await customer.confirmedOrder(), await customer.confirmedOrder()]
  const cancel = (paymentKey: string, key: string) =>
    customer.as('/cancel', { body: { paymentKey, reason: 'changed my mind' }, headers: { 'x-idempotency-key': key } })
  assertSuccess(await cancel(one.paymentKey, 'the same'), 200)
  assertSuccess(await cancel(other.paymentKey, 'the same'), 200)
  assertCancelFailed(await cancel(one.paymentKey, 'the same'), one.paymentKey)
  assertCancelFailed(await cancel(one.paymentKey, 'two words'.repeat(40)), one.paymentKey)
})

test('4.6: after a cancellation neither a repeated confirm nor another cancel restores the credits', async () => {
  const customer = await service.newCustomer()
  const order = await orderInState(service, customer, 'CANCELLED')
  assertRefused(await order.confirm(), 'VAL003')
  assertCancelFailed(await customer.cancel(order.paymentKey), order.paymentKey)
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
})
