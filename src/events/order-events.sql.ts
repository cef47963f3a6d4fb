// The events of one order and their delivery to each endpoint. Events have no index by order: an order's event is written when
// an operation ends, and a customer's events are ordered by time. So the event is found by a binary search for that time over
// the event numbers, and a short range after it is read.
import { type Database, statement } from '../db/database.ts'
import type { StoredEvent } from './events.sql.ts'
import type { EventType } from './outbox.sql.ts'

/** The end of an operation that wrote an event of this type; the time is text from JSON. */
export type EndOfOrder = { type: EventType; at: string }

// An operation ends at the start of its statement, its event at the time after the wait for the account: no statement takes
// longer than `afterMs`. `beforeMs` covers the precision that is lost by milliseconds. A million events take twenty lookups,
// each by key: `limit 1` leaves the planner no other way.
const findOrderEventsStatement = statement.ofCustomer(
  'events.findOrderEvents',
  `with recursive ending as (
    select * from unnest($3::text[], $4::timestamptz[]) as t (type, happened_at)
  ),
  search (type, happened_at, low, high) as (
    select e.type, e.happened_at, a.deleted_events, a.last_event
    from ending e
    join accounts a on a.customer_id = $1
    union all
    select type, happened_at, case when is_before then middle else low end, case when is_before then high else middle - 1 end
    from (
      select s.*, v.created_at < s.happened_at - $5::int * interval '1 ms' as is_before
      from (select *, (low + high + 1) / 2 as middle from search where low < high) s
      cross join lateral (
        select created_at from events where customer_id = $1 and event_number = s.middle limit 1) v
    ) looked
  )
  select v.event_number as "eventNumber", v.event_id as "eventId", v.type, v.data, v.created_at as "createdAt",
    extract(epoch from now() - v.created_at)::float8 * 1000 as "ageMs"
  from (
    select * from search
    where low >= high and exists (
      select from events e
      where e.customer_id = $1 and e.event_number = low + 1 and e.created_at < happened_at + $6::int * interval '1 ms')
  ) s
  cross join lateral (
    select * from (
      select * from events e
      where e.customer_id = $1 and e.event_number > s.low
      order by e.event_number
      limit $7
    ) stretch
    where stretch.type = s.type and stretch.data ->> 'orderId' = $2
      and stretch.created_at < s.happened_at + $6::int * interval '1 ms'
    limit 1
  ) v
  order by v.event_number`,
)

const beforeMs = 1_000
const afterMs = 10_000
/** Events read after the position that was found: more than a customer has in those seconds. */
const maxEventsRead = 20_000

/** Oldest first. Operations of versions without events have none, and old events are deleted. */
export function findOrderEvents(
  database: Database,
  { customerId, orderId }: { customerId: string; orderId: string },
  ends: EndOfOrder[],
): Promise<StoredEvent[]> {
  const [types, times] = [ends.map(({ type }) => type), ends.map(({ at }) => at)]
  const values = [customerId, orderId, types, times, beforeMs, afterMs, maxEventsRead]
  return database.run<StoredEvent>(findOrderEventsStatement, values)
}

export type Delivery = {
  eventNumber: number
  endpointId: string
  url: string
  /** NOT_SENT: the endpoint did not exist yet. */
  state: 'DELIVERED' | 'WAITING' | 'DEAD' | 'NOT_SENT'
  endpointStatus: 'ACTIVE' | 'DISABLED'
  /** Why the last attempt failed, for this event or for one before it in the queue; null: no failure. */
  error: string | null
  attempts: number
  nextTryAt: Date | null
}

// Events before a queue's next one are done.
const listDeliveriesStatement = statement.ofCustomer(
  'events.listDeliveries',
  `select v.event_number as "eventNumber", n.endpoint_id as "endpointId", n.url, n.status as "endpointStatus",
    case when d.event_number is not null then 'DEAD'
         when q.endpoint_id is null or v.created_at < n.created_at then 'NOT_SENT'
         when q.next_event > v.event_number then 'DELIVERED' else 'WAITING' end as "state",
    case when d.event_number is not null then d.last_error
         when q.next_event <= v.event_number then q.last_error end as "error",
    coalesce(d.attempts, case when q.next_event <= v.event_number then q.attempts end, 0) as "attempts",
    case when d.event_number is null and q.next_event <= v.event_number and n.status = 'ACTIVE'
         then q.due_at end as "nextTryAt"
  from (select * from event_endpoints where status <> 'REMOVED' order by created_at, endpoint_id limit $3) n
  join events v on v.customer_id = $1 and v.event_number = any ($2::bigint[]) and (n.types = '{}' or v.type = any (n.types))
  left join lateral (
    select * from event_queues q where q.customer_id = $1 and q.endpoint_id = n.endpoint_id limit 1) q on true
  left join lateral (
    select * from dead_events d
    where d.customer_id = $1 and d.endpoint_id = n.endpoint_id and d.event_number = v.event_number limit 1) d on true
  order by v.event_number, n.created_at, n.endpoint_id`,
)

/** As many as a person would read. */
const maxEndpointsShown = 100

export function listDeliveries(database: Database, customerId: string, eventNumbers: number[]): Promise<Delivery[]> {
  return database.run<Delivery>(listDeliveriesStatement, [customerId, eventNumbers, maxEndpointsShown])
}
