// The platform refunds an order (section 3, CONFIRMED to REFUNDED), in three acts like a cancel. What is left of its
// credits is set aside before the gateway is asked; what was spent already cannot be taken back, and is recorded on the
// order as its shortfall. A refund that has happened gives the same answer again.
import { assert } from '../core/assert.ts'
import { deadlineIn } from '../core/clock.ts'
import { type Refusal, refuse } from '../core/errors.ts'
import { newOperationId } from '../core/ids.ts'
import type { PaymentContext } from './context.ts'
import { createPauses } from './operations/pauses.ts'
import { type Opening, openedOperation, proceed } from './operations/run.ts'
import { findOrderKeys } from './orders.sql.ts'
import { findReviewSubject, type ReviewSubject } from './recovery/review.sql.ts'

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
  if (!key) throw refuse('NOT000', { message: `There is no order ${orderId}.` })
  const pause = createPauses(deadlineIn(context.settings.operationWaitMs))
  const operationId = newOperationId()
  for (;;) {
    const subject = await findReviewSubject(context.database, key)
    assert(subject, 'an order that was found by its id is gone')
    const answer = answerOf(subject)
    if (answer) return answer
    const met = await begin(context, subject, { customerId: key.customerId, operationId, reason })
    // A refund does not capture what it would have to give back; the caller of a cancel it finishes is yet to be told.
    const errand = met.operation?.kind === 'CONFIRM' ? 'only look' : 'in the background'
    const conclusion = await proceed(context, met, errand)
    if (conclusion?.kind === 'unknown') throw stillOpen(conclusion.code, met)
    if (conclusion?.kind === 'rejected' && met.operation?.kind === 'REFUND')
      throw refuseRefund('the gateway refused it', 'refused by the gateway')
    if (!conclusion && !(await pause())) throw stillOpen('somebody else is at work on it', met)
  }
}

async function begin(
  context: PaymentContext,
  { open, paymentKey }: ReviewSubject,
  asked: { customerId: string; operationId: string; reason: string },
): Promise<Opening> {
  // A claim that was repeated after a lost connection finds its own operation: it had been made.
  if (open) return { kind: open.operationId === asked.operationId ? 'begun' : 'open', operation: open }
  assert(paymentKey, 'a confirmed order without the payment key of its confirm')
  const intent = { ...asked, kind: 'REFUND' as const, paymentKey }
  const claimed = await context.batches.claimCancel({ ...intent, leaseMs: context.settings.operationLeaseMs })
  if (!claimed) return { kind: 'race', operation: null }
  return { kind: 'begun', operation: openedOperation({ ...intent, ...claimed }) }
}

/** The order as it is after its refund; undefined when it can be refunded, or when something on it is open. */
function answerOf({ order, open }: ReviewSubject): RefundAnswer | undefined {
  const { orderId, status, credits, refundShortfall: shortfall } = order
  if (status === 'REFUNDED') {
    assert(shortfall !== null, 'a refunded order without its shortfall')
    return { orderId, status, creditsTakenBack: credits - shortfall, shortfall }
  }
  if (status === 'CONFIRMED' || open) return undefined
  throw refuseRefund(`the order is ${status}, not CONFIRMED`, 'not confirmed')
}

/** `open`: something else is, and no refund was begun. */
export type RefundRefusal = 'refused by the gateway' | 'not confirmed' | 'open'

function refuseRefund(why: string, reason: RefundRefusal): Refusal {
  return refuse('PAYMENT_CANCEL_FAILED', { message: `Not refunded: ${why}.`, metadata: { reason } })
}

function stillOpen(why: string, { operation }: Opening): Refusal {
  const told = (then: string) => `Not known yet (${why}). ${then}`
  // A claim whose answer was lost is told apart from one that came too late by looking once more.
  if (!operation) return refuse('SVC001', { message: told('Look at the order before you try again.') })
  if (operation.kind === 'REFUND')
    return refuse('SVC001', { message: told('The credits are set aside, and the refund goes on in the background.') })
  const reason: RefundRefusal = 'open'
  const message = told('No refund was begun: something else on the order is open. Try again in a moment.')
  return refuse('SVC001', { message, metadata: { reason, began: false } })
}
