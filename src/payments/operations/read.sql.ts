// Reads an order together with its operations. Three statements, because they start from different keys and need different
// rows: a confirm knows the order and runs for many requests at once, a cancel knows only the payment key and needs the
// credits, a review needs every payment that may belong to the order. None of them locks: they explain why a claim opened
// nothing, or are the start of a claim that checks again. The fourth reader, books/order-story.sql.ts, is for people.
import type { Batch } from '../../core/batch.ts'
import type { Tallies } from '../../core/tallies.ts'
import { partsOf } from '../../credits/lots/lots.sql.ts'
import { batchStatement } from '../../db/batch.ts'
import { type Database, statement } from '../../db/database.ts'
import { byOrdinal, inputs } from '../../db/inputs.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { CardSlip } from '../../gateway/gateway.ts'
import type { FailedConfirm } from '../failure-reasons.ts'
import { failedConfirmColumn, type Order, type OrderKey, orderColumns } from '../orders.sql.ts'
import { type Doubt, findDoubtsOfOrder } from '../recovery/discrepancies.sql.ts'
import { ruleJson, ruleOf } from '../refunds/dated-rules.sql.ts'
import type { RefundRule } from '../refunds/dated-rules.ts'
import { cardSlipMembers } from '../slip.sql.ts'
import { confirmOfAnotherOrder, type Operation } from './begin.sql.ts'

/** An operation as one JSON column, so that a row can carry an order and its operations; null when there is none. */
export const operationJson = (alias: Sql) => sql`
  case when ${alias}.operation_id is not null then jsonb_build_object(
    'customerId', ${alias}.customer_id, 'operationId', ${alias}.operation_id, 'orderId', ${alias}.order_id,
    'kind', ${alias}.kind, 'paymentKey', ${alias}.payment_key, 'amount', ${alias}.amount,
    'orderAmount', (select amount from orders where customer_id = ${alias}.customer_id and order_id = ${alias}.order_id),
    'returnedBefore', (select amount from ${partsOf(alias)} parts),
    'reason', ${alias}.reason,
    'state', ${alias}.state, 'sendNumber', ${alias}.send_number,
    'sentAgoMs', extract(epoch from now() - ${alias}.sent_at) * 1000,
    'openedAgoMs', extract(epoch from now() - ${alias}.opened_at) * 1000, 'leased', ${alias}.lease_until > now(),
    'holderId', ${alias}.holder_id, 'attempts', ${alias}.attempts, 'totalCredits', ${alias}.total_credits,
    'traceParent', ${alias}.trace_parent) end`

export type OrderForConfirm = {
  order: Order
  /** The open or approved one. */
  confirm: Operation | null
  /** Another order of the customer has a confirm with this payment key. */
  paymentKeyTaken: boolean
  /** The slip of the approved one. */
  slip: CardSlip
  /** The one that has failed the order. */
  failed: FailedConfirm | null
}
export type ConfirmKey = OrderKey & { paymentKey: string }

const confirmKeys = inputs<ConfirmKey>({ customerId: 'uuid', orderId: 'text', paymentKey: 'text' })

const findConfirmSubjectsStatement = statement.ofCustomers(
  'payments.findConfirmSubjects',
  (
    replicated,
  ) => sql`select i.ordinal, ${orderColumns}, ${operationJson(sql`p`)} as "confirm", json_build_object(${cardSlipMembers(sql`p`)}) as "slip",
    ${confirmOfAnotherOrder} is not null as "paymentKeyTaken", ${failedConfirmColumn}
  from unnest(${confirmKeys.arrays}) with ordinality as i (${confirmKeys.columns}, ordinal)
  join orders o using (customer_id, order_id)
  left join payment_operations p
    on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM'
      and p.state in ('OPEN', 'APPROVED')
  where o.status = 'PENDING' or ${replicated}`,
)

/** What a confirm found that could not be claimed. */
export async function findOrdersForConfirm(
  database: Database,
  keys: ConfirmKey[],
): Promise<(OrderForConfirm | null)[]> {
  type Row = Order & Omit<OrderForConfirm, 'order'> & { ordinal: number }
  const rows = await database.run<Row>(findConfirmSubjectsStatement, confirmKeys.valuesOf(keys))
  return byOrdinal(keys, rows).map((row) => {
    if (!row) return null
    const { confirm, paymentKeyTaken, slip, failed } = row
    return { order: row, confirm, paymentKeyTaken, slip, failed }
  })
}

export function createFindOrderForConfirm(
  database: Database,
  tallies: Tallies,
): Batch<ConfirmKey, OrderForConfirm | null> {
  return batchStatement(database, findConfirmSubjectsStatement.name, {
    tallies,
    run: (keys) => findOrdersForConfirm(database, keys),
  })
}

