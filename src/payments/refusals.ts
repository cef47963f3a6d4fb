// Every refusal of a purchase, a confirm, a cancel, a refund and the acceptance of a part: from the situation to code, message,
// metadata and reason. The use cases throw them, and the examples of the API document are made of them. In the metadata of a
// cancel `reason` is the caller's text.
import { type Refusal, type RefusalReason, refuse, refuseFields } from '../core/errors.ts'
import { type FailedConfirm, type FailureReason, failureOf } from './failure-reasons.ts'
import { cancelledElsewhere, type OrderStatus } from './kinds.ts'

function refuseField(field: string, rule: string, message?: string): Refusal {
  return refuseFields('VAL003', [{ field, rule }], message)
}

/** The gateway's answer is not known yet, or another request is still working on the order: to be repeated. */
export const outcomeUnknown = () => refuse('SVC001')

/** The message names the order for operators alone: a customer sees the same answer for a foreign and a missing order. */
export const orderNotFound = (orderId?: string) =>
  refuse('NOT000', orderId === undefined ? {} : { message: `There is no order ${orderId}.` })

export const purchaseRefusals = {
  malformedIdempotencyKey: () => refuseField('X-Idempotency-Key', 'must be 1 to 255 visible ASCII characters, once'),
  idempotencyKeyUsed: () =>
    refuseField(
      'X-Idempotency-Key',
      'belongs to an earlier purchase with another body',
      'The X-Idempotency-Key was used for a purchase with another body.',
    ),
  tooManyPending: (limit: number) =>
    refuse('SVC001', {
      message: `${limit} orders are awaiting confirmation. Retry later.`,
      reason: 'pending-orders-limit',
    }),
}

function refuseConfirm(reason: RefusalReason, field: string, rule: string, message?: string): Refusal {
  return refuseFields('VAL003', [{ field, rule }], message, reason)
}

export const confirmRefusals = {
  wrongAmount: (order: { amount: number }) =>
    refuseConfirm('wrong-amount', 'amount', `must be the amount of the order, ${order.amount}`),
  paymentKeyOfAnotherOrder: () =>
    refuseConfirm('payment-key-of-another-order', 'paymentKey', 'belongs to another order'),
  refusedByGateway: (reason: FailureReason) =>
    refuseConfirm(reason, 'orderId', 'the order is FAILED', 'The payment was refused.'),
  /** A FAILED order has the reason that it failed for, as the confirm that failed it had. */
  notPending(status: OrderStatus, failed: FailedConfirm | null): Refusal {
    const reason = failed ? failureOf(failed) : 'order-not-pending'
    return refuseConfirm(reason, 'orderId', `the order is ${status}`, `The order is ${status}, not PENDING.`)
  },
}

type CancelRequest = { paymentKey: string; reason: string }

const refuseCancel =
  (reason: RefusalReason, message: string) =>
  ({ paymentKey, reason: reasonOfCaller }: CancelRequest) =>
    refuse('PAYMENT_CANCEL_FAILED', { message, metadata: { paymentKey, reason: reasonOfCaller }, reason })

export const cancelRefusals = {
  paymentNotFound: () => refuse('NOT000'),
  notCaptured: refuseCancel('not-captured', 'The payment is not captured: there is nothing to cancel.'),
  alreadyCancelled: refuseCancel('already-cancelled', 'The payment is already cancelled.'),
  alreadyRefunded: refuseCancel('already-refunded', 'The payment is already refunded.'),
  creditsSpentOrHeld: refuseCancel('credits-spent', 'The credits of this payment are spent or set aside.'),
  refusedByGateway: refuseCancel('refused-by-gateway', 'The gateway refused the cancellation.'),
}

/** `open`: another operation on the order has no outcome yet, and no refund was begun. */
export type RefundRefusal =
  | 'open'
  | 'not confirmed'
  | 'refused by the gateway'
  | 'refunded already'
  | 'nothing left'
  | 'below the smallest amount'
  | 'credits held'
  | 'cancelled in part at the gateway'
  | 'changed'

const refuseRefund = (refusal: RefundRefusal, why: string) =>
  refuse('PAYMENT_CANCEL_FAILED', { message: `Not refunded: ${why}.`, metadata: { reason: refusal } })

