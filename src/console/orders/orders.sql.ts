// Lists of orders, newest first: order ids are sorted by time. There is no index on the status, so a page filters a stretch of
// a limited number of orders, and the next page continues after the stretch.
import { type Database, statement } from '../../db/database.ts'
import type { OrderStatus } from '../../payments/kinds.ts'
import { type Order, orderColumns } from '../../payments/orders.sql.ts'

export type ListedOrder = Order & { customerId: string; customerName: string | null }

/** Sorts after every order id in any collation. */
const afterAll = `ord_${'Z'.repeat(37)}`
/** Orders that one page reads to filter by status. */
export const maxOrdersScanned = 20_000

const listedColumns = `o.customer_id as "customerId", c.name as "customerName", ${orderColumns}`
const withCustomers = `cross join lateral (select name from customers c where c.customer_id = o.customer_id limit 1) c
  order by o.order_id desc`

const listOrdersStatement = statement(
  'console.listOrders',
  `select ${listedColumns}
  from (
    select * from (select * from orders where order_id < $1 order by order_id desc limit $4) stretch
    where $2::text is null or stretch.status = $2
    order by order_id desc
    limit $3
  ) o
  ${withCustomers}`,
)

const listOrdersOfCustomerStatement = statement(
  'console.listOrdersOfCustomer',
  `select ${listedColumns}
  from (
    select * from (
      select * from orders where customer_id = $5 and order_id < $1 order by order_id desc limit $4) stretch
    where $2::text is null or stretch.status = $2
    order by order_id desc
    limit $3
  ) o
  ${withCustomers}`,
)

// They are few: an order does not stay PENDING.
const listPendingOfCustomerStatement = statement(
  'console.listPendingOfCustomer',
  `select ${listedColumns}
  from (
    select * from (
      select * from orders where customer_id = $4 and status = 'PENDING' order by created_at desc limit $3) pending
    where order_id < $1
    order by order_id desc
    limit $2
  ) o
  ${withCustomers}`,
)

const findStretchEndStatement = statement(
  'console.findStretchEnd',
  'select order_id as "orderId" from orders where order_id < $1 order by order_id desc offset $2 limit 1',
)
const findStretchEndOfCustomerStatement = statement(
  'console.findStretchEndOfCustomer',
  `select order_id as "orderId" from orders
  where customer_id = $3 and order_id < $1 order by order_id desc offset $2 limit 1`,
)

export type OrdersFilter = {
  status: OrderStatus | null
  customerId: string | null
  /** The order id to continue below. */
  cursor: string | null
  limit: number
}

/** A full page has one order more than the limit. */
export function listOrders(database: Database, { status, customerId, cursor, limit }: OrdersFilter) {
  const below = cursor ?? afterAll
  if (customerId === null) {
    return database.run<ListedOrder>(listOrdersStatement, [below, status, limit + 1, maxOrdersScanned])
  }
  if (status === 'PENDING') {
    const values = [below, limit + 1, maxOrdersScanned, customerId]
    return database.run<ListedOrder>(listPendingOfCustomerStatement, values)
  }
  const values = [below, status, limit + 1, maxOrdersScanned, customerId]
  return database.run<ListedOrder>(listOrdersOfCustomerStatement, values)
}

/** The last order of the stretch that was filtered; null when there are no more. */
export async function findStretchEnd(
  database: Database,
  { status, customerId, cursor }: OrdersFilter,
): Promise<string | null> {
  if (status === null || (status === 'PENDING' && customerId !== null)) return null
  const values = [cursor ?? afterAll, maxOrdersScanned - 1]
  const [row] = await (customerId === null
    ? database.run<{ orderId: string }>(findStretchEndStatement, values)
    : database.run<{ orderId: string }>(findStretchEndOfCustomerStatement, [...values, customerId]))
  return row?.orderId ?? null
}
