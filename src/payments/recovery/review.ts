// Brings one order in line with the gateway, for whoever has reason to doubt it: a webhook, reconciliation, an operator.
// What is open is settled first; then the payment is looked at and compared with the order by a table. What is certain
// is repaired with the operations a request uses; what is not becomes a discrepancy for a person. Only the gateway's own
// answer counts: whoever asks for the review may name a payment, and is believed nothing else.
import { unreachable } from '../../core/assert.ts'
import { newOperationId } from '../../core/ids.ts'
import type { Detail, Payment, Sighting } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { conclude, openedOperation, proceed, takeOver } from '../operations/run.ts'
import type { OrderStatus } from '../order-status.ts'
import type { Order, OrderKey } from '../orders.sql.ts'
import { resolveDiscrepancies, saveDiscrepancy } from './discrepancies.sql.ts'
import { claimReturn, findReviewSubject, type ReviewSubject } from './review.sql.ts'

/** `under way`: somebody is at work on it. `unknown`: the gateway did not tell. Both ask to come again. */
export type Review = 'agrees' | 'repaired' | 'disagrees' | 'under way' | 'unknown'

/** What is done, or the kind of the discrepancy. */
type Rule = 'agrees' | 'confirm' | 'refund' | 'return' | Uppercase<string>

const partly = 'PARTLY_CANCELLED_AT_GATEWAY'
const absent = 'NOT_CAPTURED_AT_GATEWAY'
const kept = 'NOT_CANCELLED_AT_GATEWAY'
const closed = { none: absent, kept, 'partly returned': kept, returned: 'agrees' } as const

/** The payment of the order's approved confirm, by the state of the order and what the gateway did with the money. */
const ownPayment: Partial<Record<OrderStatus, Record<Payment['money'], Rule>>> = {
  CONFIRMED: { none: absent, kept: 'agrees', 'partly returned': partly, returned: 'refund' },
  CANCELLED: closed,
  REFUNDED: closed,
}

/** Another payment of the order, whose money is kept. */
const secondPayment = 'SECOND_PAYMENT'
const second = {
  none: 'agrees',
  kept: secondPayment,
  'partly returned': secondPayment,
  returned: 'agrees',
} as const

/** Any other payment that names the order. */
const otherPayment: Record<OrderStatus, Record<Payment['money'], Rule>> = {
  PENDING: { none: 'agrees', kept: 'confirm', 'partly returned': 'confirm', returned: 'agrees' },
  FAILED: { none: 'agrees', kept: 'return', 'partly returned': 'return', returned: 'agrees' },
  CONFIRMED: second,
  CANCELLED: second,
  REFUNDED: second,
}

/** Settling what was open, repairing, and a last look: more turns than that mean that others are at it. */
const maxTurns = 4

export async function review(
  context: PaymentContext,
  key: OrderKey,
  namedPaymentKey: string | null = null,
): Promise<Review> {
  let repaired = false
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const subject = await findReviewSubject(context.database, key)
    if (!subject) return 'agrees'
    const found = subject.open ? await settleOpen(context, subject) : await compare(context, subject, namedPaymentKey)
    if (found === 'agrees') return repaired ? 'repaired' : 'agrees'
    if (found !== 'repaired') return found
    repaired = true
  }
  return 'under way'
}

async function settleOpen(context: PaymentContext, { open }: ReviewSubject): Promise<Review> {
  if (!open || open.leased) return 'under way'
  const conclusion = await takeOver(context, open, 'in the background')
  // What is doubtful is among the discrepancies by now.
  if (conclusion?.kind === 'unknown') return conclusion.doubtful ? 'disagrees' : 'unknown'
  return conclusion ? 'repaired' : 'under way'
}

/** Somebody has claimed the repair, or made it since we looked: what we found may be true no more. */
const overtaken = 'repaired'

/** Looks at every payment that is known, doubted or named; `repaired` asks to look once more. */
async function compare(context: PaymentContext, subject: ReviewSubject, named: string | null): Promise<Review> {
  const known = [subject.paymentKey, subject.refusedKey, ...subject.doubtedKeys, named]
  const keys = new Set(known.filter((each) => each !== null))
  let result: Review = 'agrees'
  for (const paymentKey of keys) {
    const sighting = await context.gateway.look(paymentKey)
    const found = await judge(context, subject, paymentKey, sighting)
    if (found === 'repaired' || found === 'under way' || found === 'unknown') return found
    if (found === 'disagrees') result = found
  }
  if (result === 'agrees' && subject.discrepancyIds.length > 0) await resolveSeen(context, subject)
  return result
}

/** What the gateway says and we cannot read is never taken for agreement, nor for absence. */
async function judge(
  context: PaymentContext,
  subject: ReviewSubject,
  paymentKey: string,
  sighting: Sighting,
): Promise<Review> {
  if (sighting.kind === 'payment') return act(context, subject, paymentKey, sighting)
  if (sighting.kind === 'absent') return act(context, subject, paymentKey, null)
  if (!sighting.discrepancy) return 'unknown'
  return disagree(context, subject, sighting.code, paymentKey, sighting.discrepancy)
}

/** Whether a payment is for this order, and for what it costs. */
export function isFor({ orderId, amount }: Order, payment: Payment): boolean {
  return payment.orderId === orderId && payment.amount === amount && payment.currency === 'KRW'
}

