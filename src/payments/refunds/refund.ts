// The platform refunds an order (section 3, CONFIRMED to REFUNDED), in three steps like a cancel. Begin holds the credits before
// the gateway is called. A full refund returns the price and takes the credits that are left; what was spent already is the
// order's shortfall. A refund of the unused part returns the value of what is left, and exactly what was quoted: if credits
// have moved since, it is refused. Repeating a finished refund returns the same answer.
import { assert } from '../../core/assert.ts'
import { deadlineIn } from '../../core/clock.ts'
import { newOperationId } from '../../core/ids.ts'
import { findLot, isUndecided } from '../../credits/lots/lots.sql.ts'
import type { PaymentContext } from '../context.ts'
import { cancelledElsewhere } from '../kinds.ts'
import { newOperation, type RefundPart } from '../operations/begin.sql.ts'
import { createPauses } from '../operations/pauses.ts'
import { findOrderForReview, type OrderForReview } from '../operations/read.sql.ts'
import { type BeginResult, runOrResume } from '../operations/run.ts'
import { findOrderKeys, type OrderKey } from '../orders.sql.ts'
import { orderNotFound, refundBlockOf, refundRefusals } from '../refusals.ts'
import { unusedPartOf } from './rule.ts'

export type RefundRequest = {
  orderId: string
  reason: string
  /** The unused part as it was quoted; undefined: the full price. */
  unused?: { amount: number; credits: number } | undefined
}
export type RefundAnswer = {
  orderId: string
  status: 'REFUNDED'
  /** KRW. */
  refundedAmount: number
  creditsTakenBack: number
  /** What was spent before the refund. */
  shortfall: number
}

export async function refund(context: PaymentContext, request: RefundRequest): Promise<RefundAnswer> {
  const { orderId } = request
  const key = (await findOrderKeys(context.database, [orderId])).get(orderId)
  if (!key) throw orderNotFound(orderId)
  return refundOrder(context, key, request)
}

export async function refundOrder(
  context: PaymentContext,
  key: OrderKey,
  { reason, unused }: Omit<RefundRequest, 'orderId'>,
): Promise<RefundAnswer> {
  if (reason.trim() === cancelledElsewhere) throw refundRefusals.reservedReason()
  const pause = createPauses(deadlineIn(context.settings.operationWaitMs))
  const operationId = newOperationId()
  for (;;) {
    const found = await findOrderForReview(context.database, key)
    if (!found) throw orderNotFound()
    const answer = answerOf(found, unused)
    if (answer) return answer
    const begun = await begin(context, found, { customerId: key.customerId, operationId, reason }, unused)
    // A refund does not capture a payment only to refund it. It does not answer for a cancel that it finishes either: the
    // next request for that cancel returns success.
    const mode = begun.operation?.kind === 'CONFIRM' ? 'lookupOnly' : 'background'
    const result = await runOrResume(context, begun, mode)
    if (result?.kind === 'unknown') throw refundRefusals.outcomeUnknown(result.code, begun.operation)
    if (result?.kind === 'rejected' && begun.operation?.kind === 'REFUND') throw refundRefusals.refusedByGateway()
    if (!result && !(await pause()))
      throw refundRefusals.outcomeUnknown('another process is working on it', begun.operation)
  }
}

async function begin(
  context: PaymentContext,
  found: OrderForReview,
  refund: { customerId: string; operationId: string; reason: string },
  unused: RefundRequest['unused'],
): Promise<BeginResult> {
  const { openOperation: open, paymentKey } = found
  // A claim that was repeated after a lost connection finds its own operation: the first run was committed.
  if (open) return { kind: open.operationId === refund.operationId ? 'begun' : 'existing', operation: open }
  assert(paymentKey, 'a confirmed order without the payment key of its confirm')
  const part = unused ? await checkQuote(context, found, unused) : undefined
  if (part === null) return { kind: 'changed', operation: null }
  const intent = { ...refund, kind: 'REFUND' as const, paymentKey }
  const claimed = await context.batches.claimCancel({
    ...intent,
    part: part ?? null,
    leaseMs: context.settings.operationLeaseMs,
  })
  if (!claimed) return { kind: 'changed', operation: null }
  return { kind: 'begun', operation: newOperation({ ...intent, ...claimed }) }
}

/**
 * The part that was quoted, if it is still what the order is worth. The claim fails if credits move after this. Null: another
 * process has begun to close the order since it was read.
 */
async function checkQuote(
  { database, settings }: PaymentContext,
  { customerId, order }: OrderForReview,
  quoted: { amount: number; credits: number },
): Promise<RefundPart | null> {
  const lot = await findLot(database, customerId, order.orderId)
  assert(lot, 'a confirmed order without its lot')
  if (lot.isClosing || lot.status !== 'CONFIRMED') return null
  if (await isUndecided(database, customerId, lot)) throw refundRefusals.othersUnderWay()
  const { amount, credits } = unusedPartOf(lot, order.refundRule ?? settings.firstRefundRule)
  if (amount !== quoted.amount || credits !== quoted.credits) throw refundRefusals.changed({ amount, credits })
  return { amount, credits, atEntry: lot.lastEntry }
}

/** The answer for a refunded order; undefined when it can be refunded, or has an open operation. */
function answerOf({ order, openOperation }: OrderForReview, unused: RefundRequest['unused']): RefundAnswer | undefined {
  const answer = answerOfRefunded(order)
  if (answer) {
    const { refundedAmount, creditsTakenBack } = answer
    const isSame = unused
      ? unused.amount === refundedAmount && unused.credits === creditsTakenBack
      : refundedAmount === order.amount - order.partsAmount
    if (!isSame) throw refundRefusals.alreadyRefunded(refundedAmount)
    return answer
  }
  const { status } = order
  if (refundBlockOf(status, openOperation)?.refusal === 'not confirmed') throw refundRefusals.notConfirmed(status)
  return undefined
}

/** The refund alone, without the parts that were accepted before. Undefined unless the order is REFUNDED. */
function answerOfRefunded(order: OrderForReview['order']): RefundAnswer | undefined {
  const { orderId, status, credits, partsCredits, refundShortfall: shortfall, refundedAmount } = order
  if (status !== 'REFUNDED') return undefined
  assert(shortfall !== null && refundedAmount !== null, 'a refunded order without its amount')
  return { orderId, status, refundedAmount, creditsTakenBack: credits - partsCredits - shortfall, shortfall }
}
