// The customer that a command names, by name or UUID. Ids that stand for something else are refused.
import { meaningOfReserved } from '../../core/ids.ts'
import { findCustomer } from '../../customers/customers.sql.ts'
import { platformCustomer } from '../../events/outbox.sql.ts'
import type { Call } from '../command.ts'

type CustomerCall = Pick<Call, 'database' | 'values'>

/** Null when there is no such customer. */
export async function findNamedCustomer(database: Call['database'], text: string): Promise<string | null> {
  const customer = text.trim()
  const meaning = meaningOfReserved(customer)
  if (meaning) {
    throw new Error(
      `${customer} stands for ${meaning}: no customer has this id. Name the customer by its name or its own UUID.`,
    )
  }
  return (await findCustomer(database, customer)) ?? null
}

export async function findCustomerId({ database, values }: CustomerCall): Promise<string | null> {
  return values.customer === undefined ? null : findNamedCustomer(database, values.customer)
}

export async function requireCustomerId(call: CustomerCall): Promise<string> {
  const customerId = await findCustomerId(call)
  if (!customerId) throw new Error(`There is no customer ${call.values.customer}.`)
  return customerId
}

/** For events: the platform has a queue of its own. */
export async function requireQueueId(call: CustomerCall): Promise<string> {
  const isPlatform = call.values.customer?.trim().toLowerCase() === platformCustomer
  return isPlatform ? platformCustomer : requireCustomerId(call)
}
