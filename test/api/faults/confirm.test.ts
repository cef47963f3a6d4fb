// Section 4.2, row 22 of the decisions: a confirm whose outcome is unknown. The order stays PENDING, nothing is added,
// and the caller's retry resolves it: whatever went wrong, the card is charged once and credits are added once.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { head, openSocket } from '../../../harness/raw-http.ts'
import { until } from '../../../harness/until.ts'
import { movements, totalCalls } from '../../support/service/orders.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  type Fault,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../../support/service/service.ts'

const callTimeoutMs = 1_000
const longDelay = { kind: 'delay', delayMs: 3_000 }

let service: TestService
before(async () => {
  service = await startTestService({ callTimeoutMs })
})
after(() => service.close())
afterEach(() => service.sandbox.clearFaults())

type PaidOrder = Awaited<ReturnType<TestCustomer['paidOrder']>>

const fault = (on: Fault['on'], kind: string | { kind: string; delayMs: number }, times = 1): Fault =>
  typeof kind === 'string' ? { on, kind, times } : { on, ...kind, times }

function assertUnknown(answer: Answer<unknown>): void {
  assertRefused(answer, 'SVC001')
  assert.deepEqual([answer.status, answer.headers.get('retry-after'), answer.body.metadata], [503, '1', null])
}

async function assertStillPending(customer: TestCustomer, { orderId }: PaidOrder): Promise<void> {
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await movements(service, customer.customerId), [])
}

/** One capture of the order's only payment, one grant, and the answer of a confirm without faults. */
async function assertConfirmedOnce(answer: Answer<object>, customer: TestCustomer, order: PaidOrder): Promise<void> {
  assertSuccess(answer, 200)
  const { orderId, amount, credits } = order
  const message = `${credits} credits added. The balance is ${credits} credits.`
  assert.deepEqual(answer.body.data, { orderId, creditsAdded: credits, totalCredits: credits, message })
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), [`GRANT ${credits}`])
  const payments = await service.sandbox.paymentsOf(orderId)
  assert.deepEqual(
    payments.map(({ status, balanceAmount, cancels }) => ({ status, balanceAmount, cancels })),
    [{ status: 'DONE', balanceAmount: amount, cancels: null }],
  )
  assert.equal((await order.confirm()).text, answer.text)
}

async function statusAtGateway({ orderId }: PaidOrder): Promise<string | undefined> {
  return (await service.sandbox.paymentsOf(orderId))[0]?.status
}

const kinds = [
  { kind: 'error-before', captured: false },
  { kind: 'error-after', captured: true },
  { kind: 'reset-before', captured: false },
  { kind: 'reset-after', captured: true },
  { kind: 'hang-after', captured: true },
] as const

for (const { kind, captured } of kinds) {
  test(`4.2: ${kind} on the confirm is SVC001, the order stays PENDING, and the retry confirms it once`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder()
    await service.sandbox.setFaults([fault('confirm', kind)])
    const sent = service.calls.confirm
    assertUnknown(await order.confirm())
    await assertStillPending(customer, order)
    assert.equal(await statusAtGateway(order), captured ? 'DONE' : 'IN_PROGRESS')
    await assertConfirmedOnce(await order.confirm(), customer, order)
    assert.equal(service.calls.confirm, sent + (captured ? 1 : 2))
  })

  test(`4.2: after repeated ${kind}, with the lookup failing too, the retry still confirms it once`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder()
    await service.sandbox.setFaults([fault('confirm', kind, 3), fault('lookup', 'error-before')])
    for (let attempt = 0; attempt < (captured ? 2 : 4); attempt += 1) {
      assertUnknown(await order.confirm())
      await assertStillPending(customer, order)
    }
    await assertConfirmedOnce(await order.confirm(), customer, order)
  })
}

test('4.2: an answer after the time limit is SVC001; retries before and after it arrives add the credits once', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([fault('confirm', longDelay)])
  assertUnknown(await order.confirm())
  // The gateway is still processing the first request: no second one is sent.
  assertUnknown(await order.confirm())
  await assertStillPending(customer, order)
  await until('the gateway has captured', async () => (await statusAtGateway(order)) === 'DONE')
  await assertConfirmedOnce(await order.confirm(), customer, order)
})

