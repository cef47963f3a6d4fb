// Commands that are about one customer name it by --customer, a name or a UUID.
import { findCustomer } from '../customers/sql.ts'
import { type Call, needsNothing, type Words } from './command.ts'

/** And nothing else that has no name. */
export function needsCustomer({ positionals, values }: Words): string | undefined {
  return needsNothing({ positionals }) ?? (values.customer?.trim() ? undefined : '--customer NAME|UUID is needed')
}

export async function customerOf({ database, values }: Pick<Call, 'database' | 'values'>): Promise<string> {
  const customerId = await findCustomer(database, values.customer?.trim() ?? '')
  if (!customerId) throw new Error(`There is no customer ${values.customer}.`)
  return customerId
}
