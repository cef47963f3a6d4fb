// A purchase in a real Chromium, by clicks alone: the shop, the gateway's official loader, the checkout page, and back.
// test/browser/shop-pages.test.ts has what a buyer reads on the way, also of a refused card and a cancelled order.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { packages } from '../../src/payments/packages.ts'
import { closeAll } from '../support/closing.ts'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { newBuyer, type Shop, startShop } from '../support/service/shop.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => closeAll(browser, shop))

const buyerWith = (options = {}) => newBuyer(browser as Browser, shop, options)

/** The gateway's payments of the newest order. */
async function newestPayments() {
  const payments = await shop.sandbox.payments()
  const newest = payments.at(-1)?.orderId
  return payments
    .filter(({ orderId }) => orderId === newest)
    .map(({ status, balanceAmount }) => [status, balanceAmount])
}

for (const { packageType, credits, price } of packages) {
  test(`${packageType} is bought with a card, and its credits arrive`, { skip }, async () => {
    const buyer = await buyerWith()
    const before = await buyer.balance()
    await buyer.picture(`shop-${packageType}`)
    await buyer.order(packageType)
    assert.match(await buyer.page.innerText('body'), new RegExp(`₩${price.toLocaleString('en-US')}`))
    await buyer.picture(`checkout-${packageType}`)
    await buyer.pay()
    assert.match(await buyer.outcome('good'), new RegExp(`${credits} credit`))
    await buyer.picture(`success-${packageType}`)
    assert.equal(await buyer.balance(), before + credits)
    assert.deepEqual(await newestPayments(), [['DONE', price]])
    await buyer.close()
  })
}

/** Each buys 20,000 won; a third of it in points where the buyer chooses them. */
for (const [method, provider, inEnglish, inKorean] of [
  ['card', '토스페이', 'Card', '카드'],
  ['easy-card', '네이버페이', 'Naver Pay, ₩20,000 by card', '네이버페이, 카드 ₩20,000'],
  ['easy-points', '토스페이', 'Toss Pay, ₩13,400 by card, ₩6,600 points', '토스페이, 카드 ₩13,400, 포인트 ₩6,600'],
  ['easy-money', '카카오페이', 'Kakao Pay, ₩20,000 from its balance', '카카오페이, 잔액 ₩20,000'],
] as const) {
  test(`an order that is paid with ${method} says so in both languages on a phone, and is cancelled`, {
    skip,
  }, async () => {
    const buyer = await buyerWith({ viewport: { width: 360, height: 740 } })
    const { page } = buyer
    await buyer.order('STANDARD')
    await page.check(`input[name=method][value=${method}]`)
    if (method !== 'card') await page.selectOption('select[name=provider]', provider)
    await page.click('.pay')
    await buyer.outcome('good')
    assert.ok((await page.innerText('main')).includes(inEnglish), await page.innerText('main'))
    await buyer.picture(`success-${method}`)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await page.goto(`${shop.url}/orders/${(await shop.sandbox.payments()).at(-1)?.orderId}?lang=ko`)
    assert.ok((await page.innerText('main')).includes(inKorean), await page.innerText('main'))
    await page.goto(`${page.url().split('?')[0]}?lang=en`)
    await buyer.cancel('changed my mind')
    assert.deepEqual(await newestPayments(), [['CANCELED', 0]])
    await buyer.close()
  })
}

test('a card that is refused in the payment window leads to the fail page', { skip }, async () => {
  const buyer = await buyerWith()
  await buyer.buy('BASIC', 'refused')
  await buyer.page.waitForURL(/\/fail\?.*code=REJECT_CARD_COMPANY/)
  await buyer.picture('fail-refused')
  assert.equal((await newestPayments())[0]?.[0], 'READY')
  await buyer.close()
})

test('closing the payment window leads to the fail page, and the order can be paid later', { skip }, async () => {
  const buyer = await buyerWith()
  await buyer.order('BASIC')
  await buyer.page.click('.cancel')
  await buyer.page.waitForURL(/\/fail\?.*code=PAY_PROCESS_CANCELED/)
  await buyer.picture('fail-closed')
  assert.match(buyer.page.url(), /orderId=ord_/, 'the address has the order although the gateway leaves it out')
  await buyer.close()
})

test('going back to the payment window and paying again charges once', { skip }, async () => {
  const buyer = await buyerWith()
  const before = await buyer.balance()
  await buyer.order('BASIC')
  const checkout = buyer.page.url()
  await buyer.pay()
  await buyer.outcome('good')

  // Back through the history, to a window that may still show its form.
  while (buyer.page.url() !== checkout) await buyer.page.goBack()
  const pay = await buyer.page.$('.pay')
  await (pay ?? buyer.page.locator('main a')).click()
  assert.match(await buyer.outcome('good'), /1 credit/)
  // And by its address: the page shows that the order is paid and links to the result.
  await buyer.page.goto(checkout)
  assert.equal(await buyer.page.$('.pay'), null)
  await buyer.page.click('main a')
  await buyer.outcome('good')

  assert.equal(await buyer.balance(), before + 1)
  assert.deepEqual(await newestPayments(), [['DONE', 1000]])
  await buyer.close()
})

test('reloading the success page adds nothing', { skip }, async () => {
  const buyer = await buyerWith()
  const before = await buyer.balance()
  await buyer.buy('STANDARD')
  await buyer.outcome('good')
  const address = buyer.page.url()
  for (const _ of [1, 2, 3]) {
    await buyer.page.goto(address)
    await buyer.outcome('good')
  }
  assert.equal(await buyer.balance(), before + 21)
  await buyer.close()
})

test('a purchase works in Korean, on a phone, in dark mode, by keyboard alone', { skip }, async () => {
  const phone = { locale: 'ko-KR', viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true } as const
  const buyer = await buyerWith(phone)
  const { page } = buyer
  const before = await buyer.balance()
  assert.equal(await page.getAttribute('html', 'lang'), 'ko')
  await buyer.picture('phone-shop')
  await page.focus('form:has([value=BASIC]) button')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/checkout\//)
  assert.equal(await page.getAttribute('html', 'lang'), 'ko')
  await buyer.picture('phone-checkout')
  const overflow = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
  assert.equal(overflow, false, 'the page does not scroll horizontally')
  await page.focus('input[name=card]:checked')
  await page.keyboard.press('Enter')
  await buyer.outcome('good')
  await buyer.picture('phone-success')
  assert.equal(await buyer.balance(), before + 1)
  await buyer.close()
})
