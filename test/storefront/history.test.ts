// The history of the example shop: orders beyond one page, unpaid ones apart and expired rather than refused, the statement,
// and the limit of unpaid orders.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dayOf } from '../../examples/storefront/pages/layout.ts'
import { texts } from '../../examples/storefront/texts/texts.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { closeAll } from '../support/closing.ts'
import { spend } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import type { TestCustomer } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { openShop, pathOf } from './shop.ts'

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
  assert.match(text, /Bought, without cancelled orders 22 credits Used of what was bought 5 credits Balance 17 credits/)
  assert.match(text, /Spent \S+ [^−]*−5 17 Bought through the API [^+]*\+1 22 Bought Standard [^+]*\+21 21/)
  assert.ok(html.includes(`<a href="/orders/${orderId}">Standard</a>`), html)
  assert.ok(html.includes('<a href="/statement" aria-current="page">Statement</a>'), html)
  assert.ok(
    (await shop.get('/statement', { 'accept-language': 'ko' })).text.includes(
      '구매 (취소 제외) 22 크레딧 구매분 중 사용 5 크레딧',
    ),
  )
})

test('returned credits do not make up for used ones: the order is not offered for cancellation, and the totals say so', async () => {
  const orderId = await shop.buy('STANDARD')
  await shop.get(await shop.pay(orderId, 'approve'))
  const offered = await shop.get(`/orders/${orderId}`)
  assert.ok(offered.html.includes('id="reason"'), offered.text)
  // All older credits, and 5 of this order.
  const reference = crypto.randomUUID()
  const credits = (await customer.credits()) - 16
  assert.equal((await service.internal.spend(customer.customerId, credits, reference)).status, 200)
  assert.equal((await service.internal.reverse(customer.customerId, reference, { credits: 5 })).status, 200)
  assert.equal(await customer.credits(), 21)
  const { text, html } = await shop.get(`/orders/${orderId}`)
  assert.ok(text.includes(texts.en.cancel.refusals['credits-spent']) && !html.includes('id="reason"'), text)
  assert.equal(pathOf(await shop.request(`/orders/${orderId}/cancel?reason=why`)), `/orders/${orderId}`)
  assert.match((await shop.get('/statement')).text, /Used of what was bought 27 credits Other credits left 5 credits/)

  // Without the internal API the balance is all the shop knows: a refusal stays until it is higher.
  await shop.restart({ statement: undefined })
  const refused = [await shop.cancel(orderId, 'why'), await shop.get(`/orders/${orderId}`)]
  for (const page of refused) assert.ok(page.text.includes(texts.en.cancel.refusals['credits-spent']), page.text)
  await customer.confirmedOrder('STANDARD')
  assert.ok((await shop.cancel(orderId, 'why')).text.includes('Order cancelled'))
  await shop.restart()
})

test('an order of which credits were used is offered for cancellation while other bought credits cover it, as the API cancels it', async () => {
  const orderId = await shop.buy('STANDARD')
  await shop.get(await shop.pay(orderId, 'approve'))
  const credits = (await customer.credits()) - 16
  assert.equal((await service.internal.spend(customer.customerId, credits, crypto.randomUUID())).status, 200)
  const blocked = texts.en.cancel.refusals['credits-spent']
  assert.ok((await shop.get(`/orders/${orderId}`)).text.includes(blocked))
  await customer.confirmedOrder('BASIC')
  assert.equal((await service.internal.spend(customer.customerId, 5, crypto.randomUUID())).status, 200)
  assert.ok((await shop.get(`/orders/${orderId}`)).text.includes(blocked))
  await customer.confirmedOrder('STANDARD')
  assert.ok((await shop.get(`/orders/${orderId}`)).html.includes('id="reason"'))
  assert.ok((await shop.cancel(orderId, 'why')).text.includes('Order cancelled'))
})

test('an order says when and how much went back: an accepted part, then the rest by a refund', async () => {
  const orderId = await shop.buy('STANDARD')
  await shop.get(await shop.pay(orderId, 'approve'))
  const [payment] = await service.sandbox.paymentsOf(orderId)
  await service.sandbox.cancel(payment?.paymentKey ?? '', 5_000)
  await acceptPartOf(service.payments, { customerId: customer.customerId, orderId })
  const [today, todayInKorean] = (['en', 'ko'] as const).map((language) => dayOf(language, new Date().toISOString()))
  const part = `Cancelled in part on ${today}: ₩5,000 goes back to what you paid with.`
  const confirmed = await shop.get(`/orders/${orderId}`)
  assert.ok(confirmed.text.includes(`Payment complete ${part} ${texts.en.refunds.shown}`), confirmed.text)

  // A cancel returns what is left.
  await customer.confirmedOrder('STANDARD')
  const question = await shop.get(`/orders/${orderId}/cancel?reason=why`)
  for (const page of [await shop.get(`/orders/${orderId}`), question])
    assert.ok(page.text.includes(`₩15,000 goes back to what you paid with. ${texts.en.cancel.takenAll}`), page.text)

  await refund(service.payments, { orderId, reason: 'the platform says so' })
  const refunded = await shop.get(`/orders/${orderId}`)
  const rest = `Refunded on ${today}: ₩15,000 goes back to what you paid with. ${texts.en.refunds.shown}`
  assert.ok(refunded.text.includes(`${part} ${rest}`), refunded.text)
  const inKorean = await shop.get(`/orders/${orderId}`, { 'accept-language': 'ko' })
  assert.ok(
    inKorean.text.includes(`${todayInKorean}에 환불 처리되어 ₩15,000이 결제하신 수단으로 환불됩니다.`),
    inKorean.text,
  )
  await recordPlayedActions(service.database)
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
  // A payment that was captured all the same is on its way back.
  for (const sentence of [text, texts.en.failures.other]) {
    assert.match(sentence, /No credits were added\. If your card shows a charge, it is returned automatically/)
    assert.doesNotMatch(sentence, /Nothing was charged/)
  }
  assert.match((await shop.get('/orders', { 'accept-language': 'ko' })).text, /베이직 1 크레딧 [^₩]*₩1,000 만료/)
})
