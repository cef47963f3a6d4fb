// Sends dead events again when an operator says so: now and out of turn, but the oldest of a customer first, and none
// before one that is not taken. An endpoint that does not answer at all is left alone for the rest of the run.
import {
  beforeAllDead,
  countDeadEvents,
  type DeadEvent,
  type DeadKey,
  type DeadOf,
  deadEventsCountedTo,
  deleteDeadEvent,
  listDeadEventsAfter,
} from './dead-sql.ts'
import { type DeliveryContext, type Failure, send } from './deliver.ts'
import { findEndpoint } from './endpoint-sql.ts'
import { listEvents } from './event-sql.ts'

export type Resent = {
  resent: number
  /** Not tried, because one before it was not taken. */
  left: number
  failed: (DeadKey & { type: string; error: string })[]
}

const batchSize = 500

export async function resendDeadEvents(
  context: DeliveryContext,
  of: DeadOf,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Resent> {
  const result: Resent = { resent: 0, left: 0, failed: [] }
  const counted = await countDeadEvents(context.database, deadEventsCountedTo, of)
  const closed = new Set<string>()
  for (let after: DeadKey = beforeAllDead; ; ) {
    const batch = await listDeadEventsAfter(context.database, after, batchSize, of)
    for (const dead of batch) {
      const done = result.resent + result.left + result.failed.length
      onProgress(done, Math.max(done, counted))
      const { customerId, endpointId, eventNumber, type } = dead
      const queue = `${endpointId} ${customerId}`
      if (closed.has(endpointId) || closed.has(queue)) {
        result.left += 1
        continue
      }
      const failure = await resendDeadEvent(context, dead)
      if (!failure) result.resent += 1
      else {
        closed.add(failure.status === undefined ? endpointId : queue)
        result.failed.push({ customerId, endpointId, eventNumber, type, error: failure.error })
      }
    }
    const last = batch.at(-1)
    if (!last || batch.length < batchSize) return result
    after = last
  }
}

/** Undefined when it was taken; then it is dead no more. */
async function resendDeadEvent(
  context: DeliveryContext,
  dead: DeadEvent,
): Promise<Pick<Failure, 'error' | 'status'> | undefined> {
  const { database } = context
  const { customerId, eventNumber } = dead
  const endpoint = await findEndpoint(database, dead.endpointId)
  const [event] = await listEvents(database, { customerId, nextEvent: eventNumber, lastEvent: eventNumber }, [], 1)
  if (!endpoint || !event) return { error: 'the endpoint has been removed' }
  if (endpoint.status === 'DISABLED') return { error: 'the endpoint is disabled' }
  const failure = await send(context, endpoint, event, performance.now())
  if (!failure) await deleteDeadEvent(database, dead)
  return failure
}
