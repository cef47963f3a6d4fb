// Fails PENDING orders without a confirm in time. The expiry is stored as the order's confirm in state EXPIRED, so the unique
// index that allows one confirm also decides between an expiry and a confirm of the same moment.
import type { Batch } from '../../core/batch.ts'
import type { Tallies } from '../../core/tallies.ts'
import { applyMovements, lockAccountsOf } from '../../credits/ledger.sql.ts'
import { batchStatement } from '../../db/batch.ts'
import { type Database, statement } from '../../db/database.ts'
import { takeFromGroups } from '../../db/groups.ts'
import { byOrdinal } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { operationKinds } from '../kinds.ts'
import { type OrderKey, orderEventData, orderKeys } from '../orders.sql.ts'

// Leaving out orders with an open operation only saves work: it is as old as the snapshot, and the index decides.
const listDueOrdersStatement = statement.ofEachGroup(
  'payments.listDueOrders',
  `select o.customer_id as "customerId", o.order_id as "orderId"
  from orders o
  where o.status = 'PENDING' and o.created_at < now() - $1::bigint * interval '1 ms'
    and not exists (select from payment_operations p
                    where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN')
  limit $2`,
)

/** PENDING orders that are older than their lifetime and have no open operation. */
export function listDueOrders(database: Database, lifetimeMs: number, limit: number): Promise<OrderKey[]> {
  return takeFromGroups(database, limit, (group, left) =>
    group.run<OrderKey>(listDueOrdersStatement, [lifetimeMs, left]),
  )
}

// Locked rows are skipped and come with the next run.
const expireOrdersStatement = statement.ofCustomers(
  'payments.expireOrders',
  sql`with recursive due as (
    select i.ordinal, o.customer_id, o.order_id, o.package_type, o.amount, o.credits, gen_random_uuid() as operation_id,
           greatest(o.created_at, now()) as expired_at
    from orders o
    join unnest(${orderKeys.arrays}) with ordinality as i (${orderKeys.columns}, ordinal) using (customer_id, order_id)
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
    select customer_id, m.first_event as event_number, '${operationKinds.CONFIRM.outcomes.EXPIRED.event}' as type,
           ${orderEventData({ order: sql`d`, status: sql`'FAILED'`, available: sql`m.available` })} as data, m.moved_at
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

/** Whether the order was failed. As a batch, so that a locked account delays the orders of its own customer only. */
export function createExpireOrder(database: Database, tallies: Tallies): Batch<OrderKey, boolean> {
  return batchStatement<OrderKey, boolean>(database, expireOrdersStatement.name, {
    tallies,
    rowKey: ({ customerId }) => customerId,
    run: async (keys) => {
      const rows = await database.run<{ ordinal: number }>(expireOrdersStatement, orderKeys.valuesOf(keys))
      tallies.orders[operationKinds.CONFIRM.outcomes.EXPIRED.orderCounter] += rows.length
      return byOrdinal(keys, rows).map((row) => row !== null)
    },
  })
}
