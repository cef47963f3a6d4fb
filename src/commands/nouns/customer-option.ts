// The customer that --customer names, by name or UUID.
import { findCustomer } from '../../customers/customers.sql.ts'
import type { Call } from '../command.ts'

type CustomerCall = Pick<Call, 'database' | 'values'>

export async function findCustomerId({ database, values }: CustomerCall): Promise<string | null> {
  return (values.customer && (await findCustomer(database, values.customer.trim()))) || null
}

export async function requireCustomerId(call: CustomerCall): Promise<string> {
  const customerId = await findCustomerId(call)
  if (!customerId) throw new Error(`There is no customer ${call.values.customer}.`)
  return customerId
}
