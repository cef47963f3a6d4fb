// The row of an account is locked for long: by a forgotten transaction of an operator, or a backend that hangs. Requests that
// need it are refused, and other requests do not wait for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expireHolds } from '../../src/credits/holds/expire-holds.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { assertRefused, assertSuccess } from '../support/service/service.ts'
import { atOnce, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
})
after(() => service.close())

/** Locks the account until the work has ended or failed. */
async function whileLocked<Result>(customerId: string, work: () => Promise<Result>): Promise<Result> {
  const forgotten = await service.database.begin(customerId)
  try {
    await forgotten.query('select from accounts where customer_id = $1 for update', [customerId])
    return await work()
  } finally {
    await forgotten.rollback()
  }
}

async function expiredHold(credits: number) {
  const customer = await service.customerWith(20)
  assertSuccess(await service.internal.hold(customer.customerId, credits), 201)
  await service.database.queryUnguarded(
    `update holds set expires_at = now() - interval '1 ms' where customer_id = $1`,
    [customer.customerId],
  )
  return customer
}

test('spends of a locked account are SVC001 together, and another customer can spend meanwhile', async () => {
  const [locked, free] = [await service.customerWith(20), await service.customerWith(20)]
  const { statements } = countStatements()
  const before = statements()
  await whileLocked(locked.customerId, async () => {
    const waiting = atOnce(6, () => service.internal.spend(locked.customerId, 1))
    const served = atOnce(4, () => service.internal.spend(free.customerId, 1))
    for (const answer of await served) assertSuccess(answer, 200)
    for (const answer of await waiting) assertRefused(answer, 'SVC001')
  })
  // A few batches, and one more for each customer of a batch that has both; not one for each waiting request.
  assert.ok(statements() - before <= 8, `${statements() - before} statements`)
  assert.deepEqual([await locked.credits(), await free.credits()], [20, 16])
})

test('the sweep of holds continues after a locked account, and reports it', async () => {
  const [locked, free] = [await expiredHold(5), await expiredHold(7)]
  await whileLocked(locked.customerId, () => assert.rejects(expireHolds(service.payments.database), { code: 'SVC001' }))
  assert.deepEqual([await locked.credits(), await free.credits()], [15, 20])
  assert.deepEqual(await expireHolds(service.payments.database), { expired: 1, more: false })
  assert.equal(await locked.credits(), 20)
})

test('the sweep of orders continues after a locked account, and reports it', async () => {
  const [locked, free] = [await service.newCustomer(), await service.newCustomer()]
  const orders = [(await locked.purchase()).body.data.orderId, (await free.purchase()).body.data.orderId] as const
  await whileLocked(locked.customerId, () =>
    assert.rejects(expireOrders(service.payments.database, 0), { code: 'SVC001' }),
  )
  assert.deepEqual([await locked.status(orders[0]), await free.status(orders[1])], ['PENDING', 'FAILED'])
  assert.deepEqual(await expireOrders(service.payments.database, 0), { expired: 1, more: false })
})

test('a hold that the books do not cover does not prevent the expiry of other holds', async () => {
  const [damaged, sound] = [await expiredHold(5), await expiredHold(7)]
  const [row] = await service.database.query<{ held: number }>('select held from accounts where customer_id = $1', [
    damaged.customerId,
  ])
  const setHeld = (held = 0) =>
    service.database.queryUnguarded('update accounts set held = $2 where customer_id = $1', [damaged.customerId, held])
  await setHeld()
  await assert.rejects(expireHolds(service.payments.database), { constraint: 'ledger_entries_held_is_covered' })
  assert.equal(await sound.credits(), 20)
  await setHeld(row?.held)
  assert.deepEqual(await expireHolds(service.payments.database), { expired: 1, more: false })
})

/** Counts the statements of spending. */
function countStatements() {
  const { pool } = service.database
  const original = pool.query.bind(pool)
  let spends = 0
  pool.query = ((query: { name?: string }, ...rest: unknown[]) => {
    if (query.name === 'credits.spend') spends += 1
    return (original as (...values: unknown[]) => unknown)(query, ...rest)
  }) as typeof pool.query
  return { statements: () => spends }
}
