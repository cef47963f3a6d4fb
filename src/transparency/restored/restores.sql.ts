// Restores of the log: a restored log lacks entries that may have been signed after the backup. Under a name that signed the log
// of a backup nothing is signed any more, or two histories of one name would exist, which cannot be taken back. That ends when the
// log gets another name (LOG_ORIGIN), or when LOG_CONTINUE_AFTER_RESTORE names the restore: the next restore has another id.
import { type Database, statement } from '../../db/database.ts'
import type { LogName } from '../note.ts'

/** The newest restore of a log that was signed under the name `log_name.origin`. */
export const quotedRestoreId = `(select r.restore_id from log_restores r
    where log_name.origin = any (r.origins) order by r.restore_number desc limit 1)`

/** Whether the log is not signed because of this restore, which is the newest of its name. */
export function isHeldBack(restoreId: string | null, { continuedRestore }: LogName): boolean {
  return restoreId !== null && restoreId !== continuedRestore
}

export type Restore = {
  restoreId: string
  /** The size of the log in the backup. */
  size: number
  restoredAt: Date
}

const findRestoreStatement = statement.global(
  'transparency.findRestore',
  `select restore_id as "restoreId", size, restored_at as "restoredAt"
  from (select $1::text as origin) log_name
  join log_restores on restore_id = ${quotedRestoreId}`,
)

/** The restore because of which the log is not signed; null: it is. */
export async function findHoldingRestore(database: Database, log: LogName): Promise<Restore | null> {
  const [restore] = await database.run<Restore>(findRestoreStatement, [log.origin])
  return restore && isHeldBack(restore.restoreId, log) ? restore : null
}

/** For operators: why nothing is signed, and both ways out. */
export const heldBackText = ({ restoreId, size, restoredAt }: Restore, origin: string) =>
  `nothing is signed as ${origin}: the log was restored at ${restoredAt.toISOString()} from a backup with ${size} entries, and ` +
  'later ones may have been signed under that name. Set LOG_ORIGIN to a name that was never used, or, only if nothing was ' +
  `signed after the backup, LOG_CONTINUE_AFTER_RESTORE=${restoreId}: docs/operations.md.`
