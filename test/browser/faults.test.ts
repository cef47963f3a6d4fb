// Each way in which the gateway can fail, once during a purchase in a real Chromium: the buyer ends at a page that tells
// the truth, and the credits are right after at most one more try.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { closeAll } from '../support/closing.ts'
import { launchBrowser } from '../support/console/browser.ts'
import { newBuyer, type Shop, startShop } from '../support/service/shop.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : 'no Chromium on this machine, and none could be installed'

let shop: Shop
before(async () => {
  // What is open is settled in the background within a second or two, and a slow page would find it settled.
  shop = await startShop({ WORKER: 'off' })
})
after(() => closeAll(browser, shop))

const kinds = ['error-before', 'error-after', 'reset-before', 'reset-after', 'hang-after', 'delay'] as const

for (const kind of kinds) {
  test(`${kind} on the confirm: the page does not guess, asks again, and the credits arrive once`, {
    skip,
  }, async () => {
    const buyer = await newBuyer(browser as Browser, shop)
    const before = await buyer.balance()
    await buyer.order('STANDARD')
    await shop.sandbox.setFaults([{ on: 'confirm', kind, times: 1, ...(kind === 'delay' && { delayMs: 700 }) }])
    await buyer.pay()
    if (kind !== 'delay') {
      await buyer.page.waitForSelector('#retry')
      assert.equal(await buyer.page.$('.panel.good, .panel.bad'), null, 'neither paid nor failed is claimed')
      await buyer.picture(`unknown-${kind}`)
    }
    assert.match(await buyer.outcome('good'), /21 credits/)
    await shop.sandbox.clearFaults()
    assert.equal(await buyer.balance(), before + 21)
    const payments = await shop.sandbox.payments()
    assert.equal(payments.at(-1)?.status, 'DONE')
    await buyer.close()
  })
}

for (const kind of kinds) {
  test(`${kind} on the lookup after a lost answer: the page goes on asking, and the credits arrive once`, {
    skip,
  }, async () => {
    const buyer = await newBuyer(browser as Browser, shop)
    const before = await buyer.balance()
    await buyer.order('BASIC')
    await shop.sandbox.setFaults([
      { on: 'confirm', kind: 'reset-after', times: 1 },
      { on: 'lookup', kind, times: 1, ...(kind === 'delay' && { delayMs: 300 }) },
    ])
    await buyer.pay()
    await buyer.page.waitForSelector('#retry')
    await buyer.outcome('good')
    await shop.sandbox.clearFaults()
    assert.equal(await buyer.balance(), before + 1)
    await buyer.close()
  })
}

test('the card that hangs: the answer never comes, the money has moved, and the page finds out', { skip }, async () => {
  const buyer = await newBuyer(browser as Browser, shop)
  const before = await buyer.balance()
  await buyer.buy('BASIC', 'hang')
  await buyer.outcome('good')
  assert.equal(await buyer.balance(), before + 1)
  await buyer.close()
})

for (const kind of kinds) {
  test(`${kind} on a cancel: the page does not guess, and one more try takes the credits back once`, {
    skip,
  }, async () => {
    const buyer = await newBuyer(browser as Browser, shop)
    const before = await buyer.balance()
    await buyer.buy('STANDARD')
    await buyer.outcome('good')
    await buyer.page.goto(`${shop.url}/orders`)
    await buyer.page.click('.orders a >> nth=0')
    await shop.sandbox.setFaults([{ on: 'cancel', kind, times: 1, ...(kind === 'delay' && { delayMs: 700 }) }])
    await buyer.page.fill('#reason', 'changed my mind')
    await buyer.page.click('.cancel button')
    await buyer.page.waitForLoadState()
    if (kind !== 'delay') {
      await buyer.page.waitForSelector('.problem[role=status]')
      await buyer.picture(`cancel-unknown-${kind}`)
      await buyer.page.fill('#reason', 'changed my mind')
      await buyer.page.click('.cancel button')
      await buyer.page.waitForLoadState()
    }
    await shop.sandbox.clearFaults()
    assert.equal(await buyer.balance(), before)
    const payments = await shop.sandbox.payments()
    assert.deepEqual([payments.at(-1)?.status, payments.at(-1)?.cancels?.length], ['CANCELED', 1])
    await buyer.close()
  })
}
