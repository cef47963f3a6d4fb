// The pictures of the documents, taken from real pages: the shop, the sandbox's checkout page, and the console with an order
// whose answer the gateway lost. `npm run pictures` stores them; without it each page is compared with the text that is
// stored beside its picture, so that an outdated picture fails the test.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { repository } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { newPerson, settled } from '../support/console/person.ts'
import { isTaking, keepPicture, mostPictureBytes, pictureDirectory } from '../support/console/pictures.ts'
import { type ConsoleWorld, startConsoleWorld } from '../support/console/world.ts'
import { codeOf } from '../support/service/clients.ts'

const browser = (await launchBrowser()) as Browser
const skip = browser ? false : noBrowser
after(() => browser?.close())
const world = (browser && (await startConsoleWorld({ after }))) as ConsoleWorld
const filled = browser && (await fill())

/** A day at a small platform: purchases, spends, a declined card, a cancel, and one confirm whose answer was lost. */
async function fill() {
  // No notifications: they arrive at random times, and the counts of the first page have to be the same in each run.
  await world.sandbox.setFaults([{ on: 'webhook', kind: 'drop', times: 999 }])
  const customers = await Promise.all(['Harbor Labs', 'Blue Kite', 'Summit Data'].map(world.newCustomer))
  for (const { client, customerId } of customers) {
    await client.buy('PRO')
    await client.buy('STANDARD')
    await world.spending.spend(customerId, 40)
  }
  const [first] = customers
  assert.ok(first)
  await first.client.cancel(await first.client.buy('STANDARD'))
  const declined = await first.client.purchaseCredits({ packageType: 'BASIC' })
  await codeOf(first.client.confirmPayment({ ...declined, paymentKey: `decline_${declined.orderId}` }))

  const orderId = await orderWithLostAnswerSettled()
  return { orderId, token: (await world.operator('admin')).token }
}

/**
 * The gateway captures the payment and its answer is lost. It notifies us later, and an operator settles the order. The
 * pauses are for the picture: times that differ.
 */
async function orderWithLostAnswerSettled(): Promise<string> {
  const { sandbox, database } = world
  const { client } = await world.newCustomer('Acme Research')
  const { orderId, amount } = await client.purchaseCredits({ packageType: 'PRO' })
  await sandbox.setFaults([
    { on: 'confirm', kind: 'reset-after', times: 9 },
    { on: 'lookup', kind: 'reset-before', times: 9 },
    { on: 'webhook', kind: 'drop', times: 9 },
  ])
  await pause(9_000)
  assert.equal(await codeOf(client.confirm(orderId, amount)), 'SVC001')
  await sandbox.clearFaults()
  await pause(14_000)
  await fetch(`${world.sandboxUrl}/sandbox/webhooks/resend`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ paymentKey: `pay_${orderId}` }),
  })
  const stored = 'select from webhook_notifications where order_id = $1'
  await until('the notification is stored', async () => (await database.query(stored, [orderId])).length > 0)
  await pause(21_000)
  const support = await world.operator('support')
  await support.get('settleOrder', { params: { orderId }, body: { reason: 'The customer called: paid, no credits' } })
  return orderId
}

async function pause(milliseconds: number): Promise<void> {
  if (isTaking) await sleep(milliseconds)
}

type Picture = { name: string; path: () => string; locale?: 'en-US' | 'ko-KR'; width: number; height?: number }

const orderPath = () => `/orders/${filled.orderId}`

/** Without a height the picture shows the whole page. */
const pictures: Picture[] = [
  { name: 'order', path: orderPath, width: 1160 },
  { name: 'order-korean', path: orderPath, locale: 'ko-KR', width: 1160 },
  { name: 'order-phone', path: orderPath, width: 390, height: 844 },
  { name: 'home', path: () => '/', width: 1160, height: 560 },
]

for (const { name, path, locale = 'en-US', width, height } of pictures) {
  test(`docs/pictures/${name}.png shows the current console`, { skip }, async () => {
    const { page, ...admin } = await newPerson(browser, world, { token: filled.token, locale })
    await page.setViewportSize({ width, height: height ?? 600 })
    await admin.open(path())
    await settled(page)
    if (!height) {
      const whole = await page.evaluate<number>('document.documentElement.scrollHeight')
      await page.setViewportSize({ width, height: whole })
    }
    await keepPicture(page, name)
    await admin.leave()
  })
}

test('docs/pictures/shop.png and checkout.png show the current shop and payment page', { skip }, async () => {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1040, height: 560 } })
  const page: Page = await context.newPage()
  await page.goto(world.storefrontUrl ?? '')
  await keepPicture(page, 'shop')
  await page.click('form:has([value=STANDARD]) button')
  await page.waitForURL(/\/checkout\//)
  await page.waitForSelector('.pay')
  await keepPicture(page, 'checkout')
  await context.close()
})

test('every picture is small, has its text, and is used by a document', () => {
  const files = readdirSync(pictureDirectory)
  const names = files.filter((file) => file.endsWith('.png')).map((file) => file.slice(0, -'.png'.length))
  assert.deepEqual(files.sort(), names.flatMap((name) => [`${name}.png`, `${name}.txt`]).sort())
  const documents = [
    'README.md',
    'README.ko.md',
    ...readdirSync(join(repository, 'docs')).map((file) => `docs/${file}`),
  ]
  const shown = documents
    .filter((file) => file.endsWith('.md'))
    .map((file) => readFileSync(join(repository, file), 'utf8'))
  for (const name of names) {
    const { size } = statSync(join(pictureDirectory, `${name}.png`))
    assert.ok(size < mostPictureBytes, `${name}.png has ${size} bytes`)
    assert.ok(
      shown.some((text) => text.includes(`pictures/${name}.png`)),
      `no document shows ${name}.png`,
    )
  }
})
