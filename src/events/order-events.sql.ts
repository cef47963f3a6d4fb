// The events of one order, and how far each has come with each endpoint. Events have no index by order, and need none: an
// order's event is written with the end of an operation, and a customer's events are in the order of time. The number is
// found by bisecting, then a short stretch is read.
import { type Database, statement } from '../db/database.ts'
import type { StoredEvent } from './events.sql.ts'
import type { EventType } from './outbox.sql.ts'

/** When an operation ended that wrote such an event, as JSON has it. */
export type EndOfOrder = { type: EventType; at: string }

// The end of an operation is the beginning of its statement, and the event the time after the wait for the account: no
// statement takes longer than the later margin. Before it lies what is lost by telling the time in milliseconds. Twenty
// looks for a million events, each by its key: the limit leaves no other way.
const findOrderEventsStatement = statement(
  'events.findOrderEvents',
  `with recursive ending as (
    select * from unnest($3::text[], $4::timestamptz[]) as t (type, happened_at)
  ),
  search (type, happened_at, low, high) as (
    select e.type, e.happened_at, 0::bigint, a.last_event
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
  from (select * from search where low >= high) s
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
/** Read behind the place that was found: more than a customer has in the seconds between. */
const stretchOfEvents = 20_000

/** Oldest first. One that was written by a version without events is not there. */
export function findOrderEvents(
  database: Database,
  { customerId, orderId }: { customerId: string; orderId: string },
  ends: EndOfOrder[],
): Promise<StoredEvent[]> {
  const [types, times] = [ends.map(({ type }) => type), ends.map(({ at }) => at)]
  const values = [customerId, orderId, types, times, beforeMs, afterMs, stretchOfEvents]
  return database.run<StoredEvent>(findOrderEventsStatement, values)
}

export type Delivery = {
  eventNumber: number
  endpointId: string
  url: string
  /** NOT_TOLD: the endpoint was added later. */
  state: 'DELIVERED' | 'WAITING' | 'DEAD' | 'NOT_TOLD'
  endpointStatus: 'ACTIVE' | 'DISABLED'
  /** Of the last try, of this event or of one that it waits behind; null: none has failed. */
  error: string | null
  attempts: number
  nextTryAt: Date | null
}

// A queue is about all events that its endpoint wants: what lies before its next event is dealt with.
const listDeliveriesStatement = statement(
  'events.listDeliveries',
  `select v.event_number as "eventNumber", n.endpoint_id as "endpointId", n.url, n.status as "endpointStatus",
    case when d.event_number is not null then 'DEAD'
         when q.endpoint_id is null or v.created_at < n.created_at then 'NOT_TOLD'
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
const endpointsShown = 100

export function listDeliveries(database: Database, customerId: string, eventNumbers: number[]): Promise<Delivery[]> {
  return database.run<Delivery>(listDeliveriesStatement, [customerId, eventNumbers, endpointsShown])
}
