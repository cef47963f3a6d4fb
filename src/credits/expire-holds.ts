// Ends holds whose time is over, for the worker: what a service has set aside and forgotten comes back.
import { runAll } from '../core/batch.ts'
import { createTallies } from '../core/tallies.ts'
import type { Database } from '../db/database.ts'
import { createEndHold } from './credits.ts'
import { listDueHolds } from './holds.sql.ts'

/** What one round takes. */
const roundSize = 500

/**
 * Gives back what nobody has captured in time; a full round asks to come again. Behind a batch: a hold that cannot be
 * ended, or an account that somebody keeps, does not keep the others. The first such failure is told when all is done.
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