export type OrderForCancel = {
  order: Order
  confirm: Operation
  /** An open or approved cancel, or whatever else is open. */
  cancel: Operation | null
  /** The credits that a cancel can take: those that the customer can spend, and that money may go back for. */
  cancellable: number
  /** Those that it has to take: of the order, without those of accepted parts. */
  creditsLeft: number
}

const findCancelSubjectStatement = statement.ofCustomer(
  'payments.findCancelSubject',
  (
    replicated,
  ) => sql`select ${orderColumns}, ${operationJson(sql`p`)} as "confirm", ${operationJson(sql`c`)} as "cancel",
    least(a.balance - a.held, refundable_credits(a.customer_id)) as "cancellable",
    o.credits - (select credits from ${partsOf(sql`o`)} parts) as "creditsLeft"
  from payment_operations p
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  join accounts a on a.customer_id = p.customer_id
  left join payment_operations c
    on c.customer_id = o.customer_id and c.order_id = o.order_id
      and (c.kind = 'CANCEL' and c.state <> 'REJECTED' or c.state = 'OPEN' and c.kind <> 'CONFIRM')
  where p.customer_id = $1 and p.payment_key = $2 and p.kind = 'CONFIRM'
    and (o.status in ('PENDING', 'CONFIRMED') or ${replicated})
  order by p.state = 'REJECTED', p.opened_at desc
  limit 1`,
)

/**
 * What a cancel found that could not be claimed. A rejected confirm is found only when no other has its payment key.
 */
export async function findOrderForCancel(
  database: Database,
  { customerId, paymentKey }: { customerId: string; paymentKey: string },
): Promise<OrderForCancel | null> {
  const [row] = await database.run<Order & Omit<OrderForCancel, 'order'>>(findCancelSubjectStatement, [
    customerId,
    paymentKey,
  ])
  if (!row) return null
  const { confirm, cancel, cancellable, creditsLeft } = row
  return { order: row, confirm, cancel, cancellable, creditsLeft }
}

export type OrderForReview = {
  order: Order & {
    refundShortfall: number | null
    /** What its refund returned; null unless it is REFUNDED. */
    refundedAmount: number | null
    /** KRW of accepted parts, and the credits that were taken for them. */
    partsAmount: number
    partsCredits: number
    /** The stored rule of the day of its confirm. */
    refundRule: RefundRule | null
  }
  customerId: string
  openOperation: Operation | null
  /** The key of the approved confirm. */
  paymentKey: string | null
  /** The key of the last rejected confirm. */
  rejectedKey: string | null
  /** The open ones of the order. */
  doubts: Doubt[]
  /** The payments that the open discrepancies of the order are about. */
  doubtedKeys: string[]
}

const findReviewSubjectStatement = statement.ofCustomer(
  'payments.findReviewSubject',
  (
    replicated,
  ) => sql`select o.customer_id as "customerId", ${orderColumns}, o.refund_shortfall - parts.credits as "refundShortfall",
    case o.status when 'REFUNDED' then coalesce(o.refunded_amount, o.amount) end as "refundedAmount",
    parts.amount as "partsAmount", parts.credits as "partsCredits", ${operationJson(sql`p`)} as "open",
    (select ${ruleJson(sql`rule`)} from ${ruleOf(sql`o.confirmed_at`)} rule) as "refundRule",
    (select c.payment_key from payment_operations c
     where c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CONFIRM'
       and c.state = 'APPROVED') as "paymentKey",
    (select c.payment_key from payment_operations c
     where c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CONFIRM' and c.state = 'REJECTED'
     order by c.opened_at desc limit 1) as "refusedKey"
  from orders o
  left join payment_operations p on p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN'
  cross join lateral ${partsOf(sql`o`)} parts
  where o.customer_id = $1 and o.order_id = $2 and (o.status <> 'REFUNDED' or ${replicated})`,
)

/**
 * The discrepancies are read first: the order is then at least as new as those that a review may resolve. One that is saved
 * between the two reads is not among them, and stays open for the next review.
 */
export async function findOrderForReview(database: Database, key: OrderKey): Promise<OrderForReview | null> {
  type Row = OrderForReview['order'] & {
    open: Operation | null
    paymentKey: string | null
    refusedKey: string | null
  }
  const { customerId, orderId } = key
  const doubts = await findDoubtsOfOrder(database, key)
  const [row] = await database.run<Row>(findReviewSubjectStatement, [customerId, orderId])
  if (!row) return null
  const { open: openOperation, paymentKey, refusedKey: rejectedKey } = row
  const doubtedKeys = [...new Set(doubts.flatMap((doubt) => doubt.paymentKey ?? []))]
  return { order: row, customerId, openOperation, paymentKey, rejectedKey, doubts, doubtedKeys }
}
