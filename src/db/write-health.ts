// Whether the server accepts writes, for readiness. Reads still work while the disk is full, so a refused write is remembered
// until a probe shows that there is room again. Whether the server is read-only is queried each time.
import { type Database, statement } from './database.ts'

const findWriteModeStatement = statement(
  'db.findWriteMode',
  `select pg_is_in_recovery() as "standby", current_setting('transaction_read_only') = 'on' as "readOnly"`,
)

// Creates a small file in the data directory, which is removed at the end of the statement. A WAL record would prove less: its
// segments are allocated in advance and have room when no table can be extended.
const probeRoomStatement = statement('db.probeRoom', 'select pg_export_snapshot()')

/** Why nothing can be written now; undefined when writes are accepted. */
export async function findWriteFault(database: Database): Promise<string | undefined> {
  const [mode] = await database.run<{ standby: boolean; readOnly: boolean }>(findWriteModeStatement)
  if (mode?.standby) return 'the database is a standby'
  if (mode?.readOnly) return 'the database is read-only'
  const { refusedWrites } = database
  const last = refusedWrites?.last
  if (!refusedWrites || !last) return undefined
  // A probe on a full disk is refused too and replaces `last`. A probe that fails for another reason proves nothing and must
  // not keep the service unready forever.
  await database.run(probeRoomStatement).catch(() => undefined)
  if (refusedWrites.last === last) refusedWrites.last = null
  return refusedWrites.last ? `the database refuses writes (SQLSTATE ${refusedWrites.last.sqlstate})` : undefined
}
