// Deliveries as one process makes them: a lane for each endpoint that has something due, so that one that hangs holds up
// nobody but itself; and in a lane so many slots, so that a customer's event that hangs holds up no other customer's. Any
// number of processes may have lanes to the same endpoint: they share its queues out.
import { newOperationId } from '../core/ids.ts'
import { type DeliveryContext, deliverQueue, leaseOf } from './deliver.ts'
import { claimQueues, listDueEndpoints, type Queue, wakeQueues } from './queues.sql.ts'

export type Deliverer = {
  /** Opens the lanes that are needed and does not wait for them. */
  run(stopping: AbortSignal): Promise<{ more: boolean }>
  /** When the lanes that are open have come to their end. */
  finish(): Promise<void>
}

const lanesAtMost = 100
/** Queues of one endpoint at a time. */
const slots = 16
/** So many events in a row that an endpoint did not take are an outage: when it takes one again, it is back. */
const outageFailures = 3

export function createDeliverer(context: DeliveryContext): Deliverer {
  const { database, settings, log } = context
  const lanes = new Map<string, Promise<void>>()
  /** Events in a row that were not taken. */
  const failures = new Map<string, number>()

  async function tell(endpointId: string, taken: boolean): Promise<void> {
    const inARow = failures.get(endpointId) ?? 0
    failures.set(endpointId, taken ? 0 : inARow + 1)
    if (taken && inARow >= outageFailures) await wakeQueues(database, endpointId, settings.firstPauseMs)
  }

  async function deliver(queue: Queue, stopping: AbortSignal): Promise<void> {
    const { endpointId } = queue
    const logged = (error: unknown) => log.error({ endpointId, err: error }, 'deliveries to an endpoint broke off')
    // What breaks off is taken up by somebody when its lease is over.
    await deliverQueue(context, queue, stopping, (taken) => tell(endpointId, taken).catch(logged)).catch(logged)
  }

  /** Until there is nothing due any more: whatever slot is free takes the next queue. */
  async function followLane(endpointId: string, stopping: AbortSignal): Promise<void> {
    const busy = new Set<Promise<void>>()
    for (;;) {
      const claim = { endpointId, holderId: newOperationId(), leaseMs: leaseOf(settings), limit: slots - busy.size }
      const queues = stopping.aborted ? [] : await claimQueues(database, claim)
      for (const queue of queues) {
        const delivery = deliver(queue, stopping).finally(() => busy.delete(delivery))
        busy.add(delivery)
      }
      if (busy.size === 0) return
      await Promise.race(busy)
    }
  }

  return {
    async run(stopping) {
      for (const endpointId of await listDueEndpoints(database, [...lanes.keys()], lanesAtMost - lanes.size)) {
        const lane = followLane(endpointId, stopping)
          .catch((error) => log.error({ endpointId, err: error }, 'the lane to an endpoint broke off'))
          .finally(() => lanes.delete(endpointId))
        lanes.set(endpointId, lane)
      }
      return { more: false }
    },
    async finish() {
      await Promise.all(lanes.values())
    },
  }
}
