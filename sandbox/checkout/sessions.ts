// Checkout sessions: one payment window each, from the script's request to the redirect back to the shop. They are in
// memory, beside the payment in the journal: after a restart the buyer starts again, and nothing is charged before
// confirm anyway. A session ends once; a buyer who comes back sees how it ended, and paying again leads to the same
// redirect, never to a second payment.

import { randomBytes } from 'node:crypto'
import type { JournalEntry } from '../journal.ts'
import { authenticateCheckout, openCheckout, type Payment, type Payments } from '../payments/payments.ts'
import type { Choice } from './cards.ts'
import type { CheckoutRequest } from './request.ts'
import type { EndedKind } from './texts.ts'

export type CheckoutHost = {
  clientKey: string
  shopName?: string | undefined
  payments: Payments
  record(entry: JournalEntry): void
  clock: { now(): Date }
}

export type Session = {
  readonly id: string
  readonly request: CheckoutRequest
  readonly paymentKey: string
  readonly seller: string
  ended: { kind: Exclude<EndedKind, 'expired' | 'unknown'>; location: string } | null
}

type FailCode = 'PAY_PROCESS_CANCELED' | 'PAY_PROCESS_ABORTED' | 'REJECT_CARD_COMPANY'
type Messages = Record<FailCode, string>

const maxSessions = 10_000

export function createSessions(host: CheckoutHost) {
  const { now } = host.clock
  const sessions = new Map<string, Session>()

  function open(request: CheckoutRequest): Session {
    const { orderId, amount, orderName, customerKey } = request
    const payment = openCheckout({ orderId, amount, orderName, customerKey }, now())
    host.record({ changed: [payment] })
    const session: Session = {
      id: randomBytes(18).toString('base64url'),
      request,
      paymentKey: payment.paymentKey,
      seller: host.shopName ?? new URL(request.successUrl).host,
      ended: null,
    }
    sessions.set(session.id, session)
    for (const oldest of sessions.keys()) {
      if (sessions.size <= maxSessions) break
      sessions.delete(oldest)
    }
    return session
  }

  /** The payment while the buyer may still act on it. */
  function openPaymentOf(session: Session): Payment | undefined {
    const payment = session.ended ? undefined : host.payments.find(session.paymentKey)
    if (payment?.status !== 'READY') return undefined
    return (payment.sessionEndsAtMs ?? 0) > now().getTime() ? payment : undefined
  }

  return {
    open,
    find: (id: string): Session | undefined => sessions.get(id),
    isOpen: (session: Session): boolean => openPaymentOf(session) !== undefined,

    /** No effect on a session that is not open any more. */
    pay(session: Session, { result, easyPay }: Choice, messages: Messages): void {
      const payment = openPaymentOf(session)
      if (payment === undefined) return
      if (result === null) {
        // The payment stays READY, as when the window is closed: there was no confirm.
        session.ended = { kind: 'refused', location: failLocation(session, 'REJECT_CARD_COMPANY', messages) }
        return
      }
      host.record({ changed: [authenticateCheckout(payment, result, now(), easyPay)] })
      session.ended = { kind: 'paid', location: successLocation(session) }
    },

    cancel(session: Session, messages: Messages): void {
      if (openPaymentOf(session) === undefined) return
      session.ended = { kind: 'canceled', location: failLocation(session, 'PAY_PROCESS_CANCELED', messages) }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

function successLocation({ request, paymentKey }: Session): string {
  const { orderId, amount } = request
  return withQuery(request.successUrl, {
    ...(request.product === 'widgets' && { paymentType: 'NORMAL' }),
    paymentKey,
    orderId,
    amount: String(amount),
  })
}

/** Toss leaves the orderId out when the buyer closes the window, and only then. */
export function failLocation({ request }: Session, code: FailCode, messages: Messages): string {
  const orderId = code === 'PAY_PROCESS_CANCELED' ? {} : { orderId: request.orderId }
  return withQuery(request.failUrl, { code, message: messages[code], ...orderId })
}

/** The shop's own query stays; a parameter of the same name is replaced. */
function withQuery(address: string, parameters: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
