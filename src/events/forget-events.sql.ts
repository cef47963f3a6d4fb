// Deletes old events of some customers in one statement: from the first on, up to one that a queue or a dead letter still needs,
// and never the last. The account counts them.
import { assert } from '../core/assert.ts'
import { type Database, statement } from '../db/database.ts'

// The times of a customer's events have the order of their numbers, and queues only go forward: what is found to be delivered
// stays so. An account that is locked by a payment is left for the next time.
const deleteEventsStatement = statement(
  'events.deleteEvents',
  `with page as (
    select customer_id, deleted_events, last_event from accounts where customer_id > $2 order by customer_id limit $3
  ),
  old as (
    select p.customer_id, e.last_old, e.count = $4 as is_cut
    from page p
    cross join lateral (
      select least(
        p.last_event,
        (select min(least(q.next_event, q.last_event)) from event_queues q where q.customer_id = p.customer_id),
        (select min(d.event_number) from dead_events d where d.customer_id = p.customer_id)) as first_needed
    ) n
    cross join lateral (
      select max(event_number) as last_old, count(*) as count
      from (
        select event_number, created_at from events
        where customer_id = p.customer_id and event_number > p.deleted_events and event_number < n.first_needed
        order by event_number
        limit $4
      ) first
      where created_at < now() - $1::int * interval '1 day'
    ) e
    where e.last_old is not null
  ),
  locked as (
    select o.*
    from old o
    cross join lateral (
      select from accounts a where a.customer_id = o.customer_id limit 1 for no key update skip locked) a
    order by o.customer_id
  ),
  counted as (
    update accounts a set deleted_events = l.last_old
    from locked l
    where a.customer_id = l.customer_id and a.deleted_events < l.last_old
    returning a.customer_id, a.deleted_events
  ),
  deleted as (
    delete from events e using counted c where e.customer_id = c.customer_id and e.event_number <= c.deleted_events
  )
  select (select customer_id from page order by customer_id desc limit 1) as "last",
    coalesce((select bool_or(l.is_cut) from locked l), false) as "isCut"`,
)

export type OldEvents = { keptDays: number; after: string; customersAtOnce: number; eventsAtOnce: number }

/** Of the customers after one. `last`: the last of them; null: there is none. `isCut`: one of them may have more. */
export async function deleteEvents(
  database: Database,
  { keptDays, after, customersAtOnce, eventsAtOnce }: OldEvents,
): Promise<{ last: string | null; isCut: boolean }> {
  const values = [keptDays, after, customersAtOnce, eventsAtOnce]
  const [row] = await database.run<{ last: string | null; isCut: boolean }>(deleteEventsStatement, values)
  assert(row, 'the statement has one row')
  return row
}
