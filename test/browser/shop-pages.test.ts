// Every page of the shop and the payment window in a real Chromium, as a buyer reaches them by clicks, in both languages, on a
// phone and on a desk: what they say about the money, without barriers and without scrolling sideways.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { dayOf } from '../../examples/storefront/pages/layout.ts'
import { type Language, texts } from '../../examples/storefront/texts/texts.ts'
import { closeAll } from '../support/closing.ts'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { barriersOn, overflowOf } from '../support/console/person.ts'
import { newBuyer, type Shop, startShop } from '../support/service/shop.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

let shop: Shop
before(async () => {
  // Without the worker an unknown outcome stays unknown until the page checks again.
  shop = await startShop({ WORKER: 'off', SHOP_NAME: seller })
})
after(() => closeAll(browser, shop))

const seller = 'Acme Credits'
const widths = [1280, 390]
/** Today, as a buyer in Korea reads it. */
const dayIn = (language: Language) => dayOf(language, new Date().toISOString())

/** The locale of the browser is the other one: the language is chosen in the shop, and carried into the window. */
async function openStory(language: Language) {
  const locale = language === 'ko' ? 'en-US' : 'ko-KR'
  const buyer = await newBuyer(browser as Browser, shop, { locale, reducedMotion: 'reduce' })
  const { page } = buyer
  await page.goto(`${shop.url}/?lang=${language}`)
  return {
    ...buyer,
    text: texts[language],
    /** The page as it is now, in both widths. */
    async look(name: string): Promise<void> {
      assert.equal(await page.getAttribute('html', 'lang'), language, name)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        assert.equal(await overflowOf(page), 0, `${name} is wider than ${width}`)
        assert.deepEqual(await barriersOn(page), [], `${name} at ${width}`)
        await buyer.picture(`${name}-${language}-${width}`)
      }
    },
    async sees(...sentences: string[]): Promise<void> {
      const shown = await page.innerText('main')
      for (const sentence of sentences) assert.ok(shown.includes(sentence), `${sentence} in ${shown}`)
    },
  }
}

for (const language of ['ko', 'en'] as const) {
  test(`buying, a hanging gateway, cancelling with a second question, and the statement (${language})`, {
    skip,
  }, async () => {
    const buyer = await openStory(language)
    const { page, text, look, sees } = buyer
    const before = await buyer.balance()
    await look('packages')
    await buyer.order('STANDARD')
    await sees(seller)
    await look('window')
    await buyer.pay()
    await buyer.outcome('good')
    await sees(text.added(21), text.balanceChange(before, before + 21), text.openReceipt)
    await look('success')

    // The buyer cancels: Enter in the reason only leads to the question.
    await page.goto(`${shop.url}/orders`)
    await page.click('.orders a >> nth=0')
    await sees(text.creditsOfOrder, text.paidAt, text.openReceipt)
    await page.click('.fold summary')
    await page.fill('#reason', 'changed my mind')
    await look('order')
    await page.press('#reason', 'Enter')
    await page.waitForSelector('.grave')
    await sees(text.cancel.back('₩20,000'), text.cancel.taken(21), 'changed my mind')
    await look('question')
    await page.click('.grave')
    await page.waitForURL(/\/orders\/ord_\w+$/)
    await sees(text.outcome.cancelled.heading, text.refunds.cancelled(dayIn(language), '₩20,000'), text.refunds.shown)
    await look('cancelled')
    assert.equal(await buyer.balance(), before)
    assert.equal((await shop.sandbox.payments()).at(-1)?.status, 'CANCELED')

    // The gateway hangs: the page comes at once, and finds the outcome by itself.
    await buyer.order('PRO')
    await shop.sandbox.setFaults([{ on: 'confirm', kind: 'hang-after', times: 1 }])
    await buyer.pay()
    await page.waitForSelector('.spinner')
    await sees(text.outcome.unknown.heading)
    assert.match(await page.innerText('.balance'), /\d/)
    await buyer.outcome('good')
    await shop.sandbox.clearFaults()

    // The platform has used some of the credits: this order cannot be cancelled any more, in words of the page's language.
    await shop.spend(before + 100)
    await page.goto(`${shop.url}/orders`)
    await look('orders')
    await page.click('.orders a >> nth=0')
    await sees(text.cancel.refusals['credits-spent'])
    assert.equal(await page.$('#reason'), null)
    await look('spent')
    await page.goto(`${shop.url}/orders`)
    await page.click(`.tabs >> text=${text.statement.title}`)
    await sees(text.statement.usedOfBought, `−${before + 100}`, '+110')
    await look('statement')
    await buyer.close()
  })

  test(`a card that is refused, a closed window, orders that expire, and more orders than a page (${language})`, {
    skip,
  }, async () => {
    const buyer = await openStory(language)
    const { page, text, look, sees } = buyer
    const before = await buyer.balance()
    for (const [card, reason] of [
      ['decline', 'card-declined'],
      ['insufficient', 'insufficient-funds'],
    ] as const) {
      await buyer.buy('BASIC', card)
      await buyer.outcome('bad')
      await sees(text.failures[reason])
      await look(`refused-${card}`)
    }
    // The button starts the same purchase again.
    await page.click('.actions button')
    await page.waitForURL(/\/checkout\//)
    await page.click('.cancel')
    await page.waitForURL(/\/fail\?/)
    await look('closed')
    assert.deepEqual((await shop.sandbox.payments()).map(({ status }) => status).slice(-3), [
      'ABORTED',
      'ABORTED',
      'READY',
    ])

    for (let made = 0; made < 21; made += 1) await page.request.post(`${shop.url}/buy`, { form: newClick() })
    await page.goto(`${shop.url}/orders`)
    await page.click('.unpaid summary')
    await look('unpaid')
    await page.click(`.unpaid >> text=${text.history.more}`)
    await page.waitForURL(/list=unpaid/)
    await look('unpaid-more')
    await shop.expireUnpaid()
    await page.click('.orders a >> nth=0')
    await sees(text.outcome.expired.heading, text.failures['order-expired'])
    assert.equal(await page.$('.panel.bad'), null)
    await look('expired')
    await page.goto(`${shop.url}/nowhere`)
    await look('not-found')
    assert.equal(await buyer.balance(), before)
    await buyer.close()
  })
}

const newClick = () => ({ packageType: 'BASIC', token: crypto.randomUUID() })
