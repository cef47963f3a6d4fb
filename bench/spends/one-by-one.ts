// What spending looks like without sharing: one statement for each request, as a plain service would write it. Same
// table, same constraints, same chain of hashes, same durability, prepared; the conditional update is the whole lock.

import type { SpendInput, SpendOutput } from '../../src/credits/spend.ts'
import { type Database, statement } from '../../src/db/database.ts'

const spendOneStatement = statement(
  'bench.spendOne',
  `with moved as (
    update accounts a
    set balance = a.balance - $2, last_entry = a.last_entry + 1, moved_at = greatest(a.moved_at, now()),
        last_hash = ledger_entry_hash(a.last_hash, a.customer_id, a.last_entry + 1, 'SPEND', -$2, a.balance - $2, null,
                                      $3, greatest(a.moved_at, now()), 0, a.held, null, $4)
    where a.customer_id = $1 and a.balance - a.held >= $2
    returning a.*
  ),
  entry as (
    insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, reference, created_at, held_delta,
                                held_after, service_id, entry_hash)
    select customer_id, last_entry, 'SPEND', -$2, balance, $3, moved_at, 0, held, $4, last_hash from moved
  )
  select balance - held as "available" from moved`,
)

export async function spendOneByOne(database: Database, input: SpendInput): Promise<SpendOutput> {
  const { customerId, credits, reference, serviceId } = input
  const [row] = await database.run<{ available: number }>(spendOneStatement, [
    ...[customerId, credits, reference, serviceId],
  ])
  return { spent: row ? credits : 0, available: row?.available ?? 0, isHold: false }
}
