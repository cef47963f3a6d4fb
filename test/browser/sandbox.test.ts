// The sandbox's page in a real Chromium, in both languages, on a desktop and on a phone: a person sets a fault, watches the
// payment whose answer is lost, and cancels a part of it. test/sandbox/product/page.test.ts has every form. And the payment
// window, where a buyer pays with a wallet.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { barriersOn, overflowOf } from '../support/console/person.ts'
import { call, type Json, newOrderId, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser
const { start } = openSandboxes()
after(() => browser?.close())

const words = {
  en: {
    locale: 'en-US',
    lose: /Take the money, lose the answer/,
    captured: 'Captured',
    cancel: 'Cancel this amount',
    amount: 'Amount in won',
  },
  ko: {
    locale: 'ko-KR',
    lose: /결제 후 응답 유실/,
    captured: '결제 완료',
    cancel: '이 금액 취소하기',
    amount: '취소 금액(원)',
  },
}

for (const [language, { locale, lose, captured, cancel, amount }] of Object.entries(words)) {
  test(`a fault is set, seen and its payment cancelled in part (${language})`, { skip }, async () => {
    const { url } = await start({ name: language })
    const toss = shop(url)
    const context = await (browser as Browser).newContext({ locale, viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => problems.push(message.text()))

    await page.goto(url)
    await page.getByRole('button', { name: lose }).click()
    await page.locator('#faults-now .fault', { hasText: 'confirm · reset-after' }).waitFor()

    const checkout = await toss.checkout(20_000)
    await assert.rejects(toss.confirm(checkout, 'k-1'))
    // The page follows by itself.
    await page.locator('summary', { hasText: checkout.orderId }).filter({ hasText: captured }).click()
    await page.locator('.more .fault', { hasText: 'reset-after' }).waitFor()
    await page.locator('#any-fault summary').click()
    await page.locator('#behaviour-values summary').click()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      assert.deepEqual(await barriersOn(page), [], `${width} px`)
      assert.equal(await overflowOf(page), 0, `${width} px`)
    }

    await page.getByLabel(amount).fill('5000')
    await page.getByRole('button', { name: cancel }).click()
    await page.locator('summary', { hasText: '₩15,000' }).waitFor()
    assert.equal((await toss.lookup(checkout.paymentKey)).body.balanceAmount, 15_000)
    assert.deepEqual(problems, [])
    await context.close()
  })
}

async function openWindow(url: string, orderId: string): Promise<string> {
  const reply = await call(`${url}/checkout/sessions`, 'POST', {
    product: 'payment',
    clientKey: 'test_ck_sandboxtests',
    method: 'CARD',
    amount: { currency: 'KRW', value: 15_000 },
    orderId,
    orderName: 'Standard Plan - 21 Credits',
    successUrl: `${url}/receipt/none`,
    failUrl: `${url}/receipt/none`,
  })
  return String(reply.body.checkoutUrl)
}

async function confirmed(url: string, address: string): Promise<Json> {
  const { paymentKey, orderId, amount } = Object.fromEntries(new URL(address).searchParams)
  return (await shop(url).confirm({ paymentKey, orderId, amount })).body
}

for (const [language, locale] of [
  ['en', 'en-US'],
  ['ko', 'ko-KR'],
] as const) {
  test(`every way to pay can be chosen in the window, at any width and in the dark (${language})`, {
    skip,
  }, async () => {
    const { url } = await start({ name: `window-${language}` })
    const options = { locale, viewport: { width: 1040, height: 900 } }
    const context = await (browser as Browser).newContext(options)
    const page = await context.newPage()
    await page.goto(await openWindow(url, newOrderId()))
    for (const method of ['card', 'easy-card', 'easy-points', 'easy-money']) {
      await page.check(`input[name=method][value=${method}]`)
      const shown = [await page.isVisible('select[name=provider]'), await page.isVisible('input[name=card] >> nth=0')]
      assert.deepEqual(shown, [method !== 'card', method !== 'easy-money'], method)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const width of [1040, 360]) {
          await page.setViewportSize({ width, height: 900 })
          assert.deepEqual(await barriersOn(page), [], `${method} at ${width} px, ${colorScheme}`)
          assert.equal(await overflowOf(page), 0, `${method} at ${width} px`)
        }
      }
    }
    await context.close()
  })
}

test('a wallet with points is chosen by keyboard alone', { skip }, async () => {
  const { url } = await start({ name: 'keyboard' })
  const context = await (browser as Browser).newContext({ locale: 'en-US' })
  const page = await context.newPage()
  await page.goto(await openWindow(url, newOrderId()))
  await page.waitForFunction('document.activeElement?.name === "method"')
  for (const key of ['ArrowDown', 'ArrowDown', 'Tab', 'ArrowDown', 'Tab', 'Enter']) await page.keyboard.press(key)
  await page.waitForURL(/paymentKey=/)
  assert.partialDeepStrictEqual(await confirmed(url, page.url()), {
    method: '간편결제',
    card: { amount: 10_000 },
    easyPay: { provider: '네이버페이', amount: 0, discountAmount: 5_000 },
  })
  await context.close()
})

test("a wallet's money is paid with without scripts", { skip }, async () => {
  const { url } = await start({ name: 'no-scripts' })
  const context = await (browser as Browser).newContext({ locale: 'ko-KR', javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(await openWindow(url, newOrderId()))
  await page.check('input[value=easy-money]')
  await page.selectOption('select', '카카오페이')
  await page.click('.pay')
  await page.waitForURL(/paymentKey=/)
  assert.partialDeepStrictEqual(await confirmed(url, page.url()), {
    status: 'DONE',
    card: null,
    easyPay: { provider: '카카오페이', amount: 15_000 },
  })
  await context.close()
})
