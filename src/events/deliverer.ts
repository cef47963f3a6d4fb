// Deliveries of one process: a lane for each endpoint that has events due, so that an endpoint that hangs delays no other; and
// a number of slots in each lane, so that one customer's event that hangs delays no other customer's. Any number of processes
// may have lanes to the same endpoint: they share out its queues.
import { newOperationId } from '../core/ids.ts'
import { createSemaphore } from '../core/limit.ts'
import { type DeliveryContext, deliverQueue, leaseOf } from './deliver.ts'
import { claimQueues, listDueEndpoints, type Queue, wakeQueues } from './queues.sql.ts'

export type Deliverer = {
  /** Opens the lanes that are needed and does not wait for them. */
  run(stopping: AbortSignal): Promise<{ more: boolean }>
  /** Waits for the lanes that are open. */
  finish(): Promise<void>
}

const maxLanes = 100
/** Queues of one endpoint at a time. */
const slotsPerLane = 16
/** This many consecutive failures are an outage: the next event that is accepted ends it. */
const outageFailures = 3

export function createDeliverer(context: DeliveryContext): Deliverer {
  const { database, settings, log } = context
  const lanes = new Map<string, Promise<void>>()
  /** By endpoint, since the last event that was accepted. */
  const failuresInARow = new Map<string, number>()

  async function noteAttempt(endpointId: string, accepted: boolean): Promise<void> {
    const failures = failuresInARow.get(endpointId) ?? 0
    failuresInARow.set(endpointId, accepted ? 0 : failures + 1)
    if (accepted && failures >= outageFailures) await wakeQueues(database, endpointId, settings.firstPauseMs)
  }

  async function deliver(queue: Queue, stopping: AbortSignal): Promise<void> {
    const { endpointId } = queue
    const logError = (error: unknown) => log.error({ endpointId, err: error }, 'deliveries to an endpoint were aborted')
    const onAttempt = (accepted: boolean) => noteAttempt(endpointId, accepted).catch(logError)
    // An aborted queue is claimed again when its lease has ended.
    await deliverQueue(context, queue, stopping, onAttempt).catch(logError)
  }

  /** Until nothing is due: each free slot claims the next queue. */
  async function runLane(endpointId: string, stopping: AbortSignal): Promise<void> {
    const slots = createSemaphore(slotsPerLane)
    for (;;) {
      const claim = { endpointId, holderId: newOperationId(), leaseMs: leaseOf(settings), limit: slots.free() }
      const queues = stopping.aborted ? [] : await claimQueues(database, claim)
      for (const queue of queues) slots.run(() => deliver(queue, stopping))
      if (slots.free() === slotsPerLane) return
      await slots.released()
    }
  }

  return {
    async run(stopping) {
      for (const endpointId of await listDueEndpoints(database, [...lanes.keys()], maxLanes - lanes.size)) {
        const lane = runLane(endpointId, stopping)
          .catch((error) => log.error({ endpointId, err: error }, 'the lane to an endpoint was aborted'))
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
