// The last requests of the Toss protocol since the process started, in memory: what a shop sent, and what it got. Shown on
// the page, and what the scenarios check a shop by. The secret key is not in it.

import type { FastifyRequest } from 'fastify'
import type { FaultKind, Operation } from '../faults/faults.ts'
import { koreanTime } from '../payments/payments.ts'

export type LoggedRequest = {
  readonly number: number
  readonly at: string
  readonly operation: Operation
  /** As in the path or the body, null when it is not there. */
  readonly paymentKey: string | null
  readonly orderId: string | null
  readonly amount: number | null
  readonly idempotencyKey: string | null
  /** Whether the answer was the stored one of the idempotency key. */
  replay: boolean
  fault: FaultKind | null
  /** Null: no answer yet, or never one. */
  status: number | null
  /** The error code of the answer. */
  code: string | null
}

const maxRequests = 1_000

export type RequestLog = ReturnType<typeof createRequestLog>

export function createRequestLog() {
  let number = 0
  const requests: LoggedRequest[] = []
  return {
    /** The caller fills in how it was answered. */
    add(operation: Operation, request: FastifyRequest, now: Date): LoggedRequest {
      const fields = { ...asObject(request.body), ...asObject(request.params) }
      const amount = Number(operation === 'cancel' ? fields.cancelAmount : fields.amount)
      number += 1
      const logged: LoggedRequest = {
        number,
        at: koreanTime(now),
        operation,
        paymentKey: asText(fields.paymentKey),
        orderId: asText(fields.orderId),
        amount: Number.isSafeInteger(amount) ? amount : null,
        idempotencyKey: asText(request.headers['idempotency-key']),
        replay: false,
        fault: null,
        status: null,
        code: null,
      }
      requests.push(logged)
      if (requests.length > maxRequests) requests.shift()
      return logged
    },
    /** Oldest first. */
    all: (): readonly LoggedRequest[] => requests,
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Shortened: what a caller sends may be anything. */
function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 300) : null
}
