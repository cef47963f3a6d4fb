// The lookups of a search, each by its own index: a lookup reads only the rows it returns, whatever the size of the tables. The
// limits leave the planner no other plan.
import { type Database, statement } from '../../db/database.ts'

export type Found = {
  kind: 'order' | 'payment' | 'customer' | 'key'
  id: string
  orderId: string | null
  customerId: string | null
  customerName: string | null
  status: string | null
}

const findOrdersBetweenStatement = statement(
  'console.findOrdersBetween',
  `select 'order' as "kind", o.order_id as "id", o.order_id as "orderId", o.customer_id as "customerId",
    c.name as "customerName", o.status
  from (select * from orders where order_id >= $1 and order_id <= $2 order by order_id desc limit $3) o
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true
  order by o.order_id desc`,
)

/** Newest first. */
export function findOrdersBetween(database: Database, first: string, last: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findOrdersBetweenStatement, [first, last, limit])
}

// A payment key known from the gateway's list only may belong to an order of ours or to an unknown one.
const findPaymentsStatement = statement(
  'console.findPayments',
  `select 'payment' as "kind", $1::text as "id", p.order_id as "orderId", o.customer_id as "customerId",
    c.name as "customerName", o.status
  from (
    (select order_id from payment_operations where payment_key = $1 and kind = 'CONFIRM' limit $2)
    union
    (select order_id from gateway_movements where payment_key = $1 limit $2)
  ) p
  left join lateral (select * from orders o where o.order_id = p.order_id limit 1) o on true
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true
  order by p.order_id desc
  limit $2`,
)

export function findPayments(database: Database, paymentKey: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findPaymentsStatement, [paymentKey, limit])
}

const findCustomerStatement = statement(
  'console.findCustomerById',
  `select 'customer' as "kind", customer_id as "id", null as "orderId", customer_id as "customerId",
    name as "customerName", null as "status"
  from customers where customer_id = $1`,
)

export function findCustomerById(database: Database, customerId: string): Promise<Found[]> {
  return database.run<Found>(findCustomerStatement, [customerId])
}

const findKeysStatement = statement(
  'console.findKeysById',
  `select 'key' as "kind", k.key_id as "id", null as "orderId", k.customer_id as "customerId", c.name as "customerName",
    k.status
  from api_keys k
  left join lateral (select name from customers n where n.customer_id = k.customer_id limit 1) c on true
  where k.key_id = any ($1::text[])`,
)

export function findKeysById(database: Database, keyIds: string[]): Promise<Found[]> {
  return database.run<Found>(findKeysStatement, [keyIds])
}

const findKeysEndingStatement = statement(
  'console.findKeysEnding',
  `select 'key' as "kind", k.key_id as "id", null as "orderId", k.customer_id as "customerId", c.name as "customerName",
    k.status
  from (select * from api_keys where last_four = $1 limit $2) k
  left join lateral (select name from customers n where n.customer_id = k.customer_id limit 1) c on true
  order by k.created_at desc`,
)

export function findKeysEnding(database: Database, lastFour: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findKeysEndingStatement, [lastFour, limit])
}
