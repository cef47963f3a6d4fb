// Several services on one database and one gateway, each with a pool of its own, as separate processes would be. Counts
// the deadlocks that the services retry, which are not visible in their answers.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { until } from '../../../harness/until.ts'
import type { PackageType } from '../../../src/payments/packages.ts'
import { assertGatewayAgrees, assertInvariants, assertSums } from '../audit/invariants.ts'
import { createTestDatabase, openTestPool } from '../database/database.ts'
import { type Answer, sandboxControl, startTestSandbox, startTestService, type TestServiceOptions } from './service.ts'

export type Cluster = Awaited<ReturnType<typeof startCluster>>
export type ClusterCustomer = Awaited<ReturnType<Cluster['newCustomer']>>
export type PaidOrder = { orderId: string; paymentKey: string; amount: number; credits: number }

export async function startCluster(size: number, options: Omit<TestServiceOptions, 'beside'> = {}) {
  await using opening = new AsyncDisposableStack()
  const database = await createTestDatabase()
  opening.defer(() => database.drop())
  // Once at the end, over the books of all tests: a violation stays in them.
  opening.defer(() => assertInvariants(database))
  const sandbox = await startTestSandbox()
  opening.defer(() => sandbox.close())
  // After the pools of the services have closed: a backend reports its counts when it ends, if not before.
  opening.defer(assertNoDeadlocks)
  let deadlocks = 0

  async function openPool(): Promise<pg.Pool> {
    const pool = await openTestPool(database.connection, { plans: 'once' })
    const query = pool.query.bind(pool) as (...values: unknown[]) => Promise<unknown>
    async function watched(...values: unknown[]): Promise<unknown> {
      try {
        return await query(...values)
      } catch (error) {
        if ((error as { code?: string }).code === '40P01') deadlocks += 1
        throw error
      }
    }
    return Object.assign(pool, { query: watched })
  }

  async function openService() {
    const pool = await openPool()
    opening.defer(() => pool.end())
    const beside = { database: { ...database, pool }, sandboxUrl: sandbox.url }
    const service = await startTestService({ ...options, beside })
    opening.defer(() => service.close())
    return service
  }

  const services = await Promise.all(Array.from({ length: size }, openService))
  const serviceAt = (index: number) => services[index % size] ?? assert.fail('a cluster without services')

  async function newCustomer() {
    const customer = await serviceAt(0).newCustomer()
    const { apiKey: key, customerId } = customer
    return {
      customerId,
      paidOrder: customer.paidOrder,
      confirmedOrder: customer.confirmedOrder,
      credits: customer.credits,
      status: customer.status,
      /** The customer's requests to one of the services, by index. */
      at(index: number) {
        const { call, payments } = serviceAt(index)
        const as = <Data = Record<string, unknown>>(path: string, body?: object, headers = {}) =>
          call<Data>(`/public/v1/payments${path}`, { key, body, headers })
        return {
          purchase: (packageType: PackageType, idempotencyKey: string) =>
            as<{ orderId: string }>('/purchase', { packageType }, { 'x-idempotency-key': idempotencyKey }),
          confirm: ({ orderId, paymentKey, amount }: Omit<PaidOrder, 'credits'>) =>
            as<{ creditsAdded: number; totalCredits: number }>('/confirm', { orderId, paymentKey, amount }),
          cancel: ({ paymentKey }: Pick<PaidOrder, 'paymentKey'>) =>
            as('/cancel', { paymentKey, reason: 'changed my mind' }),
          spend: (credits: number, reference: string = crypto.randomUUID()) =>
            payments.credits.spend({ customerId, credits, reference, serviceId: 'svc_test' }),
        }
      },
      /** The movements of the balance, oldest first. */
      async movements(): Promise<string[]> {
        const rows = await database.query<{ movement: string }>(
          `select kind || ' ' || delta as movement from ledger_entries where customer_id = $1 and delta <> 0
          order by entry_number`,
          [customerId],
        )
        return rows.map((row) => row.movement)
      },
    }
  }

  const opened = opening.move()
  return {
    database,
    sandbox: sandboxControl(sandbox.url),
    newCustomer,
    contexts: services.map((service) => service.payments),
    /** The number of calls of a gateway verb by all services. */
    calls: (verb: 'confirm' | 'cancel') => services.reduce((sum, { calls }) => sum + calls[verb], 0),
    /** Balances, orders and gateway agree, no operation is open, and there was no deadlock. */
    async check() {
      await assertSums(database)
      await assertGatewayAgrees(database, await sandboxControl(sandbox.url).payments())
      const open = await database.query(`select order_id, kind from payment_operations where state = 'OPEN'`)
      const found = { open, deadlocks }
      deadlocks = 0
      assert.deepEqual(found, { open: [], deadlocks: 0 })
    },
    close: () => opened.disposeAsync(),
  }

  /** By the count of the server. */
  async function assertNoDeadlocks(): Promise<void> {
    await until('the connections of the services are gone', async () => {
      // Without the sessions of Citus.
      const text = `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and application_name not like 'citus%'`
      return (await database.query(text)).length <= database.pool.totalCount + database.ownerPool.totalCount
    })
    const [row] = await database.query('select deadlocks from pg_stat_database where datname = current_database()')
    assert.deepEqual(row, { deadlocks: 0 })
  }
}

/** Retries, as a caller does, while the answer is SVC001. */
export async function definite<Data>(request: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  const end = performance.now() + 60_000
  for (;;) {
    const answer = await request()
    if (answer.body.code !== 'SVC001') return answer
    assert.ok(performance.now() < end, 'SVC001 without end')
    await sleep(50)
  }
}

/** The number of answers by code. */
export function countCodes(answers: Answer<unknown>[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { body } of answers) counts[body.code] = (counts[body.code] ?? 0) + 1
  return counts
}
