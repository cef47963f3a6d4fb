// The port to the payment gateway. Its calls return a value and never throw: `approved`, `rejected` (a definite no), or
// `unknown` (everything else). Unknown is never treated as rejected: only approved and rejected may change an order.
import type { PaidWith } from '../core/paid-with.ts'

export type ConfirmIntent = {
  orderId: string
  paymentKey: string
  /** The order's amount, never the request's. */
  amount: number
  /** The gateway performs a call once per key. A resend has the same key unless `needsNewIdempotencyKey` came back. */
  idempotencyKey: string
}

export type CancelIntent = ConfirmIntent & {
  reason: string
  /** The next and last part that goes back; undefined: all that is left. */
  cancelAmount?: number
  /** With `cancelAmount`: KRW of the payment that had been returned before. */
  returnedBefore?: number
}

/** Stored with a refund that adopts a cancellation made at the gateway. */
export const cancelledAtGateway = 'CANCELLED_AT_GATEWAY'

/** What the buyer finds on the card statement: visible ASCII, the card number masked. Null: the gateway did not send it. */
export type CardSlip = {
  /** https; http only to this machine. */
  receiptUrl: string | null
  cardNumber: string | null
  approvalNumber: string | null
}

/** What is known of a captured payment. It decides nothing. */
export type Slip = CardSlip & { paidWith: PaidWith | null }

export type Approved = {
  kind: 'approved'
  transactionKey: string | null
  /** It was not done by a call of ours: found so at the gateway. */
  code?: typeof cancelledAtGateway
  slip?: Slip
  /** The parts of the amount of a confirm as the gateway sent them, if they do not add up to it. */
  wrongParts?: PaymentDetail
  /** It was done, and the payment has changed since in a way that a person has to look at. */
  discrepancy?: PaymentDetail
}
export type Rejected = {
  kind: 'rejected'
  code: string
  /** The money was captured and refunded since: an earlier answer that the capture was approved is no contradiction. */
  returned?: true
}
export type Unknown = {
  kind: 'unknown'
  /** The gateway's code, or why there is no readable answer. */
  code: string
  /** The gateway will repeat this answer for the idempotency key: the next send needs another one. */
  needsNewIdempotencyKey?: boolean
  /** The gateway answered with a 5xx: whether it repeats that for the key is not known. */
  serverError?: boolean
  /** The answer is about another order or amount, or contradicts itself: a person has to look at it. */
  discrepancy?: PaymentDetail
}

/** The payment as the gateway returned it, for a person. */
export type PaymentDetail = Record<string, string | number | null>

export type Outcome = Approved | Rejected | Unknown

/**
 * The outcome of an earlier call, found by looking the payment up. `unsent`: the payment exists and the call was not made;
 * it may be sent. `absent`: the gateway has no such payment, which proves nothing while the call may be on its way. Both
 * words are also label values of a metric.
 */
export type LookupResult = Outcome | { kind: 'unsent' } | { kind: 'absent' }

/** The amount of a payment: `none` was captured, all of it is `kept`, or part or all of it was refunded (`returned`). */
export type Money = 'none' | 'kept' | 'partly returned' | 'returned'

/** A payment as the gateway has it now. */
export type PaymentSnapshot = {
  kind: 'payment'
  paymentKey: string
  orderId: string
  amount: number
  currency: string
  money: Money
  status: string
  balance: number
  /** The key of the last capture or refund. */
  transactionKey: string | null
  slip?: Slip
  wrongParts?: PaymentDetail
}

export type FetchedPayment = PaymentSnapshot | { kind: 'absent' } | Unknown

/** A capture or a refund in the gateway's list. */
export type Movement = {
  transactionKey: string
  paymentKey: string
  orderId: string
  direction: 'CAPTURE' | 'CANCEL'
  amount: number
  movedAt: Date
}

export type MovementQuery = {
  /** Both included, to the second. */
  from: Date
  to: Date
  /** The last transaction key of the page before. */
  after: string | null
}

/** `next` is where the following page begins; null when this was the last. */
export type MovementPage = { kind: 'page'; movements: Movement[]; next: string | null }

export type GatewayState = {
  /** `untried` until the first call; then what the last call showed. */
  state: 'untried' | 'answering' | 'failing' | 'refusing our credentials'
  since: string | null
}

export type Gateway = {
  confirm(intent: ConfirmIntent): Promise<Outcome>
  cancel(intent: CancelIntent): Promise<Outcome>
  /** What became of an earlier `confirm` with this intent. */
  findConfirm(intent: ConfirmIntent): Promise<LookupResult>
  /** What became of an earlier `cancel` with this intent. */
  findCancel(intent: CancelIntent): Promise<LookupResult>
  /** The payment itself, for comparison with our books. */
  fetchPayment(paymentKey: string): Promise<FetchedPayment>
  /** Oldest first. */
  listMovements(query: MovementQuery): Promise<MovementPage | Unknown>
  state(): GatewayState
  close(): Promise<void>
}
