// Why the console refused something. The error code gives the kind of refusal, `metadata.reason` which one it is: the page
// translates that. The message is for the action log, the log and the details on the page.
import { type ErrorCode, type Refusal, refuse } from '../core/errors.ts'
import type { AdjustmentRefusal } from '../credits/refusals.ts'
import type { AcceptRefusal, RefundRefusal } from '../payments/refusals.ts'

export type ConsoleRefusal =
  | 'needs one server'
  | RefundRefusal
  | AcceptRefusal
  | AdjustmentRefusal
  | ('changed' | 'resolved' | 'suspended key' | 'other days' | 'too many budgets')
  | ('too many to sort' | 'too many customers' | 'not logged yet' | 'log held back')
  | ('role' | 'password' | 'origin' | 'lapsed password' | 'wrong passwords' | 'signing in' | 'console busy')

type More = { retryAfterSeconds?: number; metadata?: Record<string, unknown> }

export function refuseBecause(
  code: ErrorCode,
  refusal: ConsoleRefusal,
  message: string,
  { metadata, ...more }: More = {},
): Refusal {
  return refuse(code, { message, ...more, metadata: { reason: refusal, ...metadata } })
}
