// Books with an order and a hold of every possible kind, written by the service's own functions with a gateway whose outcome
// follows from the payment key: for tests that then damage them.
import assert from 'node:assert/strict'
import { asOperator } from '../../../harness/as-operator.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { newHoldId } from '../../../src/core/ids.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { updateLowCredits } from '../../../src/credits/accounts.sql.ts'
import type { OperatorKind } from '../../../src/credits/adjustments/adjust.sql.ts'
import { adjust, approve } from '../../../src/credits/adjustments/adjust.ts'
import { reverseSpend } from '../../../src/credits/adjustments/reverse.ts'
import { setBudget } from '../../../src/credits/budgets/budgets.sql.ts'
import { createCredits } from '../../../src/credits/credits.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import type { HoldEnding } from '../../../src/credits/holds/holds.sql.ts'
import { findLot } from '../../../src/credits/lots/lots.sql.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { type Connections, createDatabase } from '../../../src/db/database.ts'
import type { Gateway, Outcome, PaymentSnapshot } from '../../../src/gateway/gateway.ts'
import { cancel } from '../../../src/payments/cancel.ts'
import { confirm } from '../../../src/payments/confirm.ts'
import { createPaymentContext, type PaymentContext } from '../../../src/payments/context.ts'
import { type PackageType, packageOf, paymentMethod } from '../../../src/payments/packages.ts'
import { purchase } from '../../../src/payments/purchase.ts'
import {
  findDoubtsOfOrder,
  resolveDiscrepancies,
  saveDiscrepancy,
} from '../../../src/payments/recovery/discrepancies.sql.ts'
import { expireOrders } from '../../../src/payments/recovery/expire.ts'
import { partlyCancelled, review } from '../../../src/payments/recovery/review.ts'
import { insertPart } from '../../../src/payments/refunds/accept.sql.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { testPeppers, testSettings } from '../service/service.ts'

const approved: Outcome = { kind: 'approved', transactionKey: 'T1' }
const rejected: Outcome = { kind: 'rejected', code: 'REJECT_CARD_PAYMENT' }
const unknown: Outcome = { kind: 'unknown', code: 'ECONNRESET' }

/** The outcomes of a payment's confirm and cancel, by the prefix of its key. */
const verdicts: Record<string, { confirm: Outcome; cancel: Outcome }> = {
  paid: { confirm: approved, cancel: approved },
  refused: { confirm: rejected, cancel: approved },
  silent: { confirm: unknown, cancel: unknown },
  kept: { confirm: approved, cancel: rejected },
  stuck: { confirm: approved, cancel: unknown },
}

const verdictOf = (paymentKey: string) =>
  verdicts[paymentKey.split('_')[0] ?? ''] ?? { confirm: unknown, cancel: unknown }

export function obedientGateway(): Gateway {
  const returned = new Set<string>()
  const notCalled = () => assert.fail('not called in these tests')
  return {
    confirm: async ({ paymentKey }) => verdictOf(paymentKey).confirm,
    async cancel({ paymentKey }) {
      const outcome = verdictOf(paymentKey).cancel
      if (outcome.kind === 'approved') returned.add(paymentKey)
      return outcome
    },
    findConfirm: async ({ paymentKey }) => verdictOf(paymentKey).confirm,
    findCancel: async ({ paymentKey }) => verdictOf(paymentKey).cancel,
    async fetchPayment(paymentKey): Promise<PaymentSnapshot> {
      const money = returned.has(paymentKey) ? 'returned' : 'kept'
      const orderId = paymentKey.slice(paymentKey.indexOf('_') + 1)
      const rest = { amount: packageOf('STANDARD').price, currency: 'KRW', status: 'DONE', balance: 0 }
      return { kind: 'payment', paymentKey, orderId, money, transactionKey: 'T1', ...rest }
    },
    listMovements: notCalled,
    state: () => ({ state: 'answering', since: null }),
    close: async () => undefined,
  }
}

export function bookkeeper(connections: Connections): PaymentContext {
  const database = createDatabase(connections, silentLog)
  const tallies = createTallies()
  const parts = { gateway: obedientGateway(), credits: createCredits(database, tallies), log: silentLog, tallies }
  return createPaymentContext({ database, ...parts, settings: testSettings })
}

export async function newCustomer({ database }: PaymentContext, name: string = crypto.randomUUID()): Promise<string> {
  return (await issueKey(database, testPeppers, name)).customerId
}

export async function order(context: PaymentContext, customerId: string, packageType: PackageType = 'STANDARD') {
  const request = { packageType, paymentMethod, idempotencyKey: crypto.randomUUID() }
  return (await purchase(context, customerId, request)).orderId
}

type Fate = keyof typeof verdicts

