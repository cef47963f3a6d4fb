// Row 32 of the decisions and 2.6 of the failure catalogue: the platform refunds an order. The money is returned once,
// the remaining credits are removed, the spent ones are recorded as a shortfall, and the balance never goes below zero.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { cancelledElsewhere } from '../../src/payments/kinds.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { movements, orderInState, spend, totalCalls } from '../support/service/orders.ts'
import {
  contextOver,
  createOverrides,
  discrepanciesOf,
  lastOperation,
  losingAnswerOf,
  makeDue,
  openKinds,
  operationStates,
  operationsOf,
  settleAll,
} from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await settleAll(service)
})

const reason = 'decided by the platform'
const refundOf = (orderId: string, context = service.payments) => refund(context, { orderId, reason })
const answerFor = (orderId: string, shortfall: number, credits = 21) => ({
  orderId,
  status: 'REFUNDED',
  refundedAmount: 20_000,
  creditsTakenBack: credits - shortfall,
  shortfall,
})

async function storedShortfall(orderId: string): Promise<unknown> {
  const [row] = await service.database.query(
    'select refund_shortfall as s, refund_entry as e from orders where order_id = $1',
    [orderId],
  )
  return row
}

for (const { what, spent, entries } of [
  { what: 'all of the credits left', spent: 0, entries: ['GRANT 21', 'REFUND -21'] },
  { what: 'part of them left', spent: 15, entries: ['GRANT 21', 'SPEND -15', 'REFUND -6'] },
  { what: 'none of them left', spent: 21, entries: ['GRANT 21', 'SPEND -21'] },
]) {
  test(`F2: a refund with ${what} removes ${21 - spent} and records a shortfall of ${spent}; the metrics count what it removes`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    if (spent > 0) assert.equal(await spend(service, customer.customerId, spent), true)
    const sent = service.calls.cancel
    const { refunded } = service.payments.tallies.credits
    assert.deepEqual(await refundOf(orderId), answerFor(orderId, spent))
    assert.equal(service.payments.tallies.credits.refunded, refunded + 21 - spent)
    assert.equal(service.calls.cancel, sent + 1)
    assert.equal(await customer.status(orderId), 'REFUNDED')
    assert.equal(await customer.credits(), 0)
    assert.deepEqual(await movements(service, customer.customerId), entries)
    // One more entry is that of the hold.
    const entryNumber = entries.at(-1)?.startsWith('REFUND') ? entries.length + 1 : null
    assert.deepEqual(await storedShortfall(orderId), { s: spent, e: entryNumber })
    const [payment] = await service.sandbox.paymentsOf(orderId)
    assert.deepEqual([payment?.status, payment?.balanceAmount], ['CANCELED', 0])
    const [, operation] = await operationsOf(service, orderId)
    assert.deepEqual([operation?.kind, operation?.paymentKey, operation?.reason], ['REFUND', paymentKey, reason])
  })
}

test('3: confirmedAt stays set on a refunded order', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await refundOf(orderId)
  const { data } = (await customer.as<Record<string, unknown>>(`/${orderId}`)).body
  assert.equal(data.status, 'REFUNDED')
  assert.equal(typeof data.confirmedAt, 'string')
})

test('F2: a refund does not remove more credits than its order granted', async () => {
  const customer = await service.newCustomer()
  const [kept, order] = [await customer.confirmedOrder('PRO'), await customer.confirmedOrder('STANDARD')]
  assert.deepEqual(await refundOf(order.orderId), answerFor(order.orderId, 0))
  assert.equal(await customer.credits(), 110)
  assert.equal(await customer.status(kept.orderId), 'CONFIRMED')
})

test('F3: credits that a running cancel holds are not removed by a refund of another order', async () => {
  const customer = await service.newCustomer()
  const [first, second] = [await customer.confirmedOrder('STANDARD'), await customer.confirmedOrder('STANDARD')]
  assert.equal(await spend(service, customer.customerId, 11), true)
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(first.paymentKey), 'SVC001')
  assert.equal(await customer.credits(), 10)
  assert.deepEqual(await refundOf(second.orderId), answerFor(second.orderId, 11))
  assert.equal(await customer.credits(), 0)
  assertSuccess(await customer.cancel(first.paymentKey), 200)
  assert.deepEqual(await movements(service, customer.customerId), [
    'GRANT 21',
    'GRANT 21',
    'SPEND -11',
    'REFUND -10',
    'ROLLBACK -21',
  ])
})

test('F1: a repeated refund gives the same answer, and does nothing', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await spend(service, customer.customerId, 4)
  const answer = await refundOf(orderId)
  const calls = totalCalls(service)
  assert.deepEqual(await refundOf(orderId), answer)
  assert.deepEqual(await refund(service.payments, { orderId, reason: 'another reason' }), answer)
  assert.equal(totalCalls(service), calls)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -4', 'REFUND -17'])
})

test('X4: a refund that the gateway refuses releases the credits: the order stays CONFIRMED and can be cancelled', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  await assert.rejects(refundOf(orderId), {
    code: 'PAYMENT_CANCEL_FAILED',
    message: 'Not refunded: the gateway refused it.',
  })
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 21)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED', 'REFUND REJECTED'])
  clear()
  assertSuccess(await customer.cancel(paymentKey), 200)
})

