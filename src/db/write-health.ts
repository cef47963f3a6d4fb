// Whether the server accepts writes, for readiness. Statements that only read go on while the disk is full, so a refused
// write is remembered until a probe shows that there is room again. Whether the server is read-only is asked each time.
import { type Database, statement } from './database.ts'

const findWriteModeStatement = statement(
  'db.findWriteMode',
  `select pg_is_in_recovery() as "standby", current_setting('transaction_read_only') = 'on' as "readOnly"`,
)

// Creates a small file in the data directory, which the end of the statement removes. A record in the WAL would show less:
// its segments exist beforehand, and have room when no table can be extended.
const probeRoomStatement = statement('db.probeRoom', 'select pg_export_snapshot()')

/** Why nothing can be written now, in a few words; undefined when writes are accepted. */
export async function findWriteFault(database: Database): Promise<string | undefined> {
  const [mode] = await database.run<{ standby: boolean; readOnly: boolean }>(findWriteModeStatement)
  if (mode?.standby) return 'the database is a standby'
  if (mode?.readOnly) return 'the database is read-only'
  const { refusals } = database
  const last = refusals?.last
  if (!refusals || !last) return undefined
  // A probe that meets a full disk is a refusal of its own. One that fails for another reason shows nothing, and must not
  // keep the service out for good.
  await database.run(probeRoomStatement).catch(() => undefined)
  if (refusals.last === last) refusals.last = null
  return refusals.last ? `the database refuses writes (SQLSTATE ${refusals.last.sqlstate})` : undefined
}
