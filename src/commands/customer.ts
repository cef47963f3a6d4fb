// Commands that are about one customer name it by --customer, a name or a UUID.
import { findCustomer } from '../customers/customers.sql.ts'
import type { Call } from './command.ts'

export async function customerOf({ database, values }: Pick<Call, 'database' | 'values'>): Promise<string> {
  const customerId = await findCustomer(database, values.customer?.trim() ?? '')
  if (!customerId) throw new Error(`There is no customer ${values.customer}.`)
  return customerId
}

/** On whose trail it is; whom nobody knows, the command itself refuses. */
export async function customerAbout({ database, values }: Pick<Call, 'database' | 'values'>): Promise<string | null> {
  return (values.customer && (await findCustomer(database, values.customer.trim()))) || null
}
