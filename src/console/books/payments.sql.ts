// Payments and refunds by the time when our books closed them: the list behind the figures of Home, and the rows of the payments
// file. The amounts of a list are signed, so that its sum is that of the figure.
import { type Database, statement } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { OperationKind } from '../../payments/kinds.ts'

/** `failed`: confirms that were refused or expired. No refund: money captured for a FAILED order that went back. */
export const paymentGroups = ['paid', 'refunded', 'failed'] as const
export type PaymentGroup = (typeof paymentGroups)[number]

export type ListedPayment = {
  operationId: string
  group: PaymentGroup
  kind: Exclude<OperationKind, 'RETURN'>
  orderId: string
  customerId: string
  customerName: string | null
  /** KRW: negative when it went back. */
  amount: number
  /** Granted, negative when taken back. */
  credits: number
  closedAt: Date
  /** `closedAt` to the microsecond, for the cursor. */
  atMicroseconds: number
}

export type PaymentsFilter = { from: Date; before: Date; group: PaymentGroup | null }

/** Payments that one page sums up. */
export const maxPaymentsSummed = 20_000

const closed = sql`
    from (
      select p.*, case when p.kind = 'CONFIRM' then case p.state when 'APPROVED' then 'paid' else 'failed' end
                       when p.kind in ('CANCEL', 'REFUND', 'PART') and p.state = 'APPROVED' then 'refunded' end as "group"
      from payment_operations p
      where p.closed_at >= $1 and p.closed_at < $2
    ) p
    where case when $3::text is null then p."group" <> 'failed' else p."group" = $3 end`

const signed = (column: Sql) => sql`case p."group" when 'refunded' then -${column} else ${column} end`

const listStatement = statement.ofEachGroup(
  'console.listPaymentsOfSpan',
  sql`select p.operation_id as "operationId", p."group", p.kind, p.order_id as "orderId", p.customer_id as "customerId",
    c.name as "customerName", ${signed(sql`p.amount`)} as "amount",
    case p."group" when 'paid' then o.credits when 'refunded' then -p.credits_held else 0 end as "credits",
    p.closed_at as "closedAt", (extract(epoch from p.closed_at) * 1000000)::bigint as "atMicroseconds"
  from (
    select p.* ${closed}
      and (p.closed_at, p.operation_id) < (timestamptz 'epoch' + $4 * interval '1 microsecond', $5::uuid)
    order by p.closed_at desc, p.operation_id desc
    limit $6
  ) p
  cross join lateral (select credits from orders where customer_id = p.customer_id and order_id = p.order_id limit 1) o
  left join lateral (select name from customers where customer_id = p.customer_id limit 1) c on true
  order by p.closed_at desc, p.operation_id desc`,
)

/** Newest first, after the key of a cursor. */
export async function listPaymentsOfSpan(
  database: Database,
  { from, before, group }: PaymentsFilter,
  [atMicroseconds, operationId]: string[],
  limit: number,
): Promise<ListedPayment[]> {
  const values = [from, before, group, atMicroseconds, operationId, limit]
  const rows = await database.run<ListedPayment>(listStatement, values)
  return rows.sort(newestFirst).slice(0, limit)
}

function newestFirst(one: ListedPayment, other: ListedPayment): number {
  return other.atMicroseconds - one.atMicroseconds || (other.operationId < one.operationId ? -1 : 1)
}

export type PaymentSums = { count: number; amount: number }

const sumStatement = statement.ofEachGroup(
  'console.sumPaymentsOfSpan',
  sql`select count(*) as "count", coalesce(sum(${signed(sql`p.amount`)}), 0)::bigint as "amount"
  from (select p.* ${closed} limit $4) p`,
)

/** Null: there are more than one page sums up. */
export async function sumPaymentsOfSpan(
  database: Database,
  { from, before, group }: PaymentsFilter,
): Promise<PaymentSums | null> {
  const rows = await database.run<PaymentSums>(sumStatement, [from, before, group, maxPaymentsSummed + 1])
  const total = (name: keyof PaymentSums) => rows.reduce((sum, row) => sum + row[name], 0)
  const count = total('count')
  return count > maxPaymentsSummed ? null : { count, amount: total('amount') }
}
