// Section 4.6, rows 26, 30 and 31 of the decisions: a cancel whose outcome is unknown, and the cancel of a payment whose
// confirm has an unknown outcome. The credits are held before the gateway is called, and the payment is refunded once.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { head, openSocket } from '../../../harness/raw-http.ts'
import { until } from '../../../harness/until.ts'
import { recover } from '../../../src/payments/recovery/recover.ts'
import { closeAll } from '../../support/closing.ts'
import { movements, spend, totalCalls } from '../../support/service/orders.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  type Fault,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../../support/service/service.ts'

let service: TestService
let impatient: TestService
before(async () => {
  service = await startTestService({ callTimeoutMs: 1_000 })
  const { database, sandboxUrl } = service
  impatient = await startTestService({ beside: { database, sandboxUrl }, settings: { operationWaitMs: 100 } })
})
after(() => closeAll(impatient, service))
afterEach(() => service.sandbox.clearFaults())

type PaidOrder = Awaited<ReturnType<TestCustomer['paidOrder']>>

const fault = (on: Fault['on'], kind: string, times = 1): Fault =>
  kind === 'delay' ? { on, kind, times, delayMs: 2_500 } : { on, kind, times }

function assertUnknown(answer: Answer<unknown>): void {
  assertRefused(answer, 'SVC001')
  assert.deepEqual([answer.status, answer.headers.get('retry-after'), answer.body.metadata], [503, '1', null])
}

/** The order is still CONFIRMED and no credits were rolled back, but its 21 credits cannot be spent. */
async function assertHeld(customer: TestCustomer, { orderId }: PaidOrder): Promise<void> {
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 0)
  assert.equal(await spend(service, customer.customerId, 1), false)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
}

async function assertCancelledOnce(customer: TestCustomer, { orderId }: PaidOrder): Promise<void> {
  assert.equal(await customer.status(orderId), 'CANCELLED')
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  const payments = await service.sandbox.paymentsOf(orderId)
  assert.deepEqual(
    payments.map(({ status, balanceAmount, cancels }) => [status, balanceAmount, cancels?.length]),
    [['CANCELED', 0, 1]],
  )
}

async function statusAtGateway({ orderId }: PaidOrder): Promise<string | undefined> {
  return (await service.sandbox.paymentsOf(orderId))[0]?.status
}

for (const [kind, done] of [
  ['error-before', false],
  ['error-after', true],
  ['reset-before', false],
  ['reset-after', true],
  ['hang-after', true],
  ['delay', false],
] as const) {
  test(`4.6: ${kind} on the cancel is SVC001 with the credits held, and the retry cancels once`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.confirmedOrder()
    await service.sandbox.setFaults([fault('cancel', kind)])
    assertUnknown(await customer.cancel(order.paymentKey))
    assert.equal(await statusAtGateway(order), done ? 'CANCELED' : 'DONE')
    await assertHeld(customer, order)
    if (kind === 'delay') await until('it is cancelled', async () => (await statusAtGateway(order)) === 'CANCELED')
    const answer = await customer.cancel(order.paymentKey, 'another reason')
    assertSuccess(answer, 200)
    assert.equal(answer.body.message, null)
    await assertCancelledOnce(customer, order)
    assertRefused(await customer.cancel(order.paymentKey), 'PAYMENT_CANCEL_FAILED')
  })
}

for (const kind of ['error-before', 'reset-after', 'hang-after']) {
  test(`4.6: ${kind} on the lookup that a retry makes leaves everything as it is, and the next retry cancels`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.confirmedOrder()
    await service.sandbox.setFaults([fault('cancel', 'reset-after'), fault('lookup', kind)])
    assertUnknown(await customer.cancel(order.paymentKey))
    const sent = service.calls.cancel
    assertUnknown(await customer.cancel(order.paymentKey))
    assert.equal(service.calls.cancel, sent)
    await assertHeld(customer, order)
    assertSuccess(await customer.cancel(order.paymentKey), 200)
    await assertCancelledOnce(customer, order)
  })
}

test('4.6: with many retries at once of an unknown cancel, one gets the 200; the payment is refunded once', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  await service.sandbox.setFaults([fault('cancel', 'reset-before')])
  assertUnknown(await customer.cancel(order.paymentKey))
  const sent = service.calls.cancel
  const answers = await Promise.all(Array.from({ length: 20 }, () => customer.cancel(order.paymentKey)))
  assert.equal(answers.filter((answer) => answer.status === 200).length, 1)
  for (const { body } of answers) assert.match(body.code, /^(SUCCESS|PAYMENT_CANCEL_FAILED|SVC001)$/)
  assert.equal(service.calls.cancel, sent + 1)
  await assertCancelledOnce(customer, order)
})

test('4.6: only the credits of the payment are held, the rest can be spent', async () => {
  const customer = await service.newCustomer()
  const [kept, order] = [await customer.confirmedOrder('PRO'), await customer.confirmedOrder('STANDARD')]
  await service.sandbox.setFaults([fault('cancel', 'error-before')])
  assertUnknown(await customer.cancel(order.paymentKey))
  assert.equal(await customer.credits(), 110)
  assert.equal(await spend(service, customer.customerId, 111), false)
  assert.equal(await spend(service, customer.customerId, 5), true)
  const calls = totalCalls(service)
  assertRefused(await customer.cancel(kept.paymentKey), 'PAYMENT_CANCEL_FAILED')
  assert.equal(totalCalls(service), calls)
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.equal(await customer.credits(), 105)
})

