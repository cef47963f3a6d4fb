// The statements on orders alone: purchase, status, and the customer of an order. Set-wise: they take arrays and return one
// row per input.

import type { Batch } from '../core/batch.ts'
import type { Tallies } from '../core/tallies.ts'
import { batchStatement } from '../db/batch.ts'
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { CardSlip } from '../gateway/gateway.ts'
import type { FailedConfirm } from './failure-reasons.ts'
import type { OrderStatus } from './kinds.ts'
import type { PackageType } from './packages.ts'
import { cardSlipColumns, slipMembers } from './slip.sql.ts'

export type Order = {
  orderId: string
  status: OrderStatus
  packageType: PackageType
  amount: number
  credits: number
  createdAt: Date
  confirmedAt: Date | null
}

export const orderColumns = `
  o.order_id as "orderId", o.status, o.package_type as "packageType", o.amount, o.credits,
  o.created_at as "createdAt", o.confirmed_at as "confirmedAt"`

/** For an order `o`: its failed confirm as JSON, read only if the order is FAILED. Each state has an index of its own. */
export const failedConfirmColumn = `
  case o.status when 'FAILED' then (
    select json_build_object('state', f.state, 'gatewayCode', f.gateway_code)
    from (
      select p.state, p.gateway_code from payment_operations p
      where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'REJECTED'
      union all
      select p.state, p.gateway_code from payment_operations p
      where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'EXPIRED'
    ) f
    limit 1) end as "failed"`

type OrderEventColumns = { order: Sql; status: Sql; available: Sql; slip?: Sql; refunded?: Sql }

/**
 * The data of an event about an order, with the credits that its customer can spend then; with a slip, or with what was returned.
 */
export const orderEventData = ({ order, status, available, slip, refunded }: OrderEventColumns) => sql`
  json_build_object('customerId', ${order}.customer_id, 'orderId', ${order}.order_id, 'status', ${status},
    'packageType', ${order}.package_type, 'amount', ${order}.amount, 'credits', ${order}.credits,
    'balance', ${available}${slip ? sql`, ${slipMembers(slip)}` : ''}${refunded ? sql`, 'refundedAmount', ${refunded}` : ''})`

export type NewOrder = {
  customerId: string
  orderId: string
  packageType: PackageType
  paymentMethod: string
  amount: number
  credits: number
  idempotencyKey: string | null
  /** The most PENDING orders of this customer; 0: no limit. */
  maxPending: number
}

const newOrders = inputs<NewOrder>({
  customerId: 'uuid',
  orderId: 'text',
  packageType: 'text',
  paymentMethod: 'text',
  amount: 'bigint',
  credits: 'bigint',
  idempotencyKey: 'text',
  maxPending: 'int',
})

// Duplicates of one idempotency key may share the statement: the first is inserted, and findOrdersOfKeys finds it for the
// others. Keys are inserted in their order, or two instances with the same keys could wait for each other. The PENDING
// orders are counted once for each customer, and not past the limit.
const insertOrdersStatement = statement.ofCustomers(
  'payments.insertOrders',
  sql`with input as (
    select *, row_number() over (partition by customer_id order by ordinal) as place
    from unnest(${newOrders.arrays}) with ordinality as i (${newOrders.columns}, ordinal)
  ),
  customer as materialized (
    select c.customer_id, (
      select count(*) from (
        select from orders o
        where o.customer_id = c.customer_id and o.status = 'PENDING'
        limit c.max_pending
      ) pending) as pending
    from (select distinct customer_id, max_pending from input where max_pending > 0) c
  )
  insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key)
  select customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key
  from input
  left join customer using (customer_id)
  where max_pending = 0 or place + pending <= max_pending
  order by customer_id, idempotency_key, order_id
  on conflict do nothing
  returning order_id as "orderId"`,
)

/** Whether each order was inserted. */
export async function insertOrders(database: Database, all: NewOrder[]): Promise<boolean[]> {
  const rows = await database.run<{ orderId: string }>(insertOrdersStatement, newOrders.valuesOf(all))
  const inserted = new Set(rows.map((row) => row.orderId))
  return all.map((each) => inserted.has(each.orderId))
}

export function createInsertOrder(database: Database, tallies: Tallies): Batch<NewOrder, boolean> {
  return batchStatement(database, insertOrdersStatement.name, {
    tallies,
    run: (inputs) => insertOrders(database, inputs),
  })
}

export type OrderOfKeyInput = { customerId: string; orderId: string; idempotencyKey: string | null }
export type OrderOfKey = Order & { paymentMethod: string }

