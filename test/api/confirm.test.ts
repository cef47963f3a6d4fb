// Section 4.2 and rows 19 to 25 of the decisions: the input, responses and refusals of a confirm while the gateway works.
// Gateway faults are in faults/confirm.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { movements, orderInState, spend, totalCalls } from '../support/service/orders.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

const catalogue = [
  ['BASIC', 1000, 1, '1 credit added. The balance is 1 credit.'],
  ['STANDARD', 20_000, 21, '21 credits added. The balance is 21 credits.'],
  ['PRO', 100_000, 110, '110 credits added. The balance is 110 credits.'],
] as const

for (const [packageType, amount, credits, message] of catalogue) {
  test(`4.2: the confirm of a ${packageType} order adds ${credits} credits and sets confirmedAt`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder(packageType)
    const answer = await customer.confirm(order.orderId, order.paymentKey, amount)
    assertSuccess(answer, 200)
    assert.equal(answer.body.message, 'The payment is confirmed.')
    const data = { orderId: order.orderId, creditsAdded: credits, totalCredits: credits, message }
    assert.deepEqual(answer.body.data, data)
    assert.equal(await customer.status(order.orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), credits)
    assert.deepEqual(await movements(service, customer.customerId), [`GRANT ${credits}`])
    const [payment, ...others] = await service.sandbox.paymentsOf(order.orderId)
    assert.deepEqual([payment?.status, payment?.balanceAmount, others.length], ['DONE', amount, 0])
  })
}

test('4.2: totalCredits is the balance after the confirmation, without the credits already spent', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
  await spend(service, customer.customerId, 10)
  const { creditsAdded, totalCredits } = (await (await customer.paidOrder('STANDARD')).confirm()).body.data
  assert.deepEqual({ creditsAdded, totalCredits }, { creditsAdded: 21, totalCredits: 121 })
})

test('4.2: the same confirm again gives the original answer byte for byte, however the balance has changed since', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('STANDARD')
  const original = await order.confirm()
  const calls = totalCalls(service)
  assert.equal((await order.confirm()).text, original.text)
  assert.equal(totalCalls(service), calls)
  await customer.confirmedOrder('PRO')
  await spend(service, customer.customerId, 7)
  assert.equal((await order.confirm()).text, original.text)
  assert.equal(await customer.credits(), 124)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'GRANT 110', 'SPEND -7'])
})

test('4.2: a CONFIRMED order with another paymentKey is VAL003, and the other payment is not touched', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  const second = await service.sandbox.pay(order.orderId, order.amount)
  const calls = totalCalls(service)
  const answer = await customer.confirm(order.orderId, second, order.amount)
  assertRefused(answer, 'VAL003')
  const fields = [{ field: 'orderId', rule: 'the order is CONFIRMED' }]
  assert.deepEqual(answer.body.metadata, { fields, reason: 'order-not-pending' })
  assert.equal(totalCalls(service), calls)
  assert.equal(await customer.credits(), 21)
})

for (const status of ['FAILED', 'CANCELLED', 'REFUNDED'] as const) {
  test(`4.2: an order that is ${status} cannot be confirmed: VAL003 names the state`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, status)
    const [calls, credits] = [totalCalls(service), await customer.credits()]
    for (const paymentKey of [order.paymentKey, 'another_key']) {
      const answer = await customer.confirm(order.orderId, paymentKey, order.amount)
      assertRefused(answer, 'VAL003')
      const reason = status === 'FAILED' ? 'card-declined' : 'order-not-pending'
      assert.deepEqual(answer.body.metadata, { fields: [{ field: 'orderId', rule: `the order is ${status}` }], reason })
    }
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(order.orderId), status)
    assert.equal(await customer.credits(), credits)
  })
}

for (const status of ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const) {
  test(`4.2: an amount other than that of the order is VAL003 for an order that is ${status}`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, status, 'BASIC')
    const calls = totalCalls(service)
    for (const amount of [1, 999, 1001, 20_000, Number.MAX_SAFE_INTEGER]) {
      const answer = await customer.confirm(order.orderId, order.paymentKey, amount)
      assertRefused(answer, 'VAL003')
      const rule = 'must be the amount of the order, 1000'
      assert.deepEqual(answer.body.metadata, { fields: [{ field: 'amount', rule }], reason: 'wrong-amount' })
    }
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(order.orderId), status)
    if (status === 'PENDING') assertSuccess(await order.confirm(), 200)
  })
}

