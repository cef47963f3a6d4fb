// Delivers the events of one queue: at least once, in order, signed by the Standard Webhooks scheme. An event that is not
// answered with 2xx is retried with backoff; the customer's later events wait behind it. After days it becomes a dead letter,
// and the next one is sent.
import { Webhook } from 'standardwebhooks'
import { backoffMs } from '../core/backoff.ts'
import type { SealingSecret } from '../core/seal.ts'
import type { Tallies } from '../core/tallies.ts'
import type { Database, Log } from '../db/database.ts'
import type { Attempt } from './attempts/attempts.sql.ts'
import { type Endpoint, findEndpoint, updateEndpointStatus } from './endpoints.sql.ts'
import { hostOf, signingSecrets } from './endpoints.ts'
import { listEvents, type StoredEvent } from './events.sql.ts'
import type { Outbound } from './outbound.ts'
import { advanceQueue, buryEvent, failQueue, type Queue, releaseQueue } from './queues.sql.ts'

export type DeliverySettings = {
  timeoutMs: number
  /** The pause after the first failure; it doubles with each ... */
  firstPauseMs: number
  /** ... up to this. */
  longestPauseMs: number
  /** An event that is older than this, in a queue that has been failing for longer than this, is dead. */
  deadAfterMs: number
}

export type DeliveryContext = {
  database: Database
  outbound: Outbound
  sealing: readonly SealingSecret[]
  settings: DeliverySettings
  log: Log
  tallies: Tallies
}

/** Events of a queue before other queues are served. */
const eventsAtATime = 20

/** No event is dead after fewer failures, whatever the clock shows: this service itself may have been down. */
const deadAfterAttempts = 10

/** Longer than one delivery; it is renewed with each. */
export function leaseOf({ timeoutMs }: DeliverySettings): number {
  return timeoutMs + 15_000
}

/** Called after each attempt, with whether the endpoint accepted the event. */
export type OnAttempt = (accepted: boolean) => void

/**
 * Delivers the events of a claimed queue and releases it. A stop takes effect after the event under way. The endpoint is read
 * again for each event: a secret that was rotated meanwhile signs, and an endpoint that was disabled gets nothing.
 */
export async function deliverQueue(
  context: DeliveryContext,
  claimed: Queue,
  stopping: AbortSignal,
  onAttempt: OnAttempt,
): Promise<void> {
  const { database, settings } = context
  const { types = [] } = (await findEndpoint(database, claimed.endpointId)) ?? {}
  const events = await listEvents(database, claimed, types, eventsAtATime)
  const listedAtMs = performance.now()
  // The endpoint wants none of these types.
  if (events.length === 0) {
    await advanceQueue(database, claimed, { attempt: null, nextEvent: claimed.lastEvent + 1, leaseMs: 0 })
  }
  let queue = claimed
  for (const event of events) {
    const endpoint = await findEndpoint(database, claimed.endpointId)
    if (endpoint?.status !== 'ACTIVE') return releaseQueue(database, queue)
    const attempt = await send(context, endpoint, event, listedAtMs)
    onAttempt(isAccepted(attempt))
    if (!isAccepted(attempt)) return fail(context, endpoint, queue, event, attempt)
    context.tallies.deliveries.taken += 1
    // The lease ends with the last one: events that came meanwhile are for the next claim.
    const isLast = event === events.at(-1) || stopping.aborted
    const leaseMs = isLast ? 0 : leaseOf(settings)
    if (!(await advanceQueue(database, queue, { attempt, nextEvent: event.eventNumber + 1, leaseMs }))) return
    if (isLast) return
    queue = { ...queue, attempts: 0, failingForMs: null }
  }
}

export type Sent = Attempt & {
  /** What the endpoint asked for with Retry-After. */
  requestedPauseMs: number
}

export function isAccepted({ error }: Pick<Attempt, 'error'>): boolean {
  return error === null
}

export async function send(
  context: DeliveryContext,
  endpoint: Endpoint,
  event: StoredEvent,
  listedAtMs: number,
): Promise<Sent> {
  const { eventId, eventNumber, type, data, createdAt, ageMs } = event
  const payload = JSON.stringify({ type, timestamp: createdAt.toISOString(), sequence: eventNumber, data })
  const beganAtMs = performance.now()
  // By the database's clock: consumers refuse signatures that are minutes off, and this machine's clock may be wrong.
  const now = new Date(createdAt.getTime() + ageMs + beganAtMs - listedAtMs)
  const sent = (answer: { status: number | null; error: string | null; requestedPauseMs?: number }): Sent => {
    const tookMs = Math.round(performance.now() - beganAtMs)
    return { eventNumber, attemptedAt: now, tookMs, requestedPauseMs: 0, ...answer }
  }
  const signatures = sign(context, endpoint, eventId, now, payload)
  if ('error' in signatures) return sent({ status: null, error: signatures.error })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'prepaid-credits',
    'webhook-id': eventId,
    'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
    'webhook-signature': signatures.join(' '),
  }
  const answer = await context.outbound.post(endpoint.url, headers, payload)
  if ('error' in answer) return sent({ status: null, error: answer.error })
  const { status, retryAfter } = answer
  if (status >= 200 && status < 300) return sent({ status, error: null })
  const requestedPauseMs = [429, 503].includes(status) ? readRetryAfter(retryAfter) : 0
  return sent({ status, error: `HTTP ${status}`, requestedPauseMs })
}

/** A secret that cannot be unsealed (KEY_PEPPER lacks an old one) is a failure like any other: it can be repaired. */
function sign({ sealing }: DeliveryContext, endpoint: Endpoint, eventId: string, now: Date, payload: string) {
  try {
    return signingSecrets(endpoint, sealing, now).map((secret) => new Webhook(secret).sign(eventId, now, payload))
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** Seconds, or a date; 0 for anything else and for the past. */
function readRetryAfter(text = ''): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : 0
}

async function fail(
  { database, settings, log, tallies }: DeliveryContext,
  endpoint: Endpoint,
  queue: Queue,
  event: StoredEvent,
  attempt: Sent,
): Promise<void> {
  const { customerId, endpointId, attempts } = queue
  const host = hostOf(endpoint.url)
  const { eventNumber, type } = event
  const fields = { customerId, endpointId, host, eventNumber, type, attempts, error: attempt.error }
  const { firstPauseMs, longestPauseMs, deadAfterMs } = settings
  if (attempt.status === 410) {
    await updateEndpointStatus(database, endpointId, 'DISABLED')
    log.error(fields, 'the endpoint is gone (410) and has been disabled')
  } else if (attempts >= deadAfterAttempts && Math.min(queue.failingForMs ?? 0, event.ageMs) >= deadAfterMs) {
    const isDead = await buryEvent(database, queue, { attempt, pauseMs: firstPauseMs })
    if (isDead) log.error(fields, 'an event could not be delivered and is a dead letter now')
    tallies.deliveries[isDead ? 'dead' : 'failed'] += 1
    return
  }
  tallies.deliveries.failed += 1
  log.warn(fields, 'an event was not accepted')
  await failQueue(database, queue, {
    attempt,
    pauseMs: backoffMs(attempts, { firstMs: firstPauseMs, longestMs: longestPauseMs, jitter: 0.25 }),
    requestedPauseMs: Math.min(longestPauseMs, attempt.requestedPauseMs),
  })
}
