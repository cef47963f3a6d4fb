// Expires holds, for the worker: credits that a service held and forgot become available again.
import { runAll } from '../../core/batch.ts'
import { createTallies } from '../../core/tallies.ts'
import type { Database } from '../../db/database.ts'
import { createEndHold } from '../credits.ts'
import { listDueHolds } from './holds.sql.ts'

/** Holds per round. */
const roundSize = 500

/**
 * Releases the credits of holds that were not captured in time; `more` after a full round. In batches, so that a hold that
 * cannot be ended, or a locked account, does not stop the others. The first such failure is thrown at the end.
 */
export async function expireHolds(
  database: Database,
  tallies = createTallies(),
): Promise<{ expired: number; more: boolean }> {
  const due = await listDueHolds(database, roundSize)
  const endings = due.map((key) => ({ ...key, ending: 'EXPIRE' as const, captured: null, serviceId: null }))
  const ended = await runAll(createEndHold(database, tallies), endings)
  return { expired: ended.filter((hold) => hold !== null).length, more: due.length === roundSize }
}
