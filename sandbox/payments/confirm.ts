// POST /v1/payments/confirm: captures the money. The order of the checks is the known or assumed order of Toss: fields,
// session, order, amount, state, card company.

import type { Behaviour } from '../faults/behaviour.ts'
import { type ErrorCode, errorAnswer } from '../protocol/errors.ts'
import { type FieldRule, findBreach, text } from '../protocol/fields.ts'
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
import type { EasyPay } from './ways-to-pay.ts'

// The official sample forwards the amount from the query string, so Toss takes a numeric string as well.
const amount: FieldRule = {
  accepts: (value) => Number.isSafeInteger(value) || (typeof value === 'string' && /^\d{1,15}$/.test(value)),
  expected: 'an integer',
}

const confirmFields = { paymentKey: text(200), orderId: text(64), amount }

const refusalOfStatus = {
  READY: 'NOT_FOUND_PAYMENT_SESSION', // the buyer has not authenticated: there is nothing to confirm yet
  IN_PROGRESS: null,
  ABORTED: null, // refused again by the card company, with the same code
  EXPIRED: 'NOT_FOUND_PAYMENT_SESSION',
  DONE: 'ALREADY_PROCESSED_PAYMENT',
  CANCELED: 'ALREADY_PROCESSED_PAYMENT',
  PARTIAL_CANCELED: 'ALREADY_PROCESSED_PAYMENT',
} as const satisfies Record<PaymentStatus, ErrorCode | null>

export type ConfirmRules = {
  payments: Payments
  strict: boolean
  behaviour: Behaviour
  /** Where this server was reached. */
  origin: string
}

export function confirm(rules: ConfirmRules, body: unknown, now: Date): Outcome {
  const { payments, strict } = rules
  const breach = findBreach(body, confirmFields)
  if (breach !== null) return refused('INVALID_REQUEST', breach)
  const fields = body as { paymentKey: string; orderId: string; amount: number | string }
  const request = { paymentKey: fields.paymentKey, orderId: fields.orderId, amount: Number(fields.amount) }

  const known = payments.find(request.paymentKey)
  if (known !== undefined) return decide(rules, known, request, now)

  const checkout = strict ? null : madeUpCheckout(request)
  if (checkout === null) return refused('NOT_FOUND_PAYMENT_SESSION')
  const checkoutBreach = findBreach(checkout, checkoutFields)
  if (checkoutBreach !== null) return refused('INVALID_REQUEST', checkoutBreach)
  const begun = finishCheckout(checkout, now)
  const { changed, answer } = decide(rules, begun, request, now)
  return { changed: [begun, ...changed], answer }
}

/**
 * A key the sandbox did not issue counts as a checkout that was finished for exactly this order and amount, so that the
 * whole flow works with curl alone. Some prefixes of the key choose another outcome.
 */
function madeUpCheckout(request: { paymentKey: string; orderId: string; amount: number }): Checkout | null {
  if (request.paymentKey.startsWith('missing_')) return null
  return { ...request, result: request.paymentKey.startsWith('decline_') ? 'decline' : 'approve' }
}

type ConfirmRequest = { orderId: string; amount: number }

function decide(rules: ConfirmRules, payment: Payment, request: ConfirmRequest, now: Date): Outcome {
  const statusRefusal = refusalOfStatus[payment.status]
  if (statusRefusal === 'NOT_FOUND_PAYMENT_SESSION') return refused(statusRefusal)
  if (payment.orderId !== request.orderId) return refused('FORBIDDEN_REQUEST')
  // Toss refuses a different amount; with which code is not documented.
  if (payment.amount !== request.amount) return refused(rules.behaviour.amountMismatch)
  if (statusRefusal !== null) return refused(statusRefusal)

  const { refusal, silent } = checkoutResults[payment.result]
  if (refusal !== null) {
    const answer = errorAnswer(refusal)
    const aborted: Payment = { ...payment, status: 'ABORTED', sessionEndsAtMs: null, failure: answer.error }
    return { changed: payment.status === 'ABORTED' ? [] : [aborted], answer }
  }

  const done: Payment = {
    ...payment,
    status: 'DONE',
    sessionEndsAtMs: null,
    approvedAt: koreanTime(now),
    receiptOrigin: rules.origin,
    lastTransactionKey: newTransactionKey(),
    ...(payment.easyPay && { easyPay: asReported(payment.easyPay, rules.behaviour) }),
  }
  return { changed: [done], answer: { status: 200, payment: done }, silent }
}

function asReported(easyPay: EasyPay, { easyPayParts }: Behaviour): EasyPay {
  return easyPayParts === 'differ' ? { ...easyPay, discountAmount: easyPay.discountAmount + 100 } : easyPay
}
