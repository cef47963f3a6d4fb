// The whole service with its shop, and a buyer with a real browser who knows only what the page shows.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createCreditsClient, createSpendingClient } from '../../../client/src/index.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { readConfig } from '../../../src/config.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { readPepper } from '../../../src/dev/secrets.ts'
import { startDevelopment } from '../../../src/dev/start.ts'
import { expireOrders } from '../../../src/payments/recovery/expire.ts'
import { assertInvariants } from '../audit/invariants.ts'
import { takePicture } from '../console/browser.ts'
import { createTestDatabase } from '../database/database.ts'
import { sandboxControl } from './service.ts'

/** Short limits, so that a hanging gateway is detected within a test. */
const settings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  WEBHOOK_PORT: '0',
  SANDBOX_PORT: '0',
  STOREFRONT_PORT: '0',
  SANDBOX_STRICT: '1',
  LOG_LEVEL: 'silent',
  GATEWAY_TIMEOUT_MS: '1500',
  GATEWAY_LOOKUP_TIMEOUT_MS: '500',
  OPERATION_LEASE_MS: '2500',
  OPERATION_WAIT_MS: '1000',
}

export async function startShop(more: Record<string, string> = {}) {
  await using opening = new AsyncDisposableStack()
  const database = await createTestDatabase()
  opening.defer(() => database.drop())
  opening.defer(() => assertInvariants(database))
  const { user, password, host, database: name } = database.connection
  const query = new URLSearchParams({ host, user, password })
  const dataDir = mkdtempSync(join(tmpdir(), 'prepaid-credits-shop-'))
  opening.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const environment = { ...settings, ...more, DATA_DIR: dataDir, DATABASE_URL: `postgres:///${name}?${query}` }
  const service = await startDevelopment(readConfig(environment), pino({ level: 'silent' }))
  opening.defer(() => service.close())
  const sandbox = sandboxControl(service.sandboxUrl ?? '')
  const opened = opening.move()
  return {
    url: service.storefrontUrl ?? '',
    internalUrl: service.internalUrl,
    database,
    sandbox,
    /** A service of the platform spends credits of the shop's customer. */
    async spend(credits: number): Promise<void> {
      const secret = (name: string) => readFileSync(join(dataDir, 'storefront', name), 'utf8')
      const buyer = createCreditsClient({ baseUrl: service.publicUrl, apiKey: secret('api-key') })
      const { customerId } = await buyer.getCreditBalance()
      const peppers = readPepper(dataDir) ?? assert.fail('no secret')
      const { token } = await issueToken(createDatabase(database.pool, silentLog), peppers, 'analyses')
      const spending = createSpendingClient({ baseUrl: service.internalUrl, token })
      await spending.spendCredits({ customerId, credits, reference: crypto.randomUUID() })
    },
    /** Every order that is not paid by now. */
    expireUnpaid: () => expireOrders(createDatabase(database.pool, silentLog), 0),
    close: () => opened.disposeAsync(),
  }
}

export type Shop = Awaited<ReturnType<typeof startShop>>
export type Card = 'approve' | 'decline' | 'insufficient' | 'limit' | 'expired-card' | 'hang' | 'refused'

export async function newBuyer(browser: Browser, shop: Shop, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1100, height: 800 }, ...options })
  const page: Page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))

  const buyer = {
    page,
    picture: (name: string) => takePicture(page, name, { fullPage: true }),
    /** To the payment window of a new order. */
    async order(packageType: string): Promise<void> {
      await page.goto(shop.url)
      await page.click(`form:has([value=${packageType}]) button`)
      await page.waitForURL(/\/checkout\//)
    },
    async pay(card: Card = 'approve'): Promise<void> {
      await page.check(`input[name=card][value=${card}]`)
      await page.click('.pay')
    },
    async buy(packageType: string, card: Card = 'approve'): Promise<void> {
      await buyer.order(packageType)
      await buyer.pay(card)
    },
    /** Cancels the order of the page: opens the form, gives a reason and confirms the question. */
    async cancel(reason: string): Promise<void> {
      await page.click('.fold summary')
      await page.fill('#reason', reason)
      await page.click('.cancel button')
      await page.click('.grave')
      await page.waitForURL(/\/orders\/ord_\w+$/)
    },
    heading: () => page.innerText('main h1'),
    async outcome(tone: 'good' | 'bad'): Promise<string> {
      await page.waitForSelector(`.panel.${tone}`)
      return page.innerText(`.panel.${tone}`)
    },
    /** As the page shows it. */
    async balance(): Promise<number> {
      await page.goto(shop.url)
      return Number(/\d+/.exec((await page.innerText('.balance')).replaceAll(',', ''))?.[0])
    },
    async close(): Promise<void> {
      await context.close()
      assert.deepEqual(problems, [], 'errors of scripts on the pages')
    },
  }
  return buyer
}
