// Fails PENDING orders that nobody has begun to confirm in time (section 3, decision: 24 hours). An order with an open
// confirm is left alone: the worker settles that first. The expiry is recorded as the order's confirm in state EXPIRED,
// so it meets a confirm of the same moment at the same unique index, and one of the two is refused.
import { type Database, statement } from '../db/database.ts'

/** What one statement takes: short enough that nobody waits for it. */
const batchSize = 500

// The look for open operations is a first sieve, as old as the statement; the index decides. Rows that somebody works on
// are skipped and come next time.
const expireOrdersStatement = statement(
  'payments.expireOrders',
  `with due as (
    select o.customer_id, o.order_id, o.amount, gen_random_uuid() as operation_id
    from orders o
    where o.status = 'PENDING' and o.created_at < now() - $1::bigint * interval '1 ms'
      and not exists (select from payment_operations p
                      where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN')
    limit $2
    for no key update of o skip locked
  ),
  expired as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, amount, state, holder_id, lease_until, closed_at, closed_by)
    select customer_id, operation_id, order_id, 'CONFIRM', amount, 'EXPIRED', operation_id, now(), now(), operation_id
    from due
    on conflict do nothing
    returning customer_id, order_id
  )
  update orders o
  set status = 'FAILED'
  from expired e
  where o.customer_id = e.customer_id and o.order_id = e.order_id
  returning o.order_id`,
)

/** The number of orders that were failed; a full batch asks to come again. */
export async function expireOrders(
  database: Database,
  pendingOrderLifetimeMs: number,
): Promise<{ expired: number; more: boolean }> {
  const rows = await database.run(expireOrdersStatement, [pendingOrderLifetimeMs, batchSize])
  return { expired: rows.length, more: rows.length === batchSize }
}
