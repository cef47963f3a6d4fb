// A person accepts that part of a payment was cancelled at the gateway, in its dashboard. The order is REFUNDED with what went
// back there, credits are taken or not as the person decides, and the discrepancy is resolved for good: from then on the
// gateway and our books agree. No call moves money here.
import { newOperationId } from '../../core/ids.ts'
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { newOperation, type Operation } from '../operations/begin.sql.ts'
import { findOrderForReview, type OrderForReview } from '../operations/read.sql.ts'
import { finish, recoveryModes } from '../operations/run.ts'
import type { Order, OrderKey } from '../orders.sql.ts'
import { resolveDiscrepanciesOfOrder } from '../recovery/discrepancies.sql.ts'
import { isFor, partlyCancelled, returnedAmountOf } from '../recovery/review.ts'
import { acceptRefusals, orderNotFound, outcomeUnknown, refundBlockOf, refundRefusals } from '../refusals.ts'
import { answerOfRefunded, type RefundAnswer } from './refund.ts'

export type Acceptance = {
  /** How many of the order's credits are taken back; 0: none. */
  credits: number
  reason: string
}

export async function acceptPartialCancel(
  context: PaymentContext,
  key: OrderKey,
  { credits, reason }: Acceptance,
): Promise<RefundAnswer> {
  const found = await findOrderForReview(context.database, key)
  if (!found) throw orderNotFound(key.orderId)
  const done = answerOf(found, credits)
  if (!done) await adopt(context, found, { credits, reason })
  await resolveDiscrepanciesOfOrder(context.database, key, partlyCancelled, reason)
  if (done) return done
  const closed = await findOrderForReview(context.database, key)
  const answer = closed && answerOf(closed, credits)
  if (!answer) throw acceptRefusals.changed()
  return answer
}

/** The answer when the order is REFUNDED with these credits: a repetition returns the same. */
function answerOf({ order }: OrderForReview, credits: number): RefundAnswer | undefined {
  const answer = answerOfRefunded(order)
  if (answer && answer.creditsTakenBack !== credits) throw refundRefusals.alreadyRefunded(answer.refundedAmount)
  return answer
}

async function adopt(
  context: PaymentContext,
  { customerId, order, openOperation, paymentKey }: OrderForReview,
  { credits, reason }: Acceptance,
): Promise<void> {
  const block = refundBlockOf(order.status, openOperation)
  if (block?.refusal === 'open') throw outcomeUnknown()
  if (block || !paymentKey) throw refundRefusals.notConfirmed(order.status)
  if (credits > order.credits) throw acceptRefusals.moreThanTheOrder(order.credits)
  const payment = await context.gateway.fetchPayment(paymentKey)
  if (payment.kind === 'unknown') throw outcomeUnknown()
  if (payment.kind === 'absent' || payment.money !== 'partly returned' || !isFor(order, payment)) {
    throw acceptRefusals.notPartlyCancelled()
  }
  const intent = { customerId, operationId: newOperationId(), kind: 'REFUND' as const, paymentKey, reason }
  const part = { amount: returnedAmountOf(payment), credits, atEntry: null }
  const claimed = await context.batches.claimCancel({ ...intent, part, leaseMs: context.settings.operationLeaseMs })
  const operation = claimed ? newOperation({ ...intent, ...claimed }) : await findOwnClaim(context, intent, order)
  if (!operation) throw acceptRefusals.changed()
  const outcome = { kind: 'approved', transactionKey: payment.transactionKey, code: cancelledAtGateway } as const
  await finish(context, operation, outcome, recoveryModes.background)
}

/** A claim that was repeated after a lost connection finds its own operation: the first run was committed. */
async function findOwnClaim(
  { database }: PaymentContext,
  { customerId, operationId }: { customerId: string; operationId: string },
  { orderId }: Order,
): Promise<Operation | undefined> {
  const open = (await findOrderForReview(database, { customerId, orderId }))?.openOperation
  return open?.operationId === operationId ? open : undefined
}
