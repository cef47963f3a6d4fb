// The statements on accounts alone. What moves credits is in ledger.sql.ts.
import { type Database, statement } from '../db/database.ts'

const readBalancesStatement = statement.ofCustomers(
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

const hasAccountStatement = statement.ofCustomer('credits.hasAccount', 'select from accounts where customer_id = $1')

/** Whether there is such a customer. */
export async function hasAccount(database: Database, customerId: string): Promise<boolean> {
  return (await database.run(hasAccountStatement, [customerId])).length > 0
}

const updateLowCreditsStatement = statement.ofCustomer(
  'credits.updateLowCredits',
  'update accounts set low_credits = $2, low_steps = $3 where customer_id = $1 returning customer_id',
)

/**
 * The thresholds of `credits.low` events; none: none are sent. The highest is low_credits, as in versions that have only that.
 * Returns them, the highest first, or undefined when there is no such customer.
 */
export async function updateLowCredits(
  database: Database,
  customerId: string,
  thresholds: number[],
): Promise<number[] | undefined> {
  const steps = [...new Set(thresholds)].sort((one, other) => other - one)
  const [highest = null, ...others] = steps
  const values = [customerId, highest, others.length > 0 ? others : null]
  const updated = await database.run(updateLowCreditsStatement, values)
  return updated.length > 0 ? steps : undefined
}
