// The queues and dead events of each endpoint, for the pages of events. Queues that wait are in a partial index.
import { type Database, statement } from '../../db/database.ts'

export type WaitingOfEndpoint = { endpointId: string; customers: number; events: number; failingSince: Date | null }

const sumWaitingStatement = statement(
  'console.sumWaitingByEndpoint',
  `select endpoint_id as "endpointId", count(*) as "customers", sum(last_event - next_event + 1)::bigint as "events",
    min(first_failed) as "failingSince"
  from event_queues
  where next_event <= last_event and ($1::text is null or endpoint_id = $1)
  group by endpoint_id`,
)

/** Of the endpoints with events to deliver, or of one. */
export function sumWaiting(database: Database, endpointId: string | null): Promise<WaitingOfEndpoint[]> {
  return database.run<WaitingOfEndpoint>(sumWaitingStatement, [endpointId])
}

const countDeadByEndpointStatement = statement(
  'console.countDeadByEndpoint',
  `select endpoint_id as "endpointId", count(*) as "count"
  from (select endpoint_id from dead_events where $2::text is null or endpoint_id = $2 limit $1) d
  group by endpoint_id`,
)

/** Of all endpoints together, or of one, at most the limit. */
export function countDeadByEndpoint(
  database: Database,
  limit: number,
  endpointId: string | null,
): Promise<{ endpointId: string; count: number }[]> {
  return database.run(countDeadByEndpointStatement, [limit, endpointId])
}

export type QueueOfCustomer = {
  customerId: string
  nextEvent: number
  events: number
  attempts: number
  error: string | null
  nextTryAt: Date
}

const listWaitingQueuesStatement = statement(
  'console.listWaitingQueues',
  `select customer_id as "customerId", next_event as "nextEvent", last_event - next_event + 1 as "events", attempts,
    last_error as "error", due_at as "nextTryAt"
  from event_queues
  where endpoint_id = $1 and next_event <= last_event
  order by due_at, customer_id
  limit $2`,
)

/** The next one due first. */
export function listWaitingQueues(database: Database, endpointId: string, limit: number): Promise<QueueOfCustomer[]> {
  return database.run<QueueOfCustomer>(listWaitingQueuesStatement, [endpointId, limit])
}
