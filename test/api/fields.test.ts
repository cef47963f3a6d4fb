// Sections 4.2 and 4.6, rows 7 and 29 of the decisions: the fields of a confirm and of a cancel, as the answer names them. Each
// wrong value is in the tables of test/hostile.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused, assertSuccess, startTestService } from '../support/service/service.ts'

const service = await startTestService()
after(() => service.close())
const customer = await service.newCustomer()
const order = await customer.paidOrder('BASIC')

const rules = {
  orderId: 'must be the orderId of a purchase',
  paymentKey: 'must be 1 to 200 visible ASCII characters',
  amount: 'must be a whole number of KRW',
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

test('4.6: paymentKey and reason are required: missing or null is VAL002, and all missing fields are named', async () => {
  const order = await customer.confirmedOrder()
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