test('a refund that meets an open cancel, which the gateway then refuses, is made', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(paymentKey), 'SVC001')
  overrides.cancel = async () => {
    delete overrides.cancel
    return { kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' }
  }
  assert.deepEqual(await refundOf(orderId), answerFor(orderId, 0))
  const states = ['CONFIRM APPROVED', 'CANCEL REJECTED', 'REFUND APPROVED']
  assert.deepEqual(await operationStates(service, orderId), states)
})

test('a refund of which the gateway shows that more has gone back is a discrepancy of its own kind', async () => {
  const { orderId } = await (await service.newCustomer()).confirmedOrder()
  const discrepancy = { status: 'PARTIAL_CANCELED' }
  overrides.cancel = async () => ({ kind: 'approved', transactionKey: null, discrepancy })
  assert.deepEqual(await refundOf(orderId), answerFor(orderId, 0))
  assert.deepEqual(await openKinds(service, orderId), ['REFUNDED_MORE_AT_GATEWAY'])
})

for (const kind of ['reset-before', 'reset-after']) {
  test(`F7: ${kind} on the refund is SVC001 with the credits held; the worker finishes it`, async () => {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    await spend(service, customer.customerId, 1)
    await service.sandbox.setFaults([{ on: 'cancel', kind, times: 1 }])
    await assert.rejects(refundOf(orderId), { code: 'SVC001' })
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 0)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -1'])
    await makeDue(service)
    assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
    assert.equal(await customer.status(orderId), 'REFUNDED')
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -1', 'REFUND -20'])
    assert.deepEqual(await refundOf(orderId), answerFor(orderId, 1))
  })
}

test('F7: the operator’s next attempt settles an unknown refund at once, with the answer of a refund', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
  await assert.rejects(refundOf(orderId), { code: 'SVC001' })
  assert.deepEqual(await refundOf(orderId), answerFor(orderId, 0))
  assert.equal((await lastOperation(service, orderId)).attempts, 1)
})

for (const name of ['payments.claimCancels', 'payments.finishOperations']) {
  test(`a refund whose ${name} was committed, with its result lost on the wire, ends like any other`, async () => {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    const connections = losingAnswerOf(service.database.pool, name)
    assert.deepEqual(await refundOf(orderId, contextOver(service.payments, connections)), answerFor(orderId, 0))
    assert.equal(connections.lost(), true)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
  })
}

test('the reason of a cancellation that was made at the gateway is not accepted as the reason of a refund', async () => {
  const { orderId } = await (await service.newCustomer()).confirmedOrder()
  const { cancel } = service.calls
  await assert.rejects(refund(service.payments, { orderId, reason: cancelledElsewhere }), {
    code: 'VAL003',
    metadata: { fields: [{ field: 'reason', rule: 'stands for a cancellation that was made at the gateway' }] },
  })
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED'])
  assert.equal(service.calls.cancel, cancel)
})

for (const status of ['PENDING', 'FAILED', 'CANCELLED'] as const) {
  test(`F5: an order that is ${status} is not refunded, and nothing changes`, async () => {
    const customer = await service.newCustomer()
    const { orderId } = await orderInState(service, customer, status)
    const [calls, entries] = [totalCalls(service), await movements(service, customer.customerId)]
    const message = `Not refunded: the order is ${status}, not CONFIRMED.`
    await assert.rejects(refundOf(orderId), { code: 'PAYMENT_CANCEL_FAILED', message })
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(orderId), status)
    assert.deepEqual(await movements(service, customer.customerId), entries)
  })
}

test('F5: an order that does not exist is NOT000', async () => {
  await assert.rejects(refundOf('ord_unknown'), { code: 'NOT000', message: 'There is no order ord_unknown.' })
})

test('an order with an unknown confirm is settled first: a captured payment is refunded, an uncaptured one is not captured', async () => {
  const customer = await service.newCustomer()
  for (const [kind, status] of [
    ['reset-after', 'REFUNDED'],
    ['reset-before', 'FAILED'],
  ] as const) {
    const order = await customer.paidOrder()
    await service.sandbox.setFaults([{ on: 'confirm', kind, times: 1 }])
    assertRefused(await order.confirm(), 'SVC001')
    await service.database.query(
      `update payment_operations set sent_at = now() - interval '1 hour' where state = 'OPEN'`,
    )
    const sent = service.calls.confirm
    if (status === 'REFUNDED') assert.deepEqual(await refundOf(order.orderId), answerFor(order.orderId, 0))
    else await assert.rejects(refundOf(order.orderId), { message: 'Not refunded: the order is FAILED, not CONFIRMED.' })
    assert.equal(service.calls.confirm, sent)
    assert.equal(await customer.status(order.orderId), status)
  }
})

test('F8: the refund of a payment that was already cancelled at the gateway succeeds, without a discrepancy', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey)
  assert.deepEqual(await refundOf(orderId), answerFor(orderId, 0))
  assert.deepEqual(await discrepanciesOf(service, orderId), [])
  const [payment] = await service.sandbox.paymentsOf(orderId)
  assert.equal(payment?.cancels?.length, 1)
})
