// Section 4.2, row 7 of the decisions: the three fields of a confirm. Wrong values are refused, never corrected.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { totalCalls } from '../support/service/orders.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
let customer: TestCustomer
let order: Awaited<ReturnType<TestCustomer['paidOrder']>>
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
  order = await customer.paidOrder('BASIC')
})
after(() => service.close())

const rules = {
  orderId: 'must be the orderId of a purchase',
  paymentKey: 'must be 1 to 200 visible ASCII characters',
  amount: 'must be a whole number of KRW',
}
type Field = keyof typeof rules

/** The valid request with one field written as this piece of JSON. */
function confirmWith(field: Field, json: string) {
  const { orderId, paymentKey, amount } = order
  const fields: Record<string, string> = {
    orderId: JSON.stringify(orderId),
    paymentKey: JSON.stringify(paymentKey),
    amount: String(amount),
    [field]: json,
  }
  const members = Object.entries(fields).map(([name, value]) => `"${name}":${value}`)
  return customer.as('/confirm', { raw: `{${members.join(',')}}` })
}

const wrong: Record<Field, string[]> = {
  orderId: ['""', '1', 'true', '[]', '{}', '["ord_1"]'],
  paymentKey: [
    '""',
    '" "',
    '"two words"',
    '" leading"',
    '"trailing "',
    '"tab\\there"',
    '"line\\r\\nbreak: x"',
    '"nul\\u0000"',
    '"delete\\u007f"',
    '"caf\\u00e9"',
    '"\\ud0a4"',
    '"\\ud83d\\udcb3"',
    '"\\ud800"',
    '"\\u200b"',
    `"${'k'.repeat(201)}"`,
    '1',
    'true',
    '[]',
    '["key"]',
    '{}',
  ],
  amount: [
    '"1000"',
    '""',
    '1000.5',
    '0.1',
    '0',
    '-0',
    '-1',
    '-1000',
    '9007199254740992',
    '1e300',
    '1e999',
    'true',
    '[1000]',
    '{}',
    '{"value":1000}',
  ],
}

for (const field of Object.keys(wrong) as Field[]) {
  test(`4.2: ${field} of a wrong type or form is VAL003 and named, and nothing happens`, async () => {
    const calls = totalCalls(service)
    for (const json of wrong[field]) {
      const answer = await confirmWith(field, json)
      assert.deepEqual([answer.status, answer.body.code], [400, 'VAL003'], json)
      assert.deepEqual(answer.body.metadata, { fields: [{ field, rule: rules[field] }] }, json)
    }
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(order.orderId), 'PENDING')
  })
}

test('4.2: each of orderId, paymentKey and amount is required: missing or null is VAL002, and all missing fields are named', async () => {
  const { orderId, paymentKey, amount } = order
  const good: Record<string, unknown> = { orderId, paymentKey, amount }
  const names = Object.keys(good)
  for (const missing of [['orderId'], ['paymentKey'], ['amount'], ['orderId', 'amount'], names]) {
    for (const value of [undefined, null]) {
      const body = { ...good, ...Object.fromEntries(missing.map((name) => [name, value])) }
      const answer = await customer.as('/confirm', { body })
      assert.deepEqual([answer.status, answer.body.code], [400, 'VAL002'])
      assert.deepEqual(answer.body.metadata, { fields: missing.map((field) => ({ field, rule: 'is required' })) })
    }
  }
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('4.2: several wrong fields are all named', async () => {
  const answer = await customer.as('/confirm', { body: { orderId: 1, paymentKey: '', amount: '1000' } })
  assertRefused(answer, 'VAL003')
  const fields = Object.entries(rules).map(([field, rule]) => ({ field, rule }))
  assert.deepEqual(answer.body.metadata, { fields })
})

test('4.2: an amount may be written in any JSON notation of the number: 1e3, 1000.0', async () => {
  for (const json of ['1e3', '1E+3', '1000.0', '10000e-1', '1000'])
    assertSuccess(await confirmWith('amount', json), 200)
  assert.equal(await customer.credits(), 1)
})

test('4.2: fields that are not in the specification are ignored; a duplicate name is VAL001', async () => {
  const { orderId, paymentKey, amount, confirm } = await customer.paidOrder('BASIC')
  const extra = {
    customerId: crypto.randomUUID(),
    credits: 1_000,
    creditsAdded: 1_000,
    status: 'CONFIRMED',
    amount2: 1,
  }
  const before = await customer.credits()
  assertSuccess(await customer.as('/confirm', { body: { ...extra, orderId, paymentKey, amount } }), 200)
  assert.equal(await customer.credits(), before + 1)
  for (const twice of [`"orderId":"x"`, `"amount":1`, `"amount":${amount}`, '"\\u0061mount":1']) {
    const raw = `{${twice},"orderId":"${orderId}","paymentKey":"${paymentKey}","amount":${amount}}`
    assertRefused(await customer.as('/confirm', { raw }), 'VAL001')
  }
  assertSuccess(await confirm(), 200)
})

test('4.2: a paymentKey of 200 visible characters is sent to the gateway unchanged', async () => {
  for (const paymentKey of [
    'k'.repeat(200),
    '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    '../../v1/x',
    '%2e%2e',
    '__proto__',
  ]) {
    const { orderId, amount } = (await customer.purchase('BASIC')).body.data
    const calls = service.calls.confirm
    // The sandbox has not issued it: the gateway refuses it definitely, not this service.
    assertRefused(await customer.confirm(orderId, paymentKey, amount), 'VAL003')
    assert.equal(service.calls.confirm, calls + 1)
    assert.equal(await customer.status(orderId), 'FAILED')
  }
})
