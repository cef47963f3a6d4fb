// Section 4.2 as raw bytes: the three fields of a confirm, in every notation that could be read as another value.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '../../harness/raw-http.ts'
import { base, type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'
import { orderInState } from '../support/service/orders.ts'
import type { TestCustomer } from '../support/service/service.ts'

type Order = Awaited<ReturnType<TestCustomer['paidOrder']>>

let order: Order
let other: TestCustomer
let foreign: Order
const world = hostileWorld({}, async () => {
  order = await world.customer.paidOrder('BASIC')
  other = await world.service.newCustomer()
  foreign = await other.paidOrder('BASIC')
})

/** The valid request with one field written as this piece of JSON; undefined: omitted. */
function bodyWith(forOrder: Order, field: string, json: string | undefined): string {
  const { orderId, paymentKey, amount } = forOrder
  const fields: Record<string, string | undefined> = {
    orderId: JSON.stringify(orderId),
    paymentKey: JSON.stringify(paymentKey),
    amount: String(amount),
    [field]: json,
  }
  const members = Object.entries(fields).filter(([, value]) => value !== undefined)
  return `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`
}

function rowOf(field: string, json: string | undefined, code: Code, what = json): HostileRow {
  return {
    what: json === undefined ? `no ${field}` : `${field} ${what}`,
    request: () => world.post('/confirm', bodyWith(order, field, json)),
    code,
    closes: code === 'VAL001',
  }
}

const rules = {
  orderId: 'must be the orderId of a purchase',
  paymentKey: 'must be 1 to 200 visible ASCII characters',
  amount: 'must be a whole number of KRW',
}
type Field = keyof typeof rules

/** Values of a wrong type or form: the answer names the field and its rule. */
const malformed: Record<Field, string> = {
  orderId: '"" | 1 | true | [] | ["x"] | {}',
  paymentKey: `"" | 1 | true | [] | ["x"] | {} | " " | "a b" | " a" | "a " | "a\\r\\nX-Evil: 1" | "a\\tb" | "nul\\u0000"
    | "delete\\u007f" | "caf\u00e9" | "\\ud0a4" | "\ud83d\udcb3" | "\\ud800" | "\\u200b"`,
  amount: `1000.5 | 0.1 | 0 | -0 | -1 | -1000 | "1000" | "" | true | [1000] | {} | {"value":1000} | 9007199254740992 | 1e300
    | 1e999`,
}
const namedRow = (field: Field, json: string, what = json): HostileRow => ({
  ...rowOf(field, json, 'VAL003', what),
  also: ({ body }) => assert.deepEqual(body.metadata, { fields: [{ field, rule: rules[field] }] }),
})

const wrongAmounts =
  '999 1001 20000 1000.0000000001 1e-3 "1e3" "1,000" "\u20a91000" false [] 9007199254740993 9223372036854775808 ' +
  '18446744073709551616 1e21 1e400 -1e400'
const notNumbers = 'NaN Infinity -Infinity 01000 +1000 .5 1. 0x3E8 1_000 1000n 1e --1'

hostileTests(world, [
  ...Object.keys(rules).flatMap((field) => [undefined, 'null'].map((json) => rowOf(field, json, 'VAL002'))),
  ...Object.entries(malformed).flatMap(([field, all]) =>
    all.split(/\s*\| /).map((json) => namedRow(field as Field, json)),
  ),
  namedRow('paymentKey', JSON.stringify('k'.repeat(201)), 'of 201 characters'),
  ...[...wrongAmounts.split(' '), '" 1000"'].map((json) => rowOf('amount', json, 'VAL003')),
  ...notNumbers.split(' ').map((json) => rowOf('amount', json, 'VAL001')),
  ...['"."', '".."'].map((json) => rowOf('paymentKey', json, 'VAL003')),
  ...['../x', '%2e', "' OR 1=1--", 'ord_', '*', 'credits', 'constructor', '\u200b'].map((id) =>
    rowOf('orderId', JSON.stringify(id), 'NOT000'),
  ),
  rowOf('orderId', JSON.stringify('o'.repeat(10_240)), 'NOT000', 'of 10 KB'),
])

const changed: [what: string, change: (orderId: string) => string][] = [
  ['in lower case', (orderId) => orderId.toLowerCase()],
  ['with a trailing space', (orderId) => `${orderId} `],
  ['with a leading space', (orderId) => ` ${orderId}`],
  ['with a trailing line break', (orderId) => `${orderId}\n`],
  ['with a trailing NUL', (orderId) => `${orderId}\0`],
  ['with a trailing %2e', (orderId) => `${orderId}%2e`],
  ['with its address', (orderId) => `${base}/${orderId}`],
]
hostileTests(
  world,
  changed.map(([what, change]) => ({
    what: `an orderId ${what}`,
    request: () => world.post('/confirm', bodyWith(order, 'orderId', JSON.stringify(change(order.orderId)))),
    code: 'NOT000',
  })),
)

for (const json of ['1000', '1000.0', '1e3', '1E+03', '10000e-1', '1000.00000000000000001']) {
  test(`an amount written ${json} is 1000, and 1000 is sent to the gateway`, async () => {
    const paid = await world.customer.paidOrder('BASIC')
    await world.check({
      what: '',
      request: () => world.post('/confirm', bodyWith(paid, 'amount', json)),
      code: 'SUCCESS',
      writes: written.confirm,
    })
    const [payment] = await world.service.sandbox.paymentsOf(paid.orderId)
    assert.deepEqual([payment?.status, payment?.totalAmount], ['DONE', 1_000])
  })
}

test('an unknown order and one of another customer are the same NOT000 to the last byte of head and body', async () => {
  const unknown = foreign.orderId.replace(/.$/, (sign) => (sign === '0' ? '1' : '0'))
  const heads = new Set<string>()
  for (const orderId of [foreign.orderId, unknown, 'x']) {
    const request = world.post('/confirm', bodyWith(order, 'orderId', JSON.stringify(orderId)))
    await world.check({
      what: '',
      request: () => request,
      code: 'NOT000',
      also: ({ head, text }) => heads.add(head.replace(/^date: .*$/im, '') + text),
    })
  }
  assert.equal(heads.size, 1)
  assert.equal(await other.status(foreign.orderId), 'PENDING')
})

const visible = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
for (const paymentKey of ['../../v1/other', 'a/b?x=1#y', 'k'.repeat(200), '%0d%0a', '__proto__', visible]) {
  test(`the paymentKey ${paymentKey.slice(0, 20)} is refused by the gateway: VAL003, and nothing is captured`, async () => {
    const paid = await world.customer.paidOrder('BASIC')
    await world.check({
      request: () => world.post('/confirm', bodyWith(paid, 'paymentKey', JSON.stringify(paymentKey))),
      what: '',
      code: 'VAL003',
      writes: written.refusedConfirm,
    })
    assert.equal(await world.customer.status(paid.orderId), 'FAILED')
    assert.equal((await world.service.sandbox.paymentsOf(paid.orderId))[0]?.status, 'IN_PROGRESS')
  })
}

test('the paymentKey of another order of the same customer is VAL003 without a call to the gateway', async () => {
  const confirmed = await world.customer.confirmedOrder('BASIC')
  const request = world.post('/confirm', bodyWith(order, 'paymentKey', JSON.stringify(confirmed.paymentKey)))
  await world.check({ what: '', request: () => request, code: 'VAL003' })
  assert.equal(await world.customer.status(order.orderId), 'PENDING')
})

test('the paymentKey of another customer is VAL003, and the payment of that customer is not captured', async () => {
  const paid = await world.customer.paidOrder('BASIC')
  const request = world.post('/confirm', bodyWith(paid, 'paymentKey', JSON.stringify(foreign.paymentKey)))
  const answer = await sendRaw(world.service.port, request)
  assert.equal(answer.body.code, 'VAL003')
  assert.equal(await world.customer.credits(), await creditsByLedger())
  assert.equal(await other.status(foreign.orderId), 'PENDING')
  assert.equal((await world.service.sandbox.paymentsOf(foreign.orderId))[0]?.status, 'IN_PROGRESS')
})

async function creditsByLedger(): Promise<number> {
  const text = 'select coalesce(sum(delta), 0)::int as credits from ledger_entries where customer_id = $1'
  const [row] = await world.service.database.query<{ credits: number }>(text, [world.customer.customerId])
  return row?.credits ?? 0
}

const states: [status: 'CONFIRMED' | 'FAILED' | 'CANCELLED' | 'REFUNDED', own: Code][] = [
  ['CONFIRMED', 'SUCCESS'],
  ['FAILED', 'VAL003'],
  ['CANCELLED', 'VAL003'],
  ['REFUNDED', 'VAL003'],
]
for (const [status, code] of states) {
  test(`a confirm of an order that is ${status} is ${code} with its own paymentKey, VAL003 with another, and adds nothing`, async () => {
    const done = await orderInState(world.service, world.customer, status, 'BASIC')
    await world.check({ what: '', request: () => world.post('/confirm', bodyWith(done, 'x', '1')), code })
    const another = world.post('/confirm', bodyWith(done, 'paymentKey', '"another"'))
    await world.check({ what: '', request: () => another, code: 'VAL003' })
  })
}

test('after all refusals the order is PENDING, and its confirm succeeds', async () => {
  assert.equal(await world.customer.status(order.orderId), 'PENDING')
  assert.equal((await order.confirm()).status, 200)
})
