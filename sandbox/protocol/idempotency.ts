// Idempotency-Key as Toss keeps it: an answer, 4xx included, belongs to (secret key, method, path, key) for 15 days;
// the body is not part of that. An answer is kept as its source value instead of as bytes (a payment is a fifth of its
// JSON); payment-object.ts renders the same bytes every time.

import { hash } from 'node:crypto'
import type { Behaviour } from '../faults/behaviour.ts'
import type { Answer } from '../payments/payments.ts'

export const idempotencyKeyMaxLength = 300

const lifetimeMs = 15 * 24 * 3600_000

/** `traceId` is the one of the first answer; a replay names it beside its own. */
export type Answered = { scope: string; atMs: number; traceId: string; answer: Answer }

export type Idempotency = ReturnType<typeof createIdempotency>

export function createIdempotency() {
  const answeredByScope = new Map<string, Answered>()
  const running = new Set<string>()
  return {
    put(answered: Answered): void {
      answeredByScope.set(answered.scope, answered)
    },
    find(scope: string, nowMs: number): Answered | undefined {
      const answered = answeredByScope.get(scope)
      return answered !== undefined && nowMs - answered.atMs < lifetimeMs ? answered : undefined
    },
    running,
  }
}

/** 409: the first request is still running. 429: this one was not admitted. Neither decides anything. */
export function bindsKey(status: number, { replayServerErrors }: Behaviour): boolean {
  if (status >= 500) return replayServerErrors
  return status !== 409 && status !== 429
}

/** Hashed, so that the secret key is not in the journal. */
export function idempotencyScope(secretKey: string, method: string, path: string, key: string): string {
  return hash('sha256', JSON.stringify([secretKey, method, path, key]), 'base64url')
}
