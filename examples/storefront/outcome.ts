// The outcome of an order, as far as the shop knows: never a guess. A payment is complete or refused when the service
// answers so; every answer that leaves it open is `unknown`, and the shop checks again.

import type { CardSlip, Confirmation, Order as KnownOrder, OrderStatus, RefusalReason } from '../../client/src/index.ts'
import type { Answer, Api, ApiCode } from './api.ts'
import type { Order, Orders } from './orders.ts'

export type OutcomeKind =
  | 'confirmed'
  | 'refused'
  /** Not paid in time: no card was refused. */
  | 'expired'
  | 'cancelled'
  | 'refunded'
  /** The buyer has not paid yet. */
  | 'awaiting'
  /** The buyer has paid, and this payment does not belong to the order. */
  | 'mismatch'
  | 'unknown'
  | 'missing'

/** Why an order is FAILED. */
export type FailureReason = Extract<
  RefusalReason,
  | 'insufficient-funds'
  | 'limit-exceeded'
  | 'card-declined'
  | 'card-expired'
  | 'payment-expired'
  | 'order-expired'
  | 'other'
>

export type Outcome = {
  kind: OutcomeKind
  code: ApiCode | null
  /** Only for a confirm that has just succeeded: what it added, and the balance right after it. */
  added: { credits: number; balance: number } | null
  confirmedAt: string | null
  slip: CardSlip | null
  paidWith: KnownOrder['paidWith']
  /** What went back, oldest first. */
  refunds: KnownOrder['refunds']
  /** Set when it is refused or expired. */
  failure: FailureReason | null
}

const nothingKnown = {
  code: null,
  added: null,
  confirmedAt: null,
  slip: null,
  paidWith: null,
  refunds: [],
  failure: null,
}

/** The outcome while the confirm has no answer yet. */
export const notKnownYet: Outcome = { ...nothingKnown, kind: 'unknown' }

const ofStatus: Record<OrderStatus, OutcomeKind> = {
  PENDING: 'awaiting',
  CONFIRMED: 'confirmed',
  FAILED: 'refused',
  CANCELLED: 'cancelled',
  REFUNDED: 'refunded',
}

/** What a code means for the payment itself when the answer is not a success. */
const afterConfirm: Record<ApiCode, 'unknown' | 'missing' | 'read status'> = {
  VAL003: 'read status',
  NOT000: 'missing',
  SVC001: 'unknown',
  INT001: 'unknown',
  UNREACHABLE: 'unknown',
  INVALID_API_KEY: 'unknown',
  AUTH001: 'unknown',
  AUTH003: 'unknown',
  VAL001: 'unknown',
  VAL002: 'unknown',
  VAL004: 'unknown',
  BUS002: 'unknown',
  PAYMENT_CANCEL_FAILED: 'unknown',
}

export type Confirm = (order: Order, paymentKey: string) => Promise<Outcome>

/**
 * Confirms go on after the page has been sent: a second request for the same payment joins the running one instead of
 * sending another.
 */
export function createConfirm(api: Api, orders: Orders): Confirm {
  const running = new Map<string, Promise<Outcome>>()
  return (order, paymentKey) => {
    const name = `${order.orderId} ${paymentKey}`
    const known = running.get(name)
    if (known) return known
    const confirm = confirmOrder(api, orders, order, paymentKey).finally(() => running.delete(name))
    running.set(name, confirm)
    return confirm
  }
}

/** The buyer is back with a payment key. Safe to repeat: the service returns its first answer again. */
async function confirmOrder(api: Api, orders: Orders, order: Order, paymentKey: string): Promise<Outcome> {
  const { orderId, amount } = order
  // Before the call: from here on the buyer may have been charged. The first key is kept until a confirm succeeds,
  // because a later address could contain any key.
  const isFirst = order.paymentKey === null
  if (isFirst) orders.paidWith(orderId, paymentKey)
  const answer = await api.confirm({ orderId, paymentKey, amount })
  const outcome = await interpret(api, orderId, answer)
  // As it is now: another confirm of the order may have ended in between.
  const kept = orders.find(orderId)?.paymentKey
  if (answer.ok && kept !== paymentKey) orders.paidWith(orderId, paymentKey)
  if (isFirst && outcome.kind === 'mismatch' && kept === paymentKey) orders.paidWith(orderId, null)
  return outcome
}

async function interpret(api: Api, orderId: string, answer: Answer<Confirmation>): Promise<Outcome> {
  const meaning = answer.ok ? 'read status' : afterConfirm[answer.code]
  const code = answer.ok ? null : answer.code
  if (meaning !== 'read status') return { ...nothingKnown, kind: meaning, code }
  const status = await api.order(orderId)
  if (answer.ok) {
    const { creditsAdded: credits, totalCredits: balance, slip } = answer.data
    const { confirmedAt, paidWith } = status.ok ? status.data : nothingKnown
    return { ...nothingKnown, kind: 'confirmed', added: { credits, balance }, confirmedAt, slip, paidWith }
  }
  if (!status.ok) return { ...nothingKnown, kind: 'unknown', code: status.code }
  return { ...outcomeOf(status.data), ...(status.data.status === 'PENDING' && { kind: 'mismatch' }), code }
}

/** Without a payment key: the state of the order. */
export async function readOutcome(api: Api, order: Order): Promise<Outcome> {
  const status = await api.order(order.orderId)
  if (!status.ok) {
    return { ...nothingKnown, kind: status.code === 'NOT000' ? 'missing' : 'unknown', code: status.code }
  }
  const outcome = outcomeOf(status.data)
  // Pending with a payment key: the buyer has paid, and the last confirm had an unknown outcome.
  return outcome.kind === 'awaiting' && order.paymentKey ? { ...outcome, kind: 'unknown' } : outcome
}

function outcomeOf({ status, confirmedAt, refusalReason, refunds, paidWith, ...slip }: KnownOrder): Outcome {
  const failure = status === 'FAILED' ? (refusalReason ?? 'other') : null
  const isExpired = failure === 'order-expired' || failure === 'payment-expired'
  return {
    ...nothingKnown,
    kind: isExpired ? 'expired' : ofStatus[status],
    confirmedAt,
    slip,
    paidWith,
    refunds,
    failure,
  }
}
