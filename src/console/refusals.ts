// Refusals of the console: the code of the catalogue gives the kind of refusal, the reason names the case. The page has a text
// for each reason in both languages; the message is for the action log, the log and the details on the page.
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
