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
  const rows = await database.run<{ customerId: string; name: string }>(findNamesStatement, [ids])
  return new Map(rows.map(({ customerId, name }) => [customerId, name]))
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
