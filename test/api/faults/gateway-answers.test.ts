// Rows 22 to 25a of the decisions at the API: a gateway that contradicts itself, refuses our credentials or a
// cancellation, or does not know a payment. Only a definite answer about the same payment changes an order.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { createTossGateway } from '../../../src/gateway/toss/adapter.ts'
import { createTossClient } from '../../../src/gateway/toss/client.ts'
import { closeAll } from '../../support/closing.ts'
import {
  type ContradictingGateway,
  type GatewayRequest,
  startContradictingGateway,
  tossPayment,
} from '../../support/gateway/contradicting-gateway.ts'
import { movements } from '../../support/service/orders.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../../support/service/service.ts'

let service: TestService
let scripted: TestService
let oldSessions: TestService
let gateway: ContradictingGateway
before(async () => {
  gateway = await startContradictingGateway()
  service = await startTestService()
  const beside = { database: service.database, sandboxUrl: gateway.url }
  scripted = await startTestService({ beside })
  oldSessions = await startTestService({ beside, settings: { paymentSessionMs: 0 } })
})
after(() => closeAll(oldSessions, scripted, gateway, service))
beforeEach(() => {
  gateway.requests.length = 0
})

/** A customer with a PENDING order and a paymentKey that only this gateway knows. */
async function prepare(at = scripted, paymentKey = `pay_${crypto.randomUUID()}`) {
  const customer = await at.newCustomer()
  const { orderId, amount } = (await customer.purchase()).body.data
  const payment = { paymentKey, orderId, totalAmount: amount }
  const confirm = () => customer.confirm(orderId, paymentKey, amount)
  return { customer, orderId, paymentKey, payment, confirm, cancel: () => customer.cancel(paymentKey) }
}

const done = (payment: Parameters<typeof tossPayment>[0]) => ({ status: 200, body: tossPayment(payment) })
const refusal = (status: number, code: string) => ({ status, body: { code, message: 'text of the gateway' } })
const isCancel = ({ url }: GatewayRequest) => url.endsWith('/cancel')

async function discrepancies(orderId: string): Promise<Record<string, unknown>[]> {
  return service.database.query('select kind, detail from discrepancies where order_id = $1', [orderId])
}

const contradictions: Record<string, Record<string, unknown>> = {
  'another order': { orderId: 'ord_of_somebody_else' },
  'a smaller amount': { totalAmount: 100 },
  'a larger amount': { totalAmount: 20_001 },
  'another paymentKey': { paymentKey: 'pay_of_somebody_else' },
  'another currency': { currency: 'USD' },
}

for (const [title, members] of Object.entries(contradictions)) {
  test(`4.2: an answer to the confirm that names ${title} is no success: SVC001, PENDING, and a discrepancy`, async () => {
    const { customer, orderId, payment, confirm } = await prepare()
    gateway.answerWith(() => done({ ...payment, ...members }))
    const answer = await confirm()
    assertRefused(answer, 'SVC001')
    assert.doesNotMatch(answer.text, /somebody_else|20001|USD/)
    assert.equal(await customer.status(orderId), 'PENDING')
    assert.equal(await customer.credits(), 0)
    const [found, ...others] = await discrepancies(orderId)
    assert.equal(others.length, 0)
    assert.equal(found?.kind, 'PAYMENT_DIFFERS')
    // Never cancelled automatically. The retry looks the payment up and accepts the consistent answer.
    assert.deepEqual(gateway.requests.filter(isCancel), [])
    gateway.answerWith(() => done(payment))
    assertSuccess(await confirm(), 200)
    assert.equal(await customer.credits(), 21)
  })

  test(`4.6: an answer to the cancel that names ${title} is no success: SVC001, the credits held, a discrepancy`, async () => {
    const { customer, orderId, payment, confirm, cancel } = await prepare()
    gateway.answerWith(() => done(payment))
    assertSuccess(await confirm(), 200)
    gateway.answerWith(() => done({ ...payment, status: 'CANCELED', ...members }))
    assertRefused(await cancel(), 'SVC001')
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 0)
    assert.equal((await discrepancies(orderId)).length, 1)
    gateway.answerWith(() => done({ ...payment, status: 'CANCELED' }))
    assertSuccess(await cancel(), 200)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  })
}

