// Fails PENDING orders that nobody has begun to confirm in time (section 3, decision: 24 hours). An order with an open
// confirm is left alone: the worker settles that first. The expiry is recorded as the order's confirm in state EXPIRED,
// so it meets a confirm of the same moment at the same unique index, and one of the two is refused.
import { createBatch, runAll } from '../../core/batch.ts'
import { batchSizesOf, createTallies, type Tallies } from '../../core/tallies.ts'
import { applyMovements, lockAccountsOf } from '../../credits/ledger.sql.ts'
import { blame, type Database, statement } from '../../db/database.ts'
import { byOrdinal, columns } from '../../db/set-wise.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { type OrderKey, orderEventData } from '../orders.sql.ts'

/** What one round takes. */
const roundSize = 500

// The look for open operations is a first sieve, as old as the statement; the index decides.
const listDueOrdersStatement = statement(
  'payments.listDueOrders',
  `select o.customer_id as "customerId", o.order_id as "orderId"
  from orders o
  where o.status = 'PENDING' and o.created_at < now() - $1::bigint * interval '1 ms'
    and not exists (select from payment_operations p
                    where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN')
  limit $2`,
)

// Rows that somebody works on are skipped and come next time.
const expireOrdersStatement = statement(
  'payments.expireOrders',
  `with recursive due as (
    select i.ordinal, o.customer_id, o.order_id, o.package_type, o.amount, o.credits, gen_random_uuid() as operation_id,
           greatest(o.created_at, now()) as expired_at
    from orders o
    join unnest($1::uuid[], $2::text[]) with ordinality as i (customer_id, order_id, ordinal) using (customer_id, order_id)
    where o.status = 'PENDING'
    order by o.customer_id, o.order_id
    for no key update of o skip locked
  ),
  expired as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, amount, state, holder_id, lease_until, opened_at, closed_at, closed_by)
    select customer_id, operation_id, order_id, 'CONFIRM', amount, 'EXPIRED', operation_id, now(), expired_at, expired_at,
           operation_id
    from due
    on conflict do nothing
    returning customer_id, order_id, closed_at
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by order_id) as turn, null::text as kind,
           0 as delta, 0 as held_delta, order_id, null::text as reference, null::uuid as hold_id,
           null::text as service_id, 1 as events, closed_at as not_before
    from expired
  ),${lockAccountsOf('movement')},${applyMovements},
  event as (
    select customer_id, m.first_event as event_number, 'order.failed' as type,
           ${orderEventData({ order: 'd', status: "'FAILED'", available: 'm.available' })} as data, m.moved_at
    from due d
    join moved m using (customer_id, order_id)
  ),${emitEvents}
  update orders o
  set status = 'FAILED'
  from expired e
  join due d using (customer_id, order_id)
  where o.customer_id = e.customer_id and o.order_id = e.order_id
  returning d.ordinal`,
)

/**
 * The number of orders that were failed; a full round asks to come again. Behind a batch: an account that somebody keeps
 * does not keep the orders of others. The first failure is told when all is done.
 */
export async function expireOrders(
  database: Database,
  pendingOrderLifetimeMs: number,
  tallies = createTallies(),
): Promise<{ expired: number; more: boolean }> {
  const expire = createBatch<OrderKey, boolean>({
    blame,
    sizes: batchSizesOf(tallies, expireOrdersStatement.name),
    rowKey: ({ customerId }) => customerId,
    run: (inputs) => expireThese(database, inputs, tallies),
  })
  const due = await database.run<OrderKey>(listDueOrdersStatement, [pendingOrderLifetimeMs, roundSize])
  const expired = await runAll(expire, due)
  return { expired: expired.filter(Boolean).length, more: due.length === roundSize }
}

async function expireThese(database: Database, inputs: OrderKey[], tallies: Tallies): Promise<boolean[]> {
  const rows = await database.run<{ ordinal: number }>(expireOrdersStatement, columns(inputs, 'customerId', 'orderId'))
  tallies.orders.expired += rows.length
  return byOrdinal(inputs, rows).map((row) => row !== null)
}
