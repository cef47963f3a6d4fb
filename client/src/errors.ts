// All errors of a call as one union discriminated by `code`: the codes of the service, each with its status and the
// type of its metadata, and four of the client's own for a missing answer. `outcome` is the outcome of the request
// itself, over all attempts, which a code alone cannot state.
import type { CodeOf, MetadataOf, OperationId, RefusalReason } from './types.ts'

/** Section 7 of the specification. A code with another status is not an answer of the service. */
export const statuses = {
  INVALID_API_KEY: 401,
  AUTH001: 401,
  AUTH003: 403,
  VAL001: 400,
  VAL002: 400,
  VAL003: 400,
  VAL004: 400,
  BUS002: 402,
  PAYMENT_CANCEL_FAILED: 400,
  NOT000: 404,
  SVC001: 503,
  INT001: 500,
} as const satisfies Record<string, number>

export type ServiceCode = keyof typeof statuses

/**
 * `CONNECTION_LOST`: it could not be opened, or broke before the answer was complete. `TIMED_OUT`: the time of an
 * attempt or of the call was over. `ABORTED`: by the caller's signal. `UNREADABLE_ANSWER`: an answer that is not the
 * service's.
 */
export type ClientCode = 'CONNECTION_LOST' | 'TIMED_OUT' | 'ABORTED' | 'UNREADABLE_ANSWER'

/**
 * What became of this call with all its attempts, and of no call before it. `not-done`: it was refused, and had no
 * effect. `unknown`: it may have been done, or may still be; read the status, or call again with the same input. A
 * cancel is the exception: PAYMENT_CANCEL_FAILED may come because the call before has cancelled, so read the status.
 * Calls that only read are never `unknown`.
 */
export type Outcome = 'not-done' | 'unknown'

type Facts = {
  readonly name: 'CreditsError'
  readonly operation: OperationId
  readonly outcome: Outcome
  /** How many requests were sent. */
  readonly attempts: number
  /** The key of a purchase, given or generated: with it the same purchase can be repeated later. */
  readonly idempotencyKey: string | null
  /** Finds the request in the log of the service. With INT001 only; null with every other code. */
  readonly requestId: string | null
  /** From Retry-After: of the service with SVC001, or of a proxy. */
  readonly retryAfterMs: number | null
  /** Why a purchase, a confirm or a cancel was refused. Null where it is not said, or not known to this version. */
  readonly refusalReason: RefusalReason | null
}

/** The service has answered with this code. */
export type ServiceError<Code extends ServiceCode = ServiceCode> = Code extends ServiceCode
  ? Error &
      Facts & {
        readonly kind: 'answer'
        readonly code: Code
        readonly status: (typeof statuses)[Code]
        readonly metadata: MetadataOf<Code>
      }
  : never

/** There is no answer of the service. `cause` is the error of `fetch`, or the reason of the signal. */
export type NoAnswerError<Code extends ClientCode = ClientCode> = Code extends ClientCode
  ? Error &
      Facts & {
        readonly kind: 'no-answer'
        readonly code: Code
        readonly status: Code extends 'UNREADABLE_ANSWER' ? number : null
        readonly metadata: null
      }
  : never

export type CreditsError = ServiceError | NoAnswerError

/** The errors of one method. */
export type CreditsErrorOf<Id extends OperationId> = (ServiceError<CodeOf<Id>> | NoAnswerError) & {
  readonly operation: Id
}

/** How one attempt has failed. */
export type Failure = {
  code: ServiceCode | ClientCode
  status: number | null
  metadata: Record<string, unknown> | null
  message: string
  retryAfterMs: number | null
  refusalReason: RefusalReason | null
  cause?: unknown
}

/** Works across two copies of this package, where `instanceof` does not. */
const mark = Symbol.for('@prepaid-credits/client.error')

/** Not exported as a value: `instanceof` would narrow to a class, and not to the union. */
class CallFailed extends Error {
  override readonly name = 'CreditsError'
  readonly kind: 'answer' | 'no-answer'
  readonly code: ServiceCode | ClientCode
  readonly status: number | null
  readonly metadata: Record<string, unknown> | null
  readonly operation: OperationId
  readonly outcome: Outcome
  readonly attempts: number
  readonly idempotencyKey: string | null
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  readonly refusalReason: RefusalReason | null

  constructor(failure: Failure, call: Pick<Facts, 'operation' | 'outcome' | 'attempts' | 'idempotencyKey'>) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    const { code, status, metadata } = failure
    this.kind = Object.hasOwn(statuses, code) ? 'answer' : 'no-answer'
    this.code = code
    this.status = status
    this.metadata = metadata
    this.operation = call.operation
    this.outcome = call.outcome
    this.attempts = call.attempts
    this.idempotencyKey = call.idempotencyKey
    this.requestId = typeof metadata?.requestId === 'string' ? metadata.requestId : null
    this.retryAfterMs = failure.retryAfterMs
    this.refusalReason = failure.refusalReason
  }

  get [mark](): true {
    return true
  }
}

export function errorOf(...parts: ConstructorParameters<typeof CallFailed>): CreditsError {
  return new CallFailed(...parts) as Error as CreditsError
}

/** Whether it is an error of this client; with an operation, whether it is one of that operation. */
export function isCreditsError(error: unknown): error is CreditsError
export function isCreditsError<Id extends OperationId>(error: unknown, operation: Id): error is CreditsErrorOf<Id>
export function isCreditsError(error: unknown, operation?: OperationId): boolean {
  if (!(error instanceof Error) || !(mark in error)) return false
  return operation === undefined || (error as CallFailed).operation === operation
}
