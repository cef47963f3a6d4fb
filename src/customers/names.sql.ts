// The names of customers, for what has only their ids.
import { type Database, statement } from '../db/database.ts'

const findNamesStatement = statement.global(
  'customers.findCustomerNames',
  `select customer_id as "customerId", name from customers where customer_id = any ($1::uuid[]) and name is not null`,
)

/** By customer; no entry for a customer without a name. Ids may repeat, and rows without a customer have none. */
export async function findCustomerNames(
  database: Database,
  customerIds: readonly (string | null)[],
): Promise<Map<string, string>> {
  const ids = [...new Set(customerIds.filter((id) => id !== null))]
  if (ids.length === 0) return new Map()
  const rows = await database.run<NamedCustomer>(findNamesStatement, [ids])
  return new Map(rows.map(({ customerId, name }) => [customerId, name]))
}

/** The rows, each with id and name of its customer first. Null: it has no name, or the row is about no customer. */
export async function withCustomerNames<Row extends { customerId: string | null }>(
  database: Database,
  rows: readonly Row[],
): Promise<(Row & { customerName: string | null })[]> {
  const names = await findCustomerNames(
    database,
    rows.map(({ customerId }) => customerId),
  )
  return rows.map((row) => {
    const { customerId } = row
    return Object.assign({ customerId, customerName: names.get(customerId ?? '') ?? null }, row)
  })
}

export type NamedCustomer = { customerId: string; name: string }

const listNamesStatement = statement.global(
  'customers.listNames',
  'select customer_id as "customerId", name from customers where name is not null limit $1',
)

export function listNames(database: Database, limit: number): Promise<NamedCustomer[]> {
  return database.run<NamedCustomer>(listNamesStatement, [limit])
}

const findNameStatement = statement.global(
  'customers.findCustomerName',
  'select name from customers where customer_id = $1',
)

/** Null: it has none. */
export async function findCustomerName(database: Database, customerId: string): Promise<string | null> {
  const [row] = await database.run<{ name: string | null }>(findNameStatement, [customerId])
  return row?.name ?? null
}
