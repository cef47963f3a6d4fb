// Deletes old events that every endpoint has. What they reported stays: the orders and the ledger.
import { leastUuid } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { groupsOf } from '../db/groups.ts'
import { deleteEvents, type OldEvents } from './purge-events.sql.ts'

/** Reads one event of each customer; a statement deletes at most 2,000 events. */
const limits: Pick<OldEvents, 'customersRead' | 'customersAtOnce' | 'eventsAtOnce'> = {
  customersRead: 500,
  customersAtOnce: 10,
  eventsAtOnce: 200,
}

/** The job goes through all customers, some in each run. `more`: it is not at the end yet. */
export function createPurgeEvents(database: Database, keptDays: number): () => Promise<{ more: boolean }> {
  const groups = groupsOf(database)
  let group = 0
  let after = leastUuid
  return async () => {
    const { last, isCut } = await deleteEvents(groups[group] as Database, { keptDays, after, ...limits })
    if (isCut) return { more: true }
    after = last ?? leastUuid
    if (last === null) group = (group + 1) % groups.length
    return { more: last !== null || group > 0 }
  }
}
