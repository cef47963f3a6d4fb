// Reads an HTTP response. An answer of the service is the envelope of its specification, with a code and the status of
// that code; anything else (a proxy's page, half a document, an unknown code) is reported as not an answer, never
// guessed at.
import { type Failure, statuses } from './errors.ts'
import { retryAfterMs } from './pauses.ts'
import type { RefusalReason } from './types.ts'

export type Success = { code: 'SUCCESS'; data: unknown; headers: Headers }
export type Answer = Success | Failure

type Envelope = {
  success: boolean
  data: unknown
  message: string | null
  code: string
  metadata: Record<string, unknown> | null
}

export function readAnswer(response: Response, text: string): Answer {
  const { status, headers, ok } = response
  const envelope = isJson(headers) ? envelopeIn(text) : null
  if (!envelope) return unreadable(response)
  const { code, data, message, metadata, success } = envelope
  if (code === 'SUCCESS') return success && ok && isObject(data) ? { code, data, headers } : unreadable(response)
  if (success || !isKnown(code) || statuses[code] !== status) return unreadable(response)
  const [retryAfter, refusalReason] = [retryAfterIn(headers), refusalReasonIn(headers)]
  return { code, status, metadata, message: message ?? code, retryAfterMs: retryAfter, refusalReason }
}

function isJson(headers: Headers): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')
}

function envelopeIn(text: string): Envelope | null {
  const value = parse(text)
  if (!isObject(value)) return null
  const { success, message, code, metadata } = value
  const isEnvelope =
    typeof success === 'boolean' &&
    typeof code === 'string' &&
    (message === null || typeof message === 'string') &&
    (metadata === null || isObject(metadata)) &&
    'data' in value
  return isEnvelope ? (value as Envelope) : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isKnown(code: string): code is keyof typeof statuses {
  return Object.hasOwn(statuses, code)
}

function retryAfterIn(headers: Headers): number | null {
  return retryAfterMs(headers.get('retry-after'), Date.now())
}

const refusalReasons: Record<RefusalReason, true> = {
  'insufficient-funds': true,
  'limit-exceeded': true,
  'card-declined': true,
  'card-expired': true,
  'payment-expired': true,
  'order-expired': true,
  other: true,
  'wrong-amount': true,
  'payment-key-of-another-order': true,
  'order-not-pending': true,
  'credits-spent': true,
  'already-cancelled': true,
  'already-refunded': true,
  'not-captured': true,
  'refused-by-gateway': true,
  'pending-orders-limit': true,
}

/** Null for a reason of a newer service, which this version does not know. */
export function refusalReasonIn(headers: Headers): RefusalReason | null {
  const reason = headers.get('refusal-reason') ?? ''
  return Object.hasOwn(refusalReasons, reason) ? (reason as RefusalReason) : null
}

/** Its text is not repeated, because its author is unknown. Its Retry-After is obeyed. */
function unreadable({ status, headers }: Response): Failure {
  const type = headers.get('content-type') ?? 'no content type'
  const message = `The answer is not one of the service: HTTP ${status}, ${type}.`
  const retryAfter = retryAfterIn(headers)
  return { code: 'UNREADABLE_ANSWER', status, metadata: null, message, retryAfterMs: retryAfter, refusalReason: null }
}
