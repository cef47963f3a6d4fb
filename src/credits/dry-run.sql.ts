// What a dry run reads of an account. It locks and writes nothing.
import { type Database, statement } from '../db/database.ts'

const findAvailableStatement = statement(
  'credits.findAvailable',
  'select balance - held as "available" from accounts where customer_id = $1',
)

/** The available credits; null when there is no such customer. */
export async function findAvailable(database: Database, customerId: string): Promise<number | null> {
  const [row] = await database.run<{ available: number }>(findAvailableStatement, [customerId])
  return row?.available ?? null
}
