// The sandbox's page in a real Chromium, in both languages, on a desktop and on a phone: a person sets a fault, watches the
// payment whose answer is lost, and cancels a part of it. test/sandbox/product/page.test.ts has every form.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { barriersOn, overflowOf } from '../support/console/person.ts'
import { openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

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
