// Row 39 of the decisions: the header Refusal-Reason. Each refusal of a purchase, a confirm and a cancel has its reason. Why an
// order is FAILED is the same in the first refusal, in every later one and in the status, however it became known.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { repository } from '../../harness/processes.ts'
import { type ErrorCode, type RefusalReason, refusalReasons } from '../../src/core/errors.ts'
import { confirmCodes } from '../../src/gateway/toss/outcomes.ts'
import { codesOf, type FailureReason, failureOf, failureReasons } from '../../src/payments/failure-reasons.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { orderInState, spend } from '../support/service/orders.ts'
import { createOverrides, makeDue, settleAll } from '../support/service/recovery.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
const { overrides, clear, wrapGateway } = createOverrides()
before(async () => {
  service = await startTestService({ wrapGateway, settings: { pendingOrdersPerCustomer: 3 } })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await settleAll(service)
})

const reasonIn = ({ headers }: Answer<unknown>) => headers.get('refusal-reason')

function assertReason(answer: Answer<unknown>, code: ErrorCode, reason: RefusalReason): void {
  assertRefused(answer, code)
  assert.equal(reasonIn(answer), reason)
  if (code === 'VAL003') assert.equal(answer.body.metadata?.reason, reason)
}

async function assertFailed(
  customer: TestCustomer,
  order: { orderId: string; confirm(): Promise<Answer<unknown>> },
  reason: FailureReason,
): Promise<void> {
  assertReason(await order.confirm(), 'VAL003', reason)
  const status = await customer.as<{ status: string }>(`/${order.orderId}`)
  assertSuccess(status, 200)
  assert.deepEqual([status.body.data.status, reasonIn(status)], ['FAILED', reason])
}

test('every code that can reject a confirm has one reason', () => {
  const refusing = [...confirmCodes].filter(([, each]) => each.startsWith('refused')).map(([code]) => code)
  const ofLookups = ['ABORTED', 'EXPIRED', 'CANCELED', 'PARTIAL_CANCELED', 'PAYMENT_OF_ANOTHER_ORDER', 'ABANDONED']
  assert.deepEqual(failureReasons.flatMap(codesOf).toSorted(), [...refusing, ...ofLookups].toSorted())
  for (const reason of failureReasons) {
    for (const gatewayCode of codesOf(reason)) assert.equal(failureOf({ state: 'REJECTED', gatewayCode }), reason)
  }
  assert.equal(failureOf({ state: 'REJECTED', gatewayCode: 'A_CODE_OF_ANOTHER_VERSION' }), 'other')
})

test('the document for integrators has a row for each reason', () => {
  const text = readFileSync(join(repository, 'docs/refusals.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, reason]) => reason)
  assert.deepEqual(rows, Object.keys(refusalReasons))
})

test('a refused confirm, its repeat and the status have the reason of the code, for each kind of refusal', async () => {
  const codes: Record<string, FailureReason> = {
    REJECT_CARD_PAYMENT: 'insufficient-funds',
    EXCEED_MAX_ONE_DAY_AMOUNT: 'limit-exceeded',
    INVALID_CARD_LOST_OR_STOLEN: 'card-declined',
    INVALID_CARD_EXPIRATION: 'card-expired',
    NOT_FOUND_PAYMENT_SESSION: 'payment-expired',
    NOT_REGISTERED_BUSINESS: 'other',
  }
  const customer = await service.newCustomer()
  for (const [code, reason] of Object.entries(codes)) {
    overrides.confirm = async () => ({ kind: 'rejected', code })
    const order = await customer.paidOrder()
    const first = await order.confirm()
    assertReason(first, 'VAL003', reason)
    assert.doesNotMatch(first.text, new RegExp(code))
    await assertFailed(customer, order, reason)
  }
})

test('a refusal whose answer was lost keeps its reason when the worker finds it', async () => {
  const results: Record<string, FailureReason> = {
    decline: 'card-declined',
    insufficient: 'insufficient-funds',
    limit: 'limit-exceeded',
    'expired-card': 'card-expired',
    expire: 'payment-expired',
  }
  const customer = await service.newCustomer()
  for (const [result, reason] of Object.entries(results)) {
    await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
    const order = await customer.paidOrder('BASIC', result)
    const lost = await order.confirm()
    assertRefused(lost, 'SVC001')
    assert.equal(reasonIn(lost), null)
    await makeDue(service)
    await recover(service.payments)
    await assertFailed(customer, order, reason)
  }
})

test('an order that has expired has its own reason: no payment was refused', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.database.query("update orders set created_at = created_at - interval '2 hours' where order_id = $1", [
    order.orderId,
  ])
  await expireOrders(service.payments.database, 3_600_000)
  await assertFailed(customer, order, 'order-expired')
})

test('the other refusals of a confirm, of a purchase and of a cancel have their reasons', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  assertReason(await customer.confirm(order.orderId, order.paymentKey, 1), 'VAL003', 'wrong-amount')
  assertSuccess(await order.confirm(), 200)
  assertReason(await customer.confirm(order.orderId, 'another', order.amount), 'VAL003', 'order-not-pending')
  const next = await customer.paidOrder()
  assertReason(
    await customer.confirm(next.orderId, order.paymentKey, next.amount),
    'VAL003',
    'payment-key-of-another-order',
  )
  for (let count = 0; count < 2; count += 1) await customer.purchase()
  assertReason(await customer.purchase(), 'SVC001', 'pending-orders-limit')

  const cancel = async (paymentKey: string, reason: RefusalReason) => {
    const answer = await customer.cancel(paymentKey, 'my own words')
    assertReason(answer, 'PAYMENT_CANCEL_FAILED', reason)
    assert.deepEqual(answer.body.metadata, { paymentKey, reason: 'my own words' })
  }
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  await cancel(order.paymentKey, 'refused-by-gateway')
  clear()
  await spend(service, customer.customerId, 1)
  await cancel(order.paymentKey, 'credits-spent')
})

test('a cancel of an order in another state has its reason', async () => {
  const customer = await service.newCustomer()
  for (const [status, reason] of [
    ['FAILED', 'not-captured'],
    ['CANCELLED', 'already-cancelled'],
    ['REFUNDED', 'already-refunded'],
  ] as const) {
    const { paymentKey } = await orderInState(service, customer, status)
    assertReason(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED', reason)
  }
})

test('no other answer has a reason, and another customer gets none', async () => {
  const customer = await service.newCustomer()
  const stranger = await service.newCustomer()
  for (const status of ['PENDING', 'CONFIRMED', 'CANCELLED', 'REFUNDED', 'FAILED'] as const) {
    const { orderId, paymentKey, amount } = await orderInState(service, customer, status)
    const answers = [
      await stranger.as(`/${orderId}`),
      await stranger.confirm(orderId, paymentKey, amount),
      await customer.as('/confirm', { body: { orderId, paymentKey, amount: 0 } }),
      await customer.as('/cancel', { body: { paymentKey } }),
    ]
    if (status !== 'FAILED') answers.push(await customer.as(`/${orderId}`))
    assert.deepEqual(
      answers.map(reasonIn),
      answers.map(() => null),
      status,
    )
  }
  const { confirm, paymentKey } = await customer.paidOrder()
  assert.deepEqual([reasonIn(await confirm()), reasonIn(await customer.cancel(paymentKey))], [null, null])
})
