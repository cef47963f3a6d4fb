// Buying in the example shop, on a real service and sandbox: a click is one order, the shop confirms with the amount it
// stored, and neither edited addresses nor the back button add credits twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
import { openShop, pathOf } from './shop.ts'

let service: TestService
let customer: TestCustomer
let shop: Awaited<ReturnType<typeof openShop>>

before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
  shop = await openShop({ apiUrl: service.url, apiKey: customer.apiKey, sandboxUrl: service.sandboxUrl })
})
after(() => closeAll(shop, service))

test('the packages and the balance are shown in Korean and in English', async () => {
  const english = await shop.get('/')
  for (const text of ['Balance', '21 credits', '5% bonus', '₩20,000', '110 credits', '₩100,000', 'Buy']) {
    assert.ok(english.text.includes(text), text)
  }
  // The price of a credit falls with the package; the lowest one is marked.
  assert.match(english.text, /₩1,000 per credit .*₩952 per credit .*Best value .*₩909 per credit/)
  assert.equal(english.text.split('Best value').length, 2)
  const korean = await shop.get('/', { 'accept-language': 'ko-KR,ko;q=0.9' })
  for (const text of ['잔액', '21 크레딧', '보너스 5%', '₩20,000', '구매하기'])
    assert.ok(korean.text.includes(text), text)
})

test('the selected language is remembered', async () => {
  const switched = await shop.get('/orders?lang=ko')
  assert.match(switched.html, /<html lang="ko">/)
  const cookie = switched.headers.get('set-cookie') ?? ''
  assert.match(cookie, /^lang=ko; Path=\/;.*HttpOnly$/)
  assert.match((await shop.get('/', { cookie: cookie.split(';')[0] ?? '' })).html, /<html lang="ko">/)
})

test('every page names the seller, the terms, the rule for refunds and where receipts are verified, and that no money moves', async () => {
  const { text, html } = await shop.get('/nowhere')
  assert.match(text, /^ Skip to the content Test mode: no money moves\. Credit shop/)
  assert.ok(text.includes('Seller: Acme Inc., 123-45-67890'), text)
  assert.ok(
    text.includes('as long as you have as many bought credits left') && text.includes('from ₩1,000; bonus credits'),
    text,
  )
  assert.ok(html.includes('<a href="https://shop.example/terms">Terms</a>'), html)
  assert.ok(html.includes('<a href="/verify">Verify a receipt, and the keys for it</a>'), html)
  assert.match((await shop.get('/')).html, /<a href="\/" aria-current="page">Packages<\/a><a href="\/orders">/)
})

