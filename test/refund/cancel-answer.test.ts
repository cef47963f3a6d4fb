// Row 30 of the decisions: one request gets the 200 for a cancellation: the one that finishes it or, when the background
// has finished it, the first later request, once. Every other request is refused because the order is closed.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { cancel } from '../../src/payments/cancel.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { countCodes } from '../support/service/cluster.ts'
import { movements } from '../support/service/orders.ts'
import {
  contextOver,
  createOverrides,
  lastOperation,
  losingAnswerOf,
  makeDue,
  openContexts,
  operationStates,
  settleAll,
} from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
let secondService: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
  const { database, sandboxUrl } = service
  secondService = await startTestService({ beside: { database, sandboxUrl } })
})
after(() => closeAll(secondService, service))
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await settleAll(service)
})

/** A cancel that was answered SVC001, although the gateway has executed it. */
async function lostCancel() {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
  assertRefused(await customer.cancel(order.paymentKey), 'SVC001')
  return { customer, ...order }
}

async function assertCancelledOnce(customer: TestCustomer, orderId: string): Promise<void> {
  assert.equal(await customer.status(orderId), 'CANCELLED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  const [payment] = await service.sandbox.paymentsOf(orderId)
  assert.equal(payment?.cancels?.length, 1)
}

/** Sends this many cancels at once, half of them to another process. */
async function cancelAtOnce({ apiKey }: TestCustomer, paymentKey: string, times = 64) {
  const body = { paymentKey, reason: 'changed my mind' }
  const answers = await Promise.all(
    Array.from({ length: times }, (_, index) =>
      (index % 2 ? secondService : service).call('/public/v1/payments/cancel', { key: apiKey, body }),
    ),
  )
  return { answers, codes: countCodes(answers) }
}

test('a cancel that the background finished gives the first later cancel the 200, and no other', async () => {
  const { customer, orderId, paymentKey } = await lostCancel()
  await settleAll(service)
  await assertCancelledOnce(customer, orderId)
  assert.equal((await lastOperation(service, orderId)).answered, false)
  const [sent, lookups] = [service.calls.cancel, service.calls.findCancel]
  const succeeded = await customer.cancel(paymentKey, 'another reason')
  assertSuccess(succeeded, 200)
  assert.equal(succeeded.body.message, null)
  const later = await customer.cancel(paymentKey, 'another reason')
  assertRefused(later, 'PAYMENT_CANCEL_FAILED')
  assert.equal(later.body.message, 'The payment is already cancelled.')
  assert.deepEqual(later.body.metadata, { paymentKey, reason: 'another reason' })
  assert.deepEqual([service.calls.cancel, service.calls.findCancel], [sent, lookups])
  await assertCancelledOnce(customer, orderId)
})

test('with 64 cancels at once, in two processes, after the background has finished the cancel, exactly one gets the 200', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { customer, orderId, paymentKey } = await lostCancel()
    await settleAll(service)
    const { codes, answers } = await cancelAtOnce(customer, paymentKey)
    assert.deepEqual(codes, { SUCCESS: 1, PAYMENT_CANCEL_FAILED: 63 })
    for (const { body } of answers) {
      if (body.code !== 'SUCCESS') assert.equal(body.message, 'The payment is already cancelled.')
    }
    await assertCancelledOnce(customer, orderId)
  }
})

test('with 64 cancels at once while the background is finishing the cancel, at most one gets the 200, and it is not lost', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { customer, orderId, paymentKey } = await lostCancel()
    await makeDue(service)
    const worker = await openContexts(service, 1)
    const [first] = await Promise.all([cancelAtOnce(customer, paymentKey), settleAll(service, worker.contexts[0])])
    await worker.close()
    const { SUCCESS: early = 0 } = first.codes
    const { SUCCESS: late = 0 } = (await cancelAtOnce(customer, paymentKey, 8)).codes
    assert.equal(early + late, 1, JSON.stringify(first.codes))
    await assertCancelledOnce(customer, orderId)
  }
})

test('a request whose claim of the answer was committed, with its result lost on the wire, still gets the 200', async () => {
  const { customer, orderId, paymentKey } = await lostCancel()
  await settleAll(service)
  const connections = losingAnswerOf(service.database.pool, 'payments.claimAnswer')
  const context = contextOver(service.payments, connections)
  await cancel(context, customer.customerId, { paymentKey, reason: 'once' })
  assert.equal(connections.lost(), true)
  assertRefused(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED')
  await assertCancelledOnce(customer, orderId)
})

for (const name of ['payments.claimCancels', 'payments.finishOperations']) {
  test(`a cancel whose ${name} was committed, with its result lost on the wire, gets the 200, and no later cancel does`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    const connections = losingAnswerOf(service.database.pool, name)
    await cancel(contextOver(service.payments, connections), customer.customerId, { paymentKey, reason: 'once' })
    assert.equal(connections.lost(), true)
    assert.deepEqual((await cancelAtOnce(customer, paymentKey, 8)).codes, { PAYMENT_CANCEL_FAILED: 8 })
    await assertCancelledOnce(customer, orderId)
  })
}

test('after a request has finished a cancel no other gets a 200, whether it was the first request or the retry of a lost one', async () => {
  for (const lost of [false, true]) {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    if (lost) {
      await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
      assertRefused(await customer.cancel(paymentKey), 'SVC001')
    }
    assertSuccess(await customer.cancel(paymentKey), 200)
    assert.equal((await lastOperation(service, orderId)).answered, true)
    assert.deepEqual((await cancelAtOnce(customer, paymentKey, 16)).codes, { PAYMENT_CANCEL_FAILED: 16 })
    await assertCancelledOnce(customer, orderId)
  }
})

test('a cancel finished by a review of the order counts as finished in the background: the next cancel gets the 200', async () => {
  const { customer, orderId, paymentKey } = await lostCancel()
  assert.equal(await review(service.payments, { customerId: customer.customerId, orderId }), 'repaired')
  assertSuccess(await customer.cancel(paymentKey), 200)
  assertRefused(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED')
  await assertCancelledOnce(customer, orderId)
})

test('a cancel finished by the refund of an operator was not answered to its caller: the next cancel gets the 200', async () => {
  const { customer, orderId, paymentKey } = await lostCancel()
  await assert.rejects(refund(service.payments, { orderId, reason: 'by the operator' }), {
    code: 'PAYMENT_CANCEL_FAILED',
  })
  await assertCancelledOnce(customer, orderId)
  assertSuccess(await customer.cancel(paymentKey), 200)
  assertRefused(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED')
})

test('after the background saw a cancel refused, the next cancel is executed and gets its own 200', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(paymentKey), 'SVC001')
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  await settleAll(service)
  clear()
  assertSuccess(await customer.cancel(paymentKey), 200)
  assertRefused(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED')
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED', 'CANCEL REJECTED', 'CANCEL APPROVED'])
  await assertCancelledOnce(customer, orderId)
})