function ruleFor({ order, paymentKey: own }: ReviewSubject, paymentKey: string, payment: Payment | null): Rule {
  const isOwn = paymentKey === own
  if (!payment) return isOwn ? absent : 'agrees'
  const { orderId, money } = payment
  const same = isFor(order, payment)
  // Somebody named a payment that has nothing to do with this order.
  if (!isOwn && orderId !== order.orderId) return 'agrees'
  if (!same && (isOwn || money === 'kept' || money === 'partly returned')) return 'PAYMENT_DIFFERS'
  return (isOwn ? ownPayment[order.status] : otherPayment[order.status])?.[money] ?? absent
}

async function act(
  context: PaymentContext,
  subject: ReviewSubject,
  paymentKey: string,
  payment: Payment | null,
): Promise<Review> {
  const rule = ruleFor(subject, paymentKey, payment)
  switch (rule) {
    case 'agrees':
      return 'agrees'
    case 'confirm':
      return payment ? adoptCapture(context, subject, payment) : 'agrees'
    case 'refund':
      return payment ? adoptCancellation(context, subject, payment) : 'agrees'
    case 'return':
      return giveBack(context, subject, paymentKey, payment)
    default:
      return disagree(context, subject, rule, paymentKey, shownOf(payment))
  }
}

/** Captured for a PENDING order, and no operation of ours knows of it: a confirm begins and ends with what was seen. */
async function adoptCapture(context: PaymentContext, subject: ReviewSubject, payment: Payment): Promise<Review> {
  const { paymentKey, transactionKey } = payment
  const intent = {
    customerId: subject.customerId,
    operationId: newOperationId(),
    orderId: subject.order.orderId,
    kind: 'CONFIRM' as const,
    paymentKey,
    amount: subject.order.amount,
    reason: null,
  }
  const leaseMs = context.settings.operationLeaseMs
  if (!(await context.batches.claimConfirm({ ...intent, leaseMs, seenCaptured: true }))) return overtaken
  await conclude(context, openedOperation(intent), { kind: 'approved', transactionKey }, 'in the background')
  return 'repaired'
}

/** Cancelled as a whole by somebody who is not us: what is left of the credits is taken back, the order is REFUNDED. */
async function adoptCancellation(context: PaymentContext, subject: ReviewSubject, payment: Payment): Promise<Review> {
  const { paymentKey, transactionKey } = payment
  const intent = {
    customerId: subject.customerId,
    operationId: newOperationId(),
    kind: 'REFUND' as const,
    paymentKey,
    reason: 'cancelled at the gateway',
  }
  const claimed = await context.batches.claimCancel({ ...intent, leaseMs: context.settings.operationLeaseMs })
  if (!claimed) return overtaken
  const operation = openedOperation({ ...intent, ...claimed })
  await conclude(context, operation, { kind: 'approved', transactionKey }, 'in the background')
  return 'repaired'
}

/** Captured for an order that FAILED. It is certain whose it is, and that nothing was given for it. */
async function giveBack(
  context: PaymentContext,
  subject: ReviewSubject,
  paymentKey: string,
  payment: Payment | null,
): Promise<Review> {
  await disagree(context, subject, 'CAPTURED_FOR_FAILED_ORDER', paymentKey, shownOf(payment))
  const { customerId, order } = subject
  const { orderId, amount } = order
  const reason = 'the order had failed'
  const intent = { customerId, orderId, operationId: newOperationId(), paymentKey, reason }
  const claim = { ...intent, leaseMs: context.settings.operationLeaseMs }
  if (!(await claimReturn(context.database, claim))) return overtaken
  const operation = openedOperation({ ...intent, kind: 'RETURN', amount })
  const conclusion = await proceed(context, { kind: 'begun', operation }, 'in the background')
  switch (conclusion?.kind) {
    case 'approved':
      return 'repaired'
    case 'rejected':
      return 'disagrees'
    case 'unknown':
    case undefined:
      return 'unknown'
    default:
      return unreachable(conclusion)
  }
}

function shownOf(payment: Payment | null): Detail {
  if (!payment) return { status: 'no such payment' }
  const { status, amount, balance } = payment
  return { status, amount, balance }
}

/** About the order when it is its own payment; any other is a matter of its own, and there may be several. */
async function disagree(
  context: PaymentContext,
  { customerId, order, paymentKey: own }: ReviewSubject,
  kind: string,
  paymentKey: string,
  gateway: Detail,
): Promise<Review> {
  const key = { customerId, orderId: order.orderId }
  const detail = { paymentKey, orderStatus: order.status, orderAmount: order.amount, gateway }
  const subject = paymentKey === own ? order.orderId : paymentKey
  const isNew = await saveDiscrepancy(context.database, { kind, subject, order: key, detail })
  if (isNew) context.log.error({ ...key, discrepancy: kind }, 'the gateway and our books disagree')
  return 'disagrees'
}

/** Those that were there when we began to look: what somebody else has found since is not ours to close. */
async function resolveSeen(
  context: PaymentContext,
  { customerId, order, discrepancyIds }: ReviewSubject,
): Promise<void> {
  const kinds = await resolveDiscrepancies(context.database, discrepancyIds, 'the gateway and our books agree')
  context.log.warn({ customerId, orderId: order.orderId, discrepancies: kinds }, 'a discrepancy has resolved itself')
}
