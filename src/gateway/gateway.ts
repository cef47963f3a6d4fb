// The port to the payment gateway. It answers with a value and never throws: `approved`, `rejected` (a definite no), or
// `unknown` (everything else). Unknown is never treated as rejected: only approved and rejected may change an order.

export type ConfirmIntent = {
  orderId: string
  paymentKey: string
  /** The order's amount, never the request's. */
  amount: number
  /** Belongs to this intent: sent again only when no answer came. */
  idempotencyKey: string
}

export type CancelIntent = ConfirmIntent & { reason: string }

export type Approved = {
  kind: 'approved'
  transactionKey: string | null
  /** It has happened, and something has happened to it since that a person has to look at. */
  discrepancy?: Detail
}
export type Rejected = {
  kind: 'rejected'
  code: string
  /** The money was captured and has been given back since: it does not contradict that the capture was approved. */
  returned?: true
}
export type Unknown = {
  kind: 'unknown'
  /** The gateway's code, or what happened to the exchange. */
  code: string
  /** The gateway gave an answer it will repeat for this idempotency key: the next send needs another one. */
  keySpent?: boolean
  /** The gateway answered, and with a 5xx: whether it repeats that for the key is not known. */
  serverError?: boolean
  /** The gateway speaks of another order or amount, or contradicts itself: something a person has to look at. */
  discrepancy?: Detail
}

/** What the gateway says of the payment, for a person. */
export type Detail = Record<string, string | number | null>

export type Outcome = Approved | Rejected | Unknown

/**
 * What a lookup tells about an earlier send. `unsent`: the payment is there and waits for the call. `absent`: the gateway
 * does not know the payment, which proves nothing while a request may still be on its way.
 */
export type Finding = Outcome | { kind: 'unsent' } | { kind: 'absent' }

/** What became of the amount of a payment: `none` was taken, all of it is `kept`, part or all of it was given back. */
export type Money = 'none' | 'kept' | 'partly returned' | 'returned'

/** A payment as the gateway has it. */
export type Payment = {
  kind: 'payment'
  paymentKey: string
  orderId: string
  amount: number
  currency: string
  money: Money
  status: string
  balance: number
  /** Of the last movement. */
  transactionKey: string | null
}

/** What a look at a payment, without an intent, shows. */
export type Sighting = Payment | { kind: 'absent' } | Unknown

/** Money that the gateway has moved. */
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
  /** The transaction key the page before ended with. */
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
  findConfirm(intent: ConfirmIntent): Promise<Finding>
  findCancel(intent: CancelIntent): Promise<Finding>
  look(paymentKey: string): Promise<Sighting>
  /** In the order of time. */
  listMovements(query: MovementQuery): Promise<MovementPage | Unknown>
  state(): GatewayState
  close(): Promise<void>
}