test('pages run no scripts of other hosts, are neither cached nor framed, and never contain the API key', async () => {
  const orderId = await shop.buy()
  const paths = ['/', '/orders', `/orders/${orderId}`, `/pay/${orderId}`, '/nowhere', '/vendor/tosspayments-sdk.js']
  for (const path of [
    ...paths,
    '/assets/pay.js',
    '/assets/shop.js',
    '/assets/outcome.js',
    '/assets/storefront.css',
    '/assets/icon.svg',
  ]) {
    const { html, headers } = await shop.get(path)
    assert.ok(!html.includes(customer.apiKey) && !JSON.stringify([...headers]).includes(customer.apiKey), path)
    if (!headers.get('content-type')?.startsWith('text/html')) continue
    assert.equal(headers.get('cache-control'), 'no-store')
    const gateway = path.startsWith('/pay/') ? ` ${service.sandboxUrl}` : ''
    const policy = headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes(`script-src 'self'${gateway};`) && policy.includes("frame-ancestors 'none'"), policy)
    assert.doesNotMatch(html, / (on\w+|style)=|<script(?! type="module" src="\/assets\/)/)
  }
})

test('a click that arrives twice is one order; another click is another order', async () => {
  const form = await shop.buyForm('BASIC')
  const [first, again] = [await shop.post('/buy', form), await shop.post('/buy', form)].map(pathOf)
  assert.equal(again, first)
  assert.notEqual(pathOf(await shop.post('/buy', await shop.buyForm('BASIC'))), first)
})

test('a successful payment adds its credits once, however often the buyer returns', async () => {
  const creditsBefore = await customer.credits()
  const orderId = await shop.buy('STANDARD')
  const back = await shop.pay(orderId, 'approve')
  assert.match(back, /^\/success\?/)
  for (let visit = 0; visit < 3; visit++) {
    const { status, text } = await shop.get(back)
    assert.equal(status, 200)
    assert.match(text, /Payment complete \+21 credits Balance /)
    assert.ok(text.includes(`Balance ${creditsBefore} → ${creditsBefore + 21} credits`), text)
  }
  assert.equal(await customer.credits(), creditsBefore + 21)
})

test('a paid order shows the card, the approval number and a link to the receipt, and one that is not paid does not', async () => {
  const orderId = await shop.buy('BASIC')
  assert.ok(!(await shop.get(`/orders/${orderId}`)).text.includes('Receipt'))
  const success = await shop.pay(orderId, 'approve')
  const [payment] = (await service.sandbox.paymentsOf(orderId)) as unknown as { paymentKey: string }[]
  const receiptUrl = `${service.sandboxUrl}/receipt/${payment?.paymentKey}`
  assert.equal((await fetch(receiptUrl)).status, 404)
  for (const path of [success, `/orders/${orderId}`]) {
    const { text, html } = await shop.get(path)
    assert.match(text, /Credits 1 credit Amount ₩1,000 VAT included Paid \d+ \w+ 20\d\d, \d\d:\d\d Paid with Card /)
    assert.match(text, /Card 43301234\*{4}123\* Approval number \d{8} Receipt Open the receipt/)
    assert.ok(html.includes(`<a href="${receiptUrl}" target="_blank" rel="noreferrer noopener">`), html)
  }
  const korean = await shop.get(`/orders/${orderId}`, { 'accept-language': 'ko' })
  assert.match(korean.text, /카드 43301234\*{4}123\* 승인 번호 \d{8} 매출전표/)
  const receipt = await fetch(receiptUrl, { headers: { 'accept-language': 'en' } })
  const page = await receipt.text()
  assert.ok(receipt.status === 200 && page.includes(orderId) && page.includes('43301234****123*'), page)
})

test('going back to a paid order does not open the payment window again', async () => {
  const form = await shop.buyForm('BASIC')
  const orderId = pathOf(await shop.post('/buy', form)).slice('/pay/'.length)
  await shop.get(await shop.pay(orderId, 'approve'))
  assert.equal(pathOf(await shop.request(`/pay/${orderId}`)), `/orders/${orderId}`)
  assert.equal(pathOf(await shop.post('/buy', form)), `/orders/${orderId}`)
})

test('an order can be paid at a second attempt, after the buyer cancelled the first', async () => {
  const orderId = await shop.buy('BASIC')
  const back = await shop.pay(orderId)
  const { text, html } = await shop.get(back)
  assert.ok(text.includes('Payment cancelled') && text.includes('Nothing was charged.'), text)
  assert.ok(html.includes(`href="/pay/${orderId}"`))
  assert.ok((await shop.get(await shop.pay(orderId, 'approve'))).text.includes('+1 credit '))
  // The old address shows the current state, not its own.
  assert.ok((await shop.get(back)).text.includes('Payment complete'))
})

for (const [card, why] of [
  ['decline', 'The payment was declined.'],
  ['insufficient', 'limit or balance is too low.'],
  ['limit', 'exceeds the card’s limit.'],
  ['expired-card', 'The card has expired or its details are not valid.'],
] as const) {
  test(`a card that is refused at confirm (${card}) is shown with its reason, also on reload, and adds nothing`, async () => {
    const creditsBefore = await customer.credits()
    const orderId = await shop.buy('PRO')
    const back = await shop.pay(orderId, card)
    for (const path of [back, back, `/orders/${orderId}`]) {
      const { text, html } = await shop.get(path)
      assert.ok(text.includes('The payment was refused') && text.includes(`${why} Nothing was charged`), text)
      assert.doesNotMatch(text, /complete|\+\d/)
      // The button starts the same purchase again, as a new order.
      const [, token = ''] =
        /name="packageType" value="PRO">\s*<input type="hidden" name="token" value="([^"]+)"/.exec(html) ?? []
      assert.notEqual(pathOf(await shop.post('/buy', { packageType: 'PRO', token })), `/pay/${orderId}`)
    }
    assert.equal(await customer.credits(), creditsBefore)
    assert.equal(await customer.status(orderId), 'FAILED')
  })
}

test('the amount in the address is compared with the stored one; when it differs nothing is confirmed', async () => {
  const orderId = await shop.buy('PRO')
  const back = new URL(await shop.pay(orderId, 'approve'), 'http://shop.invalid')
  back.searchParams.set('amount', '1000')
  const { status, text, html } = await shop.get(back.pathname + back.search)
  assert.equal(status, 400)
  assert.ok(text.includes('The amount does not match'), text)
  assert.ok(html.includes(`href="/orders/${orderId}"`), html)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('a payment of another order is refused with that reason, and the order stays open', async () => {
  const [one, other] = [await shop.buy('BASIC'), await shop.buy('BASIC')]
  const back = await shop.pay(one, 'approve')
  await shop.get(back)
  const { text } = await shop.get(back.replace(one, other))
  assert.ok(text.includes('does not belong to the order'), text)
  assert.equal(await customer.status(other), 'PENDING')
})

test('an address without a payment, or of an order the shop does not know, confirms nothing', async () => {
  const orderId = await shop.buy('BASIC')
  assert.equal((await shop.get(`/success?orderId=${orderId}&amount=1000`)).status, 400)
  const foreign = (await customer.purchase('BASIC')).body.data.orderId
  assert.equal((await shop.get(`/success?paymentKey=key&orderId=${foreign}&amount=1000`)).status, 404)
  assert.equal((await shop.get('/orders/ord_unknown')).status, 404)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('forms from another origin, without a token, or for a package that does not exist buy nothing', async () => {
  const form = await shop.buyForm('BASIC')
  assert.equal((await shop.post('/buy', form, { origin: 'https://elsewhere.example' })).status, 403)
  assert.equal((await shop.post('/buy', form, { origin: 'null' })).status, 403)
  assert.equal((await shop.post('/buy', { packageType: 'BASIC', token: 'x' })).status, 400)
  assert.equal((await shop.post('/buy', { ...form, packageType: 'GOLD' })).status, 400)
})
