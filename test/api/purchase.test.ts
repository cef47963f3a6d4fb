// Section 4.1.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newOrderId } from '../../src/core/ids.ts'
import { failUrlOf } from '../../src/payments/fail-url.ts'
import { insertOrders } from '../../src/payments/orders.sql.ts'
import { packages } from '../../src/payments/packages.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestService,
  testSettings,
} from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

async function countOrders(customerId: string): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    'select count(*) as count from orders where customer_id = $1',
    [customerId],
  )
  return row?.count ?? 0
}

test('4.1: a purchase answers 201 with SUCCESS, a message text and the data for checkout', async () => {
  const customer = await service.newCustomer()
  for (const { packageType, price } of packages) {
    const answer = await customer.as<Record<string, string>>('/purchase', { body: { packageType } })
    assertSuccess(answer, 201)
    assert.equal(typeof answer.body.message, 'string')
    const { orderId, failUrl, ...rest } = answer.body.data
    assert.match(orderId ?? '', /^[A-Za-z0-9_-]{6,64}$/)
    const { clientKey, successUrl } = testSettings
    assert.deepEqual(rest, { packageType, amount: price, clientKey, successUrl })
    assert.equal(failUrl, `https://shop.example/fail?from=checkout&orderId=${orderId}`)
  }
})

test('4.1: failUrl has the order once, whatever its own query has', () => {
  const failUrl = failUrlOf('https://shop.example/fail?orderId=none&from=a%20b')('ord_1')
  assert.equal(failUrl, 'https://shop.example/fail?orderId=ord_1&from=a+b')
})

test('4.1: paymentMethod may be omitted, null or CARD, and nothing else', async () => {
  const customer = await service.newCustomer()
  for (const paymentMethod of [undefined, null, 'CARD']) {
    assertSuccess(await customer.as('/purchase', { body: { packageType: 'BASIC', paymentMethod } }), 201)
  }
  for (const paymentMethod of ['card', 'TRANSFER', '', 1, ['CARD']]) {
    assertRefused(await customer.as('/purchase', { body: { packageType: 'BASIC', paymentMethod } }), 'VAL003')
  }
})

test('4.1 rule 2: a missing packageType gives VAL002, an unsupported one VAL003, and nothing is created', async () => {
  const customer = await service.newCustomer()
  for (const body of [{}, { packageType: null }, { paymentMethod: 'CARD' }]) {
    const answer = await customer.as('/purchase', { body })
    assertRefused(answer, 'VAL002')
    assert.deepEqual(answer.body.metadata, { fields: [{ field: 'packageType', rule: 'is required' }] })
  }
  for (const packageType of ['', ' ', 'basic', 'PREMIUM', 'BASIC ', 'toString', 1, true, {}, ['BASIC']]) {
    const answer = await customer.as('/purchase', { body: { packageType } })
    assertRefused(answer, 'VAL003')
    const rule = 'must be one of BASIC, STANDARD, PRO'
    assert.deepEqual(answer.body.metadata, { fields: [{ field: 'packageType', rule }] })
  }
  assert.equal(await countOrders(customer.customerId), 0)
})

test('4.1 rule 1: a retry with the same X-Idempotency-Key returns the original orderId and creates no second order', async () => {
  const customer = await service.newCustomer()
  const first = await customer.purchase('PRO', { 'x-idempotency-key': 'retry-1' })
  const again = await customer.as('/purchase', {
    body: { paymentMethod: 'CARD', packageType: 'PRO' },
    headers: { 'x-idempotency-key': 'retry-1' },
  })
  assertSuccess(again, 201)
  assert.deepEqual(again.body.data, first.body.data)
  assert.equal(await countOrders(customer.customerId), 1)
})

test('4.1 rule 1: 64 simultaneous purchases with one X-Idempotency-Key create one order', async () => {
  for (let round = 0; round < 10; round += 1) {
    const customer = await service.newCustomer()
    const headers = { 'x-idempotency-key': `round-${round}` }
    const answers = await Promise.all(Array.from({ length: 64 }, () => customer.purchase('BASIC', headers)))
    for (const answer of answers) assertSuccess(answer, 201)
    assert.equal(new Set(answers.map((answer) => answer.body.data.orderId)).size, 1)
    assert.equal(await countOrders(customer.customerId), 1)
  }
})

test('4.1 rule 1: the original order is returned whatever its current state', async () => {
  const customer = await service.newCustomer()
  const headers = { 'x-idempotency-key': 'later' }
  const first = await customer.purchase('BASIC', headers)
  const { orderId } = first.body.data
  await customer.confirm(orderId, await service.sandbox.pay(orderId, 1000), 1000)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual((await customer.purchase('BASIC', headers)).body.data, first.body.data)
})

