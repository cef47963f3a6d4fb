// A gateway that fails during a purchase in a real Chromium: the buyer's last page shows the real outcome, and the credits
// are right. test/storefront/faults.test.ts covers all faults of the gateway.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { closeAll } from '../support/closing.ts'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { newBuyer, type Shop, startShop } from '../support/service/shop.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

let shop: Shop
before(async () => {
  // The worker would complete open operations within a second or two, before a slow page is loaded.
  shop = await startShop({ WORKER: 'off' })
})
after(() => closeAll(browser, shop))

test('a lost answer and a lookup that fails: the page shows no outcome, keeps polling, and the credits arrive once', {
  skip,
}, async () => {
  const buyer = await newBuyer(browser as Browser, shop)
  const before = await buyer.balance()
  await buyer.order('STANDARD')
  await shop.sandbox.setFaults([
    { on: 'confirm', kind: 'reset-after', times: 1 },
    { on: 'lookup', kind: 'error-before', times: 1 },
  ])
  await buyer.pay()
  await buyer.page.waitForSelector('#retry')
  assert.equal(await buyer.page.$('.panel.good, .panel.bad'), null, 'the page shows neither paid nor failed')
  await buyer.picture('unknown')
  assert.match(await buyer.outcome('good'), /21 credits/)
  await shop.sandbox.clearFaults()
  assert.equal(await buyer.balance(), before + 21)
  assert.equal((await shop.sandbox.payments()).at(-1)?.status, 'DONE')
  await buyer.close()
})

test('the card that hangs: the answer never arrives, the money has moved, and the page shows the payment in the end', {
  skip,
}, async () => {
  const buyer = await newBuyer(browser as Browser, shop)
  const before = await buyer.balance()
  await buyer.buy('BASIC', 'hang')
  await buyer.outcome('good')
  assert.equal(await buyer.balance(), before + 1)
  await buyer.close()
})

test('a lost answer to a cancel: the page shows no outcome, and another try deducts the credits once', {
  skip,
}, async () => {
  const buyer = await newBuyer(browser as Browser, shop)
  const before = await buyer.balance()
  await buyer.buy('STANDARD')
  await buyer.outcome('good')
  await buyer.page.goto(`${shop.url}/orders`)
  await buyer.page.click('.orders a >> nth=0')
  await shop.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
  await buyer.cancel('changed my mind')
  await buyer.page.waitForSelector('.problem[role=status]')
  await buyer.picture('cancel-unknown')
  await buyer.page.click('.grave')
  await buyer.page.waitForLoadState()
  await shop.sandbox.clearFaults()
  assert.equal(await buyer.balance(), before)
  const { status, cancels } = (await shop.sandbox.payments()).at(-1) ?? {}
  assert.deepEqual([status, cancels?.length], ['CANCELED', 1])
  await buyer.close()
})
