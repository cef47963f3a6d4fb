// The worker's reaction to each result of a lookup: row 22 of the decisions. Not found is no proof while the session of
// the payment may be alive; credits are not granted for a payment that was captured and cancelled before we recorded it.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { recover } from '../../src/payments/recovery/recover.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { movements } from '../support/service/orders.ts'
import {
  createOverrides,
  discrepanciesOf,
  lastOperation,
  makeDue,
  openKinds,
  operationStates,
  settleAll,
} from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await service.sandbox.behave({ unconfirmedLookup: 'found' })
  await settleAll(service)
})

async function lostConfirm(kind: string) {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind, times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  return { customer, key: { customerId: customer.customerId, orderId: order.orderId }, ...order }
}

async function recoverOnce(): Promise<void> {
  await makeDue(service)
  assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
}

test('a payment that is not found while its session may be alive is sent again, and that answer decides', async () => {
  await service.sandbox.behave({ unconfirmedLookup: 'not-found' })
  const { customer, orderId } = await lostConfirm('reset-before')
  const sent = service.calls.confirm
  await recoverOnce()
  assert.equal(service.calls.confirm, sent + 1)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('a payment that is not found after its session has certainly expired was refused: FAILED, and it is not sent', async () => {
  await service.sandbox.behave({ unconfirmedLookup: 'not-found' })
  const { customer, orderId } = await lostConfirm('reset-before')
  const { paymentSessionMs } = service.payments.settings
  const text = `update payment_operations set sent_at = now() - $1::int * interval '1 ms' where state = 'OPEN'`
  await service.database.query(text, [paymentSessionMs + 1_000])
  const sent = service.calls.confirm
  await recoverOnce()
  assert.equal(service.calls.confirm, sent)
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.equal((await lastOperation(service, orderId)).gatewayCode, 'NOT_FOUND_PAYMENT')
})

test('each send is recorded: the session is counted from the last one', async () => {
  await service.sandbox.behave({ unconfirmedLookup: 'not-found' })
  const { customer, orderId } = await lostConfirm('reset-before')
  const text = `update payment_operations set sent_at = now() - interval '9 minutes' where state = 'OPEN'`
  await service.database.query(text)
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-before', times: 1 }])
  await recoverOnce()
  const [row] = await service.database.query(
    `select sent_at > now() - interval '1 minute' as now from payment_operations where order_id = $1`,
    [orderId],
  )
  assert.deepEqual(row, { now: true })
  await recoverOnce()
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('captured and fully cancelled elsewhere before we recorded it: FAILED, nothing granted, no discrepancy', async () => {
  const { customer, orderId, paymentKey } = await lostConfirm('reset-after')
  await service.sandbox.cancel(paymentKey)
  await recoverOnce()
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.deepEqual(await movements(service, customer.customerId), [])
  assert.equal((await lastOperation(service, orderId)).gatewayCode, 'CANCELED')
  assert.deepEqual(await discrepanciesOf(service, orderId), [])
})

test('captured and partly cancelled elsewhere before we recorded it: CONFIRMED, and a discrepancy has the returned amount', async () => {
  const { customer, key, orderId, paymentKey } = await lostConfirm('reset-after')
  await service.sandbox.cancel(paymentKey, 4_000)
  await recoverOnce()
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  const [found, ...others] = await discrepanciesOf(service, orderId)
  assert.deepEqual([found?.kind, found?.detail.balanceAmount, others], ['PARTLY_CANCELLED_AT_GATEWAY', 16_000, []])
  assert.equal(await review(service.payments, key), 'disagrees')
  assert.deepEqual(await openKinds(service, orderId), ['PARTLY_CANCELLED_AT_GATEWAY'])
})

test('the same for a retry of the caller: captured and cancelled is VAL003, and no credits', async () => {
  const { customer, orderId, paymentKey, confirm } = await lostConfirm('reset-after')
  await service.sandbox.cancel(paymentKey)
  assertRefused(await confirm(), 'VAL003')
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.equal(await customer.credits(), 0)
})

test('C21: a lookup with another amount has no outcome and is a discrepancy, also for a review; the order stays PENDING', async () => {
  const { customer, key, orderId } = await lostConfirm('reset-after')
  const discrepancy = { orderId, status: 'DONE', totalAmount: 1 }
  overrides.findConfirm = async () => ({ kind: 'unknown', code: 'PAYMENT_DIFFERS', discrepancy })
  for (const attempts of [1, 2]) {
    await recoverOnce()
    assert.equal((await lastOperation(service, orderId)).attempts, attempts)
    assert.deepEqual(await openKinds(service, orderId), ['PAYMENT_DIFFERS'])
    assert.equal(await customer.status(orderId), 'PENDING')
  }
  await makeDue(service)
  assert.equal(await review(service.payments, key), 'disagrees')
  clear()
  await recoverOnce()
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(await openKinds(service, orderId), [])
})

for (const [kind, closed] of [
  ['CANCEL', 'CANCELLED'],
  ['REFUND', 'REFUNDED'],
] as const) {
  test(`a ${kind} of a payment that the gateway no longer knows stays open, with a discrepancy`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
    if (kind === 'CANCEL') assertRefused(await customer.cancel(paymentKey), 'SVC001')
    else await assert.rejects(refund(service.payments, { orderId, reason: 'agreed' }), { code: 'SVC001' })
    overrides.findCancel = async () => ({ kind: 'absent' })
    await recoverOnce()
    assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED', `${kind} OPEN`])
    assert.deepEqual(await openKinds(service, orderId), ['NOT_FOUND_PAYMENT'])
    assert.equal(await customer.credits(), 0)
    clear()
    await recoverOnce()
    assert.equal(await customer.status(orderId), closed)
  })
}
