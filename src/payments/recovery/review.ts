// Brings one order in line with the gateway, because of a notification, a reconciliation or an operator. An open operation is
// resumed first; then the payment is fetched and compared with the order by a table. A certain difference is repaired with
// the operations that a request uses; any other one becomes a discrepancy for a person. Only the gateway's own answer
// counts: of the caller's claims only the payment key is used.
import { unreachable } from '../../core/assert.ts'
import { newOperationId } from '../../core/ids.ts'
import {
  type Approved,
  cancelledAtGateway,
  type FetchedPayment,
  type PaymentDetail,
  type PaymentSnapshot,
} from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { cancelledElsewhere, type OrderStatus } from '../kinds.ts'
import { claimReturn, newOperation, type Operation } from '../operations/begin.sql.ts'
import { findOrderForReview, type OrderForReview } from '../operations/read.sql.ts'
import { finish, recoveryModes, runOrResume, takeOver } from '../operations/run.ts'
import type { Order, OrderKey } from '../orders.sql.ts'
import { type Doubt, resolveDiscrepancies, saveDiscrepancy } from './discrepancies.sql.ts'
import { reportWrongParts, wrongPartsKind } from './wrong-parts.ts'

/** `under way`: another process is working on it. `unknown`: the gateway gave no answer. In both cases review again later. */
export type Review = 'agrees' | 'repaired' | 'disagrees' | 'under way' | 'unknown'

/** The action, or the kind of the discrepancy. */
type Rule = 'agrees' | 'confirm' | 'refund' | 'return' | Uppercase<string>

export const partlyCancelled = 'PARTLY_CANCELLED_AT_GATEWAY'
const absent = 'NOT_CAPTURED_AT_GATEWAY'
const kept = 'NOT_CANCELLED_AT_GATEWAY'
/** More went back than the order says: a cancellation at the gateway after the refund. */
const more = 'REFUNDED_MORE_AT_GATEWAY'

/** The payment of the order's approved confirm, by the state of the order and of the money. */
const ownPayment: Partial<Record<OrderStatus, Record<PaymentSnapshot['money'], Rule>>> = {
  CONFIRMED: { none: absent, kept: 'agrees', 'partly returned': partlyCancelled, returned: 'refund' },
  CANCELLED: { none: absent, kept, 'partly returned': kept, returned: 'agrees' },
}

/** A refund may have returned a part, and a part may have been accepted before. */
function ruleOfReturned(booked: number, beyond: Rule, payment: PaymentSnapshot): Rule {
  if (payment.money === 'none') return absent
  const returned = returnedAmountOf(payment)
  if (returned === booked) return 'agrees'
  return returned < booked ? kept : beyond
}

/** KRW that the gateway has returned. */
export function returnedAmountOf({ amount, balance }: PaymentSnapshot): number {
  return amount - balance
}

/** A second payment of the order, whose money was captured. */
const secondPayment = 'SECOND_PAYMENT'
const second = {
  none: 'agrees',
  kept: secondPayment,
  'partly returned': secondPayment,
  returned: 'agrees',
} as const

/** Any other payment that names the order. */
const otherPayment: Record<OrderStatus, Record<PaymentSnapshot['money'], Rule>> = {
  PENDING: { none: 'agrees', kept: 'confirm', 'partly returned': 'confirm', returned: 'agrees' },
  FAILED: { none: 'agrees', kept: 'return', 'partly returned': 'return', returned: 'agrees' },
  CONFIRMED: second,
  CANCELLED: second,
  REFUNDED: second,
}

/** Resume the open operation, repair, compare once more: if that is not enough, other processes are changing the order. */
const maxRounds = 4

export async function review(
  context: PaymentContext,
  key: OrderKey,
  namedPaymentKey: string | null = null,
): Promise<Review> {
  let repaired = false
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await findOrderForReview(context.database, key)
    if (!found) return 'agrees'
    const result = found.openOperation
      ? await finishOpen(context, found.openOperation)
      : await compare(context, found, namedPaymentKey)
    if (result === 'agrees') return repaired ? 'repaired' : 'agrees'
    if (result !== 'repaired') return result
    repaired = true
  }
  return 'under way'
}

async function finishOpen(context: PaymentContext, operation: Operation): Promise<Review> {
  if (operation.leased) return 'under way'
  const result = await takeOver(context, operation, 'background')
  // Its discrepancy is stored by now.
  if (result?.kind === 'unknown') return result.hasDiscrepancy ? 'disagrees' : 'unknown'
  return result ? 'repaired' : 'under way'
}

