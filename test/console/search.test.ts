// The console's search: the form of a text decides what it can be, and everything that matches is found.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ConsoleContext } from '../../src/console/context.ts'
import { searchHandlers } from '../../src/console/search/search.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import {
  assertRefused,
  startTestService,
  type TestCustomer,
  type TestService,
  testPeppers,
} from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
let customer: TestCustomer
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
  customer = await service.newCustomer('Who Is Searched')
})
after(() => closeAll(api, service))

const search = async (q: string) => (await viewer.get('search', { query: { q } })).results
const idsOf = async (q: string) => (await search(q)).map(({ kind, id }) => [kind, id])
const named = async (name: string) => (await issueKey(service.payments.database, testPeppers, name)).customerId

test('an order is found by its id, with blanks around it or not, and by its prefix, newest first', async () => {
  const first = await customer.confirmedOrder()
  const second = (await customer.purchase()).body.data
  const [found, ...others] = await search(` ${first.orderId} `)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [found?.kind, found?.orderId, found?.customerId, found?.status],
    ['order', first.orderId, customer.customerId, 'CONFIRMED'],
  )
  const newest = [second.orderId, first.orderId].toSorted().reverse()
  assert.deepEqual(
    await idsOf(first.orderId.slice(0, 8)),
    newest.map((orderId) => ['order', orderId]),
  )
  assert.deepEqual(await idsOf(first.orderId.slice(0, 39)), [['order', first.orderId]])
  assert.deepEqual(await idsOf(first.orderId.slice(0, 7)), [])
  const withoutPrefix = first.orderId.slice(4)
  for (const text of [withoutPrefix, withoutPrefix.toLowerCase().slice(0, 30)]) {
    assert.deepEqual(await idsOf(text), [['order', first.orderId]])
  }
})

test('the approval number of a card slip finds its order', async () => {
  const { orderId } = await customer.confirmedOrder()
  const { order } = await viewer.get('order', { params: { orderId } })
  assert.match(order.approvalNumber ?? '', /^\d{6,8}$/)
  assert.deepEqual(await idsOf(order.approvalNumber ?? ''), [['order', orderId]])
})

test('a part of a name finds its customers, those whose name begins with it first, and a reference those who have it', async () => {
  const [begins, contains] = [await named('Aurora Labs'), await named('The Aurora')]
  assert.deepEqual(await idsOf('aurora'), [
    ['customer', begins],
    ['customer', contains],
  ])
  const buyers = [await service.newCustomer('One'), await service.newCustomer('Two')]
  for (const { customerId, confirmedOrder } of buyers) {
    await confirmedOrder()
    const spend = { customerId, credits: 1, reference: 'video-77', serviceId: 'svc_test' }
    await service.payments.credits.spend(spend)
  }
  const found = await search('video-77')
  assert.deepEqual(
    found.map(({ kind, id, customerId }) => [kind, id, customerId]).sort(),
    buyers.map(({ customerId }) => ['reference', 'video-77', customerId]).sort(),
  )
  assert.deepEqual(await search('video-7'), [])
})

test('a payment key finds its order, also when only a webhook has named the payment', async () => {
  const { orderId, paymentKey } = await customer.confirmedOrder()
  const [payment] = await search(paymentKey)
  assert.deepEqual(
    [payment?.kind, payment?.id, payment?.orderId, payment?.customerId],
    ['payment', 'sand…', orderId, customer.customerId],
  )
  await service.database.query(
    `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
     values ('tx_1', 'pay_unknown', 'an unknown order', 'CAPTURE', 1000, now())`,
  )
  const [unknown] = await search('pay_unknown')
  assert.deepEqual([unknown?.orderId, unknown?.customerId], ['an unknown order', null])
})

test('a payment key that several orders name finds each of them once, newest first', async () => {
  const { orderId, paymentKey } = await customer.confirmedOrder()
  const [before, after] = ['ord_0', 'ord_Z']
  await service.database.query(
    `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
     select 'tx_' || order_id, $1, order_id, 'CAPTURE', 1000, now() from unnest($2::text[]) order_id`,
    [paymentKey, [before, orderId, after]],
  )
  assert.deepEqual(
    (await search(paymentKey)).map((found) => found.orderId),
    [after, orderId, before],
  )
})

