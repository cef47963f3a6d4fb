// The card slip of a payment: however its capture becomes known it is kept, the owner of the order reads it from the headers of
// the answers, and no other customer does. The answers themselves are those of the specification.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { recover } from '../../src/payments/recovery/recover.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { makeDue, settleAll } from '../support/service/recovery.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  startTestService,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())
afterEach(async () => {
  await service.sandbox.clearFaults()
  await settleAll(service)
})

type Slip = { receiptUrl: string | null; cardNumber: string | null; approvalNumber: string | null }
const none: Slip = { receiptUrl: null, cardNumber: null, approvalNumber: null }

function slipIn({ headers }: Answer<unknown>): Slip {
  return {
    receiptUrl: headers.get('payment-receipt-url'),
    cardNumber: headers.get('payment-card'),
    approvalNumber: headers.get('payment-approval-number'),
  }
}

/** As the sandbox has it. */
async function slipAtGateway(paymentKey: string): Promise<Slip> {
  const payments = await service.sandbox.payments()
  const found = payments.find((payment) => payment.paymentKey === paymentKey) as unknown as {
    receipt: { url: string }
    card: { number: string; approveNo: string }
  }
  return { receiptUrl: found.receipt.url, cardNumber: found.card.number, approvalNumber: found.card.approveNo }
}

async function eventsOf(customerId: string): Promise<Record<string, unknown>[]> {
  const rows = await service.database.query<{ type: string; data: Record<string, unknown> }>(
    'select type, data from events where customer_id = $1 order by event_number',
    [customerId],
  )
  return rows.map(({ type, data: { receiptUrl, cardNumber, approvalNumber } }) => ({
    type,
    receiptUrl,
    cardNumber,
    approvalNumber,
  }))
}

const confirmedWith = (slip: Slip) => [{ type: 'order.confirmed', ...slip }]

test('a confirm, its repeat and the status have the slip in their headers, and order.confirmed has it too', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  assert.deepEqual(slipIn(await customer.as(`/${order.orderId}`)), none)
  const answer = await order.confirm()
  const slip = await slipAtGateway(order.paymentKey)
  assert.match(slip.approvalNumber ?? '', /^\d{8}$/)
  assert.deepEqual(slipIn(answer), slip)
  assert.deepEqual(slipIn(await order.confirm()), slip)
  const status = await customer.as<object>(`/${order.orderId}`)
  assert.deepEqual(slipIn(status), slip)
  const fields = ['orderId', 'status', 'packageType', 'amount', 'createdAt', 'confirmedAt']
  assert.deepEqual(Object.keys(status.body.data), fields)
  assert.deepEqual(Object.keys(answer.body.data), ['orderId', 'creditsAdded', 'totalCredits', 'message'])
  assert.deepEqual(await eventsOf(customer.customerId), confirmedWith(slip))
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.deepEqual(slipIn(await customer.as(`/${order.orderId}`)), slip)
  const cancelled = (await eventsOf(customer.customerId)).at(-1)
  const absent = { receiptUrl: undefined, cardNumber: undefined, approvalNumber: undefined }
  assert.deepEqual(cancelled, { type: 'order.cancelled', ...absent })
})

test('another customer gets no slip, with the order id and with the payment key', async () => {
  const { orderId, paymentKey, amount } = await (await service.newCustomer()).confirmedOrder()
  const stranger = await service.newCustomer()
  for (const answer of [await stranger.as(`/${orderId}`), await stranger.confirm(orderId, paymentKey, amount)]) {
    assertRefused(answer, 'NOT000')
    assert.deepEqual(slipIn(answer), none)
  }
})

test('after a lost answer the worker finds the capture with its slip', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  const lost = await order.confirm()
  assertRefused(lost, 'SVC001')
  assert.deepEqual(slipIn(lost), none)
  await makeDue(service)
  await recover(service.payments)
  const slip = await slipAtGateway(order.paymentKey)
  assert.deepEqual(slipIn(await customer.as(`/${order.orderId}`)), slip)
  assert.deepEqual(await eventsOf(customer.customerId), confirmedWith(slip))
})

test('a capture that a review finds without a confirm of ours comes with its slip', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const key = { customerId: customer.customerId, orderId }
  assert.equal(await review(service.payments, key, paymentKey), 'repaired')
  const slip = await slipAtGateway(paymentKey)
  assert.deepEqual(slipIn(await customer.as(`/${orderId}`)), slip)
  assert.deepEqual(await eventsOf(customer.customerId), confirmedWith(slip))
})
