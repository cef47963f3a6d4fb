// The lookups of a search, each by its own index: a lookup reads only the rows it returns, whatever the size of the tables. The
// limits leave the planner no other plan. The last two have no index, and read as many rows as there are customers.
import { type Database, statement } from '../../db/database.ts'

export type Found = {
  kind: 'order' | 'payment' | 'customer' | 'key' | 'reference'
  id: string
  orderId: string | null
  customerId: string | null
  customerName: string | null
  status: string | null
}

/** An order `o` and the name of its customer `c`. */
const orderColumns = `'order' as "kind", o.order_id as "id", o.order_id as "orderId", o.customer_id as "customerId",
    c.name as "customerName", o.status`

const customerColumns = `'customer' as "kind", customer_id as "id", null as "orderId", customer_id as "customerId",
    name as "customerName", null as "status"`

const findOrdersBetweenStatement = statement.global(
  'console.findOrdersBetween',
  `select ${orderColumns}
  from (select * from orders where order_id >= $1 and order_id <= $2 order by order_id desc limit $3) o
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true
  order by o.order_id desc`,
)

/** Newest first. */
export function findOrdersBetween(database: Database, first: string, last: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findOrdersBetweenStatement, [first, last, limit])
}

const findApprovedStatement = statement.global(
  'console.findOrdersByApproval',
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
export function findOrdersByApproval(database: Database, approvalNumber: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findApprovedStatement, [approvalNumber, limit])
}

const findConfirmsStatement = statement.global(
  'console.findConfirmsOfPayment',
  `select order_id as "orderId" from payment_operations where payment_key = $1 and kind = 'CONFIRM' limit $2`,
)

const findMovementsStatement = statement.global(
  'console.findMovementsOfPayment',
  `select order_id as "orderId" from gateway_movements where payment_key = $1 limit $2`,
)

const findOrdersByIdStatement = statement.global(
  'console.findOrdersById',
  `select ${orderColumns}
  from (select * from orders where order_id = any ($1::text[]) limit $2) o
  left join lateral (select name from customers n where n.customer_id = o.customer_id limit 1) c on true`,
)

/** A payment key known from the gateway's list only may belong to an order of ours or to an unknown one. */
export async function findPayments(database: Database, paymentKey: string, limit: number): Promise<Found[]> {
  type Row = { orderId: string }
  const confirms = await database.run<Row>(findConfirmsStatement, [paymentKey, limit])
  const movements = await database.run<Row>(findMovementsStatement, [paymentKey, limit])
  const ids = new Set([...confirms, ...movements].map(({ orderId }) => orderId))
  const newest = [...ids].sort().reverse().slice(0, limit)
  if (newest.length === 0) return []
  const orders = await database.run<Found>(findOrdersByIdStatement, [newest, limit])
  const byId = new Map(orders.map((order) => [order.id, order]))
  return newest.map((orderId) => ({ ...unknownOrder, ...byId.get(orderId), kind: 'payment', id: paymentKey, orderId }))
}

const unknownOrder = { customerId: null, customerName: null, status: null }

const findCustomerStatement = statement.global(
  'console.findCustomerById',
  `select ${customerColumns}
  from customers where customer_id = $1`,
)

export function findCustomerById(database: Database, customerId: string): Promise<Found[]> {
  return database.run<Found>(findCustomerStatement, [customerId])
}

const findKeysStatement = statement.global(
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

const findKeysEndingStatement = statement.global(
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

const findCustomersNamedStatement = statement.global(
  'console.findCustomersNamed',
  `select ${customerColumns}
  from customers
  where position(lower($1) in lower(name)) > 1
  order by lower(name), customer_id
  limit $2`,
)

/** With the text in the name, but not at its beginning. */
export function findCustomersNamed(database: Database, text: string, limit: number): Promise<Found[]> {
  return database.run<Found>(findCustomersNamedStatement, [text, limit])
}

const findReferencesStatement = statement.ofEachGroup(
  'console.findReferences',
  `select 'reference' as "kind", e.reference as "id", null as "orderId", a.customer_id as "customerId",
    c.name as "customerName", null as "status"
  from accounts a
  cross join lateral (
    select reference from ledger_entries where customer_id = a.customer_id and reference = $1 limit 1
  ) e
  left join lateral (select name from customers where customer_id = a.customer_id limit 1) c on true
  limit $2`,
)

/** The customers whose statements have the reference of a spend, a hold or a reversal. */
export async function findReferences(database: Database, reference: string, limit: number): Promise<Found[]> {
  return (await database.run<Found>(findReferencesStatement, [reference, limit])).slice(0, limit)
}