test('4.2: an unknown order and one of another customer are the same NOT000, byte for byte, without a gateway call', async () => {
  const [owner, otherCustomer] = [await service.newCustomer(), await service.newCustomer()]
  const order = await owner.paidOrder()
  const confirmed = await owner.confirmedOrder()
  const calls = totalCalls(service)
  const foreign = await otherCustomer.confirm(order.orderId, order.paymentKey, order.amount)
  assertRefused(foreign, 'NOT000')
  const last = order.orderId.endsWith('A') ? 'B' : 'A'
  const unknown = [
    order.orderId.slice(0, -1) + last,
    order.orderId.toLowerCase(),
    ` ${order.orderId}`,
    'x',
    '../credits',
    "' or 1=1 --",
    'ord_\u0000',
    '\ud800',
    '주문',
    'a'.repeat(5_000),
  ]
  for (const orderId of unknown) {
    assert.equal((await owner.confirm(orderId, order.paymentKey, order.amount)).text, foreign.text, orderId)
  }
  for (const [orderId, paymentKey, amount] of [
    [order.orderId, order.paymentKey, 1],
    [order.orderId, 'another_key', order.amount],
    [confirmed.orderId, confirmed.paymentKey, confirmed.amount],
  ] as const) {
    assert.equal((await otherCustomer.confirm(orderId, paymentKey, amount)).text, foreign.text)
  }
  assert.equal(totalCalls(service), calls)
  assert.equal(await owner.status(order.orderId), 'PENDING')
})

test('5.5: with many confirms at once, of own and foreign orders, each customer gets only its own credits and answers', async () => {
  const customers = await Promise.all(Array.from({ length: 4 }, () => service.newCustomer()))
  const types = ['BASIC', 'STANDARD', 'PRO', 'STANDARD'] as const
  type Order = Awaited<ReturnType<TestCustomer['paidOrder']>>
  const orders = await Promise.all(
    customers.flatMap((owner, index) =>
      Array.from({ length: 4 }, async () => ({ owner, order: (await owner.paidOrder(types[index])) as Order })),
    ),
  )
  const requests = orders.flatMap((each) => [...customers, ...customers].map((caller) => ({ ...each, caller })))
  const answers = await Promise.all(
    requests.map(async ({ owner, order, caller }) => {
      const answer = await caller.confirm(order.orderId, order.paymentKey, order.amount)
      return { own: owner === caller, order, answer }
    }),
  )
  for (const { own, order, answer } of answers) {
    if (!own) assertRefused(answer, 'NOT000')
    else {
      assertSuccess(answer, 200)
      const { orderId, creditsAdded } = answer.body.data as unknown as Record<string, unknown>
      assert.deepEqual([orderId, creditsAdded], [order.orderId, order.credits])
    }
  }
  for (const [index, customer] of customers.entries()) {
    assert.equal(await customer.credits(), 4 * (orders[index * 4]?.order.credits ?? 0))
  }
})

test('4.2: a paymentKey that belongs to another order of the customer is VAL003, without a gateway call', async () => {
  const customer = await service.newCustomer()
  const confirmed = await customer.confirmedOrder()
  const unknown = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  assertRefused(await unknown.confirm(), 'SVC001')
  const cancelled = await orderInState(service, customer, 'CANCELLED')
  const order = await customer.paidOrder()
  const calls = totalCalls(service)
  for (const { paymentKey } of [confirmed, unknown, cancelled]) {
    const answer = await customer.confirm(order.orderId, paymentKey, order.amount)
    assertRefused(answer, 'VAL003')
    const fields = [{ field: 'paymentKey', rule: 'belongs to another order' }]
    assert.deepEqual(answer.body.metadata, { fields, reason: 'payment-key-of-another-order' })
  }
  assert.equal(totalCalls(service), calls)
  assert.equal(await customer.status(order.orderId), 'PENDING')
  assertSuccess(await order.confirm(), 200)
})

test('4.2: a paymentKey that was refused for another order is VAL003 without a gateway call, and the order stays PENDING', async () => {
  const customer = await service.newCustomer()
  const refused = await customer.paidOrder('STANDARD', 'decline')
  assertRefused(await refused.confirm(), 'VAL003')
  const order = await customer.paidOrder()
  const calls = totalCalls(service)
  const answer = await customer.confirm(order.orderId, refused.paymentKey, order.amount)
  assertRefused(answer, 'VAL003')
  const fields = [{ field: 'paymentKey', rule: 'belongs to another order' }]
  assert.deepEqual(answer.body.metadata, { fields, reason: 'payment-key-of-another-order' })
  assert.equal(totalCalls(service), calls)
  assert.equal(await customer.status(order.orderId), 'PENDING')
  assertSuccess(await order.confirm(), 200)
})