/** Another process has claimed or made the repair since we read the order: compare once more. */
const overtaken = 'repaired'

/** `parts differ`: that is all that differs. */
type Compared = Review | 'parts differ'

/** Fetches every payment that is known, doubted or named. `repaired`: compare once more. */
async function compare(context: PaymentContext, found: OrderForReview, named: string | null): Promise<Review> {
  const known = [found.paymentKey, found.rejectedKey, ...found.doubtedKeys, named]
  const keys = new Set(known.filter((each) => each !== null))
  let result: Compared = 'agrees'
  for (const paymentKey of keys) {
    const fetched = await context.gateway.fetchPayment(paymentKey)
    const one = await comparePayment(context, found, paymentKey, fetched)
    if (one === 'repaired' || one === 'under way' || one === 'unknown') return one
    if (one !== 'agrees' && result !== 'disagrees') result = one
  }
  if (result === 'disagrees') return result
  const isSettled = ({ kind }: Doubt) => result === 'agrees' || kind !== wrongPartsKind
  await resolveSeen(context, found, found.doubts.filter(isSettled))
  return result === 'agrees' ? result : 'disagrees'
}

/** An answer that we cannot read is never taken for agreement, nor for a missing payment. */
async function comparePayment(
  context: PaymentContext,
  found: OrderForReview,
  paymentKey: string,
  fetched: FetchedPayment,
): Promise<Compared> {
  if (fetched.kind === 'payment') return applyRule(context, found, paymentKey, fetched)
  if (fetched.kind === 'absent') return applyRule(context, found, paymentKey, null)
  if (!fetched.discrepancy) return 'unknown'
  return disagree(context, found, fetched.code, paymentKey, fetched.discrepancy)
}

/** The payment names this order, and has its amount. */
export function isFor({ orderId, amount }: Order, payment: PaymentSnapshot): boolean {
  return payment.orderId === orderId && payment.amount === amount && payment.currency === 'KRW'
}

/** What an order and one of its payments need, by the tables above. */
export function ruleFor(
  { order, paymentKey: own }: OrderForReview,
  paymentKey: string,
  payment: PaymentSnapshot | null,
): Rule {
  const isOwn = paymentKey === own
  if (!payment) return isOwn ? absent : 'agrees'
  const { orderId, money } = payment
  const same = isFor(order, payment)
  // The named payment has nothing to do with this order.
  if (!isOwn && orderId !== order.orderId) return 'agrees'
  if (!same && (isOwn || money === 'kept' || money === 'partly returned')) return 'PAYMENT_DIFFERS'
  const { status, partsAmount, refundedAmount } = order
  if (isOwn && refundedAmount !== null) return ruleOfReturned(partsAmount + refundedAmount, more, payment)
  if (isOwn && status === 'CONFIRMED' && partsAmount > 0 && money !== 'returned') {
    return ruleOfReturned(partsAmount, partlyCancelled, payment)
  }
  return (isOwn ? ownPayment[order.status] : otherPayment[order.status])?.[money] ?? absent
}

async function applyRule(
  context: PaymentContext,
  found: OrderForReview,
  paymentKey: string,
  payment: PaymentSnapshot | null,
): Promise<Compared> {
  const rule = ruleFor(found, paymentKey, payment)
  switch (rule) {
    case 'agrees':
      return compareParts(context, found, payment)
    case 'confirm':
      return payment ? adoptCapture(context, found, payment) : 'agrees'
    case 'refund':
      return payment ? adoptCancellation(context, found, payment) : 'agrees'
    case 'return':
      return returnMoney(context, found, paymentKey, payment)
    default:
      return disagree(context, found, rule, paymentKey, detailOf(payment))
  }
}

async function compareParts(
  context: PaymentContext,
  { customerId, order: { orderId, status }, paymentKey: own }: OrderForReview,
  payment: PaymentSnapshot | null,
): Promise<Compared> {
  if (!payment?.wrongParts || payment.paymentKey !== own || status !== 'CONFIRMED') return 'agrees'
  await reportWrongParts(context, { customerId, orderId }, payment, payment.wrongParts)
  return 'parts differ'
}

