// The queues and dead events of each endpoint, for the pages of events. Queues that wait are in a partial index.
import { type Database, statement } from '../../db/database.ts'

export type WaitingOfEndpoint = { endpointId: string; customers: number; events: number; failingSince: Date | null }

const sumWaitingStatement = statement.global(
  'console.sumWaitingByEndpoint',
  `select endpoint_id as "endpointId", count(*) as "customers", sum(last_event - next_event + 1)::bigint as "events",
    min(first_failed) as "failingSince"
  from event_queues
  where next_event <= last_event and ($1::text is null or endpoint_id = $1)
  group by endpoint_id`,
)

/** Sums over the endpoints with events to deliver, or over one. */
export function sumWaiting(database: Database, endpointId: string | null): Promise<WaitingOfEndpoint[]> {
  return database.run<WaitingOfEndpoint>(sumWaitingStatement, [endpointId])
}

const countDeadByEndpointStatement = statement.ofEachGroup(
  'console.countDeadByEndpoint',
  `select n.endpoint_id as "endpointId", d.count
  from event_endpoints n
  cross join lateral (
    select count(*) as count from (select from dead_events where endpoint_id = n.endpoint_id limit $1) counted
  ) d
  where d.count > 0 and ($2::text is null or n.endpoint_id = $2)`,
)

/** Counts for the endpoints that have dead events, or for one; for each up to the limit. */
export async function countDeadByEndpoint(
  database: Database,
  limit: number,
  endpointId: string | null,
): Promise<Map<string, number>> {
  type Row = { endpointId: string; count: number }
  const counts = new Map<string, number>()
  for (const { endpointId: id, count } of await database.run<Row>(countDeadByEndpointStatement, [limit, endpointId])) {
    counts.set(id, Math.min(limit, (counts.get(id) ?? 0) + count))
  }
  return counts
}

export type QueueOfCustomer = {
  customerId: string
  nextEvent: number
  events: number
  attempts: number
  error: string | null
  nextTryAt: Date
}

const listWaitingQueuesStatement = statement.global(
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
