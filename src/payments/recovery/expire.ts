// Fails PENDING orders without a confirm in time (section 3, decision: 24 hours). An order with an open confirm is left
// alone: the worker resumes that first.
import { runAll } from '../../core/batch.ts'
import { createTallies } from '../../core/tallies.ts'
import type { Database } from '../../db/database.ts'
import { createExpireOrder, listDueOrders } from './expire.sql.ts'

/** Orders of one run. */
const batchSize = 500

/** `more`: the batch was full, and there may be more. The first failure is thrown when all orders are done. */
export async function expireOrders(
  database: Database,
  pendingOrderLifetimeMs: number,
  tallies = createTallies(),
): Promise<{ expired: number; more: boolean }> {
  const due = await listDueOrders(database, pendingOrderLifetimeMs, batchSize)
  const results = await runAll(createExpireOrder(database, tallies), due)
  return { expired: results.filter(Boolean).length, more: due.length === batchSize }
}
