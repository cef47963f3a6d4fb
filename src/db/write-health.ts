// Whether the server accepts and keeps writes, for readiness. Reads still work while the disk is full, so a refused write is
// remembered until a probe shows that there is room again. Whether the server is read-only, has its standbys and confirms a
// commit is queried each time: a primary that has lost its standbys, or its manager, answers all reads.
import { deadlineIn, within } from '../core/clock.ts'
import type { Standbys } from './connect.ts'
import { confirmCommits, type Database, statement } from './database.ts'

const findWriteModeStatement = statement(
  'db.findWriteMode',
  `select pg_is_in_recovery() as "standby", current_setting('transaction_read_only') = 'on' as "readOnly",
    current_setting('synchronous_standby_names') = '' as "alone"`,
)

// Creates a small file in the data directory, which is removed at the end of the statement. A WAL record would prove less: its
// segments are allocated in advance and have room when no table can be extended.
const probeRoomStatement = statement('db.probeRoom', 'select pg_export_snapshot()')

const commitLimitMs = 2_000

/** The function returns why nothing can be written now; undefined when writes are accepted. */
export function createWriteHealth(database: Database, standbys: Standbys) {
  // One at a time, however often readiness is queried: where commits wait, each would hold a connection.
  let committing: Promise<boolean> | undefined

  function confirmsCommits(): Promise<boolean> {
    committing ??= database
      .run(confirmCommits)
      .then(() => true)
      .finally(() => {
        committing = undefined
      })
    return within(deadlineIn(commitLimitMs), committing, false)
  }

  return async function findFault(): Promise<string | undefined> {
    const [mode] = await database.run<{ standby: boolean; readOnly: boolean; alone: boolean }>(findWriteModeStatement)
    if (mode?.standby) return 'the database is a standby'
    if (mode?.readOnly) return 'the database is read-only'
    if (mode?.alone && standbys === 'required') return 'the database has no synchronous standby'
    if (!(await confirmsCommits())) return 'the database does not confirm commits'
    return findRoomFault(database)
  }
}

async function findRoomFault(database: Database): Promise<string | undefined> {
  const { refusedWrites } = database
  const last = refusedWrites?.last
  if (!refusedWrites || !last) return undefined
  // A probe on a full disk is refused too and replaces `last`. A probe that fails for another reason proves nothing and must
  // not keep the service unready forever.
  await database.run(probeRoomStatement).catch(() => undefined)
  if (refusedWrites.last === last) refusedWrites.last = null
  return refusedWrites.last ? `the database refuses writes (SQLSTATE ${refusedWrites.last.sqlstate})` : undefined
}
