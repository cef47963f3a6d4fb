// POST /v1/payments/{paymentKey}/cancel: refunds the balance or a part of it. Follows two behaviours of Toss that were
// seen live: a payment emptied by partial cancels stays PARTIAL_CANCELED, and cancelling an empty payment is refused
// with a code that depends on how it became empty. After its window a payment cannot be cancelled any more.

import { cancelWindowDays } from '../faults/behaviour.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import { findBreach, integer, optional, text } from '../protocol/fields.ts'
import {
  balanceOf,
  type Cancel,
  koreanTime,
  newTransactionKey,
  type Outcome,
  type Payment,
  type PaymentStatus,
  type Payments,
  refused,
} from './payments.ts'
import { pointsIn } from './ways-to-pay.ts'

const cancelFields = {
  cancelReason: text(200),
  cancelAmount: optional(integer(1)),
  refundableAmount: optional(integer(0)),
}

type CancelBody = { cancelReason: string; cancelAmount?: number | null; refundableAmount?: number | null }

const refusalOfStatus = {
  DONE: null,
  PARTIAL_CANCELED: null,
  CANCELED: 'ALREADY_CANCELED_PAYMENT',
  READY: 'NOT_CANCELABLE_PAYMENT',
  IN_PROGRESS: 'NOT_CANCELABLE_PAYMENT',
  ABORTED: 'NOT_CANCELABLE_PAYMENT',
  EXPIRED: 'NOT_CANCELABLE_PAYMENT',
} as const satisfies Record<PaymentStatus, ErrorCode | null>

export function cancel(
  payments: Payments,
  paymentKey: string,
  body: unknown,
  now: Date,
  windowDays = cancelWindowDays.usual,
): Outcome {
  const breach = findBreach(body, cancelFields)
  if (breach !== null) return refused('INVALID_REQUEST', breach)
  const request = body as CancelBody

  const payment = payments.find(paymentKey)
  if (payment === undefined) return refused('NOT_FOUND_PAYMENT')
  const statusRefusal = refusalOfStatus[payment.status]
  if (statusRefusal !== null) return refused(statusRefusal)
  const closesAtMs = Date.parse(payment.approvedAt ?? '') + windowDays * 24 * 3600_000
  if (now.getTime() >= closesAtMs) {
    return refused('NOT_CANCELABLE_PAYMENT', `The payment could be cancelled for ${windowDays} days.`)
  }

  const balance = balanceOf(payment)
  if ((request.refundableAmount ?? balance) !== balance) return refused('NOT_MATCHES_REFUNDABLE_AMOUNT')
  const cancelAmount = request.cancelAmount ?? balance
  if (balance === 0 || cancelAmount > balance) return refused('NOT_CANCELABLE_AMOUNT')
  if (payment.partialCancelable === false && cancelAmount < balance) return refused('NOT_ALLOWED_PARTIAL_REFUND')

  const points = pointsIn(payment.easyPay, payment.amount - balance, cancelAmount)
  const item: Cancel = {
    transactionKey: newTransactionKey(),
    cancelAmount,
    cancelReason: request.cancelReason,
    canceledAt: koreanTime(now),
    refundableAmount: balance - cancelAmount,
    ...(points > 0 && { easyPayDiscountAmount: points }),
  }
  const cancelled: Payment = {
    ...payment,
    status: cancelAmount === payment.amount ? 'CANCELED' : 'PARTIAL_CANCELED',
    lastTransactionKey: item.transactionKey,
    cancels: [...payment.cancels, item],
  }
  return { changed: [cancelled], answer: { status: 200, payment: cancelled } }
}
