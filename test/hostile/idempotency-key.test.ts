// Section 4.1 rule 1 as raw bytes: values sent as an idempotency key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RawAnswer, sendRaw } from '../../harness/raw-http.ts'
import { assertAnswer, type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'
import type { TestCustomer } from '../support/service/service.ts'

const world = hostileWorld()
const good = '{"packageType":"BASIC"}'
/** UTF-8 bytes as Latin-1 characters, as the head is encoded. */
const bytes = (text: string) => Buffer.from(text).toString('latin1')
const header = (value: string) => [`X-Idempotency-Key: ${value}`]

const headers: [what: string, code: Code, lines: string[]][] = [
  ['no idempotency key', 'SUCCESS', []],
  ['an empty idempotency key', 'VAL003', ['X-Idempotency-Key:']],
  ['an idempotency key of whitespace', 'VAL003', header('  \t ')],
  ['an idempotency key of 255 characters', 'SUCCESS', header('k'.repeat(255))],
  ['an idempotency key of 256 characters', 'VAL003', header('k'.repeat(256))],
  ['an idempotency key of 8 KB', 'VAL003', header('k'.repeat(8_192))],
  ['the same idempotency key twice', 'VAL003', [...header('twice'), ...header('twice')]],
  ['two idempotency keys', 'VAL003', [...header('one'), ...header('other')]],
  ['an idempotency key and an empty one', 'VAL003', [...header('one-and-none'), 'X-Idempotency-Key:']],
  ['an empty idempotency key and one', 'VAL003', ['x-idempotency-key:', ...header('none-and-one')]],
  [
    'two idempotency keys with header names in different case',
    'VAL003',
    ['x-idempotency-key: a', 'X-IDEMPOTENCY-KEY: a'],
  ],
  ['a space inside an idempotency key', 'VAL003', header('two words')],
  ['a tab inside an idempotency key', 'VAL003', header('two\twords')],
  ['SQL with spaces as an idempotency key', 'VAL003', header(`' or 1=1; --`)],
  ['a latin-1 letter in an idempotency key', 'VAL003', header('caf\xe9')],
  ['UTF-8 in an idempotency key', 'VAL003', header(bytes('caf\u00e9'))],
  ['an emoji in an idempotency key', 'VAL003', header(bytes('\u{1f4b3}'))],
]
hostileTests(
  world,
  headers.map(([what, code, lines]) => ({
    what,
    code,
    request: () => world.post('/purchase', good, { lines }),
    ...(code === 'SUCCESS' && { status: 201 as const, writes: written.purchase }),
  })),
)

const breaks: HostileRow[] = [
  ...[
    ['a bare CR', 'a\rb'],
    ['a bare LF', 'a\nb'],
    ['a bare LF and another header', 'a\nX-Evil: 1'],
    ['NUL', 'a\0b'],
    ['DEL', 'a\x7fb'],
  ].map(([what, value = '']) => ({
    what: `${what} in an idempotency key`,
    request: () => world.post('/purchase', good, { lines: header(value) }),
    code: 'VAL001' as const,
    closes: true,
  })),
  {
    what: 'an idempotency key followed by a line break and another header',
    request: () => world.post('/purchase', good, { lines: header('a\r\nX-Evil: evil-value') }),
    code: 'SUCCESS',
    status: 201,
    writes: written.purchase,
    also: ({ head, text }) => assert.doesNotMatch(head + text, /evil/i),
  },
]
hostileTests(world, breaks)

async function purchase(customer: TestCustomer, idempotencyKey: string, packageType = 'BASIC'): Promise<RawAnswer> {
  const lines = header(idempotencyKey)
  const body = JSON.stringify({ packageType })
  return sendRaw(world.service.port, world.post('/purchase', body, { key: customer.apiKey, lines }))
}

const orderOf = ({ body }: RawAnswer) => body.data.orderId

test('one idempotency key from 64 sockets at once, and from one more afterwards, creates one order', async () => {
  const { wrote, result: answers } = await world.observe(async () => [
    ...(await Promise.all(Array.from({ length: 64 }, () => purchase(world.customer, 'from-many')))),
    await purchase(world.customer, 'from-many'),
  ])
  for (const answer of answers) assertAnswer(answer, 'SUCCESS', 201)
  assert.equal(new Set(answers.map(orderOf)).size, 1)
  assert.deepEqual(wrote, written.purchase)
})

test('an idempotency key with another package is VAL003, and no order is created', async () => {
  assertAnswer(await purchase(world.customer, 'reused'), 'SUCCESS', 201)
  const { wrote, result } = await world.observe(() => purchase(world.customer, 'reused', 'PRO'))
  assertAnswer(result, 'VAL003')
  assert.deepEqual(wrote, written.nothing)
})

test('two customers may use the same idempotency key: each gets its own order', async () => {
  const other = await world.service.newCustomer()
  const [one, two] = [await purchase(world.customer, 'shared'), await purchase(other, 'shared')]
  assertAnswer(two, 'SUCCESS', 201)
  assert.notEqual(orderOf(one), orderOf(two))
})

test('a refused request does not use up its idempotency key', async () => {
  assertAnswer(await purchase(world.customer, 'refused-first', 'NONE'), 'VAL003')
  assertAnswer(await purchase(world.customer, 'refused-first'), 'SUCCESS', 201)
})

test('idempotency keys are case-sensitive; whitespace around one is ignored', async () => {
  const [small, capital] = [await purchase(world.customer, 'a-key'), await purchase(world.customer, 'A-Key')]
  assert.notEqual(orderOf(small), orderOf(capital))
  assert.equal(orderOf(await purchase(world.customer, ' \t a-key \t ')), orderOf(small))
})

const verbatim = [
  '../../x',
  '%00',
  `'or'1'='1';drop/**/table/**/orders;--`,
  '$' + '{jndi:ldap://x}',
  '<script>',
  '\\0\\u0000',
  '{}',
  'null',
]
for (const idempotencyKey of verbatim) {
  test(`the idempotency key ${idempotencyKey} is stored unchanged`, async () => {
    const { wrote, result } = await world.observe(() => purchase(world.customer, idempotencyKey))
    assertAnswer(result, 'SUCCESS', 201)
    assert.deepEqual(wrote, written.purchase)
    const text = 'select idempotency_key as "kept" from orders where order_id = $1'
    assert.deepEqual(await world.service.database.query(text, [orderOf(result)]), [{ kept: idempotencyKey }])
    assert.equal(orderOf(await purchase(world.customer, idempotencyKey)), orderOf(result))
  })
}

const malformed = [...header('x'.repeat(300)), ...header('two words')]
const order = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789'
hostileTests(world, [
  {
    what: 'malformed idempotency keys on a confirm of an unknown order are ignored',
    request: () => world.post('/confirm', `{"orderId":"${order}","paymentKey":"k","amount":1}`, { lines: malformed }),
    code: 'NOT000',
  },
  {
    what: 'malformed idempotency keys on a cancel of an unknown payment are ignored',
    request: () => world.post('/cancel', '{"paymentKey":"pay_unknown","reason":"r"}', { lines: malformed }),
    code: 'NOT000',
  },
  ...['/credits', '/packages'].map((path) => ({
    what: `malformed idempotency keys on GET ${path} are ignored`,
    request: () => world.get(path, malformed),
    code: 'SUCCESS' as const,
  })),
])
