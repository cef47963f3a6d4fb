// Section 7 of the specification as a table, and how a feature refuses: `throw refuse('NOT000')`. (Where no handler has run,
// src/http writes a code itself.) A code has one HTTP status, so a refusal cannot carry a wrong one; the text is for people and
// may be made more precise. What programs distinguish beyond the code has a reason.

export const catalogue = {
  INVALID_API_KEY: { status: 401, message: 'The Service-Api-Key header is missing or malformed.' },
  AUTH001: { status: 401, message: 'The API key is not recognised.' },
  AUTH003: { status: 403, message: 'The API key is suspended.' },
  VAL001: { status: 400, message: 'The request cannot be parsed.' },
  VAL002: { status: 400, message: 'A required field is missing.' },
  VAL003: { status: 400, message: 'A field has a value that is not allowed.' },
  VAL004: { status: 400, message: 'The request exceeds the size limit.' },
  BUS002: { status: 402, message: 'The credit balance is insufficient.' },
  PAYMENT_CANCEL_FAILED: { status: 400, message: 'The payment could not be cancelled.' },
  NOT000: { status: 404, message: 'Not found.' },
  SVC001: { status: 503, message: 'The payment service is temporarily unavailable. Retry later.' },
  INT001: { status: 500, message: 'Unexpected server error.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof catalogue

/**
 * Why a purchase, a confirm or a cancel is refused, or an order is FAILED: sent as `Refusal-Reason`. Part of the API: within
 * v1 reasons are only added.
 */
export const refusalReasons = {
  'insufficient-funds': 'too little money, or a card with too low a limit: the gateway does not distinguish them',
  'limit-exceeded': 'a limit of the card, the account or the payment method is reached',
  'card-declined': 'the card or account was declined, or cannot be used for this payment',
  'card-expired': 'the card has expired, or its expiry date is wrong',
  'payment-expired': 'the checkout has expired, or the payment before it was confirmed',
  'order-expired': 'the order was not confirmed in time',
  other: 'any other reason, for example a bank that is out of service',
  'wrong-amount': 'the amount is not that of the order',
  'payment-key-of-another-order': 'the payment key belongs to another order',
  'order-not-pending': 'the order is CONFIRMED with another payment, CANCELLED or REFUNDED',
  'credits-spent': 'the credits of the order are spent or held',
  'already-cancelled': 'the payment is cancelled',
  'already-refunded': 'the payment is refunded',
  'not-captured': 'the payment was never captured',
  'refused-by-gateway': 'the gateway refuses the cancellation',
  'pending-orders-limit': 'the customer has as many PENDING orders as it may have',
} as const satisfies Record<string, string>

export type RefusalReason = keyof typeof refusalReasons

export type FieldFault = { field: string; rule: string }

export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly metadata: Record<string, unknown> | null
  /** Sent as Retry-After; only SVC001 has one. */
  readonly retryAfterSeconds: number | null
  /** Sent as Refusal-Reason. */
  readonly reason: RefusalReason | null

  constructor(
    code: ErrorCode,
    message: string,
    metadata: Record<string, unknown> | null,
    { retryAfterSeconds = 1, reason = null }: { retryAfterSeconds?: number; reason?: RefusalReason | null } = {},
  ) {
    // The stack trace is not used, and capturing it is most of what a refusal costs.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.metadata = metadata
    this.retryAfterSeconds = code === 'SVC001' ? retryAfterSeconds : null
    this.reason = reason
  }

  get status(): number {
    return catalogue[this.code].status
  }
}

export function refuse(
  code: ErrorCode,
  details: {
    message?: string
    metadata?: Record<string, unknown>
    retryAfterSeconds?: number
    reason?: RefusalReason
  } = {},
): Refusal {
  const { message = catalogue[code].message, metadata = null, ...headers } = details
  return new Refusal(code, message, metadata, headers)
}

/**
 * VAL002 and VAL003 name the fields: `{ "fields": [{ "field": "amount", "rule": "…" }] }`. A reason is in the metadata, too.
 */
export function refuseFields(
  code: 'VAL002' | 'VAL003',
  fields: FieldFault[],
  message?: string,
  reason?: RefusalReason,
): Refusal {
  const text = message ?? `${catalogue[code].message.slice(0, -1)}: ${fields.map((fault) => fault.field).join(', ')}.`
  return reason ? new Refusal(code, text, { fields, reason }, { reason }) : new Refusal(code, text, { fields })
}
