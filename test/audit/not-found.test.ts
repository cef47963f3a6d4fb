// What SECURITY.md says the audit does not find, where it takes more than a changed row: what the serving role adds of the kinds
// that have no action of an operator, and money that went back while the owner had replaced a guard.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asOperator } from '../../harness/as-operator.ts'
import { insertAdjustment } from '../../src/credits/adjustments/adjust.sql.ts'
import { adjust, reject } from '../../src/credits/adjustments/adjust.ts'
import { reverseAll } from '../../src/credits/adjustments/reverse.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { isDistributed, resetSearchPaths } from '../../src/db/cluster/distribute.ts'
import { changeSchema } from '../../src/db/migrate.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { cancel } from '../../src/payments/cancel.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { bookkeeper, confirmed, endHold, hold, newCustomer } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

let database: OwnTestDatabase
let context: PaymentContext
let serviceId: string
before(async () => {
  database = await createTestDatabase()
  context = bookkeeper(database.pool)
  serviceId = (await issueToken(context.database, testPeppers, 'analyses')).serviceId
})
after(() => database.drop())

const reason = 'decided by the platform'

async function assertNothingFound(): Promise<void> {
  assert.deepEqual((await audit(context.database)).violations, [])
}

async function statusOf(orderId: string): Promise<string | undefined> {
  const [order] = await database.query<{ status: string }>('select status from orders where order_id = $1', [orderId])
  return order?.status
}

/** On a cluster on every server, where guards have the search paths that a migration leaves them. */
async function replaceFunction(text: string): Promise<void> {
  const owner = await database.ownerPool.connect()
  try {
    await changeSchema(owner, async () => {
      await owner.query(text)
      if (await isDistributed(owner)) await resetSearchPaths(owner)
    })
  } finally {
    owner.release()
  }
}

/** The function has no other body while the audit runs. */
async function withFunction<Result>(name: string, value: string, work: () => Promise<Result>): Promise<Result> {
  const { rows } = await database.ownerPool.query<{ text: string }>('select pg_get_functiondef($1::regproc) as text', [
    name,
  ])
  const { text = '' } = rows[0] ?? {}
  const head = text.slice(0, text.indexOf('AS $function$'))
  await replaceFunction(`${head} AS $function$ begin return ${value}; end $function$`)
  try {
    return await work()
  } finally {
    await replaceFunction(text)
  }
}

const refundAs = (orderId: string) =>
  asOperator(context.database, { command: 'orders refund', subject: orderId }, () =>
    refund(context, { orderId, reason }),
  )

const spend = (customerId: string, credits: number, reference: string = crypto.randomUUID()) =>
  context.credits.spend({ customerId, credits, reference, serviceId })

async function isReversed(customerId: string, reversedReference: string): Promise<boolean | undefined> {
  const ids = { customerId, adjustmentId: crypto.randomUUID(), reversedReference, reference: crypto.randomUUID() }
  const [reversed] = await reverseAll(context.database, [{ ...ids, credits: null, serviceId, reason }])
  return reversed?.isNew
}

test('goodwill in the place of a request that was rejected has the action of that request', async () => {
  const customerId = await newCustomer(context)
  const requested = {
    customerId,
    adjustmentId: crypto.randomUUID(),
    kind: 'GOODWILL',
    credits: 5,
    reason,
    actor: 'kim',
  } as const
  const action = { actor: 'kim', command: 'adjustments grant', subject: customerId, credits: 5 }
  const { state } = await asOperator(context.database, action, () =>
    adjust(context.database, requested, { perDay: 100, approvalAbove: 1 }),
  )
  assert.equal(state, 'PENDING')
  await reject(context.database, requested.adjustmentId, 'lee')
  const forged = { ...requested, adjustmentId: crypto.randomUUID() }
  await insertAdjustment(context.database, forged, 100)
  await assertNothingFound()
})

test('a reversal that the serving role writes has no action that it would need', async () => {
  const customerId = await newCustomer(context)
  await confirmed(context, customerId)
  await spend(customerId, 10, 'work')
  assert.equal(await isReversed(customerId, 'work'), true)
  await assertNothingFound()
})

test('a cancel that the serving role begins is paid by the worker, and has no action that it would need', async () => {
  const customerId = await newCustomer(context)
  const { orderId, paymentKey } = await confirmed(context, customerId)
  const forged = {
    customerId,
    operationId: crypto.randomUUID(),
    kind: 'CANCEL',
    paymentKey,
    reason,
    leaseMs: 0,
  } as const
  assert.ok(await context.batches.claimCancel(forged))
  await database.query(`update payment_operations set settle_at = now() - interval '1 s' where state = 'OPEN'`)
  await recover(context)
  assert.equal(await statusOf(orderId), 'CANCELLED')
  await assertNothingFound()
})

test('a cancel that credits of a refunded order covered while the guard was replaced is not found', async () => {
  const customerId = await newCustomer(context)
  const kept = await confirmed(context, customerId)
  const refunded = await confirmed(context, customerId)
  const holdId = await hold(context, customerId, 42)
  await refundAs(refunded.orderId)
  await endHold(context, customerId, holdId, 0)
  await spend(customerId, 21)
  const cancelKept = () => cancel(context, customerId, { paymentKey: kept.paymentKey, reason })
  await assert.rejects(cancelKept(), { code: 'PAYMENT_CANCEL_FAILED' })
  await withFunction('refundable_credits', '1000', cancelKept)
  assert.equal(await statusOf(kept.orderId), 'CANCELLED')
  await assertNothingFound()
})

test('a reversal of credits that were refunded in money, written while the guard was replaced, is not found', async () => {
  const customerId = await newCustomer(context)
  const { orderId } = await confirmed(context, customerId)
  await spend(customerId, 21, 'work')
  await refundAs(orderId)
  assert.equal(await isReversed(customerId, 'work'), false)
  const reversed = await withFunction('used_credits_to_reverse', 'null', () => isReversed(customerId, 'work'))
  assert.equal(reversed, true)
  await assertNothingFound()
})
