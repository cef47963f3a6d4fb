// A call from its first attempt to its end: what is sent again, when, and what the caller is told. One rule decides about
// repeating, one about the outcome, and both are below in full.
import { abortedBy, attempt, type Request } from './attempt.ts'
import { type ClientCode, type CreditsError, errorOf, type Failure, type Outcome, type ServiceCode } from './errors.ts'
import { operations } from './operations.ts'
import { pause, pauseBefore } from './pauses.ts'
import { type CallOptions, limitsOf, type Settings } from './settings.ts'
import type { DataOf, OperationId } from './types.ts'

export type Call = {
  /** Below the base address, encoded, with its query. */
  path: string
  body?: object
  idempotencyKey?: string
}

export async function send<Id extends OperationId>(
  settings: Settings,
  operation: Id,
  call: Call,
  options: CallOptions = {},
): Promise<DataOf<Id>> {
  const limits = limitsOf(settings.limits, options)
  const isSettling = operations[operation].work === 'settle'
  const attemptMs = options.timeoutMs ?? (isSettling ? limits.settleTimeoutMs : limits.timeoutMs)
  const { signal } = options
  const request = requestOf(settings, call)
  const endsAt = performance.now() + limits.deadlineMs
  const earlier: Failure[] = []

  const failed = (failure: Failure, attempts: number): CreditsError => {
    const told = toldInsteadOf(failure, earlier)
    const outcome = outcomeOf(operation, told, attempts)
    return errorOf(told, { operation, outcome, attempts, idempotencyKey: call.idempotencyKey ?? null })
  }

  for (let attempts = 1; ; attempts += 1) {
    if (signal?.aborted) throw failed(abortedBy(signal), earlier.length)
    const leftMs = endsAt - performance.now()
    const answer = await attempt(settings.fetch, request, Math.min(attemptMs, leftMs), signal)
    if (answer.code === 'SUCCESS') return answer.data as DataOf<Id>
    const pauseMs = pauseBefore(attempts + 1, answer.retryAfterMs, limits, Math.random())
    // To wait until the end of the time would only delay the same news. Timers can be early by a millisecond.
    const hasTime = performance.now() + pauseMs + 1 < endsAt
    if (!mayRepeat(answer) || attempts >= limits.maxAttempts || !hasTime) throw failed(answer, attempts)
    earlier.push(answer)
    await pause(pauseMs, signal)
  }
}

function requestOf(settings: Settings, { path, body, idempotencyKey }: Call): Request {
  return {
    url: `${settings.baseUrl}${path}`,
    method: body ? 'POST' : 'GET',
    headers: {
      ...settings.headers,
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'x-idempotency-key': idempotencyKey }),
    },
    body: body ? JSON.stringify(body) : null,
  }
}

/** What a proxy says that has lost the service behind it. */
const lostByProxy = [502, 503, 504]

/**
 * Where the service asks for it, and where nothing was heard. All operations bear it: see their table. Anything else would
 * be answered the same, INT001 included: a bug stays until somebody has mended it.
 */
function mayRepeat({ code, status }: Failure): boolean {
  if (code === 'UNREADABLE_ANSWER') return lostByProxy.includes(status ?? 0)
  return code === 'SVC001' || code === 'CONNECTION_LOST' || code === 'TIMED_OUT'
}

/**
 * What a code says of this attempt and of those before it: `open` leaves both unknown; `refused` is the end of this one,
 * and says nothing of others; `settled` is said of the order, the hold or the payment itself, after all that was done to it.
 */
const meanings: Record<ServiceCode | ClientCode, 'open' | 'refused' | 'settled'> = {
  CONNECTION_LOST: 'open',
  TIMED_OUT: 'open',
  ABORTED: 'open',
  UNREADABLE_ANSWER: 'open',
  SVC001: 'open',
  INT001: 'open',
  INVALID_API_KEY: 'refused',
  AUTH001: 'refused',
  AUTH003: 'refused',
  VAL001: 'refused',
  VAL002: 'refused',
  VAL004: 'refused',
  // A lost attempt may still be on its way, and find enough.
  BUS002: 'refused',
  VAL003: 'settled',
  NOT000: 'settled',
  PAYMENT_CANCEL_FAILED: 'settled',
}

/** An attempt before the last was repeated because it was open. */
function outcomeOf(operation: OperationId, { code }: Failure, attempts: number): Outcome {
  if (operations[operation].work === 'read' || attempts === 0) return 'not-done'
  const meaning = meanings[code]
  return meaning === 'open' || (meaning === 'refused' && attempts > 1) ? 'unknown' : 'not-done'
}

/**
 * The service says once that a payment is cancelled, and then that it cannot be cancelled any more. Behind an open attempt
 * that may be the echo of our own success: the first failure is told instead, which leaves the outcome open. SVC001 is no
 * exception: the service says it too when its database is lost with the cancellation written and the answer not yet sent.
 */
function toldInsteadOf(failure: Failure, earlier: Failure[]): Failure {
  if (failure.code !== 'PAYMENT_CANCEL_FAILED') return failure
  return earlier[0] ?? failure
}
