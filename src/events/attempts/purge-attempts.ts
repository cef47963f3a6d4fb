// Deletes old attempts of deliveries. What was delivered stays: the queues and the dead events.
import type { Database } from '../../db/database.ts'
import { deleteAttempts } from './attempts.sql.ts'

const deletedAtOnce = 1_000

/** `more`: a batch was full, and there may be more. */
export async function purgeAttempts(database: Database, keptDays: number): Promise<{ more: boolean }> {
  return { more: (await deleteAttempts(database, keptDays, deletedAtOnce)) >= deletedAtOnce }
}
