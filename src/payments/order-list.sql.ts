// Lists of orders. Order ids are sorted by time, so days are bounds of ids, too. No index serves the filters: a page filters a stretch
// of a limited number of orders, and the next page continues after the stretch. Each group of customers lists its own; the
// lists are merged here.
import { afterAllOrderIds } from '../core/ids.ts'
import type { PaidWith } from '../core/paid-with.ts'
import { paidWithJson, partsOf } from '../credits/lots/lots.sql.ts'
import { type Database, statement } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { FailedConfirm } from './failure-reasons.ts'
import type { OperationKind, OrderStatus } from './kinds.ts'
import { approvedConfirm, failedConfirmColumn, type Order, orderColumns } from './orders.sql.ts'

export type ListedOrder = Order & {
  customerId: string
  customerName: string | null
  /** KRW, with that of accepted parts; null when it is neither CANCELLED nor REFUNDED nor CONFIRMED with such a part. */
  refundedAmount: number | null
  /** The kind of its operation in progress. */
  openOperation: OperationKind | null
  failed: FailedConfirm | null
  paidWith: PaidWith | null
}

/** Orders that one page reads to filter, to sort and to sum up. */
export const maxOrdersScanned = 20_000

/** Stands in the filter for the code of an expired order, which has none. */
export const codeOfExpired = ''
/** Codes of failed confirms: those that are wanted, or all others. */
export type FailureCodes = { codes: string[]; areWanted: boolean }

export type OrdersFilter = {
  customerId: string | null
  status: OrderStatus | null
  packageType: string | null
  /** Only orders with an operation in progress. */
  isOpen: boolean
  failure: FailureCodes | null
  /** Order ids: from this one on, and below that one; null: no bound. */
  from: string | null
  below: string | null
  /** Times of creation; null: no bound. */
  since: Date | null
  before: Date | null
}

export const everyOrder: OrdersFilter = {
  customerId: null,
  status: null,
  packageType: null,
  isOpen: false,
  failure: null,
  from: null,
  below: null,
  since: null,
  before: null,
}

const quotedOpenOperation = `
    select p.kind from payment_operations p
    where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'OPEN' limit 1`

const quotedFailureCode = `
    select case f.failed ->> 'state' when 'EXPIRED' then '' else coalesce(f.failed ->> 'gatewayCode', 'NONE') end
    from (select ${failedConfirmColumn}) f`

const scopes = { groups: sql`$1::uuid is null`, customer: sql`o.customer_id = $1::uuid` }
type ListScope = keyof typeof scopes

function matching(scope: ListScope): Sql {
  const quotedScope = scopes[scope]
  return sql`
    from orders o
    where ${quotedScope} and o.order_id < $2 and o.order_id >= $3
      and ($4::text is null or o.status = $4)
      and ($5::text is null or o.package_type = $5)
      and (not $6::boolean or exists (${quotedOpenOperation}))
      and ($7::text[] is null or o.status = 'FAILED' and (${quotedFailureCode}) = any ($7) = $8::boolean)
      and o.created_at >= $9::timestamptz and o.created_at < $10::timestamptz`
}

function valuesOf(filter: OrdersFilter): unknown[] {
  const { customerId, below, from, status, packageType, isOpen, failure, since, before } = filter
  const bounds = [customerId, below ?? afterAllOrderIds, from ?? '']
  const wanted = [status, packageType, isOpen, failure?.codes ?? null, failure?.areWanted ?? null]
  return [...bounds, ...wanted, since ?? '-infinity', before ?? 'infinity']
}

const listed = (quotedPage: Sql, quotedOrder: Sql) => sql`select o.customer_id as "customerId",
    n.name as "customerName", ${orderColumns},
    case o.status when 'CANCELLED' then o.amount
                  when 'REFUNDED' then parts.amount + coalesce(o.refunded_amount, o.amount)
                  when 'CONFIRMED' then nullif(parts.amount, 0) end as "refundedAmount",
    (${quotedOpenOperation}) as "openOperation", ${failedConfirmColumn}, ${paidWithJson(sql`c`)} as "paidWith"
  from (select o.* ${quotedPage} order by ${quotedOrder} limit $11) o
  left join customers n on n.customer_id = o.customer_id
  cross join lateral ${partsOf(sql`o`)} parts
  ${approvedConfirm}
  order by ${quotedOrder}`

