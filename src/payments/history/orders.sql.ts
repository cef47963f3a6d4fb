// The orders of a customer, newest first, with all that its buyer may know: the status, the slip, why it failed, and each
// amount that went back. Order ids are sorted by time.
import { afterAllOrderIds } from '../../core/ids.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, type Sql, sql } from '../../db/sql.ts'
import type { Slip } from '../../gateway/gateway.ts'
import type { FailedConfirm } from '../failure-reasons.ts'
import { approvedConfirm, failedConfirmColumn, type Order, type OrderKey, orderColumns } from '../orders.sql.ts'
import { slipColumns } from '../slip.sql.ts'

export type OwnOrder = Order &
  Slip & {
    failed: FailedConfirm | null
    /** KRW; null when nothing went back. */
    refundedAmount: number | null
    /** Cancel, refund and accepted parts, oldest first. */
    refunds: { amount: number; refundedAt: string }[]
  }

const ownOrders = (quotedPage: Sql) => sql`select ${orderColumns}, ${failedConfirmColumn}, ${slipColumns(sql`c`)},
    back.amount as "refundedAmount", back.refunds
  from (select * from orders o where o.customer_id = $1 and ${quotedPage}) o
  ${approvedConfirm}
  cross join lateral (
    select sum(p.amount)::bigint as amount, coalesce(json_agg(
      json_build_object('amount', p.amount, 'refundedAt', ${iso(sql`p.closed_at`)}) order by p.closed_at, p.operation_id
    ), '[]') as refunds
    from payment_operations p
    where o.confirmed_at is not null and p.customer_id = o.customer_id and p.order_id = o.order_id
      and p.kind in ('CANCEL', 'REFUND', 'PART') and p.state = 'APPROVED'
  ) back
  order by o.order_id desc`

const listStatement = statement.ofCustomer(
  'payments.listOwnOrders',
  ownOrders(sql`o.order_id < $2 order by o.order_id desc limit $3`),
)
const findStatement = statement.ofCustomer('payments.findOwnOrder', ownOrders(sql`o.order_id = $2 limit 1`))

/** `below`: an order id, where the page before has ended; null: from the newest on. */
export function listOwnOrders(
  database: Database,
  customerId: string,
  { below, limit }: { below: string | null; limit: number },
): Promise<OwnOrder[]> {
  return database.run<OwnOrder>(listStatement, [customerId, below ?? afterAllOrderIds, limit])
}

export async function findOwnOrder(database: Database, { customerId, orderId }: OrderKey): Promise<OwnOrder | null> {
  const [order] = await database.run<OwnOrder>(findStatement, [customerId, orderId])
  return order ?? null
}