/** The order after its confirm; one whose outcome is not approved stays PENDING or is FAILED. */
export async function confirmed(
  context: PaymentContext,
  customerId: string,
  fate: Fate = 'paid',
  packageType: PackageType = 'STANDARD',
): Promise<{ orderId: string; paymentKey: string }> {
  const orderId = await order(context, customerId, packageType)
  const paymentKey = `${fate}_${orderId}`
  const answer = confirm(context, customerId, { orderId, paymentKey, amount: packageOf(packageType).price })
  if (verdictOf(paymentKey).confirm.kind === 'approved') await answer
  else await assert.rejects(answer)
  return { orderId, paymentKey }
}

export function spend(
  context: PaymentContext,
  customerId: string,
  credits: number,
  reference: string = crypto.randomUUID(),
) {
  return context.credits.spend({ customerId, credits, reference, serviceId: 'svc_test' })
}

export const serviceId = 'svc_of_the_books'

/** Returns the id of the hold. */
export async function hold(context: PaymentContext, customerId: string, credits: number, expiresInSeconds = 3_600) {
  const holdId = newHoldId()
  const opening = { customerId, holdId, credits, reference: `job_${holdId}`, serviceId, expiresInSeconds }
  assert.equal((await context.credits.openHold(opening)).holdId, holdId)
  return holdId
}

export async function endHold(context: PaymentContext, customerId: string, holdId: string, captured: number) {
  const ending = captured > 0 ? { ending: 'CAPTURE', captured } : { ending: 'RELEASE', captured: null }
  assert.ok(await context.credits.endHold({ customerId, holdId, serviceId, ...ending } as HoldEnding))
}

const reason = 'changed my mind'

function refundAs(context: PaymentContext, { orderId }: { orderId: string }) {
  return asOperator(context.database, { command: 'orders refund', subject: orderId }, () =>
    refund(context, { orderId, reason }),
  )
}

/** A part that was cancelled at the gateway, as a person accepts it. */
async function acceptAs(
  { database }: PaymentContext,
  { customerId, ...payment }: { customerId: string; orderId: string; paymentKey: string },
  taken: { amount: number; credits: number },
) {
  const { orderId } = payment
  const key = { customerId, orderId }
  await saveDiscrepancy(database, { kind: partlyCancelled, subject: orderId, order: key, detail: {} })
  const [doubt] = await findDoubtsOfOrder(database, key)
  const lot = await findLot(database, customerId, orderId)
  assert.ok(lot && doubt)
  const { discrepancyId } = doubt
  const place = { transactionKey: null, atEntry: lot.lastEntry, acceptedBefore: 0, approval: null }
  await asOperator(
    database,
    { command: 'discrepancies accept', subject: discrepancyId, credits: taken.credits },
    async () => {
      assert.ok(
        await insertPart(
          database,
          { customerId, ...payment, discrepancyId, ...taken, reason, ...place },
          { customerId, adjustmentId: discrepancyId, kind: 'PART', credits: 0, actor: 'kim' },
          0,
        ),
      )
      await resolveDiscrepancies(database, [discrepancyId], reason)
      return {}
    },
  )
}

/** A hold of every kind: two ended by the service, one expired, one captured in parts and extended. */
async function writeHolds(context: PaymentContext, customer: string) {
  const held = await hold(context, customer, 2)
  const captured = await hold(context, customer, 3)
  await endHold(context, customer, captured, 1)
  const released = await hold(context, customer, 1)
  await endHold(context, customer, released, 0)
  const overdue = await hold(context, customer, 1, 0)
  assert.equal((await expireHolds(context.database)).expired, 1)
  const inParts = await hold(context, customer, 3)
  for (const reference of ['part_1', 'part_2']) {
    const part = { customerId: customer, holdId: inParts, credits: 1, reference, serviceId }
    assert.ok(await context.credits.capturePart(part))
  }
  const extension = { customerId: customer, holdId: inParts, expiresInSeconds: 7_200, serviceId, mayManageHolds: false }
  assert.ok(await context.credits.extendHold(extension))
  return { held, captured, released, overdue, inParts }
}

/** A customer with budgets, a hold that is counted in them, and the warning that little is left. */
async function writeBudgets(context: PaymentContext) {
  const limited = await newCustomer(context)
  await confirmed(context, limited)
  const common = { customerId: limited, value: null, period: 'MONTH', credits: 12, warnAt: 10 } as const
  await setBudget(context.database, { ...common, scope: 'CUSTOMER' })
  await setBudget(context.database, { ...common, scope: 'USER' })
  const counted = newHoldId()
  const opening = { customerId: limited, holdId: counted, credits: 2, reference: 'counted', serviceId }
  await context.credits.openHold({ ...opening, expiresInSeconds: 3_600, userId: 'ann' })
  const { spent } = await spend(context, limited, 8)
  assert.equal(spent, 8)
  return { limited, counted }
}

