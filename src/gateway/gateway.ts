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

export type Approved = { kind: 'approved'; transactionKey: string | null }
export type Rejected = { kind: 'rejected'; code: string }
export type Unknown = {
  kind: 'unknown'
  /** The gateway's code, or what happened to the exchange. */
  code: string
  /** The gateway gave an answer it will repeat for this idempotency key: the next send needs another one. */
  keySpent?: boolean
  /** The gateway speaks of another order or amount: something a person has to look at. */
  discrepancy?: Record<string, string | number | null>
}

export type Outcome = Approved | Rejected | Unknown

/**
 * What a lookup tells about an earlier send. `unsent`: the payment is there and waits for the call. `absent`: the gateway
 * does not know the payment, which proves nothing while a request may still be on its way.
 */
export type Finding = Outcome | { kind: 'unsent' } | { kind: 'absent' }

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
  state(): GatewayState
  close(): Promise<void>
}