test('4.1: the same X-Idempotency-Key with another body is VAL003 and creates nothing', async () => {
  const customer = await service.newCustomer()
  const headers = { 'x-idempotency-key': 'reused' }
  assertSuccess(await customer.purchase('BASIC', headers), 201)
  const answer = await customer.purchase('PRO', headers)
  assertRefused(answer, 'VAL003')
  assert.deepEqual(answer.body.metadata, {
    fields: [{ field: 'X-Idempotency-Key', rule: 'belongs to an earlier purchase with another body' }],
  })
  assert.equal(await countOrders(customer.customerId), 1)
})

test('4.1: an X-Idempotency-Key belongs to its customer: another customer gets its own order', async () => {
  const headers = { 'x-idempotency-key': 'shared' }
  const [one, other] = [await service.newCustomer(), await service.newCustomer()]
  const first = await one.purchase('BASIC', headers)
  const second = await other.purchase('BASIC', headers)
  assertSuccess(second, 201)
  assert.notEqual(second.body.data.orderId, first.body.data.orderId)
})

test('4.1: a refused request does not use up its X-Idempotency-Key', async () => {
  const customer = await service.newCustomer()
  const headers = { 'x-idempotency-key': 'refused-first' }
  assertRefused(await customer.as('/purchase', { body: { packageType: 'NONE' }, headers }), 'VAL003')
  assertSuccess(await customer.purchase('BASIC', headers), 201)
})

test('4.1: X-Idempotency-Key is 1 to 255 visible ASCII characters', async () => {
  const customer = await service.newCustomer()
  for (const key of ['a', 'x'.repeat(255), '../../x', "' or 1=1--", '%00'].map((each) => each.replaceAll(' ', '_'))) {
    assertSuccess(await customer.purchase('BASIC', { 'x-idempotency-key': key }), 201)
  }
  for (const key of ['', 'x'.repeat(256), 'two words', 'caf\u00e9']) {
    assertRefused(await customer.purchase('BASIC', { 'x-idempotency-key': key }), 'VAL003')
  }
})

test('4.1: each purchase without an X-Idempotency-Key creates its own order', async () => {
  const customer = await service.newCustomer()
  const answers = await Promise.all(Array.from({ length: 64 }, () => customer.purchase()))
  assert.equal(new Set(answers.map((answer) => answer.body.data.orderId)).size, 64)
})

test('4.1: fields that are not in the specification are ignored and have no effect', async () => {
  const [customer, other] = [await service.newCustomer(), await service.newCustomer()]
  const body = {
    packageType: 'BASIC',
    amount: 1,
    credits: 9999,
    status: 'CONFIRMED',
    customerId: other.customerId,
    orderId: 'x',
  }
  const answer = await customer.as<{ orderId: string; amount: number }>('/purchase', { body })
  assertSuccess(answer, 201)
  assert.equal(answer.body.data.amount, 1000)
  assert.equal(await customer.status(answer.body.data.orderId), 'PENDING')
})

test('a customer has at most PENDING_ORDERS_PER_CUSTOMER open orders, also of those that share a statement; above the limit SVC001 with Retry-After', async () => {
  const limited = await startTestService({ settings: { pendingOrdersPerCustomer: 3 } })
  try {
    const customer = await limited.newCustomer()
    const first = await customer.purchase('BASIC', { 'x-idempotency-key': 'first' })
    const order = await customer.paidOrder('BASIC')
    assertSuccess(await customer.purchase('BASIC'), 201)
    const refused = await customer.purchase('BASIC')
    assertRefused(refused, 'SVC001')
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.deepEqual((await customer.purchase('BASIC', { 'x-idempotency-key': 'first' })).body.data, first.body.data)
    assertSuccess(await order.confirm(), 200)
    assertSuccess(await customer.purchase('BASIC'), 201)
    assertRefused(await customer.purchase('BASIC'), 'SVC001')
    // Orders abandoned more than a day ago have expired and do not count.
    const text = `update orders set created_at = now() - interval '25 hours' where customer_id = $1 and status = 'PENDING'`
    await limited.database.query(text, [customer.customerId])
    const { database, settings } = limited.payments
    assert.deepEqual(await expireOrders(database, settings.pendingOrderLifetimeMs), { expired: 3, more: false })
    assertSuccess(await customer.purchase('BASIC'), 201)
    const other = await limited.newCustomer()
    const shared = { customerId: other.customerId, packageType: 'BASIC', paymentMethod: 'CARD', amount: 1_000 } as const
    const orders = [1, 2, 3, 4].map(() => ({ ...shared, orderId: newOrderId(), credits: 1, idempotencyKey: null }))
    const inserted = await insertOrders(
      database,
      orders.map((order) => ({ ...order, maxPending: 3 })),
    )
    assert.deepEqual(inserted, [true, true, true, false])
    const { purchase: unlimited } = await limited.newCustomer()
    settings.pendingOrdersPerCustomer = 0
    for (let order = 0; order < 4; order += 1) assertSuccess(await unlimited('BASIC'), 201)
  } finally {
    await limited.close()
  }
})
