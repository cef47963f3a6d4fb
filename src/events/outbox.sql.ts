// Section 6 of the specification leaves events open; this defines them. An event is written by the statement that causes it,
// in the same commit. Its number comes from the customer's account: there are no gaps, and the order of the numbers is the
// order of what happened. deliver.ts sends them later.
import { greatestUuid } from '../core/ids.ts'

/** The table has them as a check constraint too. */
export const eventTypes = [
  'order.confirmed',
  'order.failed',
  'order.cancelled',
  'order.refunded',
  'credits.low',
  'credits.reversed',
  'credits.adjusted',
  'credits.empty',
  'budget.low',
  'checkpoint.published',
] as const
export type EventType = (typeof eventTypes)[number]

/**
 * The customer of the platform's own events: the largest UUID, of no real customer. It has an account like any other, which
 * numbers its events, and nothing else. Not the smallest one: that stands for budgets over all customers, and iterations over
 * customers begin after it.
 */
export const platformCustomer = greatestUuid

/**
 * CTEs `emitted` and `queued`, from a CTE `event` with the columns customer_id, event_number, type, data, moved_at. The time
 * is that of the movement, so that times and numbers have the same order. The customer's queue is extended at every endpoint
 * that wants the event, also at a disabled one, which gets what it missed when it is enabled again. A queue that was idle
 * becomes due now; one that waits after a failure keeps waiting.
 */
export const emitEvents = `
  emitted as (
    insert into events (customer_id, event_number, type, data, created_at)
    select customer_id, event_number, type, data, moved_at from event
    returning customer_id, event_number, type
  ),
  queued as (
    insert into event_queues as q (customer_id, endpoint_id, next_event, last_event)
    select customer_id, endpoint_id, min(event_number), max(event_number)
    from emitted
    join event_endpoints e on e.status <> 'REMOVED' and (e.types = '{}' or emitted.type = any (e.types))
    group by customer_id, endpoint_id
    order by customer_id, endpoint_id
    on conflict (customer_id, endpoint_id) do update
    set next_event = case when q.next_event > q.last_event then excluded.next_event else q.next_event end,
        due_at = case when q.next_event > q.last_event then now() else q.due_at end,
        last_event = excluded.last_event
  )`
