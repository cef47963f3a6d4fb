// Delivers the events of one queue: at least once, in their order, signed by the Standard Webhooks scheme. An endpoint
// that does not answer with 2xx is tried again with growing pauses; the customer's later events wait behind the one that
// fails. After days it is laid aside as dead, and the next one goes.
import { Webhook } from 'standardwebhooks'
import type { SealingSecret } from '../core/seal.ts'
import type { Tallies } from '../core/tallies.ts'
import type { Database, Log } from '../db/database.ts'
import { type Endpoint, findEndpoint, updateEndpointStatus } from './endpoints.sql.ts'
import { signingSecrets } from './endpoints.ts'
import { listEvents, type StoredEvent } from './events.sql.ts'
import type { Outbound } from './outbound.ts'
import { advanceQueue, buryEvent, failQueue, giveBack, type Queue } from './queues.sql.ts'

export type DeliverySettings = {
  timeoutMs: number
  /** The pause after the first failure; it doubles with each ... */
  firstPauseMs: number
  /** ... up to this. */
  longestPauseMs: number
  /** Failing for longer than that, again and again, an event that is older than that is dead. */
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

/** Events of a queue before the others get their turn. */
const eventsAtATime = 20

/** Nothing dies of fewer failures, whatever the clock says: it may be we who were away. */
const deadAfterAttempts = 10

/** Longer than one delivery: the lease is renewed with each. */
export function leaseOf({ timeoutMs }: DeliverySettings): number {
  return timeoutMs + 15_000
}

/** Told of each event that was taken, or not. */
export type Told = (taken: boolean) => void

/**
 * Delivers what is in a claimed queue and gives it back. Told to stop, it does so after the event that is under way. The
 * endpoint is read anew for each event: a secret that was rotated meanwhile signs, and one that was disabled gets nothing.
 */
export async function deliverQueue(
  context: DeliveryContext,
  claimed: Queue,
  stopping: AbortSignal,
  told: Told,
): Promise<void> {
  const { database, settings } = context
  const { types = [] } = (await findEndpoint(database, claimed.endpointId)) ?? {}
  const events = await listEvents(database, claimed, types, eventsAtATime)
  const listedAtMs = performance.now()
  // Nothing of it is wanted.
  if (events.length === 0) await advanceQueue(database, claimed, claimed.lastEvent + 1, 0)
  let queue = claimed
  for (const event of events) {
    const endpoint = await findEndpoint(database, claimed.endpointId)
    if (endpoint?.status !== 'ACTIVE') return giveBack(database, queue)
    const failure = await send(context, endpoint, event, listedAtMs)
    told(!failure)
    if (failure) return fail(context, endpoint, queue, event, failure)
    context.tallies.deliveries.taken += 1
    // With the last one the lease ends: what has come meanwhile is taken by whoever is next.
    const isLast = event === events.at(-1) || stopping.aborted
    if (!(await advanceQueue(database, queue, event.eventNumber + 1, isLast ? 0 : leaseOf(settings)))) return
    if (isLast) return
    queue = { ...queue, attempts: 0, failingForMs: null }
  }
}

export type Failure = {
  error: string
  /** Undefined when there was no answer. */
  status?: number
  /** What the endpoint asks for. */
  pauseMs: number
}

/** Undefined when it was taken. */
export async function send(
  context: DeliveryContext,
  endpoint: Endpoint,
  event: StoredEvent,
  listedAtMs: number,
): Promise<Failure | undefined> {
  const { eventId, eventNumber, type, data, createdAt, ageMs } = event
  const payload = JSON.stringify({ type, timestamp: createdAt.toISOString(), sequence: eventNumber, data })
  // By the clock of the database: a consumer refuses what is signed minutes off, and a machine's own clock may be wrong.
  const now = new Date(createdAt.getTime() + ageMs + performance.now() - listedAtMs)
  const signatures = sign(context, endpoint, eventId, now, payload)
  if ('error' in signatures) return { error: signatures.error, pauseMs: 0 }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'prepaid-credits',
    'webhook-id': eventId,
    'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
    'webhook-signature': signatures.join(' '),
  }
  const answer = await context.outbound.post(endpoint.url, headers, payload)
  if ('error' in answer) return { error: answer.error, pauseMs: 0 }
  const { status, retryAfter } = answer
  if (status >= 200 && status < 300) return undefined
  return { error: `HTTP ${status}`, status, pauseMs: [429, 503].includes(status) ? readRetryAfter(retryAfter) : 0 }
}

/** A secret that cannot be unsealed (KEY_PEPPER has lost an old one) is a failure like any other: it can be repaired. */
function sign({ sealing }: DeliveryContext, endpoint: Endpoint, eventId: string, now: Date, payload: string) {
  try {
    return signingSecrets(endpoint, sealing, now).map((secret) => new Webhook(secret).sign(eventId, now, payload))
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** Seconds, or a date. 0 for what is neither, or over. */
function readRetryAfter(text = ''): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : 0
}

async function fail(
  { database, settings, log, tallies }: DeliveryContext,
  endpoint: Endpoint,
  queue: Queue,
  event: StoredEvent,
  { error, status, pauseMs: askedPauseMs }: Failure,
): Promise<void> {
  const { customerId, endpointId, attempts } = queue
  const { host } = new URL(endpoint.url)
  const { eventNumber, type } = event
  const fields = { customerId, endpointId, host, eventNumber, type, attempts, error }
  const { firstPauseMs, longestPauseMs, deadAfterMs } = settings
  if (status === 410) {
    await updateEndpointStatus(database, endpointId, 'DISABLED')
    log.error(fields, 'the endpoint is gone (410) and has been disabled')
  } else if (attempts >= deadAfterAttempts && Math.min(queue.failingForMs ?? 0, event.ageMs) >= deadAfterMs) {
    const buried = await buryEvent(database, queue, { eventNumber, error, pauseMs: firstPauseMs })
    if (buried) log.error(fields, 'an event could not be delivered and is laid aside')
    tallies.deliveries[buried ? 'dead' : 'failed'] += 1
    return
  }
  tallies.deliveries.failed += 1
  log.warn(fields, 'an event was not taken')
  const ownPauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts, 20))
  await failQueue(database, queue, {
    error,
    pauseMs: ownPauseMs * (0.75 + 0.5 * Math.random()),
    askedPauseMs: Math.min(longestPauseMs, askedPauseMs),
  })
}
