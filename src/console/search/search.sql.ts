// The lookups of a search besides those of orders, each by its own index: a lookup reads only the rows it returns, whatever the
// size of the tables. The limits leave the planner no other plan. The last two have no index, and read as many rows as there are
// customers.
import { type Database, statement } from '../../db/database.ts'

export type Found = {
  kind: 'order' | 'payment' | 'customer' | 'key' | 'reference'
  id: string
  orderId: string | null
  customerId: string | null
  customerName: string | null
  status: string | null
}

const customerColumns = `'customer' as "kind", customer_id as "id", null as "orderId", customer_id as "customerId",
    name as "customerName", null as "status"`

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