test('an order, a payment and a key are found with the name of their customer', async () => {
  const { orderId, paymentKey } = await customer.confirmedOrder()
  for (const text of [orderId, paymentKey, customer.keyId, customer.apiKey.slice(-4)]) {
    assert.deepEqual(
      (await search(text)).map(({ customerName }) => customerName),
      ['Who Is Searched'],
    )
  }
})

test('a customer is found by id and by a prefix of the name, in any case; % and _ are literal', async () => {
  const [acme, other, percent] = [await named('Acme Corporation'), await named('acmeco'), await named('100%_sure')]
  const korean = await named('한빛소프트')
  assert.deepEqual(await idsOf(acme.toUpperCase()), [['customer', acme]])
  assert.deepEqual(await idsOf('ACME C'), [['customer', acme]])
  assert.deepEqual(await idsOf('acmE'), [
    ['customer', acme],
    ['customer', other],
  ])
  assert.deepEqual(await idsOf('100%_'), [['customer', percent]])
  assert.deepEqual(await idsOf('1%'), [])
  assert.deepEqual(await idsOf('한빛'), [['customer', korean]])
  assert.equal((await search('한빛'))[0]?.customerName, '한빛소프트')
})

test('a key is found by its id, by its last four characters, and by its full text, which is looked up as a key alone, neither returned nor logged', async () => {
  const { apiKey, keyId } = customer
  assert.deepEqual(await idsOf(keyId), [['key', keyId]])
  assert.deepEqual(await idsOf(apiKey.slice(-4)), [['key', keyId]])
  const answer = await viewer.request('search', { query: { q: apiKey } })
  assert.deepEqual(
    answer.body.data.results.map(({ id, customerId }) => [id, customerId]),
    [[keyId, customer.customerId]],
  )
  assert.ok(!answer.text.includes(apiKey))
  assert.ok(!api.lines.join('').includes(apiKey))
  // An unknown key: the keys with the same last characters.
  const unknown = `cpk_${'0'.repeat(39)}${apiKey.slice(-4)}`
  await service.database.query(
    `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
     values ('tx_2', $1, 'an unknown order', 'CAPTURE', 1000, now())`,
    [unknown],
  )
  assert.deepEqual(await idsOf(unknown), [['key', keyId]])
  assert.deepEqual(await idsOf(`cpk_${'0'.repeat(43)}`), [])
})

test('a key is found by its full text alone among those that end alike, also when it was hashed with an earlier pepper', async () => {
  const { apiKey, keyId } = await service.newCustomer()
  const { keyId: alike, apiKey: other } = await service.newCustomer()
  const setLastFour = (lastFour: string) =>
    service.database.queryUnguarded('update api_keys set last_four = $2 where key_id = $1', [alike, lastFour])
  await setLastFour(apiKey.slice(-4))
  const peppers = [{ version: 2, secret: 'another pepper for the tests' }, ...testPeppers]
  const { search: find } = searchHandlers({ database: service.payments.database, peppers } as unknown as ConsoleContext)
  const { results } = await find({ query: { q: apiKey } } as Parameters<typeof find>[0])
  assert.deepEqual(
    results.map(({ id }) => id),
    [keyId],
  )
  await setLastFour(other.slice(-4))
})

test('what a text names exactly comes before the customers whose names begin with it', async () => {
  const { apiKey, keyId } = await service.newCustomer()
  const begins = await named(`${apiKey.slice(-4)} Ltd`)
  assert.deepEqual(await idsOf(apiKey.slice(-4)), [
    ['key', keyId],
    ['customer', begins],
  ])
})

test('at most 20 results are shown, and a text that cannot be searched is refused', async () => {
  for (let count = 0; count < 21; count += 1) await named(`many ${count}`)
  assert.equal((await search('many')).length, 20)
  for (const q of ['', 'a\u0000b', 'x'.repeat(201)]) {
    assertRefused(await viewer.request('search', { query: { q } }), 'VAL003')
  }
  assert.deepEqual(await search("'; drop table customers; --"), [])
})