const newest = (scope: ListScope) => listed(matching(scope), sql`o.order_id desc`)

function highest(scope: ListScope): Sql {
  const quotedMatching = matching(scope)
  return listed(
    sql`${quotedMatching} and ($12::bigint is null or (o.amount, o.order_id) < ($12, $13::text))`,
    sql`o.amount desc, o.order_id desc`,
  )
}

function summed(scope: ListScope): Sql {
  const quotedMatching = matching(scope)
  return sql`select count(*) as "count", coalesce(sum(o.amount), 0)::bigint as "amount",
    coalesce(sum(case o.status when 'CONFIRMED' then o.amount - parts.amount
                               when 'REFUNDED' then o.amount - parts.amount - coalesce(o.refunded_amount, o.amount) end),
      0)::bigint as "kept"
    from (select o.* ${quotedMatching}) o
    cross join lateral ${partsOf(sql`o`)} parts`
}

const newestStatement = statement.ofEachGroup('payments.listOrders', newest('groups'))
const newestOfCustomerStatement = statement.ofCustomer('payments.listOrdersOfCustomer', newest('customer'))
const highestStatement = statement.ofEachGroup('payments.listOrdersByAmount', highest('groups'))
const highestOfCustomerStatement = statement.ofCustomer('payments.listOrdersOfCustomerByAmount', highest('customer'))
const sumStatement = statement.ofEachGroup('payments.sumOrders', summed('groups'))
const sumOfCustomerStatement = statement.ofCustomer('payments.sumOrdersOfCustomer', summed('customer'))

/** Newest first. */
export async function listOrders(database: Database, filter: OrdersFilter, limit: number): Promise<ListedOrder[]> {
  const chosen = filter.customerId === null ? newestStatement : newestOfCustomerStatement
  const rows = await database.run<ListedOrder>(chosen, [...valuesOf(filter), limit])
  return rows.sort(newestFirst).slice(0, limit)
}

/** The highest amounts first, equal ones newest first, after an order. */
export async function listOrdersByAmount(
  database: Database,
  filter: OrdersFilter,
  after: { amount: number; orderId: string } | null,
  limit: number,
): Promise<ListedOrder[]> {
  const chosen = filter.customerId === null ? highestStatement : highestOfCustomerStatement
  const values = [...valuesOf(filter), limit, after?.amount ?? null, after?.orderId ?? null]
  const rows = await database.run<ListedOrder>(chosen, values)
  return rows.sort((one, other) => other.amount - one.amount || newestFirst(one, other)).slice(0, limit)
}

function newestFirst(one: ListedOrder, other: ListedOrder): number {
  return one.orderId < other.orderId ? 1 : -1
}

/** KRW: ordered, and paid of it less what was refunded. */
export type OrderSums = { count: number; amount: number; kept: number }

export async function sumOrders(database: Database, filter: OrdersFilter): Promise<OrderSums> {
  const chosen = filter.customerId === null ? sumStatement : sumOfCustomerStatement
  const rows = await database.run<OrderSums>(chosen, valuesOf(filter))
  const total = (name: keyof OrderSums) => rows.reduce((sum, row) => sum + row[name], 0)
  return { count: total('count'), amount: total('amount'), kept: total('kept') }
}

const stretchEnd = (quotedScope: Sql) => sql`select o.order_id as "orderId" from orders o
  where ${quotedScope} and o.order_id < $2 and o.order_id >= $3 order by o.order_id desc offset $4 limit 1`

const findStretchEndStatement = statement.global('payments.findStretchEnd', stretchEnd(scopes.groups))
const findStretchEndOfCustomerStatement = statement.ofCustomer(
  'payments.findStretchEndOfCustomer',
  stretchEnd(scopes.customer),
)

/** The last order of the stretch that begins with the newest one between the bounds; null: there are fewer orders. */
export async function findStretchEnd(
  database: Database,
  { customerId, below, from }: OrdersFilter,
): Promise<string | null> {
  const chosen = customerId === null ? findStretchEndStatement : findStretchEndOfCustomerStatement
  const values = [customerId, below ?? afterAllOrderIds, from ?? '', maxOrdersScanned - 1]
  const rows = await database.run<{ orderId: string }>(chosen, values)
  return rows[0]?.orderId ?? null
}
