// Section 5 as raw bytes: values sent as an API key, and their errors. Each row is a purchase that would succeed with a
// valid key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { message } from '../../harness/raw-http.ts'
import { newSecretText } from '../../src/core/ids.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { updateKeyStatus } from '../../src/customers/customers.sql.ts'
import { base, type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'
import type { TestCustomer } from '../support/service/service.ts'

let other: TestCustomer
let suspended: TestCustomer
const world = hostileWorld({}, async () => {
  other = await world.service.newCustomer()
  suspended = await world.service.newCustomer()
  assert.equal(await updateKeyStatus(world.service.payments.database, suspended.keyId, 'SUSPENDED'), true)
})

const unissued = `cpk_${'A1b2'.repeat(11).slice(0, 43)}`
const good = '{"packageType":"BASIC"}'
const key = () => world.customer.apiKey
const secret = () => key().slice(4)
/** UTF-8 bytes as Latin-1 characters, as the head is encoded. */
const bytes = (text: string) => Buffer.from(text).toString('latin1')
const header = (value: string) => [`Service-Api-Key: ${value}`]

function otherCase(text: string): string {
  return [...text].map((sign) => (/[a-z]/.test(sign) ? sign.toUpperCase() : sign.toLowerCase())).join('')
}

/** The header lines sent instead of the key. */
const headers: [what: string, code: Code, lines: () => string[]][] = [
  ['no key', 'INVALID_API_KEY', () => []],
  ['an empty key', 'INVALID_API_KEY', () => ['Service-Api-Key:']],
  ['a key of spaces', 'INVALID_API_KEY', () => header('   ')],
  ['a key that is a tab', 'INVALID_API_KEY', () => header('\t')],
  ['a key without a separator', 'INVALID_API_KEY', () => header(`cpk${secret()}`)],
  ['a key without its prefix', 'INVALID_API_KEY', () => header(secret())],
  ['a prefix alone', 'INVALID_API_KEY', () => header('cpk_')],
  ['a separator alone', 'INVALID_API_KEY', () => header('_')],
  ['another prefix', 'INVALID_API_KEY', () => header(`sk_${secret()}`)],
  ['the prefix in upper case', 'INVALID_API_KEY', () => header(`CPK_${secret()}`)],
  ['a secret of one character', 'INVALID_API_KEY', () => header('cpk_x')],
  ['a secret that is one character short', 'INVALID_API_KEY', () => header(key().slice(0, -1))],
  ['a secret that is one character long', 'INVALID_API_KEY', () => header(`${key()}a`)],
  ['another separator', 'INVALID_API_KEY', () => header(`cpk-${secret()}`)],
  ['a sign inside', 'INVALID_API_KEY', () => header(`${key().slice(0, -1)}-`)],
  ['a tab inside', 'INVALID_API_KEY', () => header(`${key().slice(0, 20)}\t${key().slice(21)}`)],
  ['a well-formed key that was never issued', 'AUTH001', () => header(unissued)],
  ['the characters of a valid key in another order', 'AUTH001', () => header(`cpk_${secret().slice(1)}${secret()[0]}`)],
  ['a valid key with another last character', 'AUTH001', () => header(key().slice(0, -1) + otherThan(key().at(-1)))],
  ['a valid key with its letters in the other case', 'AUTH001', () => header(`cpk_${otherCase(secret())}`)],
  ['a suspended key', 'AUTH003', () => header(suspended.apiKey)],
  ['a header name in lower case', 'SUCCESS', () => [`service-api-key: ${key()}`]],
  ['a header name in mixed case', 'SUCCESS', () => [`sErViCe-aPi-kEy: ${key()}`]],
  ['a header name in upper case', 'SUCCESS', () => [`SERVICE-API-KEY: ${key()}`]],
  ['spaces and tabs around a valid key', 'SUCCESS', () => header(` \t ${key()} \t `)],
  ['no space before a valid key', 'SUCCESS', () => [`Service-Api-Key:${key()}`]],
  ['a space inside', 'INVALID_API_KEY', () => header(`${key().slice(0, 20)} ${key().slice(20)}`)],
  ['a key after Bearer', 'INVALID_API_KEY', () => header(`Bearer ${key()}`)],
  ['a key in quotes', 'INVALID_API_KEY', () => header(`"${key()}"`)],
  ['the same valid key twice', 'INVALID_API_KEY', () => [...header(key()), ...header(key())]],
  ['two valid keys', 'INVALID_API_KEY', () => [...header(key()), ...header(other.apiKey)]],
  ['a valid key and one that was never issued', 'INVALID_API_KEY', () => [...header(key()), ...header(unissued)]],
  ['a valid key and an empty one', 'INVALID_API_KEY', () => [...header(key()), 'Service-Api-Key:']],
  ['two valid keys in one line', 'INVALID_API_KEY', () => header(`${key()}, ${other.apiKey}`)],
  ['a key in Authorization', 'INVALID_API_KEY', () => [`Authorization: Bearer ${key()}`]],
  ['a key in basic Authorization', 'INVALID_API_KEY', () => [`Authorization: Basic ${btoa(`${key()}:`)}`]],
  ['a key in X-Api-Key', 'INVALID_API_KEY', () => [`X-Api-Key: ${key()}`]],
  ['a key in a cookie', 'INVALID_API_KEY', () => [`Cookie: Service-Api-Key=${key()}`]],
  ['a key in X-Idempotency-Key', 'INVALID_API_KEY', () => [`X-Idempotency-Key: ${key()}`]],
  ['a header name with underscores', 'INVALID_API_KEY', () => [`Service_Api_Key: ${key()}`]],
  ['a byte that is not ASCII', 'INVALID_API_KEY', () => header(`${key().slice(0, -1)}\xe9`)],
  ['a prefix with a Cyrillic letter', 'INVALID_API_KEY', () => header(bytes(`\u0441pk_${secret()}`))],
  ['a key of 8 KB', 'INVALID_API_KEY', () => header(`cpk_${'a'.repeat(8_192)}`)],
  ['a key that is SQL', 'INVALID_API_KEY', () => header(`' OR 1=1--`)],
  ['a key that is a star', 'INVALID_API_KEY', () => header('*')],
  ['a key that is a percent sign', 'INVALID_API_KEY', () => header('%')],
  ['a key of wildcards, as long as a valid one', 'INVALID_API_KEY', () => header(`cpk_${'%'.repeat(43)}`)],
]

function otherThan(sign = ''): string {
  return sign === 'a' ? 'b' : 'a'
}

function purchase(lines: string[], path = '/purchase', body = good): Buffer {
  const head = ['host: service', ...lines, 'content-type: application/json', `content-length: ${body.length}`]
  return message(`POST ${base}${path}`, head, body)
}

hostileTests(
  world,
  headers.map(([what, code, lines]) => ({
    what,
    code,
    request: () => purchase(lines()),
    also: ({ body }) => assert.equal(body.metadata, null),
    ...(code === 'SUCCESS' && { status: 201 as const, writes: written.purchase }),
  })),
)

const elsewhere: HostileRow[] = [
  {
    what: 'a key in the query',
    request: () => purchase([], `/purchase?Service-Api-Key=${key()}&service-api-key=${key()}`),
    code: 'INVALID_API_KEY',
  },
  {
    what: 'a key in the body',
    request: () => purchase([], '/purchase', `{"packageType":"BASIC","Service-Api-Key":"${key()}"}`),
    code: 'INVALID_API_KEY',
  },
  { what: 'NUL in a key', request: () => purchase(header(`${key()}\0`)), code: 'VAL001', closes: true },
  {
    what: 'a key of 20 KB',
    request: () => purchase(header(`cpk_${'a'.repeat(20_000)}`)),
    code: 'VAL004',
    closes: true,
  },
  {
    what: 'a suspended key with a broken body',
    request: () => purchase(header(suspended.apiKey), '/purchase', '{'),
    code: 'AUTH003',
  },
  {
    what: 'a suspended key with a broken body at an unknown address',
    request: () => purchase(header(suspended.apiKey), '/nowhere/at/all', '{'),
    code: 'AUTH003',
  },
  {
    what: 'a suspended key at a malformed address',
    request: () => purchase(header(suspended.apiKey), '/%zz', '{'),
    code: 'AUTH003',
  },
  {
    what: 'an unknown key with a body that is announced too large',
    request: () =>
      message(`POST ${base}/purchase`, ['host: x', ...header(`cpk_${'z'.repeat(43)}`), 'content-length: 99999']),
    code: 'AUTH001',
  },
]
hostileTests(world, elsewhere)

test('a valid key of another customer gives NOT000 for an order and a payment, at every endpoint', async () => {
  const { orderId, paymentKey, amount } = await other.paidOrder('BASIC')
  const confirmed = await other.confirmedOrder('BASIC')
  const requests = [
    world.get(`/${orderId}`),
    world.get(`/${confirmed.orderId}`),
    world.post('/confirm', JSON.stringify({ orderId, paymentKey, amount })),
    world.post('/cancel', JSON.stringify({ paymentKey: confirmed.paymentKey, reason: 'not mine' })),
  ]
  for (const request of requests) {
    await world.check({ what: '', request: () => request, code: 'NOT000' })
  }
  assert.equal(await other.status(orderId), 'PENDING')
  assert.equal(await other.status(confirmed.orderId), 'CONFIRMED')
})

test('a key is revoked by suspending it: the database does not allow its deletion', async () => {
  const text = 'delete from api_keys where key_id = $1'
  await assert.rejects(world.service.database.query(text, [suspended.keyId]))
  await world.check({ what: '', request: () => purchase(header(suspended.apiKey)), code: 'AUTH003' })
})

test('a malformed key is refused before anything is hashed, however long it is', async () => {
  const unreadable = {
    version: 1,
    get secret(): string {
      throw new Error('hashed')
    },
  }
  const authenticate = createAuthenticate(world.service.payments.database, [unreadable])
  assert.throws(() => authenticate(`cpk_${'a'.repeat(8_192)}`), { code: 'INVALID_API_KEY' })
  await assert.rejects(async () => authenticate(newSecretText('cpk_')), { message: 'hashed' })
})