const ordersOfKeys = inputs<OrderOfKeyInput>({ customerId: 'uuid', orderId: 'text', idempotencyKey: 'text' })

const findOrdersOfKeysStatement = statement.ofCustomers(
  'payments.findOrdersOfKeys',
  (replicated) => sql`select i.ordinal, o.payment_method as "paymentMethod", ${orderColumns}
  from unnest(${ordersOfKeys.arrays}) with ordinality as i (${ordersOfKeys.columns}, ordinal)
  cross join lateral (
    select * from orders where customer_id = i.customer_id and idempotency_key = i.idempotency_key
    union all
    select * from orders where customer_id = i.customer_id and order_id = i.order_id
    limit 1
  ) o
  where ${replicated}`,
)

/** The order with the idempotency key, or the inserted order itself when its insert was repeated after a lost connection. */
export async function findOrdersOfKeys(database: Database, all: OrderOfKeyInput[]): Promise<(OrderOfKey | null)[]> {
  const values = ordersOfKeys.valuesOf(all)
  return byOrdinal(all, await database.run<OrderOfKey & { ordinal: number }>(findOrdersOfKeysStatement, values))
}

export function createFindOrderOfKey(database: Database, tallies: Tallies): Batch<OrderOfKeyInput, OrderOfKey | null> {
  return batchStatement(database, findOrdersOfKeysStatement.name, {
    tallies,
    run: (inputs) => findOrdersOfKeys(database, inputs),
  })
}

export type OrderKey = { customerId: string; orderId: string }

export const orderKeys = inputs<OrderKey>({ customerId: 'uuid', orderId: 'text' })

/** An order with the slip of its approved confirm, or, if it is FAILED, with its failed one. */
export type OrderWithOutcome = Order & CardSlip & { failed?: FailedConfirm | undefined }

/** Joins the confirm `c` of an order `o`. One that was never confirmed has none: its operations are not read. */
export const approvedConfirm = sql`left join lateral (
    select * from payment_operations p
    where o.confirmed_at is not null and p.customer_id = o.customer_id and p.order_id = o.order_id
      and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    limit 1
  ) c on true`

const findOrdersStatement = statement.ofCustomers(
  'payments.findOrders',
  sql`select i.ordinal, ${orderColumns}, ${cardSlipColumns(sql`c`)}
  from unnest(${orderKeys.arrays}) with ordinality as i (${orderKeys.columns}, ordinal)
  cross join lateral (
    select * from orders where customer_id = i.customer_id and order_id = i.order_id limit 1
  ) o
  ${approvedConfirm}`,
)

const findFailedConfirmsStatement = statement.ofCustomers(
  'payments.findFailedConfirms',
  sql`select o.order_id as "orderId", ${failedConfirmColumn}
  from unnest(${orderKeys.arrays}) as i (${orderKeys.columns})
  join orders o using (customer_id, order_id)`,
)

/** The confirms of FAILED orders are read by a second statement: in the first they would make every status slower. */
export async function findOrders(database: Database, all: OrderKey[]): Promise<(OrderWithOutcome | null)[]> {
  type Row = OrderWithOutcome & { ordinal: number }
  const orders = byOrdinal(all, await database.run<Row>(findOrdersStatement, orderKeys.valuesOf(all)))
  const keys = all.filter((_, place) => orders[place]?.status === 'FAILED')
  if (keys.length === 0) return orders
  type Failed = { orderId: string; failed: FailedConfirm }
  const rows = await database.run<Failed>(findFailedConfirmsStatement, orderKeys.valuesOf(keys))
  const failed = new Map(rows.map((row) => [row.orderId, row.failed]))
  return orders.map((order) => order && { ...order, failed: failed.get(order.orderId) })
}

export function createFindOrder(database: Database, tallies: Tallies): Batch<OrderKey, OrderWithOutcome | null> {
  return batchStatement(database, findOrdersStatement.name, {
    tallies,
    run: (inputs) => findOrders(database, inputs),
  })
}

const findOrderKeysStatement = statement.global(
  'payments.findOrderKeys',
  `select customer_id as "customerId", order_id as "orderId" from orders where order_id = any($1::text[])`,
)

/** The full keys of orders that are named by their id alone, by order id; no entry where there is no such order. */
export async function findOrderKeys(database: Database, orderIds: string[]): Promise<Map<string, OrderKey>> {
  const rows = await database.run<OrderKey>(findOrderKeysStatement, [orderIds])
  return new Map(rows.map((row) => [row.orderId, row]))
}