test('4.2: a paymentKey that was sent for the wrong order first still confirms the order it belongs to', async () => {
  const customer = await service.newCustomer()
  const [wrong, order] = [await customer.paidOrder(), await customer.paidOrder()]
  assertRefused(await customer.confirm(wrong.orderId, order.paymentKey, wrong.amount), 'VAL003')
  assert.equal(await customer.status(wrong.orderId), 'FAILED')
  assertSuccess(await order.confirm(), 200)
})

test('4.2: when many orders are confirmed with one paymentKey at once, the gateway refuses one and the others stay PENDING', async () => {
  const customer = await service.newCustomer()
  const refused = await customer.paidOrder('STANDARD', 'decline')
  const { orderId, paymentKey, amount } = refused
  const others = await Promise.all(Array.from({ length: 8 }, () => customer.paidOrder()))
  const calls = service.calls.confirm
  const first = refused.confirm()
  await until('the gateway is called', async () => service.calls.confirm > calls)
  const late = others.map((other) => customer.confirm(other.orderId, paymentKey, amount))
  for (const answer of await Promise.all([first, ...late])) assertRefused(answer, 'VAL003')
  for (const other of others) {
    assertRefused(await customer.confirm(other.orderId, paymentKey, amount), 'VAL003')
    assert.equal(await customer.status(other.orderId), 'PENDING')
  }
  assert.equal(await customer.status(orderId), 'FAILED')
  assert.equal(service.calls.confirm, calls + 1)
})

test("4.2: the paymentKey of another customer's order is refused by the gateway: VAL003, FAILED, that payment untouched", async () => {
  const [owner, thief] = [await service.newCustomer(), await service.newCustomer()]
  for (const theirs of [await owner.paidOrder(), await owner.confirmedOrder()]) {
    const before = await service.sandbox.paymentsOf(theirs.orderId)
    const { orderId, amount } = (await thief.purchase()).body.data
    assertRefused(await thief.confirm(orderId, theirs.paymentKey, amount), 'VAL003')
    assert.equal(await thief.status(orderId), 'FAILED')
    assert.equal(await thief.credits(), 0)
    assert.deepEqual(await service.sandbox.paymentsOf(theirs.orderId), before)
    assertSuccess(await theirs.confirm(), 200)
  }
})

for (const [result, reason] of Object.entries({
  decline: 'card-declined',
  insufficient: 'insufficient-funds',
  expire: 'payment-expired',
})) {
  test(`4.2: a payment that the gateway refuses (${result}) is 400 VAL003, and the order is FAILED permanently`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder('STANDARD', result)
    const answer = await order.confirm()
    assert.deepEqual([answer.status, answer.body.code], [400, 'VAL003'])
    assert.deepEqual(answer.body.metadata, { fields: [{ field: 'orderId', rule: 'the order is FAILED' }], reason })
    assert.equal(await customer.status(order.orderId), 'FAILED')
    assert.equal(await customer.credits(), 0)
    assert.deepEqual(await movements(service, customer.customerId), [])
    const calls = totalCalls(service)
    const second = await service.sandbox.pay(order.orderId, order.amount)
    assertRefused(await customer.confirm(order.orderId, second, order.amount), 'VAL003')
    assertRefused(await order.confirm(), 'VAL003')
    assert.equal(totalCalls(service), calls)
  })
}

test('5.6: X-Idempotency-Key is ignored on confirm, whatever its value or form', async () => {
  const customer = await service.newCustomer()
  const [one, other] = [await customer.paidOrder('BASIC'), await customer.paidOrder('BASIC')]
  for (const { orderId, paymentKey, amount } of [one, other]) {
    for (const key of ['the same', 'x'.repeat(300)]) {
      const headers = { 'x-idempotency-key': key }
      const answer = await customer.as<{ orderId: string }>('/confirm', {
        body: { orderId, paymentKey, amount },
        headers,
      })
      assertSuccess(answer, 200)
      assert.equal(answer.body.data.orderId, orderId)
    }
  }
  assert.equal(await customer.credits(), 2)
})
