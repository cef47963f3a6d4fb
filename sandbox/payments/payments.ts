// The payments in memory, and how one begins: a buyer opens the checkout and authenticates there, nothing is charged
// yet. A payment is an immutable value; a change is a new value with the same paymentKey. This file writes nothing: its
// results take effect when they are in the journal (state.ts), which calls `put` for replayed and new values alike.

import { randomBytes, randomUUID } from 'node:crypto'
import { type ErrorAnswer, type ErrorCode, errorAnswer } from '../protocol/errors.ts'
import { integer, oneOf, optional, trueOrFalse } from '../protocol/fields.ts'
import { type EasyPay, easyPayOf, type PaidWith, paidWithFields } from './ways-to-pay.ts'

export type PaymentStatus = 'READY' | 'IN_PROGRESS' | 'DONE' | 'ABORTED' | 'EXPIRED' | 'CANCELED' | 'PARTIAL_CANCELED'

export type Cancel = Readonly<{
  transactionKey: string
  cancelAmount: number
  cancelReason: string
  canceledAt: string
  refundableAmount: number
  /** How much of it was points; absent: nothing. */
  easyPayDiscountAmount?: number
}>

export type Payment = Readonly<{
  paymentKey: string
  orderId: string
  amount: number
  orderName?: string
  customerKey?: string
  metadata?: Readonly<Record<string, string>>
  /** Null until the buyer has chosen it. */
  method: '카드' | '간편결제' | null
  /** Absent: paid with a card alone. */
  easyPay?: EasyPay
  /** Absent: it is. */
  partialCancelable?: false
  result: CheckoutResult
  status: PaymentStatus
  /** When it expires unless the buyer or the shop continues; null once it cannot expire any more. */
  sessionEndsAtMs: number | null
  requestedAt: string
  approvedAt: string | null
  /** Where this server was reached when it approved the payment: the receipt is a page of it. */
  receiptOrigin?: string
  lastTransactionKey: string | null
  secret: string
  cancels: readonly Cancel[]
  failure: { code: string; message: string } | null
}>

export type Answer = { status: number; payment: Payment } | { status: number; rows: object[] } | ErrorAnswer

/** The result of a request: its answer, and the payment values it produced, oldest first. */
export type Outcome = {
  changed: Payment[]
  answer: Answer
  /** The answer is never sent, as with the fault hang-after. */
  silent?: boolean
}

export function refused(code: ErrorCode, message?: string): Outcome {
  return { changed: [], answer: errorAnswer(code, message) }
}

/** The status after the checkout, and the card company's answer at confirm. */
export const checkoutResults = {
  approve: { status: 'IN_PROGRESS', refusal: null, silent: false },
  decline: { status: 'IN_PROGRESS', refusal: 'REJECT_CARD_COMPANY', silent: false },
  insufficient: { status: 'IN_PROGRESS', refusal: 'REJECT_CARD_PAYMENT', silent: false },
  limit: { status: 'IN_PROGRESS', refusal: 'EXCEED_MAX_AMOUNT', silent: false },
  'expired-card': { status: 'IN_PROGRESS', refusal: 'INVALID_CARD_EXPIRATION', silent: false },
  expire: { status: 'EXPIRED', refusal: null, silent: false },
  hang: { status: 'IN_PROGRESS', refusal: null, silent: true },
} as const satisfies Record<string, { status: PaymentStatus; refusal: ErrorCode | null; silent: boolean }>

export type CheckoutResult = keyof typeof checkoutResults

export type Checkout = PaidWith & {
  paymentKey?: string
  orderId: string
  amount: number
  result?: CheckoutResult | null | undefined
  partialCancelable?: boolean | null | undefined
}

const orderIdPattern = /^[A-Za-z0-9_-]{6,64}$/

export const checkoutFields = {
  orderId: {
    accepts: (value: unknown) => typeof value === 'string' && orderIdPattern.test(value),
    expected: '6 to 64 characters out of A-Z a-z 0-9 _ -',
  },
  amount: integer(100),
  result: optional(oneOf(Object.keys(checkoutResults))),
  ...paidWithFields,
  partialCancelable: optional(trueOrFalse),
}

export const merchantId = 'sandboxmid'

/** How long the buyer has to authenticate, and how long the shop then has to confirm. */
export const sessionMs = { READY: 30 * 60_000, IN_PROGRESS: 10 * 60_000 } as const

export type OpenedCheckout = {
  paymentKey?: string
  orderId: string
  amount: number
  orderName?: string
  customerKey?: string | null
  metadata?: Record<string, string> | null
}