for (const kind of ['error-before', 'reset-before', 'reset-after', 'hang-after', longDelay] as const) {
  const name = typeof kind === 'string' ? kind : kind.kind
  test(`4.2: ${name} on the lookup that a retry makes is SVC001 again, and the next retry confirms`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder()
    await service.sandbox.setFaults([fault('confirm', 'reset-after'), fault('lookup', kind)])
    assertUnknown(await order.confirm())
    const sent = service.calls.confirm
    assertUnknown(await order.confirm())
    assert.equal(service.calls.confirm, sent)
    await assertStillPending(customer, order)
    await assertConfirmedOnce(await order.confirm(), customer, order)
  })
}

test('4.2: a refusal whose answer was lost is found by the retry: VAL003, FAILED, nothing added', async () => {
  for (const result of ['decline', 'insufficient', 'expire']) {
    for (const kind of ['error-after', 'reset-before'] as const) {
      const customer = await service.newCustomer()
      const order = await customer.paidOrder('STANDARD', result)
      await service.sandbox.setFaults([fault('confirm', kind)])
      assertUnknown(await order.confirm())
      await assertStillPending(customer, order)
      assertRefused(await order.confirm(), 'VAL003')
      assert.equal(await customer.status(order.orderId), 'FAILED')
      assert.deepEqual(await movements(service, customer.customerId), [])
    }
  }
})

test('4.2: while the outcome is unknown, a confirm with another paymentKey resolves the first one and is VAL003', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const second = await service.sandbox.pay(order.orderId, order.amount)
  await service.sandbox.setFaults([fault('confirm', 'error-after')])
  assertUnknown(await order.confirm())
  const sent = service.calls.confirm
  const answer = await customer.confirm(order.orderId, second, order.amount)
  assertRefused(answer, 'VAL003')
  const fields = [{ field: 'orderId', rule: 'the order is CONFIRMED' }]
  assert.deepEqual(answer.body.metadata, { fields, reason: 'order-not-pending' })
  assert.equal(service.calls.confirm, sent)
  assert.equal(await customer.credits(), 21)
  const payments = await service.sandbox.paymentsOf(order.orderId)
  assert.deepEqual(payments.map((payment) => payment.status).sort(), ['DONE', 'IN_PROGRESS'])
})

test('4.2: while the outcome is unknown, another amount is VAL003 and another customer gets NOT000, without a gateway call', async () => {
  const [customer, otherCustomer] = [await service.newCustomer(), await service.newCustomer()]
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([fault('confirm', 'error-after')])
  assertUnknown(await order.confirm())
  const calls = totalCalls(service)
  assertRefused(await customer.confirm(order.orderId, order.paymentKey, order.amount + 1), 'VAL003')
  assertRefused(await otherCustomer.confirm(order.orderId, order.paymentKey, order.amount), 'NOT000')
  assert.equal(totalCalls(service), calls)
  await assertConfirmedOnce(await order.confirm(), customer, order)
})

test('4.2: many retries at once of an unknown confirm give the same answer, one capture, one grant', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([fault('confirm', 'reset-before')])
  assertUnknown(await order.confirm())
  const sent = service.calls.confirm
  const answers = await Promise.all(Array.from({ length: 20 }, order.confirm))
  for (const answer of answers) assert.equal(answer.text, answers[0]?.text)
  assert.equal(service.calls.confirm, sent + 1)
  await assertConfirmedOnce(await order.confirm(), customer, order)
})

test('4.2: a confirm completes when its caller disconnects in the middle: the retry gets the answer', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([fault('confirm', { kind: 'delay', delayMs: 200 })])
  const sent = service.calls.confirm
  const { orderId, paymentKey, amount } = order
  const body = JSON.stringify({ orderId, paymentKey, amount })
  const headers = {
    'service-api-key': customer.apiKey,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const socket = await openSocket(service.port)
  socket.write(head('POST /public/v1/payments/confirm', headers) + body)
  await until('the gateway is called', () => service.calls.confirm === sent + 1)
  socket.resetAndDestroy()
  await until('the order is confirmed', async () => (await customer.status(orderId)) === 'CONFIRMED')
  assert.equal(service.calls.confirm, sent + 1)
  await assertConfirmedOnce(await order.confirm(), customer, order)
})