export const refundRefusals = {
  /** The reason of a refund that a review has found at the gateway: one with it is never sent. */
  reservedReason: () =>
    refuseField(
      'reason',
      'stands for a cancellation that was made at the gateway',
      `The reason "${cancelledElsewhere}" stands for a cancellation that was made there. Give another one.`,
    ),
  notConfirmed: (status: OrderStatus) => refuseRefund('not confirmed', `the order is ${status}, not CONFIRMED`),
  alreadyRefunded: (amount: number) =>
    refuseRefund('refunded already', `${amount} KRW of the order are refunded already`),
  refusedByGateway: () => refuseRefund('refused by the gateway', 'the gateway refused it'),
  nothingLeft: () => refuseRefund('nothing left', 'no credit that was paid for is unused'),
  belowSmallestAmount: (amount: number, smallest: number) =>
    refuseRefund('below the smallest amount', `${amount} KRW are less than the smallest refund, ${smallest} KRW`),
  creditsHeld: (unspent: number, available: number) =>
    refuseRefund(
      'credits held',
      `${unspent} credits would be taken, but holds leave ${available} available; wait until the holds end`,
    ),
  cancelledInPart: () =>
    refuseRefund('cancelled in part at the gateway', 'part of the payment was cancelled at the gateway already'),
  changed: (now: { amount: number; credits: number }) =>
    refuseRefund(
      'changed',
      `credits have moved since the quote: it is ${now.amount} KRW for ${now.credits} credits now. Get a new quote`,
    ),
  othersUnderWay: () =>
    refuse('SVC001', {
      message: 'Not refunded: another cancel or refund of the customer is under way. Try again in a moment.',
      metadata: { reason: 'open' satisfies RefundRefusal, began: false },
    }),
  /** `open` is what the refund was waiting for; null: the claim was lost to another process. */
  outcomeUnknown(why: string, open: { kind: string } | null): Refusal {
    const message = (advice: string) => `Not known yet (${why}). ${advice}`
    if (!open) return refuse('SVC001', { message: message('Look at the order before you try again.') })
    if (open.kind === 'REFUND') {
      return refuse('SVC001', { message: message('The credits are held, and the refund goes on in the background.') })
    }
    const refusal: RefundRefusal = 'open'
    return refuse('SVC001', {
      message: message('No refund was begun: something else on the order is open. Try again in a moment.'),
      metadata: { reason: refusal, began: false },
    })
  },
}

export type AcceptRefusal =
  | ('not partly cancelled' | 'not a part' | 'gateway does not answer' | 'open')
  | ('accepted otherwise' | 'requested already' | 'credits held' | 'changed')

const refuseAccept = (code: 'SVC001' | 'VAL003' | 'PAYMENT_CANCEL_FAILED', refusal: AcceptRefusal, message: string) =>
  refuse(code, { message, metadata: { reason: refusal, ...(code === 'SVC001' && { began: false }) } })

/** For a person who accepts a cancellation that was made at the gateway: nothing was done. */
export const acceptRefusals = {
  notPartlyCancelled: () =>
    refuseAccept(
      'PAYMENT_CANCEL_FAILED',
      'not partly cancelled',
      'The gateway does not show a part of this payment as cancelled that is not accepted yet.',
    ),
  notAPart: () =>
    refuseAccept(
      'VAL003',
      'not a part',
      'The discrepancy is resolved, or is not about a part that was cancelled at the gateway. Nothing was done.',
    ),
  gatewayAway: () =>
    refuseAccept('SVC001', 'gateway does not answer', 'The gateway does not say what was cancelled. Retry later.'),
  open: () =>
    refuseAccept(
      'SVC001',
      'open',
      'A payment, cancel or refund of the customer is open at the gateway. Try again in a moment.',
    ),
  moreThanLeft: (most: number) =>
    refuseField(
      'credits',
      `must be at most ${most}`,
      `At most ${most} credits can be taken: those that the won stand for with the bonus of the order, as far as they are unused.`,
    ),
  requestedOtherwise: (credits: number) =>
    refuseAccept(
      'VAL003',
      'requested already',
      `Not requested: a request with ${credits} credits waits for a second person already.`,
    ),
  creditsHeld: (held: number) =>
    refuseAccept(
      'VAL003',
      'credits held',
      `${held} credits of the order are held, and it is not known whether they will be used. Wait until the holds end.`,
    ),
  acceptedOtherwise: (credits: number) =>
    refuseAccept('VAL003', 'accepted otherwise', `It was accepted before, with ${credits} credits.`),
  changed: () =>
    refuseAccept(
      'VAL003',
      'changed',
      'The order, its credits or what the gateway has returned have changed. Nothing was done. Look at it again.',
    ),
}

/**
 * A refused refund for a caller of the internal API: the metadata of PAYMENT_CANCEL_FAILED are the specification's, and what
 * is wrong here is the order, or the quote.
 */
export function asFieldRefusal(refusal: Refusal): Refusal {
  if (refusal.code === 'SVC001') return outcomeUnknown()
  if (refusal.code !== 'PAYMENT_CANCEL_FAILED') return refusal
  const rule = `${refusal.metadata?.reason}`
  return refuseField(rule === 'changed' ? 'amount' : 'orderId', rule, refusal.message)
}

export type RefundBlock = { refusal: Extract<RefundRefusal, 'open' | 'not confirmed'>; message: string }

/** Whether an order can be refunded now: undefined when it can, else what is in the way. `open` is its open operation. */
export function refundBlockOf(status: OrderStatus, open: { kind: string } | null): RefundBlock | undefined {
  if (open) return { refusal: 'open', message: `A ${open.kind} of the order is under way at the gateway.` }
  if (status !== 'CONFIRMED') return { refusal: 'not confirmed', message: `The order is ${status}, not CONFIRMED.` }
  return undefined
}
