// Section 4.6, rows 7 and 29 of the decisions: the two fields of a cancel.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { totalCalls } from '../support/service/orders.ts'
import { assertSuccess, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

let service: TestService
let customer: TestCustomer
let order: Awaited<ReturnType<TestCustomer['confirmedOrder']>>
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
  order = await customer.confirmedOrder()
})
after(() => service.close())

const rules = {
  paymentKey: 'must be 1 to 200 visible ASCII characters',
  reason: 'must be 1 to 200 characters, not blank, without control characters',
}

/** Pieces of JSON. */
const wrong: Record<keyof typeof rules, Record<string, string>> = {
  paymentKey: {
    empty: '""',
    'a space': '"two words"',
    'a line break': '"a\\r\\nb"',
    NUL: '"a\\u0000"',
    'not ASCII': '"\\ud0a4"',
    'too long': `"${'k'.repeat(201)}"`,
    'a number': '1',
    'an array': '["key"]',
    'an object': '{}',
  },
  reason: {
    empty: '""',
    'a blank': '" "',
    'whitespace of all kinds': '" \\t\\r\\n\\u00a0\\u2003\\u3000\\ufeff"',
    '201 characters': `"${'r'.repeat(201)}"`,
    '201 emoji': `"${'💳'.repeat(201)}"`,
    NUL: '"a\\u0000b"',
    bell: '"a\\u0007b"',
    escape: '"\\u001b[31m red"',
    delete: '"a\\u007fb"',
    'half a surrogate pair': '"a\\ud800b"',
    'the other half of a surrogate pair': '"a\\udc00"',
    'a surrogate pair in the wrong order': '"\\udc00\\ud800"',
    'a number': '1',
    'a boolean': 'true',
    'an array': '["reason"]',
    'an object': '{"text":"reason"}',
  },
}

for (const field of ['paymentKey', 'reason'] as const) {
  test(`4.6: ${field} of a wrong type or form is VAL003 and named, and nothing happens`, async () => {
    const calls = totalCalls(service)
    for (const [title, json] of Object.entries(wrong[field])) {
      const fields = { paymentKey: `"${order.paymentKey}"`, reason: '"reason"', [field]: json }
      const raw = `{"paymentKey":${fields.paymentKey},"reason":${fields.reason}}`
      const answer = await customer.as('/cancel', { raw })
      assert.deepEqual([answer.status, answer.body.code], [400, 'VAL003'], title)
      assert.deepEqual(answer.body.metadata, { fields: [{ field, rule: rules[field] }] }, title)
    }
    assert.equal(totalCalls(service), calls)
    assert.equal(await customer.status(order.orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 21)
  })
}

test('4.6: paymentKey and reason are required: missing or null is VAL002, and all missing fields are named', async () => {
  const good: Record<string, unknown> = { paymentKey: order.paymentKey, reason: 'reason' }
  for (const missing of [['paymentKey'], ['reason'], ['paymentKey', 'reason']]) {
    for (const value of [undefined, null]) {
      const body = { ...good, ...Object.fromEntries(missing.map((name) => [name, value])) }
      const answer = await customer.as('/cancel', { body })
      assert.deepEqual([answer.status, answer.body.code], [400, 'VAL002'])
      assert.deepEqual(answer.body.metadata, { fields: missing.map((field) => ({ field, rule: 'is required' })) })
    }
  }
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
})

const longest = {
  'one character': 'r',
  '200 characters': 'r'.repeat(200),
  '200 Hangul syllables': '값'.repeat(200),
  '200 emoji, each one character': '💳'.repeat(200),
  'line breaks and tabs': 'first\nsecond\r\n\tthird',
  'quotes, markup, SQL': `'"; drop table orders; -- <script>\\`,
}
for (const [title, reason] of Object.entries(longest)) {
  test(`4.6: a reason of 1 to 200 characters is accepted: ${title}`, async () => {
    const paid = await customer.confirmedOrder('BASIC')
    assertSuccess(await customer.cancel(paid.paymentKey, reason), 200)
    assert.equal(await customer.status(paid.orderId), 'CANCELLED')
    const again = await customer.cancel(paid.paymentKey, reason)
    assert.deepEqual(again.body.metadata, { paymentKey: paid.paymentKey, reason })
  })
}
