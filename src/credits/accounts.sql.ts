// The statements on accounts alone. What moves credits is in ledger.sql.ts.
import { type Database, statement } from '../db/database.ts'

/** CTE `opened`: an account for each customer of the CTE `created`. An account exists before anything can move. */
export const openAccounts = `
  opened as (
    insert into accounts (customer_id)
    select customer_id from created
  )`

const readBalancesStatement = statement(
  'credits.readBalances',
  `select i.ordinal, coalesce(a.balance - a.held, 0) as "available"
  from unnest($1::uuid[]) with ordinality as i (customer_id, ordinal)
  left join lateral (select * from accounts a where a.customer_id = i.customer_id limit 1) a on true
  order by i.ordinal`,
)

/** The available credits: the balance less what is held; 0 for an unknown customer. */
export async function readBalances(database: Database, customerIds: string[]): Promise<number[]> {
  const rows = await database.run<{ available: number }>(readBalancesStatement, [customerIds])
  return rows.map((row) => row.available)
}

const findAvailableStatement = statement(
  'credits.findAvailable',
  'select balance - held as "available" from accounts where customer_id = $1',
)

/** For a dry run: the available credits; null when there is no such customer. */
export async function findAvailable(database: Database, customerId: string): Promise<number | null> {
  const [row] = await database.run<{ available: number }>(findAvailableStatement, [customerId])
  return row?.available ?? null
}

const updateLowCreditsStatement = statement(
  'credits.updateLowCredits',
  'update accounts set low_credits = $2 where customer_id = $1 returning customer_id',
)

/** The threshold of `credits.low` events; null: none are sent. False when there is no such customer. */
export async function updateLowCredits(
  database: Database,
  customerId: string,
  lowCredits: number | null,
): Promise<boolean> {
  return (await database.run(updateLowCreditsStatement, [customerId, lowCredits])).length > 0
}
