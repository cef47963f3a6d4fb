// A call from its first attempt to its end: what is retried, when, and which error the caller gets. One rule decides
// about retries, one about the outcome; both are below.
import { refusalReasonIn, type Success } from './answer.ts'
import { abortedBy, attempt, type Request } from './attempt.ts'
import { type ClientCode, type CreditsError, errorOf, type Failure, type Outcome, type ServiceCode } from './errors.ts'
import { operations } from './operations.ts'
import { pause, pauseBefore } from './pauses.ts'
import { type CallOptions, limitsOf, type Settings } from './settings.ts'
import type { CardSlip, Confirmation, DataOf, OperationId, PaymentOrder } from './types.ts'

export type Call = {
  /** Below the base URL, encoded, with its query. */
  path: string
  body?: object
  idempotencyKey?: string
}

/** Returns the data of the answer. */
export async function send<Id extends OperationId>(
  settings: Settings,
  operation: Id,
  call: Call,
  options?: CallOptions,
): Promise<DataOf<Id>> {
  const { data } = await sendForAnswer(settings, operation, call, options)
  return data as DataOf<Id>
}

/** Returns the data, and the card slip from the headers. */
export async function sendConfirm(settings: Settings, call: Call, options?: CallOptions): Promise<Confirmation> {
  const { data, headers } = await sendForAnswer(settings, 'confirmPayment', call, options)
  return Object.assign(data as DataOf<'confirmPayment'>, { slip: slipIn(headers) })
}

/** Returns the data, and from the headers the card slip, or why the order is FAILED. */
export async function readStatus(settings: Settings, call: Call, options?: CallOptions): Promise<PaymentOrder> {
  const { data, headers } = await sendForAnswer(settings, 'getPaymentStatus', call, options)
  const more = { slip: slipIn(headers), refusalReason: refusalReasonIn(headers) }
  return Object.assign(data as DataOf<'getPaymentStatus'>, more)
}

function slipIn(headers: Headers): CardSlip {
  return {
    receiptUrl: headers.get('payment-receipt-url'),
    cardNumber: headers.get('payment-card'),
    approvalNumber: headers.get('payment-approval-number'),
  }
}

async function sendForAnswer(
  settings: Settings,
  operation: OperationId,
  call: Call,
  options: CallOptions = {},
): Promise<Success> {
  const limits = limitsOf(settings.limits, options)
  const isSettling = operations[operation].work === 'settle'
  const attemptMs = options.timeoutMs ?? (isSettling ? limits.settleTimeoutMs : limits.timeoutMs)
  const { signal } = options
  const request = requestOf(settings, call)
  const endsAt = performance.now() + limits.deadlineMs
  const earlier: Failure[] = []

  const failed = (failure: Failure, attempts: number): CreditsError => {
    const reported = failureToReport(failure, earlier)
    const outcome = outcomeOf(operation, reported, attempts)
    return errorOf(reported, { operation, outcome, attempts, idempotencyKey: call.idempotencyKey ?? null })
  }

  for (let attempts = 1; ; attempts += 1) {
    if (signal?.aborted) throw failed(abortedBy(signal), earlier.length)
    const leftMs = endsAt - performance.now()
    const last = earlier.at(-1)
    // The timer of the pause was late.
    if (last && leftMs <= 0) throw failed(last, earlier.length)
    const answer = await attempt(settings.fetch, request, Math.min(attemptMs, leftMs), signal)
    if (answer.code === 'SUCCESS') return answer
    const pauseMs = pauseBefore(attempts + 1, answer.retryAfterMs, limits, Math.random())
    // Waiting until the deadline would only delay the same error. A timer can be early, and an attempt that had until the
    // deadline is the last one.
    const wasLast = answer.code === 'TIMED_OUT' && leftMs <= attemptMs
    const hasTime = !wasLast && performance.now() + pauseMs < endsAt
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

/** Statuses of a proxy that cannot reach the service. */
const lostByProxy = [502, 503, 504]

/**
 * When the service requests it, and when there is no answer. Every operation may be retried: see their table. Anything
 * else would be answered the same, INT001 included: a bug stays until it is fixed, and too many PENDING orders until
 * they are paid or expire.
 */
function mayRepeat({ code, status, refusalReason }: Failure): boolean {
  if (code === 'UNREADABLE_ANSWER') return lostByProxy.includes(status ?? 0)
  if (refusalReason === 'pending-orders-limit') return false
  return code === 'SVC001' || code === 'CONNECTION_LOST' || code === 'TIMED_OUT'
}

/**
 * What a code means for this attempt and for those before it: `open` leaves both unknown; `refused` ends this one and
 * leaves the others unknown; `settled` is the state of the order, the hold or the payment after all attempts.
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
  // A lost attempt may still arrive, and find enough credits.
  BUS002: 'refused',
  VAL003: 'settled',
  NOT000: 'settled',
  PAYMENT_CANCEL_FAILED: 'settled',
}

/** An attempt before the last was repeated because it was open. */
function outcomeOf(operation: OperationId, { code, refusalReason }: Failure, attempts: number): Outcome {
  if (operations[operation].work === 'read' || attempts === 0) return 'not-done'
  const meaning = refusalReason === 'pending-orders-limit' ? 'refused' : meanings[code]
  return meaning === 'open' || (meaning === 'refused' && attempts > 1) ? 'unknown' : 'not-done'
}

/**
 * The service answers a cancel with success once, and then with PAYMENT_CANCEL_FAILED. After an open attempt that may
 * be the effect of our own success: the first failure is reported instead, which leaves the outcome open. SVC001 is no
 * exception: the service also sends it when its database is lost after the cancellation was written and before the
 * answer was sent.
 */
function failureToReport(failure: Failure, earlier: Failure[]): Failure {
  if (failure.code !== 'PAYMENT_CANCEL_FAILED') return failure
  return earlier[0] ?? failure
}
