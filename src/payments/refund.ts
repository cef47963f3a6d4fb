// The platform refunds an order (section 3, CONFIRMED to REFUNDED), in three steps like a cancel. Begin holds the credits
// that are left before the gateway is called. Credits that were spent already cannot be taken back; the order stores them
// as its shortfall. Repeating a finished refund returns the same answer.
import { assert } from '../core/assert.ts'
import { deadlineIn } from '../core/clock.ts'
import { newOperationId } from '../core/ids.ts'
import type { PaymentContext } from './context.ts'
import { newOperation } from './operations/begin.sql.ts'
import { createPauses } from './operations/pauses.ts'
import { findOrderForReview, type OrderForReview } from './operations/read.sql.ts'
import { type BeginResult, runOrResume } from './operations/run.ts'
import { findOrderKeys } from './orders.sql.ts'
import { orderNotFound, refundBlockOf, refundRefusals } from './refusals.ts'

export type RefundRequest = { orderId: string; reason: string }
export type RefundAnswer = {
  orderId: string
  status: 'REFUNDED'
  creditsTakenBack: number
  /** What was spent before the refund. */
  shortfall: number
}

export async function refund(context: PaymentContext, { orderId, reason }: RefundRequest): Promise<RefundAnswer> {
  const key = (await findOrderKeys(context.database, [orderId])).get(orderId)
  if (!key) throw orderNotFound(orderId)
  const pause = createPauses(deadlineIn(context.settings.operationWaitMs))
  const operationId = newOperationId()
  for (;;) {
    const found = await findOrderForReview(context.database, key)
    assert(found, 'an order that was found by its id is gone')
    const answer = answerOf(found)
    if (answer) return answer
    const begun = await begin(context, found, { customerId: key.customerId, operationId, reason })
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
  { openOperation: open, paymentKey }: OrderForReview,
  refund: { customerId: string; operationId: string; reason: string },
): Promise<BeginResult> {
  // A claim that was repeated after a lost connection finds its own operation: the first run was committed.
  if (open) return { kind: open.operationId === refund.operationId ? 'begun' : 'existing', operation: open }
  assert(paymentKey, 'a confirmed order without the payment key of its confirm')
  const intent = { ...refund, kind: 'REFUND' as const, paymentKey }
  const claimed = await context.batches.claimCancel({ ...intent, leaseMs: context.settings.operationLeaseMs })
  if (!claimed) return { kind: 'changed', operation: null }
  return { kind: 'begun', operation: newOperation({ ...intent, ...claimed }) }
}

/** The answer for a refunded order; undefined when it can be refunded, or has an open operation. */
function answerOf({ order, openOperation }: OrderForReview): RefundAnswer | undefined {
  const { orderId, status, credits, refundShortfall: shortfall } = order
  if (status === 'REFUNDED') {
    assert(shortfall !== null, 'a refunded order without its shortfall')
    return { orderId, status, creditsTakenBack: credits - shortfall, shortfall }
  }
  if (refundBlockOf(status, openOperation)?.refusal === 'not confirmed') throw refundRefusals.notConfirmed(status)
  return undefined
}
