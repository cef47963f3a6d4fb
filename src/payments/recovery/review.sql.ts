// What a review of an order starts from, and the claim of the operation that gives captured money back.
import { type Database, statement } from '../../db/database.ts'
import { type Operation, operationJson } from '../operations/begin.sql.ts'
import { type Order, type OrderKey, orderColumns } from '../orders.sql.ts'

export type ReviewSubject = {
  order: Order & { refundShortfall: number | null }
  customerId: string
  open: Operation | null
  /** Of the approved confirm. */
  paymentKey: string | null
  /** Of the last refused confirm. */
  refusedKey: string | null
  /** The open ones about the order. */
  discrepancyIds: string[]
  /** The payments that open discrepancies of the order are about. */
  doubtedKeys: string[]
}

const findReviewSubjectStatement = statement(
  'payments.findReviewSubject',
  `select o.customer_id as "customerId", ${orderColumns}, o.refund_shortfall as "refundShortfall",
    ${operationJson('p')} as "open",
    (select c.payment_key from payment_operations c
     where c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CONFIRM'
       and c.state = 'APPROVED') as "paymentKey",
    (select c.payment_key from payment_operations c
     where c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CONFIRM' and c.state = 'REJECTED'
     order by c.opened_at desc limit 1) as "refusedKey",
    array(select d.discrepancy_id from discrepancies d
          where d.customer_id = o.customer_id and d.order_id = o.order_id
            and d.resolved_at is null) as "discrepancyIds",
    array(select distinct d.detail ->> 'paymentKey' from discrepancies d
          where d.customer_id = o.customer_id and d.order_id = o.order_id and d.resolved_at is null
            and d.detail ->> 'paymentKey' is not null) as "doubtedKeys"
  from orders o
  left join payment_operations p on p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN'
  where o.customer_id = $1 and o.order_id = $2`,
)

export async function findReviewSubject(
  database: Database,
  { customerId, orderId }: OrderKey,
): Promise<ReviewSubject | null> {
  type Row = ReviewSubject['order'] & Omit<ReviewSubject, 'order'>
  const [row] = await database.run<Row>(findReviewSubjectStatement, [customerId, orderId])
  if (!row) return null
  const { open, paymentKey, refusedKey, discrepancyIds, doubtedKeys } = row
  return { order: row, customerId, open, paymentKey, refusedKey, discrepancyIds, doubtedKeys }
}

export type ReturnClaim = OrderKey & {
  operationId: string
  paymentKey: string
  reason: string
  leaseMs: number
}

// Opened after the order has failed. Refused operations have an index of their own, hence the two halves.
const claimReturnStatement = statement(
  'payments.claimReturn',
  `with locked_order as (
    select customer_id, order_id, amount, created_at
    from orders
    where customer_id = $1 and order_id = $2 and status = 'FAILED'
    for no key update
  )
  insert into payment_operations
    (customer_id, operation_id, order_id, kind, payment_key, amount, reason, opened_at, holder_id, lease_until, settle_at)
  select customer_id, $3, order_id, 'RETURN', $4, amount, $5, greatest(created_at, failed.at, now()), $3,
         now() + $6::int * interval '1 ms', now() + $6::int * interval '1 ms'
  from locked_order
  cross join lateral (
    select max(closed_at) as at
    from (
      select p.closed_at from payment_operations p
      where p.customer_id = locked_order.customer_id and p.order_id = locked_order.order_id and p.state = 'REJECTED'
      union all
      select p.closed_at from payment_operations p
      where p.customer_id = locked_order.customer_id and p.order_id = locked_order.order_id and p.state <> 'REJECTED'
    ) closed
  ) failed
  on conflict do nothing
  returning operation_id`,
)

/** Opens the operation that gives the money of a FAILED order back; false when it is not FAILED, or that is under way. */
export async function claimReturn(database: Database, claim: ReturnClaim): Promise<boolean> {
  const { customerId, orderId, operationId, paymentKey, reason, leaseMs } = claim
  const values = [customerId, orderId, operationId, paymentKey, reason, leaseMs]
  return (await database.run(claimReturnStatement, values)).length > 0
}