test('4.2: a lookup that names another order is a refusal: VAL003, FAILED, that payment is not touched, and confirms its own order', async () => {
  const { customer, orderId, payment, paymentKey, confirm } = await prepare()
  gateway.answerWith(() => refusal(500, 'COMMON_ERROR'))
  assertRefused(await confirm(), 'SVC001')
  gateway.answerWith(() => done({ ...payment, orderId: 'ord_of_somebody_else' }))
  assertRefused(await confirm(), 'VAL003')
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.deepEqual(gateway.requests.filter(isCancel), [])
  const own = (await customer.purchase()).body.data
  gateway.answerWith(() => done({ ...payment, orderId: own.orderId }))
  assertSuccess(await customer.confirm(own.orderId, paymentKey, own.amount), 200)
})

test('4.2: a payment key that the gateway refuses as FORBIDDEN_REQUEST for one order still confirms the order it belongs to', async () => {
  const { customer, orderId, payment, paymentKey, confirm } = await prepare()
  gateway.answerWith(({ method }) =>
    method === 'GET' ? refusal(404, 'NOT_FOUND_PAYMENT') : refusal(403, 'FORBIDDEN_REQUEST'),
  )
  assertRefused(await confirm(), 'VAL003')
  assert.equal(await customer.status(orderId), 'FAILED')
  const own = (await customer.purchase()).body.data
  gateway.answerWith(() => done({ ...payment, orderId: own.orderId }))
  assertSuccess(await customer.confirm(own.orderId, paymentKey, own.amount), 200)
})

test('4.2: a payment the gateway does not know is sent again with the same Idempotency-Key, and its answer decides', async () => {
  const { confirm, payment } = await prepare()
  const script = (confirmAnswer: { status: number; body: unknown }) =>
    gateway.answerWith(({ method }) => (method === 'GET' ? refusal(404, 'NOT_FOUND_PAYMENT') : confirmAnswer))
  script(refusal(500, 'COMMON_ERROR'))
  for (const _ of [1, 2]) assertRefused(await confirm(), 'SVC001')
  script(done(payment))
  assertSuccess(await confirm(), 200)
  const sends = gateway.requests.filter(({ method }) => method === 'POST')
  assert.equal(sends.length, 3)
  assert.equal(new Set(sends.map((request) => request.idempotencyKey)).size, 1)
})

test('4.2: a payment the gateway does not know after every session has expired was not made: VAL003, FAILED', async () => {
  const { customer, orderId, confirm } = await prepare(oldSessions)
  gateway.answerWith(({ method }) => (method === 'GET' ? refusal(404, 'NOT_FOUND_PAYMENT') : refusal(500, 'X')))
  assertRefused(await confirm(), 'SVC001')
  assertRefused(await confirm(), 'VAL003')
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.equal(gateway.requests.filter(({ method }) => method === 'POST').length, 1)
})

test('4.2: an error that the gateway binds to its Idempotency-Key is not repeated with that key', async () => {
  for (const code of ['PROVIDER_ERROR', 'A_CODE_OF_TOMORROW']) {
    const { customer, orderId, confirm, payment } = await prepare()
    gateway.requests.length = 0
    const inProgress = done({ ...payment, status: 'IN_PROGRESS' })
    gateway.answerWith(() => refusal(400, code))
    const answer = await confirm()
    assertRefused(answer, 'SVC001')
    assert.doesNotMatch(answer.text, new RegExp(`${code}|text of the gateway`))
    assert.equal(await customer.status(orderId), 'PENDING')
    gateway.answerWith(({ method }) => (method === 'GET' ? inProgress : done(payment)))
    assertSuccess(await confirm(), 200)
    const keys = gateway.requests.filter(({ method }) => method === 'POST').map((request) => request.idempotencyKey)
    assert.equal(new Set(keys).size, 2)
  }
})