/** The payment window is open: READY. */
export function openCheckout(checkout: OpenedCheckout, now: Date): Payment {
  const { orderId, amount, orderName, customerKey, metadata } = checkout
  const requestedAt = koreanTime(now)
  return {
    paymentKey: checkout.paymentKey ?? issuePaymentKey(requestedAt),
    orderId,
    amount,
    ...(orderName !== undefined && { orderName }),
    ...(customerKey && { customerKey }),
    ...(metadata && { metadata }),
    method: null,
    result: 'approve',
    status: 'READY',
    sessionEndsAtMs: now.getTime() + sessionMs.READY,
    requestedAt,
    approvedAt: null,
    lastTransactionKey: null,
    secret: `ps_${randomAlphanumeric(28)}`,
    cancels: [],
    failure: null,
  }
}

/** The buyer has chosen how to pay and authenticated: IN_PROGRESS, or EXPIRED when that is the chosen result. */
export function authenticateCheckout(
  payment: Payment,
  result: CheckoutResult,
  now: Date,
  easyPay: EasyPay | null = null,
): Payment {
  if (payment.status !== 'READY') throw new Error(`A payment that is ${payment.status} cannot be authenticated.`)
  const authenticated: Payment = {
    ...payment,
    method: easyPay === null ? '카드' : '간편결제',
    ...(easyPay !== null && { easyPay }),
    result,
    status: 'IN_PROGRESS',
    sessionEndsAtMs: now.getTime() + sessionMs.IN_PROGRESS,
  }
  return checkoutResults[result].status === 'EXPIRED' ? expired(authenticated) : authenticated
}

/** Both at once. */
export function finishCheckout({ result, partialCancelable, ...checkout }: Checkout, now: Date): Payment {
  const easyPay = easyPayOf(checkout, checkout.amount)
  const payment = authenticateCheckout(openCheckout(checkout, now), result ?? 'approve', now, easyPay)
  return partialCancelable === false ? { ...payment, partialCancelable } : payment
}

export function expired(payment: Payment): Payment {
  const failure = { code: 'EXPIRED_PAYMENT', message: 'The payment has expired.' }
  return { ...payment, status: 'EXPIRED', sessionEndsAtMs: null, failure }
}

export type Payments = ReturnType<typeof createPayments>

export function createPayments() {
  const byPaymentKey = new Map<string, Payment>()
  const latestPaymentKeyOfOrder = new Map<string, string>()
  // Sessions of a status last equally long, so the first one put ends first.
  const sessions = { READY: new Map<string, Payment>(), IN_PROGRESS: new Map<string, Payment>() }
  return {
    put(payment: Payment): void {
      const { paymentKey, status } = payment
      // Only a new attempt becomes the latest; a later cancel of an older one does not.
      if (!byPaymentKey.has(paymentKey)) latestPaymentKeyOfOrder.set(payment.orderId, paymentKey)
      byPaymentKey.set(paymentKey, payment)
      sessions.READY.delete(paymentKey)
      sessions.IN_PROGRESS.delete(paymentKey)
      if ((status === 'READY' || status === 'IN_PROGRESS') && payment.sessionEndsAtMs) {
        sessions[status].set(paymentKey, payment)
      }
    },
    find: (paymentKey: string): Payment | undefined => byPaymentKey.get(paymentKey),
    findLatestOfOrder: (orderId: string): Payment | undefined =>
      byPaymentKey.get(latestPaymentKeyOfOrder.get(orderId) ?? ''),
    all: (): Payment[] => [...byPaymentKey.values()],
    listEndedSessions(nowMs: number): Payment[] {
      const ended: Payment[] = []
      for (const session of Object.values(sessions)) {
        for (const payment of session.values()) {
          if ((payment.sessionEndsAtMs ?? 0) > nowMs) break
          ended.push(payment)
        }
      }
      return ended
    },
  }
}

export function balanceOf(payment: Payment): number {
  return payment.amount - payment.cancels.reduce((sum, cancel) => sum + cancel.cancelAmount, 0)
}

/** ISO 8601 in Korean time to the second, whatever zone the machine is in: 2026-08-10T09:30:00+09:00. */
export function koreanTime(now: Date): string {
  return `${new Date(now.getTime() + 9 * 3600_000).toISOString().slice(0, 19)}+09:00`
}

/** As in webhooks: the same time without its zone, to the microsecond: 2026-08-10T09:30:00.123000. */
export function koreanLocalTime(atMs: number): string {
  return `${new Date(atMs + 9 * 3600_000).toISOString().slice(0, 23)}000`
}

/** 32 upper-case hex digits. randomUUID draws from a pool, randomBytes calls the kernel each time. */
export function newTransactionKey(): string {
  return randomUUID().replaceAll('-', '').toUpperCase()
}

/** The form seen at Toss, with 20 random characters instead of 5: the key must not be guessable. */
function issuePaymentKey(requestedAt: string): string {
  return merchantId.slice(0, 5) + requestedAt.slice(0, 19).replace(/\D/g, '') + randomAlphanumeric(20)
}

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Bytes past the last multiple of 62 are dropped: each character has the same probability. */
export function randomAlphanumeric(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += alphanumerics[byte % 62]
  }
  return text
}
