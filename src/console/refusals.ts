// Why something was refused, for the page: a code of the catalogue says what kind of refusal it is, the reason which one. The page
// has words for each in the reader's language; the sentence is for the trail, the log and whoever looks closer.
import { type ErrorCode, type Refusal, refuse } from '../core/errors.ts'
import type { RefundRefusal } from '../payments/refund.ts'

export type RefusalReason =
  | RefundRefusal
  | ('changed' | 'resolved' | 'suspended key' | 'other days')
  | ('role' | 'password' | 'origin' | 'lapsed password' | 'wrong passwords' | 'signing in' | 'console busy')

type More = { retryAfterSeconds?: number; metadata?: Record<string, unknown> }

export function refuseBecause(
  code: ErrorCode,
  reason: RefusalReason,
  message: string,
  { metadata, ...more }: More = {},
): Refusal {
  return refuse(code, { message, ...more, metadata: { reason, ...metadata } })
}
