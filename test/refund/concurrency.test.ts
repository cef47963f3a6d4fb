// A refund against concurrent work: other refunds, a cancel, spends, the worker, a webhook. One transition leaves
// CONFIRMED, the gateway is called once, and the spent and the removed credits add up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { processNotifications } from '../../src/payments/recovery/notifications.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { movements, spend } from '../support/service/orders.ts'
import { openContexts, operationStates, settleAll } from '../support/service/recovery.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

let service: TestService
let others: Awaited<ReturnType<typeof openContexts>>
before(async () => {
  service = await startTestService({ settings: { operationWaitMs: 8_000 } })
  others = await openContexts(service, 4)
})
after(() => closeAll(others, service))

const reason = 'decided by the platform'
const contextAt = (index: number) => others.contexts[index % others.contexts.length] ?? assert.fail('no context')

async function cancelsAtGateway(orderId: string): Promise<number> {
  const [payment] = await service.sandbox.paymentsOf(orderId)
  return payment?.cancels?.length ?? 0
}

/** The sum of the credits that entries of that kind removed. */
async function creditsRemoved(customer: TestCustomer, kind: string): Promise<number> {
  const deltas = (await movements(service, customer.customerId)).map((each) => each.split(' '))
  return deltas.filter(([each]) => each === kind).reduce((sum, [, delta]) => sum - Number(delta), 0)
}

test('F1: 16 refunds at once, in four processes, make one call to the gateway and all return the same answer', async () => {
  for (let round = 0; round < 3; round += 1) {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    await spend(service, customer.customerId, 8)
    const sent = service.calls.cancel
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => refund(contextAt(index), { orderId, reason })),
    )
    const expected = { orderId, status: 'REFUNDED', refundedAmount: 20_000, creditsTakenBack: 13, shortfall: 8 }
    for (const answer of answers) assert.deepEqual(answer, expected)
    assert.equal(service.calls.cancel, sent + 1)
    assert.equal(await cancelsAtGateway(orderId), 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -8', 'REFUND -13'])
  }
})

test('X11: with a refund and a cancel at once, exactly one closes the order and the other is refused', async () => {
  const ends: Record<string, number> = { CANCELLED: 0, REFUNDED: 0 }
  for (let round = 0; round < 20; round += 1) {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    const sent = service.calls.cancel
    const refunding = () =>
      refund(contextAt(round), { orderId, reason }).then(
        () => true,
        (error) => error.code,
      )
    const cancelling = () => customer.cancel(paymentKey)
    const [refunded, cancelled] =
      round % 2
        ? await Promise.all([refunding(), cancelling()])
        : (await Promise.all([cancelling(), refunding()])).toReversed()
    await settleAll(service)
    const status = await customer.status(orderId)
    ends[status] = (ends[status] ?? 0) + 1
    const { code } = (cancelled as Awaited<ReturnType<typeof cancelling>>).body
    assert.deepEqual(
      [status, refunded, code],
      status === 'REFUNDED'
        ? ['REFUNDED', true, 'PAYMENT_CANCEL_FAILED']
        : ['CANCELLED', 'PAYMENT_CANCEL_FAILED', 'SUCCESS'],
    )
    assert.equal(service.calls.cancel, sent + 1)
    assert.equal(await cancelsAtGateway(orderId), 1)
    const last = status === 'REFUNDED' ? 'REFUND -21' : 'ROLLBACK -21'
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', last])
  }
  assert.equal(Object.keys(ends).length, 2, JSON.stringify(ends))
})

test('F2: a refund with 40 spends at once: the spent, removed and missing credits add up, and nothing is below zero', async () => {
  for (let round = 0; round < 5; round += 1) {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    const { customerId } = customer
    const spends = Array.from({ length: 40 }, async (_, index) => {
      if (index % 4 === round % 4) await new Promise(setImmediate)
      const { credits } = contextAt(index)
      return credits.spend({ customerId, credits: 1, reference: crypto.randomUUID(), serviceId: 'svc_test' })
    })
    const [answer, ...spent] = await Promise.all([refund(contextAt(round), { orderId, reason }), ...spends])
    const total = spent.reduce((sum, each) => sum + each.spent, 0)
    assert.deepEqual(
      [total, answer.creditsTakenBack],
      [await creditsRemoved(customer, 'SPEND'), await creditsRemoved(customer, 'REFUND')],
    )
    assert.equal(total + answer.creditsTakenBack, 21)
    assert.equal(answer.shortfall, total)
    assert.equal(await customer.credits(), 0)
    assert.equal(await customer.status(orderId), 'REFUNDED')
  }
})

test('F1: an operator, a webhook and a review that refund at once make one refund', async () => {
  for (let round = 0; round < 10; round += 1) {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    await service.sandbox.cancel(paymentKey)
    await service.database.query(
      `insert into webhook_notifications (transmission_id, order_id, payment_key, event_type, status)
       select gen_random_uuid(), $1, $2, 'PAYMENT_STATUS_CHANGED', 'CANCELED' from generate_series(1, 3)`,
      [orderId, paymentKey],
    )
    const key = { customerId: customer.customerId, orderId }
    const [answer] = await Promise.all([
      refund(contextAt(0), { orderId, reason }),
      review(contextAt(1), key),
      review(contextAt(2), key, paymentKey),
      processNotifications(contextAt(3)),
    ])
    assert.deepEqual(answer, {
      orderId,
      status: 'REFUNDED',
      refundedAmount: 20_000,
      creditsTakenBack: 21,
      shortfall: 0,
    })
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
    const states = await operationStates(service, orderId)
    assert.deepEqual(states, ['CONFIRM APPROVED', 'REFUND APPROVED'])
    assert.equal(await cancelsAtGateway(orderId), 1)
  }
})
