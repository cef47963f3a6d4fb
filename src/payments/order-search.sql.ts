// Lookups of orders by their id, their payment key and the approval number on the card slip, each by its own index: a lookup
// reads only the rows it returns, whatever the size of the tables. The limits leave the planner no other plan.
import { type Database, statement } from '../db/database.ts'
import type { OrderStatus } from './kinds.ts'

export type FoundOrder = {
  orderId: string
  customerId: string
  customerName: string | null
  status: OrderStatus
}

/** An order that only the gateway knows belongs to no customer of ours. */
export type PaidOrder = FoundOrder | { orderId: string; customerId: null; customerName: null; status: null }

/** The gateway decides on the format of its keys. */
export const paymentKeyForm = /^[\x21-\x7e]{6,200}$/
export const approvalNumberForm = /^\d{6,8}$/

/** An order `o` and the name of its customer `c`. */
const orderColumns = `o.order_id as "orderId", o.customer_id as "customerId", c.name as "customerName", o.status`

const findOrdersBetweenStatement = statement.global(
  'payments.findOrdersBetween',
  `select ${orderColumns}
  from (select * from orders where order_id >= $1 and order_id <= $2 order by order_id desc limit $3) o
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true
  order by o.order_id desc`,
)

/** Newest first. */
export function findOrdersBetween(
  database: Database,
  first: string,
  last: string,
  limit: number,
): Promise<FoundOrder[]> {
  return database.run<FoundOrder>(findOrdersBetweenStatement, [first, last, limit])
}

const findApprovedStatement = statement.global(
  'payments.findOrdersByApproval',
  `select ${orderColumns}
  from (
    select customer_id, order_id, closed_at from payment_operations where approval_number = $1
    order by closed_at desc limit $2
  ) p
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  left join customers c on c.customer_id = o.customer_id
  order by p.closed_at desc`,
)

/** By the number on the card slip, newest first: card companies use a number again. */
export function findOrdersByApproval(database: Database, approvalNumber: string, limit: number): Promise<FoundOrder[]> {
  return database.run<FoundOrder>(findApprovedStatement, [approvalNumber, limit])
}

const findConfirmsStatement = statement.global(
  'payments.findConfirmsOfPayment',
  `select order_id as "orderId" from payment_operations where payment_key = $1 and kind = 'CONFIRM' limit $2`,
)

const findMovementsStatement = statement.global(
  'payments.findMovementsOfPayment',
  `select order_id as "orderId" from gateway_movements where payment_key = $1 limit $2`,
)

const findOrdersByIdStatement = statement.global(
  'payments.findOrdersById',
  `select ${orderColumns}
  from (select * from orders where order_id = any ($1::text[]) limit $2) o
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true`,
)

/** A payment key known from the gateway's list only may belong to an order of ours or to an unknown one. */
export async function findOrdersOfPayment(database: Database, paymentKey: string, limit: number): Promise<PaidOrder[]> {
  type Row = { orderId: string }
  const confirms = await database.run<Row>(findConfirmsStatement, [paymentKey, limit])
  const movements = await database.run<Row>(findMovementsStatement, [paymentKey, limit])
  const ids = new Set([...confirms, ...movements].map(({ orderId }) => orderId))
  const newest = [...ids].sort().reverse().slice(0, limit)
  if (newest.length === 0) return []
  const orders = await database.run<FoundOrder>(findOrdersByIdStatement, [newest, limit])
  const byId = new Map(orders.map((order) => [order.orderId, order]))
  return newest.map((orderId) => byId.get(orderId) ?? { orderId, ...unknownOrder })
}

const unknownOrder = { customerId: null, customerName: null, status: null }
