// The audit during traffic: customers buy, spend, hold, cancel and are refunded over two services while the books are audited
// again and again, in chunks of two sizes. No rule is broken at any moment, whatever is running.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { asOperator } from '../../harness/as-operator.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { expireHolds } from '../../src/credits/holds/expire-holds.ts'
import { createDatabase } from '../../src/db/database.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { cancel } from '../../src/payments/cancel.ts'
import { confirm } from '../../src/payments/confirm.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { packageOf } from '../../src/payments/packages.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { bookkeeper, endHold, hold, newCustomer, order, spend } from '../support/database/books.ts'
import { createTestDatabase, openTestPool, type TestDatabase } from '../support/database/database.ts'

const trafficMs = 5_000
const customers = 3
const buyersPerCustomer = 3
const reason = 'changed my mind'
const amount = packageOf('STANDARD').price

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})

after(() => database.drop())

/** The next steps of a buyer after an order; a refused buyer continues with the next order. */
const scenarios: ((context: PaymentContext, customerId: string, orderId: string) => Promise<unknown>)[] = [
  (context, customerId, orderId) => confirm(context, customerId, { orderId, paymentKey: `paid_${orderId}`, amount }),
  (context, customerId, orderId) => confirm(context, customerId, { orderId, paymentKey: `refused_${orderId}`, amount }),
  (context, customerId, orderId) => confirm(context, customerId, { orderId, paymentKey: `silent_${orderId}`, amount }),
  async (context, customerId, orderId) => {
    await confirm(context, customerId, { orderId, paymentKey: `paid_${orderId}`, amount })
    await cancel(context, customerId, { paymentKey: `paid_${orderId}`, reason })
  },
  async (context, customerId, orderId) => {
    await confirm(context, customerId, { orderId, paymentKey: `kept_${orderId}`, amount })
    await cancel(context, customerId, { paymentKey: `kept_${orderId}`, reason })
  },
  async (context, customerId, orderId) => {
    await confirm(context, customerId, { orderId, paymentKey: `stuck_${orderId}`, amount })
    await cancel(context, customerId, { paymentKey: `stuck_${orderId}`, reason })
  },
  async (context, customerId, orderId) => {
    await confirm(context, customerId, { orderId, paymentKey: `paid_${orderId}`, amount })
    await asOperator(context.database, { command: 'orders refund', subject: orderId }, () =>
      refund(context, { orderId, reason }),
    )
  },
  async (context, customerId, orderId) => {
    await confirm(context, customerId, { orderId, paymentKey: `paid_${orderId}`, amount })
    await endHold(context, customerId, await hold(context, customerId, 3), 2)
    await endHold(context, customerId, await hold(context, customerId, 2), 0)
    await hold(context, customerId, 1, 0)
  },
  ({ database }) => Promise.all([expireHolds(database), expireOrders(database, 0)]),
  (context) => recover(context),
]

async function buy(context: PaymentContext, customerId: string, round: number): Promise<void> {
  const scenario = scenarios[round % scenarios.length] ?? assert.fail('no scenario')
  const orderId = await order(context, customerId)
  await Promise.allSettled([scenario(context, customerId, orderId), spend(context, customerId, 1 + (round % 5))])
}

test('during live traffic no audit finds a violation', async () => {
  const pools = await Promise.all([0, 1].map(() => openTestPool(database.connection, { maxConnections: 6 })))
  const contexts = pools.map((pool) => bookkeeper(pool))
  const [first = assert.fail('no service')] = contexts
  const ids = await Promise.all(Array.from({ length: customers }, () => newCustomer(first)))
  const end = performance.now() + trafficMs
  let orders = 0
  let isTraffic = true

  async function runBuyer(customerId: string, number: number): Promise<void> {
    for (let round = number; performance.now() < end || round < number + scenarios.length; round += 1) {
      await buy(contexts[round % contexts.length] ?? first, customerId, round)
      orders += 1
    }
  }
  async function runAuditor(chunkRows: number): Promise<number> {
    let audits = 0
    for (; isTraffic || audits <= 2; audits += 1) {
      const { violations } = await audit(createDatabase(database.pool, silentLog), { chunkRows })
      assert.deepEqual(violations, [])
      await sleep(5)
    }
    return audits
  }
  const buyers = ids.flatMap((id) => Array.from({ length: buyersPerCustomer }, (_, number) => runBuyer(id, number)))
  const auditors = Promise.all([runAuditor(40), runAuditor(10_000)])
  await Promise.all(buyers)
  isTraffic = false
  const audits = await auditors

  const { violations, checked } = await audit(createDatabase(database.pool, silentLog), { chunkRows: 50 })
  assert.deepEqual(violations, [])
  const kinds = await database.query('select from payment_operations group by kind, state')
  // The traffic had all of them: confirms, cancels and refunds, in every state that each can have here.
  assert.ok(kinds.length >= 8, `${kinds.length} kinds of operations`)
  const endings = await database.query<{ kind: string }>('select distinct kind from ledger_entries order by 1')
  assert.deepEqual(
    endings.map(({ kind }) => kind),
    ['CAPTURE', 'EXPIRE', 'GRANT', 'HOLD', 'REFUND', 'RELEASE', 'ROLLBACK', 'SPEND'],
  )
  assert.equal(checked.orders, orders)
  assert.ok(
    audits.every((count) => count > 2),
    `${audits} audits`,
  )
  await Promise.all(pools.map((pool) => pool.end()))
})
