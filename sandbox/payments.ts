// The payments in memory, and how one begins: a buyer finished checkout, nothing is charged yet. A payment is an
// immutable value; a change is a new value with the same paymentKey. This file writes nothing: what it returns
// becomes true when the journal has it (exchange.ts), and `put` is called for old and new entries alike.

import { randomInt, randomUUID } from 'node:crypto'
import { type ErrorAnswer, type ErrorCode, errorAnswer } from './errors.ts'
import { integer, oneOf, optional } from './fields.ts'

export type PaymentStatus = 'IN_PROGRESS' | 'DONE' | 'ABORTED' | 'EXPIRED' | 'CANCELED' | 'PARTIAL_CANCELED'

export type Cancel = Readonly<{
  transactionKey: string
  cancelAmount: number
  cancelReason: string
  canceledAt: string
  refundableAmount: number
}>

export type Payment = Readonly<{
  paymentKey: string
  orderId: string
  amount: number
  result: CheckoutResult
  status: PaymentStatus
  requestedAt: string
  approvedAt: string | null
  lastTransactionKey: string | null
  secret: string
  cancels: readonly Cancel[]
  failure: { code: string; message: string } | null
}>

export type Answer = { status: number; payment: Payment } | ErrorAnswer

/** What a request comes to: its answer, and the payment values it produced, oldest first. */
export type Outcome = { changed: Payment[]; answer: Answer }

export function refused(code: ErrorCode, message?: string): Outcome {
  return { changed: [], answer: errorAnswer(code, message) }
}

/** What the checkout leaves behind, and what the card company will say at confirm. */
export const checkoutResults = {
  approve: { status: 'IN_PROGRESS', refusal: null },
  decline: { status: 'IN_PROGRESS', refusal: 'REJECT_CARD_COMPANY' },
  insufficient: { status: 'IN_PROGRESS', refusal: 'REJECT_CARD_PAYMENT' },
  expire: { status: 'EXPIRED', refusal: null },
} as const satisfies Record<string, { status: PaymentStatus; refusal: ErrorCode | null }>

export type CheckoutResult = keyof typeof checkoutResults

export type Checkout = { paymentKey?: string; orderId: string; amount: number; result?: CheckoutResult | null }

const orderIdPattern = /^[A-Za-z0-9_-]{6,64}$/

export const checkoutFields = {
  orderId: {
    accepts: (value: unknown) => typeof value === 'string' && orderIdPattern.test(value),
    expected: '6 to 64 characters out of A-Z a-z 0-9 _ -',
  },
  amount: integer(100),
  result: optional(oneOf(Object.keys(checkoutResults))),
}

export const merchantId = 'sandboxmid'

export function finishCheckout(checkout: Checkout, now: Date): Payment {
  const result = checkout.result ?? 'approve'
  const { status } = checkoutResults[result]
  const requestedAt = koreanTime(now)
  return {
    paymentKey: checkout.paymentKey ?? issuePaymentKey(requestedAt),
    orderId: checkout.orderId,
    amount: checkout.amount,
    result,
    status,
    requestedAt,
    approvedAt: null,
    lastTransactionKey: null,
    secret: `ps_${randomAlphanumeric(28)}`,
    cancels: [],
    failure: status === 'EXPIRED' ? { code: 'EXPIRED_PAYMENT', message: 'The payment has expired.' } : null,
  }
}

export type Payments = ReturnType<typeof createPayments>

export function createPayments() {
  const byPaymentKey = new Map<string, Payment>()
  const latestPaymentKeyOfOrder = new Map<string, string>()
  return {
    put(payment: Payment): void {
      // Only a new attempt becomes the latest; a later cancel of an older one does not.
      if (!byPaymentKey.has(payment.paymentKey)) latestPaymentKeyOfOrder.set(payment.orderId, payment.paymentKey)
      byPaymentKey.set(payment.paymentKey, payment)
    },
    find: (paymentKey: string): Payment | undefined => byPaymentKey.get(paymentKey),
    findLatestOfOrder: (orderId: string): Payment | undefined =>
      byPaymentKey.get(latestPaymentKeyOfOrder.get(orderId) ?? ''),
    all: (): Payment[] => [...byPaymentKey.values()],
  }
}

export function balanceOf(payment: Payment): number {
  return payment.amount - payment.cancels.reduce((sum, cancel) => sum + cancel.cancelAmount, 0)
}

/** ISO 8601 in Korean time to the second, whatever zone the machine is in: 2026-08-10T09:30:00+09:00. */
export function koreanTime(now: Date): string {
  return `${new Date(now.getTime() + 9 * 3600_000).toISOString().slice(0, 19)}+09:00`
}

/** 32 upper-case hex digits. randomUUID draws from a pool, randomBytes asks the kernel each time. */
export function newTransactionKey(): string {
  return randomUUID().replaceAll('-', '').toUpperCase()
}

/** The form seen at Toss, with 20 random characters instead of 5: the key must not be guessable. */
function issuePaymentKey(requestedAt: string): string {
  return merchantId.slice(0, 5) + requestedAt.slice(0, 19).replace(/\D/g, '') + randomAlphanumeric(20)
}

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function randomAlphanumeric(length: number): string {
  return Array.from({ length }, () => alphanumerics[randomInt(alphanumerics.length)]).join('')
}
