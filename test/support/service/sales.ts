// Customers who buy and spend at several services without a pause, for tests of what happens to a cluster meanwhile. A request
// that gets SVC001 is repeated until it is answered, so in the end every one was acknowledged, and the books have each once.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { queryEveryGroup } from '../../../harness/citus/every-group.ts'
import { type Cleaner, callerOf, databaseUrl, defer, newDirectory } from '../../../harness/processes.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { audit } from '../../../src/payments/audit/audit.ts'
import { openTestPool } from '../database/database.ts'
import type { ServerConnection } from '../database/places.ts'
import { startInProcess } from './in-process.ts'
import { secretKey, startTestSandbox, testPeppers, testSettings } from './service.ts'

export type Service = { publicUrl: string; internalUrl: string }
export type Sales = Awaited<ReturnType<typeof startSales>>

/** Connections to the coordinator. */
type Places = { owner: ServerConnection; serving: ServerConnection }

export async function startSales(t: Cleaner, { owner, serving }: Places, moreSettings: Record<string, string> = {}) {
  const sandbox = await startTestSandbox({ strict: false })
  defer(t, () => sandbox.close())
  const settings = {
    DATABASE_URL: databaseUrl(serving),
    MIGRATION_DATABASE_URL: databaseUrl(owner),
    KEY_PEPPER: testPeppers[0].secret,
    GATEWAY: 'toss',
    TOSS_API_URL: sandbox.url,
    TOSS_SECRET_KEY: secretKey,
    TOSS_CLIENT_KEY: testSettings.clientKey,
    ...moreSettings,
  }
  const startService = () => startInProcess(t, newDirectory(t), settings)
  const services: Service[] = [await startService(), await startService()]
  async function openBooks() {
    const pool = await openTestPool(owner, { isCluster: true })
    defer(t, () => pool.end())
    return { pool, database: createDatabase(pool, silentLog) }
  }
  const { database } = await openBooks()
  const token = (await issueToken(database, testPeppers, 'analyses')).token
  const buyers = await Promise.all(
    Array.from({ length: 12 }, () => issueKey(database, testPeppers, crypto.randomUUID())),
  )
  const codes: Record<string, number> = {}
  const rounds = buyers.map(() => 0)
  let isOpen = true

  async function succeed<Data>(
    send: () => Promise<{ status: number; body: { code: string; data: Data } }>,
  ): Promise<Data> {
    for (const end = performance.now() + 90_000; ; ) {
      const { body } = await send()
      codes[body.code] = (codes[body.code] ?? 0) + 1
      if (body.code === 'SUCCESS') return body.data
      assert.equal(body.code, 'SVC001', JSON.stringify(body))
      assert.ok(performance.now() < end, 'SVC001 without end')
      await sleep(50)
    }
  }

  async function spend({ internalUrl }: Service, body: object) {
    const response = await fetch(`${internalUrl}/internal/v1/credits/spend`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as { code: string; data: unknown } }
  }

  async function buyAndSpend(index: number): Promise<void> {
    const { customerId, apiKey } = buyers[index] ?? assert.fail('no buyer')
    for (let round = 1; isOpen; round += 1) {
      const service = () => services[round % services.length] ?? assert.fail('no service')
      const caller = () => callerOf(service().publicUrl, apiKey)
      const [key, reference] = [crypto.randomUUID(), crypto.randomUUID()]
      const { orderId, amount } = await succeed(() => caller().purchase('BASIC', key))
      await succeed(() => caller().confirm(orderId, amount))
      await succeed(() => spend(service(), { customerId, credits: 1, reference }))
      rounds[index] = round
      await sleep(5)
    }
  }

  const selling = Promise.all(buyers.map((_, index) => buyAndSpend(index)))
  selling.catch(() => undefined)
  defer(t, () => {
    isOpen = false
    return selling.catch(() => undefined)
  })

  async function countOf(pool: pg.Pool, table: string, where: string): Promise<number[]> {
    const rows = await queryEveryGroup<{ customerId: string; count: number }>(
      pool,
      `select customer_id as "customerId", count(*)::int as count from ${table} where ${where} group by 1`,
    )
    return buyers.map((buyer) => rows.find(({ customerId }) => customerId === buyer.customerId)?.count ?? 0)
  }

  return {
    settings,
    startService,
    /** Sells there too. */
    add: (service: Service) => void services.push(service),
    /** Every buyer has bought and spent again so often. */
    async wait(times: number): Promise<void> {
      const goals = rounds.map((each) => each + times)
      const end = performance.now() + 120_000
      while (rounds.some((each, index) => each < (goals[index] ?? 0))) {
        assert.ok(performance.now() < end, `sales stopped at ${rounds}`)
        await Promise.race([selling, sleep(25)])
      }
    },
    /** Ends the sales, compares them with the books, and returns the answers by code. */
    async stop(): Promise<Record<string, number>> {
      isOpen = false
      await selling
      // It knows where the groups are now.
      const books = await openBooks()
      assert.deepEqual(await countOf(books.pool, 'orders', 'true'), rounds)
      assert.deepEqual(await countOf(books.pool, 'orders', `status = 'CONFIRMED'`), rounds)
      assert.deepEqual(await countOf(books.pool, 'ledger_entries', `kind = 'SPEND'`), rounds)
      assert.deepEqual((await audit(books.database)).violations, [])
      return { rounds: rounds.reduce((sum, each) => sum + each, 0), ...codes }
    },
  }
}
