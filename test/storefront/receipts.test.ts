// The receipt that a buyer saves from the order page of the example shop: of the shop's own orders alone, and once the log has
// them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { texts } from '../../examples/storefront/texts/texts.ts'
import { verifyTexts } from '../../examples/storefront/texts/verify.ts'
import { closeAll } from '../support/closing.ts'
import { testLogKeys, testLogOrigin } from '../support/service/service.ts'
import { checkReceipt, logEntries } from '../support/spending/receipts.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { openShop } from './shop.ts'

let service: SpendingService
let shop: Awaited<ReturnType<typeof openShop>>
before(async () => {
  service = await startSpendingService()
  const { apiKey } = await service.newCustomer()
  const { internal, url: apiUrl, sandboxUrl } = service
  const statement = { apiUrl: () => internal.url, token: internal.issued.token }
  shop = await openShop({ apiUrl, apiKey, sandboxUrl, statement })
})
after(() => closeAll(shop, service))

test('the order page leads to a receipt that is ready in a few seconds and proves the order', async () => {
  const orderId = await shop.buy('STANDARD')
  assert.ok(!(await shop.get(`/orders/${orderId}`)).text.includes(texts.en.proof.link), 'nothing is paid yet')
  assert.equal((await shop.get(`/receipt?order=${orderId}`)).status, 404)
  await shop.get(await shop.pay(orderId, 'approve'))
  const { html } = await shop.get(`/orders/${orderId}`)
  assert.ok(html.includes(`<a href="/receipt?order=${orderId}">${texts.en.proof.link}</a>`), html)
  assert.ok(html.includes(`<a href="/verify?order=${orderId}">`), html)

  const [early, earlyInKorean] = await Promise.all([
    shop.get(`/receipt?order=${orderId}`),
    shop.get(`/receipt?order=${orderId}`, { 'accept-language': 'ko' }),
  ])
  assert.deepEqual([early.status, earlyInKorean.status], [503, 503])
  assert.ok(early.text.includes('Ready in a few seconds'), early.text)
  assert.ok(earlyInKorean.text.includes('몇 초 후에 준비됩니다'), earlyInKorean.text)

  await logEntries(service.payments.database)
  const saved = await shop.request(`/receipt?order=${orderId}`)
  assert.equal(saved.headers.get('content-disposition'), `attachment; filename="receipt-${orderId}.json"`)
  assert.equal(saved.headers.get('cache-control'), 'no-store')
  const receipt = (await saved.json()) as Parameters<typeof checkReceipt>[0] & { subject: object }
  checkReceipt(receipt)
  assert.deepEqual(receipt.subject, { order: orderId })
})

test('the page that verifies has the keys of the log of the service, also while the service does not answer', async () => {
  const keysOn = async (path = '/verify') =>
    JSON.parse(/data-keys="([^"]*)"/.exec((await shop.get(path)).html)?.[1]?.replaceAll('&quot;', '"') ?? 'null')
  const vkeys = testLogKeys.map(({ vkey }) => vkey)
  assert.deepEqual(await keysOn(), vkeys)
  assert.ok((await shop.get('/verify')).text.includes(verifyTexts.en.keyOfShopHint))
  assert.ok((await shop.get('/verify?lang=ko')).text.includes(verifyTexts.ko.keyOfShopHint))
  for (const language of ['en', 'ko'] as const) {
    const { text } = await shop.get(`/verify?lang=${language}`)
    const { shopKeys, shopKeysText } = verifyTexts[language]
    const listed = vkeys.map((vkey) => `${testLogOrigin} ${vkey}`).join(' ')
    assert.ok(text.includes(`${shopKeys} ${shopKeysText} ${listed}`), text)
  }
  await using stack = new AsyncDisposableStack()
  const { apiKey } = await service.newCustomer()
  const statement = { apiUrl: () => 'http://127.0.0.1:1', token: 'none' }
  const alone = await openShop({ apiUrl: service.url, apiKey, sandboxUrl: service.sandboxUrl, statement })
  stack.defer(() => alone.close())
  const page = await alone.get('/verify')
  assert.ok(page.status === 200 && page.html.includes('data-keys="[]"'))
  assert.equal(page.text.includes(verifyTexts.en.keyOfShopHint), false)
  assert.equal(page.text.includes(verifyTexts.en.shopKeys), false)
})

test('the shop gives no receipt of an order that was not bought here, and none without the internal API', async () => {
  const { orderId } = await (await service.newCustomer()).confirmedOrder()
  await logEntries(service.payments.database)
  for (const path of [`/receipt?order=${orderId}`, '/receipt', '/receipt?order=..%2f']) {
    const page = await shop.get(path)
    assert.ok(page.status === 404 && page.text.includes(texts.en.orderNotFound.text), path)
  }
  const own = await shop.buy('BASIC')
  await shop.get(await shop.pay(own, 'approve'))
  await shop.restart({ statement: undefined })
  assert.ok(!(await shop.get(`/orders/${own}`)).html.includes('/receipt?order='))
  assert.equal((await shop.get(`/receipt?order=${own}`)).status, 404)
})
