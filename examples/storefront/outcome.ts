// The outcome of an order, as far as the shop knows: never a guess. A payment is complete or refused when the service
// answers so; every answer that leaves it open is `unknown`, and the shop checks again.

import type { CardSlip, Confirmation, OrderStatus } from '../../client/src/index.ts'
import type { Answer, Api, ApiCode } from './api.ts'
import type { Order, Orders } from './orders.ts'

export type OutcomeKind =
  | 'confirmed'
  | 'refused'
  | 'cancelled'
  | 'refunded'
  /** The buyer has not paid yet. */
  | 'awaiting'
  /** The buyer has paid, and this payment does not belong to the order. */
  | 'mismatch'
  | 'unknown'
  | 'missing'

export type Outcome = { kind: OutcomeKind; creditsAdded: number | null; code: ApiCode | null; slip: CardSlip | null }

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

/** The buyer is back with a payment key. Safe to repeat: the service returns its first answer again. */
export async function confirmOrder(api: Api, orders: Orders, order: Order, paymentKey: string): Promise<Outcome> {
  const { orderId, amount } = order
  // Before the call: from here on the buyer may have been charged. The first key is kept until a confirm succeeds,
  // because a later address could contain any key.
  const isFirst = order.paymentKey === null
  if (isFirst) orders.paidWith(orderId, paymentKey)
  const answer = await api.confirm({ orderId, paymentKey, amount })
  const outcome = await judge(api, orderId, answer)
  if (answer.ok && !isFirst && order.paymentKey !== paymentKey) orders.paidWith(orderId, paymentKey)
  if (isFirst && outcome.kind === 'mismatch') orders.paidWith(orderId, null)
  return outcome
}

async function judge(api: Api, orderId: string, answer: Answer<Confirmation>): Promise<Outcome> {
  if (answer.ok) {
    const { creditsAdded, slip } = answer.data
    return { kind: 'confirmed', creditsAdded, code: null, slip }
  }
  const { code } = answer
  const meaning = afterConfirm[code]
  if (meaning !== 'read status') return { kind: meaning, creditsAdded: null, code, slip: null }
  const status = await api.status(orderId)
  if (!status.ok) return { kind: 'unknown', creditsAdded: null, code: status.code, slip: null }
  const kind = status.data.status === 'PENDING' ? 'mismatch' : ofStatus[status.data.status]
  return { kind, creditsAdded: null, code, slip: status.data.slip }
}

/** Without a payment key: the status of the order. */
export async function readOutcome(api: Api, order: Order): Promise<Outcome> {
  const status = await api.status(order.orderId)
  if (!status.ok)
    return { kind: status.code === 'NOT000' ? 'missing' : 'unknown', creditsAdded: null, code: status.code, slip: null }
  const { slip } = status.data
  const kind = ofStatus[status.data.status]
  // Pending with a payment key: the buyer has paid, and the last confirm had an unknown outcome.
  return { kind: kind === 'awaiting' && order.paymentKey ? 'unknown' : kind, creditsAdded: null, code: null, slip }
}
