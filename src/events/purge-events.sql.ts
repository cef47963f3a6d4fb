// Deletes old events of some customers in one statement: from the first on, up to one that a queue still has to deliver or a dead
// letter needs, and never the last. The account counts them. A queue that is idle ends with the last event then: the event that
// it ended with may be deleted.
import { assert } from '../core/assert.ts'
import { type Database, statement } from '../db/database.ts'

// The times of a customer's events have the order of their numbers, and queues only go forward: what is found to be delivered
// stays so. An account that is locked by a payment is left for the next time. Rows are deleted by their place: events are
// never updated, and no plan could read all of them.
const deleteEventsStatement = statement.ofEachGroup(
  'events.deleteEvents',
  `with page as materialized (
    select customer_id, deleted_events, last_event from accounts where customer_id > $2 order by customer_id limit $3
  ),
  due as materialized (
    select p.customer_id, p.deleted_events, least(
        p.last_event,
        (select min(q.next_event) from event_queues q
         where q.customer_id = p.customer_id and q.next_event <= q.last_event),
        (select min(d.event_number) from dead_events d where d.customer_id = p.customer_id)) as first_needed
    from page p
    cross join lateral (
      select created_at from events
      where customer_id = p.customer_id and event_number = p.deleted_events + 1 limit 1) first
    where p.last_event > p.deleted_events + 1 and first.created_at < now() - $1::int * interval '1 day'
    order by p.customer_id
    limit $4
  ),
  old as materialized (
    select d.customer_id, e.event_number
    from due d
    cross join lateral (
      select event_number, created_at from events
      where customer_id = d.customer_id and event_number > d.deleted_events and event_number < d.first_needed
      order by event_number
      limit $5
    ) e
    where e.created_at < now() - $1::int * interval '1 day'
  ),
  locked as materialized (
    select o.*, a.last_event
    from (select customer_id, max(event_number) as last_old, count(*) as events from old group by customer_id
          order by customer_id) o
    cross join lateral (
      select * from accounts a where a.customer_id = o.customer_id and a.deleted_events < o.last_old
      limit 1 for no key update skip locked
    ) a
  ),
  counted as (
    update accounts a set deleted_events = l.last_old from locked l where a.customer_id = l.customer_id
  ),
  moved as (
    update event_queues q set next_event = l.last_event + 1, last_event = l.last_event
    from locked l
    where q.customer_id = l.customer_id and q.next_event > q.last_event and q.last_event <= l.last_old
  ),
  deleted as (
    delete from events e using old o
    where e.customer_id = o.customer_id and e.event_number = o.event_number
      and o.customer_id in (select customer_id from locked)
  )
  select (select customer_id from page order by customer_id desc limit 1) as "last",
    exists (select from locked l where l.events = $5) or exists (select from locked) and (select count(*) from due) = $4
      as "isCut"`,
)

export type OldEvents = {
  keptDays: number
  after: string
  customersRead: number
  customersAtOnce: number
  eventsAtOnce: number
}

/** Reads the customers after one. `last`: the last of them, or null. `isCut`: some was deleted, and there may be more. */
export async function deleteEvents(
  database: Database,
  { keptDays, after, customersRead, customersAtOnce, eventsAtOnce }: OldEvents,
): Promise<{ last: string | null; isCut: boolean }> {
  const values = [keptDays, after, customersRead, customersAtOnce, eventsAtOnce]
  const [row] = await database.run<{ last: string | null; isCut: boolean }>(deleteEventsStatement, values)
  assert(row, 'the statement has one row')
  return row
}
