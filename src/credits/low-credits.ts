// Below how many credits a customer is told that few are left.
import { type Database, statement } from '../db/database.ts'

const updateLowCreditsStatement = statement(
  'credits.updateLowCredits',
  'update accounts set low_credits = $2 where customer_id = $1 returning customer_id',
)

/** Null: never. Whether there is such a customer. */
export async function updateLowCredits(
  database: Database,
  customerId: string,
  lowCredits: number | null,
): Promise<boolean> {
  return (await database.run(updateLowCreditsStatement, [customerId, lowCredits])).length > 0
}
