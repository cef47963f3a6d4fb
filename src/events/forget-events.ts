// Deletes old events that every endpoint has. What they reported stays: the orders and the ledger.
import { leastUuid } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { deleteEvents } from './forget-events.sql.ts'

/** Statements that hold the accounts of so many customers at most, and delete so many events of each, take milliseconds. */
const customersAtOnce = 200
const eventsAtOnce = 50

/** The job walks over all customers, some in each run. `more`: it is not at the end yet. */
export function createForgetEvents(database: Database, keptDays: number): () => Promise<{ more: boolean }> {
  let after = leastUuid
  return async () => {
    const { last, isCut } = await deleteEvents(database, { keptDays, after, customersAtOnce, eventsAtOnce })
    if (!isCut) after = last ?? leastUuid
    return { more: isCut || last !== null }
  }
}