/** Returns the ids of rows that a test may damage; the ledger of `customer` begins with the entries of `confirmed`. */
export async function writeBooks(context: PaymentContext) {
  const customer = await newCustomer(context)
  const expired = await order(context, customer)
  assert.equal((await expireOrders(context.database, 0)).expired, 1)

  const confirmedOrder = await confirmed(context, customer)
  for (const [credits, reference] of [
    [3, 'first'],
    [4, 'second'],
    [1, 'third'],
  ] as const) {
    await spend(context, customer, credits, reference)
  }
  const holds = await writeHolds(context, customer)
  const cancelled = await confirmed(context, customer)
  await cancel(context, customer, { paymentKey: cancelled.paymentKey, reason })
  const refunded = await confirmed(context, customer)
  await refundAs(context, refunded)
  const kept = await confirmed(context, customer, 'kept')
  await assert.rejects(cancel(context, customer, { paymentKey: kept.paymentKey, reason }))
  const cancelling = await confirmed(context, customer, 'stuck')
  await assert.rejects(cancel(context, customer, { paymentKey: cancelling.paymentKey, reason }))
  const failed = await confirmed(context, customer, 'refused')
  const returned = await confirmed(context, customer, 'refused')
  assert.equal(
    await review(context, { customerId: customer, orderId: returned.orderId }, returned.paymentKey),
    'repaired',
  )
  // Two payments were captured for each of these FAILED orders. The outcome of the second return of `returning` is unknown.
  const returnedTwice = await confirmed(context, customer, 'refused')
  const returning = await confirmed(context, customer, 'refused')
  for (const [{ orderId }, paymentKey, becomes] of [
    [returnedTwice, returnedTwice.paymentKey, 'repaired'],
    [returnedTwice, `paid_${returnedTwice.orderId}`, 'repaired'],
    [returning, returning.paymentKey, 'repaired'],
    [returning, `stuck_${returning.orderId}`, 'unknown'],
  ] as const) {
    assert.equal(await review(context, { customerId: customer, orderId }, paymentKey), becomes)
  }
  const confirming = await confirmed(context, customer, 'silent')
  const pending = await order(context, customer)

  // Two orders whose credits were spent before the refund, in part and completely, and one whose refund has an unknown outcome.
  const spender = await newCustomer(context)
  await updateLowCredits(context.database, spender, [5])
  const partlySpent = await confirmed(context, spender)
  await spend(context, spender, 20)
  await refundAs(context, partlySpent)
  const whollySpent = await confirmed(context, spender)
  await spend(context, spender, 21)
  await refundAs(context, whollySpent)
  const stuckRefund = await confirmed(context, spender, 'stuck', 'PRO')
  await assert.rejects(refundAs(context, stuckRefund))
  const partCustomer = await newCustomer(context)
  const parted = await confirmed(context, partCustomer, 'paid', 'PRO')
  await acceptAs(context, { customerId: partCustomer, ...parted }, { amount: 5_000, credits: 5 })
  const limits = await writeBudgets(context)
  const visitor = await newCustomer(context)
  await order(context, visitor)

  return {
    customer,
    spender,
    expired,
    pending,
    confirmed: confirmedOrder.orderId,
    cancelled: cancelled.orderId,
    refunded: refunded.orderId,
    kept: kept.orderId,
    cancelling: cancelling.orderId,
    failed: failed.orderId,
    returnedTwice: returnedTwice.orderId,
    returning: returning.orderId,
    visitor,
    returned: returned.orderId,
    confirming: confirming.orderId,
    partlySpent: partlySpent.orderId,
    whollySpent: whollySpent.orderId,
    stuckRefund: stuckRefund.orderId,
    parted: parted.orderId,
    partCustomer,
    ...holds,
    ...limits,
  }
}

/** A customer with an adjustment of every kind, one of them approved by a second person. Returns the customer. */
export async function writeAdjustments(context: PaymentContext): Promise<string> {
  const { database, credits } = context
  const customerId = await newCustomer(context)
  await confirmed(context, customerId)
  const { serviceId: spender } = await issueToken(database, testPeppers, 'analyses')
  const service = { customerId, serviceId: spender }
  await credits.spend({ ...service, credits: 10, reference: 'large' })
  await credits.spend({ ...service, credits: 1, reference: 'small' })
  await reverseSpend(credits.reverse, { ...service, reversedReference: 'large', credits: 4, reference: 'back', reason })
  const adjusted = (kind: OperatorKind, amount: number, approvalAbove: number) => {
    const adjustment = { customerId, adjustmentId: crypto.randomUUID(), kind, credits: amount, reason, actor: 'kim' }
    const command = kind === 'GOODWILL' ? 'adjustments grant' : 'adjustments correct'
    return asOperator(database, { actor: 'kim', command, subject: customerId, credits: amount }, () =>
      adjust(database, adjustment, { perDay: 100, approvalAbove }),
    )
  }
  await adjusted('GOODWILL', 5, 10)
  await adjusted('CORRECTION', -2, 10)
  const { adjustmentId } = await adjusted('GOODWILL', 30, 10)
  const approval = { actor: 'lee', command: 'adjustments approve', subject: customerId, ids: [adjustmentId] }
  await asOperator(database, approval, () => approve(database, adjustmentId, 'lee', 100))
  await credits.spend({ ...service, credits: 3, reference: 'later' })
  return customerId
}

export type Books = Awaited<ReturnType<typeof writeBooks>>
