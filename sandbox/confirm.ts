// POST /v1/payments/confirm: the moment the money is taken. The order of the checks is the order in which Toss is
// known or assumed to look: fields, session, order, amount, state, card company.

import { type ErrorCode, errorAnswer } from './errors.ts'
import { type FieldRule, findBreach, text } from './fields.ts'
import {
  type Checkout,
  checkoutFields,
  checkoutResults,
  finishCheckout,
  koreanTime,
  newTransactionKey,
  type Outcome,
  type Payment,
  type PaymentStatus,
  type Payments,
  refused,
} from './payments.ts'

// The official sample forwards the amount from the query string, so Toss takes a numeric string as well.
const amount: FieldRule = {
  accepts: (value) => Number.isSafeInteger(value) || (typeof value === 'string' && /^\d{1,15}$/.test(value)),
  expected: 'an integer',
}

const confirmFields = { paymentKey: text(200), orderId: text(64), amount }

const refusalOfStatus = {
  IN_PROGRESS: null,
  ABORTED: null, // refused again by the card company, with the same code
  EXPIRED: 'NOT_FOUND_PAYMENT_SESSION',
  DONE: 'ALREADY_PROCESSED_PAYMENT',
  CANCELED: 'ALREADY_PROCESSED_PAYMENT',
  PARTIAL_CANCELED: 'ALREADY_PROCESSED_PAYMENT',
} as const satisfies Record<PaymentStatus, ErrorCode | null>

export function confirm(payments: Payments, strict: boolean, body: unknown, now: Date): Outcome {
  const breach = findBreach(body, confirmFields)
  if (breach !== null) return refused('INVALID_REQUEST', breach)
  const asked = body as { paymentKey: string; orderId: string; amount: number | string }
  const request = { paymentKey: asked.paymentKey, orderId: asked.orderId, amount: Number(asked.amount) }

  const known = payments.find(request.paymentKey)
  if (known !== undefined) return settle(known, request, now)

  const checkout = strict ? null : madeUpCheckout(request)
  if (checkout === null) return refused('NOT_FOUND_PAYMENT_SESSION')
  const checkoutBreach = findBreach(checkout, checkoutFields)
  if (checkoutBreach !== null) return refused('INVALID_REQUEST', checkoutBreach)
  const begun = finishCheckout(checkout, now)
  const { changed, answer } = settle(begun, request, now)
  return { changed: [begun, ...changed], answer }
}

/**
 * A key the sandbox did not issue stands for a checkout that was finished for exactly this order and amount, so that
 * the whole flow can be walked with curl alone. The beginning of the key chooses another course.
 */
function madeUpCheckout(request: { paymentKey: string; orderId: string; amount: number }): Checkout | null {
  if (request.paymentKey.startsWith('missing_')) return null
  return { ...request, result: request.paymentKey.startsWith('decline_') ? 'decline' : 'approve' }
}

function settle(payment: Payment, request: { orderId: string; amount: number }, now: Date): Outcome {
  if (payment.status === 'EXPIRED') return refused('NOT_FOUND_PAYMENT_SESSION')
  if (payment.orderId !== request.orderId) return refused('FORBIDDEN_REQUEST')
  // Toss blocks a differing amount for certain; with which code is not documented, this one is assumed.
  if (payment.amount !== request.amount) return refused('INVALID_REQUEST')

  const statusRefusal = refusalOfStatus[payment.status]
  if (statusRefusal !== null) return refused(statusRefusal)

  const cardRefusal = checkoutResults[payment.result].refusal
  if (cardRefusal !== null) {
    const answer = errorAnswer(cardRefusal)
    const changed: Payment[] =
      payment.status === 'ABORTED' ? [] : [{ ...payment, status: 'ABORTED', failure: answer.error }]
    return { changed, answer }
  }

  const done: Payment = {
    ...payment,
    status: 'DONE',
    approvedAt: koreanTime(now),
    lastTransactionKey: newTransactionKey(),
  }
  return { changed: [done], answer: { status: 200, payment: done } }
}
