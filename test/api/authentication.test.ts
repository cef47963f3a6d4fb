// Section 5, and rows 11 to 13 of the decisions: authentication, and the errors for a request without a valid key. The values
// sent as a key, and the places where it is not read, are the table of test/hostile/keys.test.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../src/customers/api-keys.ts'
import { type KeyStatus, updateKeyStatus } from '../../src/customers/customers.sql.ts'
import { assertRefused, assertSuccess, startTestService, testPeppers } from '../support/service/service.ts'

const service = await startTestService()
after(() => service.close())
const customer = await service.newCustomer()

const base = '/public/v1/payments'
const endpoints: { method: string; path: string; body?: unknown }[] = [
  { method: 'POST', path: '/purchase', body: { packageType: 'BASIC' } },
  { method: 'POST', path: '/confirm', body: { orderId: 'ord_1', paymentKey: 'key', amount: 1000 } },
  { method: 'GET', path: '/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789' },
  { method: 'GET', path: '/credits' },
  { method: 'GET', path: '/packages' },
  { method: 'POST', path: '/cancel', body: { paymentKey: 'key', reason: 'reason' } },
]

/** A well-formed key that was never issued. */
const unissuedKey = `cpk_${'A1b2'.repeat(11).slice(0, 43)}`

async function setStatus(keyId: string, status: KeyStatus): Promise<void> {
  assert.equal(await updateKeyStatus(service.payments.database, keyId, status), true)
}

test('5.1: every payment endpoint requires an API key', async () => {
  for (const { method, path, body } of endpoints) {
    const without = await service.call(`${base}${path}`, { method, body })
    assertRefused(without, 'INVALID_API_KEY')
    assert.equal(without.status, 401)
    assertRefused(await service.call(`${base}${path}`, { method, body, key: unissuedKey }), 'AUTH001')
  }
  const rows = await service.database.query('select order_id from orders')
  assert.deepEqual(rows, [])
})

test('5.4: a key gives 403 with AUTH003 within a second of its suspension, and works within a second of its reactivation', async () => {
  const suspended = await service.newCustomer()
  assertSuccess(await suspended.as('/credits'), 200)
  await setStatus(suspended.keyId, 'SUSPENDED')
  await sleep(1_000)
  const answer = await suspended.as('/credits')
  assert.deepEqual([answer.status, answer.body.code], [403, 'AUTH003'])
  for (const { method, path, body } of endpoints) {
    assertRefused(await suspended.as(path, { method, body }), 'AUTH003')
  }
  await setStatus(suspended.keyId, 'ACTIVE')
  await sleep(1_000)
  assertSuccess(await suspended.as('/credits'), 200)
})

test('5.4: with a suspended key every other fault is AUTH003 too: broken body, too large a body, unknown route', async () => {
  const suspended = await service.newCustomer()
  await setStatus(suspended.keyId, 'SUSPENDED')
  assertRefused(await suspended.as('/purchase', { raw: '{' }), 'AUTH003')
  assertRefused(await suspended.as('/purchase', { raw: ' '.repeat(20_000) }), 'AUTH003')
  assertRefused(await service.call('/nowhere', { key: suspended.apiKey }), 'AUTH003')
  assertRefused(await service.call('/%zz', { key: suspended.apiKey }), 'AUTH003')
  assertRefused(await service.call('/nowhere', { key: suspended.apiKey, raw: '{' }), 'AUTH003')
})

test('5.5: credits and orders belong to the customer: a second key reads the same, and works after the first is suspended', async () => {
  const order = await customer.confirmedOrder('PRO')
  const second = await issueKey(service.payments.database, testPeppers, customer.customerId)
  assert.equal(second.customerId, customer.customerId)
  const withSecond = (path: string) => service.call(`${base}${path}`, { key: second.apiKey })
  for (const path of ['/credits', `/${order.orderId}`]) {
    assert.equal((await withSecond(path)).text, (await customer.as(path)).text)
  }
  await setStatus(customer.keyId, 'SUSPENDED')
  await sleep(1_000)
  assertRefused(await customer.as('/credits'), 'AUTH003')
  assert.deepEqual((await withSecond('/credits')).body.data, { credits: 110, customerId: customer.customerId })
  await setStatus(customer.keyId, 'ACTIVE')
  await sleep(1_000)
})

test('5.1: no key can be read from the database, only its hash and its last four characters', async () => {
  const issued = await Promise.all(Array.from({ length: 5 }, () => service.newCustomer()))
  for (const each of issued) assertSuccess(await each.purchase('BASIC', { 'x-idempotency-key': each.keyId }), 201)
  const tables = await service.database.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  )
  assert.ok(tables.length >= 7)
  for (const { name } of tables) {
    const rows = await service.database.query<{ text: string }>(`select each::text as text from ${name} each`)
    const everything = rows.map((row) => row.text).join('\n')
    for (const { apiKey } of issued) {
      const secret = apiKey.slice(4)
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(apiKey).toString('base64')]) {
        assert.ok(!everything.includes(form), `${name} holds a key`)
      }
    }
  }
  const [row] = await service.database.query<{ last_four: string }>(
    'select last_four from api_keys where key_id = $1',
    [issued[0]?.keyId],
  )
  assert.equal(row?.last_four, issued[0]?.apiKey.slice(-4))
})