test('4.6: while a cancel is unknown, a repeated confirm gives its original answer, and other customers get NOT000', async () => {
  const [customer, otherCustomer] = [await service.newCustomer(), await service.newCustomer()]
  const order = await customer.paidOrder()
  const original = await order.confirm()
  await service.sandbox.setFaults([fault('cancel', 'error-after')])
  assertUnknown(await customer.cancel(order.paymentKey))
  const calls = totalCalls(service)
  assert.equal((await order.confirm()).text, original.text)
  assertRefused(await otherCustomer.cancel(order.paymentKey), 'NOT000')
  assert.equal(totalCalls(service), calls)
  await assertHeld(customer, order)
})

test('4.6: a cancel while another one is in progress waits, and its answer is that the payment is already cancelled', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'delay', times: 1, delayMs: 600 }])
  const sent = service.calls.cancel
  const first = customer.cancel(order.paymentKey)
  await until('the gateway is called', () => service.calls.cancel === sent + 1)
  const body = { paymentKey: order.paymentKey, reason: 'me too' }
  const impatiently = await impatient.call('/public/v1/payments/cancel', { key: customer.apiKey, body })
  assertUnknown(impatiently)
  const second = await customer.cancel(order.paymentKey)
  assertRefused(second, 'PAYMENT_CANCEL_FAILED')
  assert.equal(second.body.message, 'The payment is already cancelled.')
  assertSuccess(await first, 200)
  assert.equal(service.calls.cancel + impatient.calls.cancel, sent + 1)
  await assertCancelledOnce(customer, order)
})

test('4.6: a cancel completes when its caller disconnects in the middle', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'delay', times: 1, delayMs: 200 }])
  const sent = service.calls.cancel
  const body = JSON.stringify({ paymentKey: order.paymentKey, reason: 'gone' })
  const type = { 'content-type': 'application/json', 'content-length': body.length }
  const socket = await openSocket(service.port)
  socket.write(head('POST /public/v1/payments/cancel', { 'service-api-key': customer.apiKey, ...type }) + body)
  await until('the gateway is called', () => service.calls.cancel === sent + 1)
  socket.resetAndDestroy()
  await until('the order is cancelled', async () => (await customer.status(order.orderId)) === 'CANCELLED')
  await assertCancelledOnce(customer, order)
})

/** A PENDING order whose confirm has no known outcome. */
async function unknownConfirm(customer: TestCustomer, result: string, kind: string, others: Fault[] = []) {
  const order = await customer.paidOrder('STANDARD', result)
  await service.sandbox.setFaults([fault('confirm', kind), ...others])
  assertUnknown(await order.confirm())
  assert.equal(await customer.status(order.orderId), 'PENDING')
  return order
}

for (const kind of ['error-after', 'reset-after'] as const) {
  test(`4.6: a confirm with an unknown outcome (${kind}) is resolved first, and the captured payment is cancelled`, async () => {
    const customer = await service.newCustomer()
    const order = await unknownConfirm(customer, 'approve', kind)
    assertSuccess(await customer.cancel(order.paymentKey), 200)
    await assertCancelledOnce(customer, order)
  })
}

for (const [result, kind] of [
  ['decline', 'error-after'],
  ['expire', 'error-before'],
] as const) {
  test(`4.6: a payment whose confirm is unknown (${kind}) and that was not captured (${result}) is PAYMENT_CANCEL_FAILED`, async () => {
    const customer = await service.newCustomer()
    const order = await unknownConfirm(customer, result, kind)
    const sent = service.calls.cancel
    const answer = await customer.cancel(order.paymentKey, 'a reason')
    assertRefused(answer, 'PAYMENT_CANCEL_FAILED')
    assert.deepEqual(answer.body.metadata, { paymentKey: order.paymentKey, reason: 'a reason' })
    assert.equal(service.calls.cancel, sent)
    assert.equal(await customer.status(order.orderId), 'FAILED')
    assert.deepEqual(await movements(service, customer.customerId), [])
  })
}

test('4.6: a confirm that never arrived is not sent in order to be cancelled: it is unknown while it could be on its way, then the card is not charged', async () => {
  const customer = await service.newCustomer()
  const order = await unknownConfirm(customer, 'approve', 'reset-before')
  const sent = service.calls.confirm
  // The call could still be in transit ...
  assertUnknown(await customer.cancel(order.paymentKey))
  // ... and an hour later it cannot.
  const text = `update payment_operations set sent_at = now() - interval '1 hour' where customer_id = $1`
  await service.database.query(text, [customer.customerId])
  assertRefused(await customer.cancel(order.paymentKey), 'PAYMENT_CANCEL_FAILED')
  assert.equal(service.calls.confirm, sent)
  assert.equal(await statusAtGateway(order), 'IN_PROGRESS')
  // The confirm ends here: otherwise the worker would send it and charge a buyer who was informed that there is no
  // charge.
  assert.equal(await customer.status(order.orderId), 'FAILED')
  await recover(service.payments)
  assert.equal(service.calls.confirm, sent)
  assert.equal(await statusAtGateway(order), 'IN_PROGRESS')
})

test('4.6: a payment whose confirm is still unknown is SVC001, PENDING, and nothing is cancelled', async () => {
  const customer = await service.newCustomer()
  const order = await unknownConfirm(customer, 'approve', 'error-after', [fault('lookup', 'error-before', 2)])
  const sent = service.calls.cancel
  for (const _ of [1, 2]) {
    assertUnknown(await customer.cancel(order.paymentKey))
    assert.equal(await customer.status(order.orderId), 'PENDING')
  }
  assert.equal(service.calls.cancel, sent)
  assert.equal(await customer.credits(), 0)
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  await assertCancelledOnce(customer, order)
})