for (const [status, code] of [
  [401, 'UNAUTHORIZED_KEY'],
  [400, 'INVALID_API_KEY'],
  [403, 'INCORRECT_BASIC_AUTH_FORMAT'],
] as const) {
  test(`7: refused credentials (${code}) are our fault: SVC001, the order untouched, and it works once they are accepted`, async () => {
    const { customer, orderId, payment, confirm, cancel } = await prepare()
    gateway.answerWith(() => refusal(status, code))
    for (const _ of [1, 2]) assertRefused(await confirm(), 'SVC001')
    assert.equal(await customer.status(orderId), 'PENDING')
    const now = done({ ...payment, status: 'IN_PROGRESS' })
    gateway.answerWith(({ method }) => (method === 'GET' ? now : done(payment)))
    assertSuccess(await confirm(), 200)

    gateway.answerWith(() => refusal(status, code))
    for (const _ of [1, 2]) assertRefused(await cancel(), 'SVC001')
    assert.deepEqual([await customer.status(orderId), await customer.credits()], ['CONFIRMED', 0])
    const cancelled = done({ ...payment, status: 'CANCELED' })
    gateway.answerWith(({ method }) => (method === 'GET' ? done(payment) : cancelled))
    assertSuccess(await cancel(), 200)
  })
}

test('7: a wrong secret key at the sandbox: SVC001 for confirm and cancel, and both succeed with the right one', async () => {
  const limits = {
    connectTimeoutMs: 1_000,
    callTimeoutMs: 2_000,
    lookupTimeoutMs: 2_000,
    listTimeoutMs: 5_000,
    maxConnections: 4,
  }
  const client = createTossClient({ apiUrl: service.sandboxUrl, secretKey: 'test_sk_wrong', ...limits })
  const refused = createTossGateway(client, silentLog)
  let right: Gateway = refused
  const switching = await startTestService({
    beside: { database: service.database, sandboxUrl: service.sandboxUrl },
    wrapGateway: (good) => {
      right = good
      const verbs = ['confirm', 'cancel', 'findConfirm', 'findCancel'] as const
      const switched = verbs.map((verb) => [verb, (intent: never) => (wrong ? refused : right)[verb](intent)])
      return { ...good, ...Object.fromEntries(switched) }
    },
  })
  let wrong = true
  try {
    const customer = await switching.newCustomer()
    const order = await customer.paidOrder()
    for (const _ of [1, 2]) assertRefused(await order.confirm(), 'SVC001')
    assert.equal(await customer.status(order.orderId), 'PENDING')
    assert.equal((await service.sandbox.paymentsOf(order.orderId))[0]?.status, 'IN_PROGRESS')
    wrong = false
    assertSuccess(await order.confirm(), 200)
    wrong = true
    for (const _ of [1, 2]) assertRefused(await customer.cancel(order.paymentKey), 'SVC001')
    wrong = false
    assertSuccess(await customer.cancel(order.paymentKey), 200)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  } finally {
    await switching.close()
    await refused.close()
  }
})

for (const code of ['NOT_CANCELABLE_PAYMENT', 'REFUND_REJECTED', 'EXCEED_MAX_REFUND_DUE', 'NOT_CANCELABLE_AMOUNT']) {
  test(`4.6: a cancellation that the gateway refuses (${code}) is PAYMENT_CANCEL_FAILED, and the hold is released`, async () => {
    const { customer, orderId, paymentKey, payment, confirm, cancel } = await prepare()
    gateway.answerWith(() => done(payment))
    assertSuccess(await confirm(), 200)
    gateway.answerWith(({ method }) => (method === 'GET' ? done(payment) : refusal(403, code)))
    const answer = await cancel()
    assertRefused(answer, 'PAYMENT_CANCEL_FAILED')
    assert.deepEqual(answer.body.metadata, { paymentKey, reason: 'changed my mind' })
    assert.doesNotMatch(answer.text, new RegExp(`${code}|text of the gateway`))
    assert.deepEqual([await customer.status(orderId), await customer.credits()], ['CONFIRMED', 21])
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
    // A refusal is not permanent.
    gateway.answerWith(() => done({ ...payment, status: 'CANCELED' }))
    assertSuccess(await cancel(), 200)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
  })
}
