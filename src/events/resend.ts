// Sends events again for an operator, dead letters or those of an order: at once and outside the queues, the oldest of a
// customer first, and none after one that was not accepted. An endpoint that does not answer at all is skipped for the rest of
// the run. The queues stay as they are: consumers recognise an event they had before by its id.
import { type Deadline, deadlineIn } from '../core/clock.ts'
import { insertAttempt } from './attempts/attempts.sql.ts'
import {
  beforeAllDead,
  countDeadEvents,
  type DeadEvent,
  type DeadKey,
  type DeadOf,
  deadEventsCountedTo,
  deleteDeadEvent,
  listDeadEventsAfter,
} from './dead.sql.ts'
import { type DeliveryContext, type Sent, send } from './deliver.ts'
import { type Endpoint, findEndpoint, listEndpoints } from './endpoints.sql.ts'
import { listEvents, type StoredEvent } from './events.sql.ts'

export type Resent = {
  resent: number
  /** Not sent: an earlier one was not accepted, or there was no time left. */
  left: number
  failed: (DeadKey & { type: string; error: string })[]
}

/** At least one was not accepted. */
export function isPartlyResent({ failed }: { failed: object[] }): boolean {
  return failed.length > 0
}

/** Why an event was not even sent. */
export const notSent = {
  removed: 'the endpoint has been removed',
  disabled: 'the endpoint is disabled',
  noTimeLeft: 'not sent: there was no time left',
  behindAnother: 'not sent: the one before it was not taken',
}

const batchSize = 500

type ResendOptions = {
  onProgress?(done: number, total: number): void
  /** Left out: until all were tried. */
  deadline?: Deadline
}

export async function resendDeadEvents(
  context: DeliveryContext,
  of: DeadOf,
  { onProgress, deadline }: ResendOptions = {},
): Promise<Resent> {
  const result: Resent = { resent: 0, left: 0, failed: [] }
  const counted = await countDeadEvents(context.database, deadEventsCountedTo, of)
  const closed = new Set<string>()
  for (let after: DeadKey = beforeAllDead; ; ) {
    const batch = await listDeadEventsAfter(context.database, after, batchSize, of)
    for (const dead of batch) {
      const done = result.resent + result.left + result.failed.length
      onProgress?.(done, Math.max(done, counted))
      if (deadline?.remainingMs() === 0) return { ...result, left: result.left + Math.max(1, counted - done) }
      const { customerId, endpointId, eventNumber, type } = dead
      const queue = `${endpointId} ${customerId}`
      if (closed.has(endpointId) || closed.has(queue)) {
        result.left += 1
        continue
      }
      const failure = await resendDeadEvent(context, dead)
      if (!failure) result.resent += 1
      else {
        closed.add(failure.status === null ? endpointId : queue)
        result.failed.push({ customerId, endpointId, eventNumber, type, error: failure.error })
      }
    }
    const last = batch.at(-1)
    if (!last || batch.length < batchSize) return result
    after = last
  }
}

type NotTaken = { error: string; status: number | null }

/** Undefined when it was accepted; its dead letter is deleted then. */
async function resendDeadEvent(context: DeliveryContext, dead: DeadEvent): Promise<NotTaken | undefined> {
  const { database } = context
  const { customerId, eventNumber } = dead
  const endpoint = await findEndpoint(database, dead.endpointId)
  const [event] = await listEvents(database, { customerId, nextEvent: eventNumber, lastEvent: eventNumber }, [], 1)
  if (!endpoint || !event) return { error: notSent.removed, status: null }
  if (endpoint.status === 'DISABLED') return { error: notSent.disabled, status: null }
  const { error, status } = await sendAndRecord(context, customerId, endpoint, event, performance.now())
  if (error !== null) return { error, status }
  await deleteDeadEvent(database, dead)
  return undefined
}

async function sendAndRecord(
  context: DeliveryContext,
  customerId: string,
  endpoint: Endpoint,
  event: StoredEvent,
  readAtMs: number,
): Promise<Sent> {
  const attempt = await send(context, endpoint, event, readAtMs)
  await insertAttempt(context.database, { customerId, endpointId: endpoint.endpointId }, attempt)
  return attempt
}

export type ResentToEndpoints = { delivered: number; failed: { endpointId: string; type: string; error: string }[] }

/** As long as a person waits. Deliveries under way then end by their own time limit. */
export const resendMs = 30_000
/** Endpoints at a time. */
const lanes = 8
const maxEndpoints = 1_000

/** To every ACTIVE endpoint that wants their types. The dead letter of one that is accepted is deleted. */
export async function resendEvents(
  context: DeliveryContext,
  customerId: string,
  events: StoredEvent[],
): Promise<ResentToEndpoints> {
  const result: ResentToEndpoints = { delivered: 0, failed: [] }
  const deadline = deadlineIn(resendMs)
  const readAtMs = performance.now()
  const endpoints = await listEndpoints(context.database, maxEndpoints)
  const waiting = endpoints.filter(({ status }) => status === 'ACTIVE').values()

  async function resendTo(endpoint: Endpoint): Promise<void> {
    const { endpointId, types } = endpoint
    let stopped: string | undefined
    for (const event of events.filter(({ type }) => types.length === 0 || types.includes(type))) {
      if (deadline.remainingMs() === 0) stopped ??= notSent.noTimeLeft
      const error = stopped ?? (await sendAndRecord(context, customerId, endpoint, event, readAtMs)).error
      if (error !== null) {
        result.failed.push({ endpointId, type: event.type, error })
        stopped ??= notSent.behindAnother
        continue
      }
      result.delivered += 1
      await deleteDeadEvent(context.database, { customerId, endpointId, eventNumber: event.eventNumber })
    }
  }
  async function runLane(): Promise<void> {
    for (const endpoint of waiting) await resendTo(endpoint)
  }
  // Nothing is sent any more when this returns, whatever it returns.
  const ended = await Promise.allSettled(Array.from({ length: lanes }, runLane))
  const broken = ended.find((lane) => lane.status === 'rejected')
  if (broken) throw broken.reason
  return result
}