/** Captured for a PENDING order without an operation of ours: a confirm begins and finishes with that outcome. */
async function adoptCapture(
  context: PaymentContext,
  { customerId, order }: OrderForReview,
  { paymentKey, money, transactionKey: last, slip, wrongParts }: PaymentSnapshot,
): Promise<Review> {
  const intent = {
    customerId,
    operationId: newOperationId(),
    orderId: order.orderId,
    kind: 'CONFIRM' as const,
    paymentKey,
    amount: order.amount,
    reason: null,
  }
  const leaseMs = context.settings.operationLeaseMs
  if (!(await context.batches.claimConfirm({ ...intent, leaseMs, seenCaptured: true }))) return overtaken
  // Then the last transaction is not the capture.
  const transactionKey = money === 'partly returned' ? null : last
  const outcome: Approved = {
    kind: 'approved',
    transactionKey,
    ...(slip && { slip }),
    ...(wrongParts && { wrongParts }),
  }
  await finish(context, newOperation(intent), outcome, recoveryModes.background)
  return 'repaired'
}

/** Cancelled as a whole, and not by us: the credits that are left are taken back, the order is REFUNDED. */
async function adoptCancellation(
  context: PaymentContext,
  { customerId }: OrderForReview,
  { paymentKey, transactionKey }: PaymentSnapshot,
): Promise<Review> {
  const intent = {
    customerId,
    operationId: newOperationId(),
    kind: 'REFUND' as const,
    paymentKey,
    reason: cancelledElsewhere,
  }
  const claimed = await context.batches.claimCancel({ ...intent, leaseMs: context.settings.operationLeaseMs })
  if (!claimed) return overtaken
  const operation = newOperation({ ...intent, ...claimed })
  const outcome = { kind: 'approved', transactionKey, code: cancelledAtGateway } as const
  await finish(context, operation, outcome, recoveryModes.background)
  return 'repaired'
}

/** Captured for an order that FAILED: it is certain which order it belongs to, and that no credits were granted for it. */
async function returnMoney(
  context: PaymentContext,
  found: OrderForReview,
  paymentKey: string,
  payment: PaymentSnapshot | null,
): Promise<Review> {
  await disagree(context, found, 'CAPTURED_FOR_FAILED_ORDER', paymentKey, detailOf(payment))
  const { customerId, order } = found
  const { orderId, amount } = order
  const reason = 'the order had failed'
  const intent = { customerId, orderId, operationId: newOperationId(), paymentKey, reason }
  const claim = { ...intent, leaseMs: context.settings.operationLeaseMs }
  if (!(await claimReturn(context.database, claim))) return overtaken
  const operation = newOperation({ ...intent, kind: 'RETURN', amount })
  const result = await runOrResume(context, { kind: 'begun', operation }, 'background')
  switch (result?.kind) {
    case 'approved':
      return 'repaired'
    case 'rejected':
      return 'disagrees'
    case 'unknown':
    case undefined:
      return 'unknown'
    default:
      return unreachable(result)
  }
}

function detailOf(payment: PaymentSnapshot | null): PaymentDetail {
  if (!payment) return { status: 'no such payment' }
  const { status, amount, balance, currency } = payment
  return { status, amount, balance, ...(currency !== 'KRW' && { currency }) }
}

/** The subject is the order for its own payment; any other payment is a subject itself, and there may be several. */
async function disagree(
  context: PaymentContext,
  { customerId, order, paymentKey: own }: OrderForReview,
  kind: string,
  paymentKey: string,
  gateway: PaymentDetail,
): Promise<Review> {
  const key = { customerId, orderId: order.orderId }
  const { status: orderStatus, amount: orderAmount, refundedAmount, partsAmount } = order
  const returned = partsAmount + (refundedAmount ?? 0)
  const detail = { paymentKey, orderStatus, orderAmount, ...(returned > 0 && { refundedAmount: returned }), gateway }
  const subject = paymentKey === own ? order.orderId : paymentKey
  const isNew = await saveDiscrepancy(context.database, { kind, subject, order: key, detail })
  if (isNew) context.log.error({ ...key, discrepancy: kind }, 'the gateway and our books disagree')
  return 'disagrees'
}

/** Those that were open when the review began: later ones were found by another process, which saw something else. */
async function resolveSeen(
  context: PaymentContext,
  { customerId, order }: OrderForReview,
  doubts: Doubt[],
): Promise<void> {
  if (doubts.length === 0) return
  const seen = doubts.map(({ discrepancyId }) => discrepancyId)
  const kinds = await resolveDiscrepancies(context.database, seen, 'the gateway and our books agree')
  context.log.warn({ customerId, orderId: order.orderId, discrepancies: kinds }, 'a discrepancy has resolved itself')
}
