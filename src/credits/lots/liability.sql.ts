// What the platform owes: the lots of all customers with credits that were unspent at a moment, read customer by customer.
import { type Database, statement } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { type Lot, lotsOfAccounts } from './lots.sql.ts'

export type OutstandingLot = Pick<
  Lot,
  'orderId' | 'packageType' | 'status' | 'grantedAt' | 'amount' | 'credits' | 'used' | 'takenBack' | 'value'
> & { customerId: string; unspent: number }

const listAccountsStatement = statement.global(
  'credits.listAccounts',
  'select customer_id as "customerId" from accounts where customer_id > $1 order by customer_id limit $2',
)

export async function listAccounts(database: Database, after: string, limit: number): Promise<string[]> {
  const rows = await database.run<{ customerId: string }>(listAccountsStatement, [after, limit])
  return rows.map((row) => row.customerId)
}

// The last entry before the moment is found by bisecting the entry numbers of each customer, as in the statement of a customer.
const listOutstandingStatement = statement.ofCustomers(
  'credits.listOutstandingLots',
  sql`with recursive search (customer_id, low, high) as (
    select customer_id, 0::bigint, last_entry from accounts where customer_id = any ($1::uuid[])
    union all
    select customer_id, case when is_before then middle else low end, case when is_before then high else middle - 1 end
    from (
      select s.*, (
        select e.created_at < $2 from ledger_entries e
        where e.customer_id = s.customer_id and e.entry_number = s.middle) as is_before
      from (select *, (low + high + 1) / 2 as middle from search where low < high) s
    ) looked
  ),
  account as (
    select s.customer_id, s.low as entry_number, e.balance_after - coalesce(e.adjusted_after, 0) as paid, $2::timestamptz as moment
    from search s
    join ledger_entries e on e.customer_id = s.customer_id and e.entry_number = s.low
    where s.low >= s.high and e.balance_after > 0
  ),${lotsOfAccounts}
  select customer_id as "customerId", order_id as "orderId", package_type as "packageType", status,
    confirmed_at as "grantedAt", amount, credits, used, taken_back as "takenBack", unspent, value
  from lot
  where unspent > 0
  order by customer_id, grant_entry`,
)

/** Oldest first within a customer. */
export function listOutstandingLots(
  database: Database,
  customerIds: string[],
  before: Date | string,
): Promise<OutstandingLot[]> {
  return database.run<OutstandingLot>(listOutstandingStatement, [customerIds, before])
}
