// The history of the example shop: orders beyond one page, unpaid ones apart and expired rather than refused, the statement,
// and the limit of unpaid orders.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { closeAll } from '../support/closing.ts'
import { spend } from '../support/service/orders.ts'
import type { TestCustomer } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { openShop } from './shop.ts'

const unpaidLimit = 22

let service: SpendingService
let customer: TestCustomer
let shop: Awaited<ReturnType<typeof openShop>>

before(async () => {
  service = await startSpendingService({ settings: { pendingOrdersPerCustomer: unpaidLimit } })
  customer = await service.newCustomer()
  const { internal, url: apiUrl, sandboxUrl } = service
  const statement = { apiUrl: () => internal.url, token: internal.issued.token }
  shop = await openShop({ apiUrl, apiKey: customer.apiKey, sandboxUrl, statement })
})
after(() => closeAll(shop, service))

const listed = (html: string) => [...html.matchAll(/<a href="\/orders\/(ord_\w+)">/g)].map(([, orderId]) => orderId)

test('the statement shows what was bought and spent, also by the API, and the balance after each movement', async () => {
  const orderId = await shop.buy('STANDARD')
  await shop.get(await shop.pay(orderId, 'approve'))
  await customer.confirmedOrder('BASIC')
  assert.ok(await spend(service, customer.customerId, 5))
  const { text, html } = await shop.get('/statement')
  assert.match(text, /Bought 22 credits Spent 5 credits Balance 17 credits/)
  assert.match(text, /Spent \S+ [^−]*−5 17 Bought through the API [^+]*\+1 22 Bought Standard [^+]*\+21 21/)
  assert.ok(html.includes(`<a href="/orders/${orderId}">Standard</a>`), html)
  assert.ok(html.includes('<a href="/statement" aria-current="page">Statement</a>'), html)
  assert.ok((await shop.get('/statement', { 'accept-language': 'ko' })).text.includes('구매 22 크레딧 사용 5 크레딧'))
})

test('an unpaid order is folded below the paid ones, and none is lost beyond the first 20', async () => {
  const paid = listed((await shop.get('/orders')).html)
  const unpaid: string[] = []
  while (unpaid.length < unpaidLimit) unpaid.unshift(await shop.buy('BASIC'))
  const { html, text } = await shop.get('/orders')
  assert.ok(text.includes(`Unpaid orders (${unpaidLimit})`), text)
  assert.deepEqual(listed(html), [...paid, ...unpaid.slice(0, 20)])
  const [, more = ''] = /href="(\/orders\?list=unpaid[^"]+)">Show more/.exec(html) ?? []
  assert.deepEqual(listed((await shop.get(more.replace('&amp;', '&'))).html), unpaid.slice(20))
})

test('too many unpaid orders: the page says so and leads to them', async () => {
  const response = await shop.post('/buy', await shop.buyForm('BASIC'))
  const html = await response.text()
  assert.equal(response.status, 409)
  assert.ok(html.includes('Too many unpaid orders') && html.includes('href="/orders?list=unpaid"'), html)
})

test('an order that was not paid in time has expired: no card was refused', async () => {
  const [orderId = ''] = listed((await shop.get('/orders?list=unpaid')).html)
  await expireOrders(service.payments.database, 0)
  const { text } = await shop.get(`/orders/${orderId}`)
  assert.ok(text.includes('This order has expired') && text.includes('Buy Basic again'), text)
  assert.doesNotMatch(text, /refused|card company/)
  assert.match((await shop.get('/orders', { 'accept-language': 'ko' })).text, /베이직 1 크레딧 [^₩]*₩1,000 만료/)
})
