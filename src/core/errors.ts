// Section 7 of the specification as a table, and the one way to refuse a caller: `throw refuse('NOT000')`. A code has
// one HTTP status, so a refusal cannot carry a wrong one; the text is for people and may be made more precise.

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

export type FieldFault = { field: string; rule: string }

export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly metadata: Record<string, unknown> | null
  /** Sent as Retry-After; only SVC001 has one. */
  readonly retryAfterSeconds: number | null

  constructor(code: ErrorCode, message: string, metadata: Record<string, unknown> | null, retryAfterSeconds = 1) {
    // The stack trace is not used, and capturing it is most of what a refusal costs.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.metadata = metadata
    this.retryAfterSeconds = code === 'SVC001' ? retryAfterSeconds : null
  }

  get status(): number {
    return catalogue[this.code].status
  }
}

export function refuse(
  code: ErrorCode,
  details: { message?: string; metadata?: Record<string, unknown>; retryAfterSeconds?: number } = {},
): Refusal {
  const { message = catalogue[code].message, metadata = null, retryAfterSeconds } = details
  return new Refusal(code, message, metadata, retryAfterSeconds)
}

/** VAL002 and VAL003 name the fields: `{ "fields": [{ "field": "amount", "rule": "…" }] }`. */
export function refuseFields(code: 'VAL002' | 'VAL003', fields: FieldFault[], message?: string): Refusal {
  const text = message ?? `${catalogue[code].message.slice(0, -1)}: ${fields.map((fault) => fault.field).join(', ')}.`
  return new Refusal(code, text, { fields })
}
