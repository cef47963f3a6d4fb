// Whether the server accepts and keeps writes, for readiness. Reads still work while the disk is full, so a refused write is
// remembered until a probe shows that there is room again. Whether the server is read-only, has its standbys and confirms a
// commit is queried each time: a primary that has lost its standbys, or its manager, answers all reads. On a cluster this is
// about the coordinator. A worker that is unavailable acknowledges nothing, and the customers of the others can be served; one
// that would acknowledge what can be lost, or fails every statement, makes the service not ready.
import { deadlineIn, within } from '../core/clock.ts'
import { NoStandby, type Standbys } from './connect.ts'
import { confirmCommits, type Database, statement } from './database.ts'

type Mode = { standby: boolean; readOnly: boolean; alone: boolean; isSpread: boolean }

// `cluster_grants` is there where the tables are distributed.
const findWriteModeStatement = statement.global(
  'db.findWriteMode',
  `select pg_is_in_recovery() as "standby", current_setting('transaction_read_only') = 'on' as "readOnly",
    current_setting('synchronous_standby_names') = '' as "alone", to_regclass('cluster_grants') is not null as "isSpread"`,
)

// Creates a small file in the data directory, which is removed at the end of the statement. A WAL record would prove less: its
// segments are allocated in advance and have room when no table can be extended.
const probeRoomStatement = statement.global('db.probeRoom', 'select pg_export_snapshot()')

const answerLimitMs = 2_000

/** One at a time, however often readiness is queried: where commits wait, each would hold a connection. */
function oneAtATime<Value>(work: () => Promise<Value>, late: NoInfer<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return within(deadlineIn(answerLimitMs), running, late)
  }
}

/** The function returns why nothing can be written now; undefined when writes are accepted. */
export function createWriteHealth(database: Database, standbys: Standbys) {
  const confirmsCommits = oneAtATime(() => database.run(confirmCommits).then(() => true), false)
  const faultsOfWorkers = new Map<Database, () => Promise<string | undefined>>()

  /** One that hangs does not hide the faults of the others. */
  function faultOf(worker: Database): Promise<string | undefined> {
    const find = faultsOfWorkers.get(worker) ?? oneAtATime(() => faultOfWorker(worker, standbys), 'away')
    faultsOfWorkers.set(worker, find)
    return find()
  }

  async function findWorkerFault(): Promise<string | undefined> {
    const faults = await Promise.all((database.workers?.() ?? []).map(faultOf))
    if (faults.length > 0 && faults.every((fault) => fault === 'away')) return 'no worker answers'
    return faults.find((fault) => fault !== undefined && fault !== 'away')
  }

  return async function findFault(): Promise<string | undefined> {
    const [mode] = await database.run<Mode>(findWriteModeStatement)
    if (mode?.standby) return 'the database is a standby'
    if (mode?.readOnly) return 'the database is read-only'
    if (mode?.alone && standbys === 'required') return 'the database has no synchronous standby'
    if (mode?.isSpread && !database.workers) return 'the tables were distributed after the start'
    if (!(await confirmsCommits())) return 'the database does not confirm commits'
    return (await findWorkerFault()) ?? findRoomFault(database)
  }
}

async function faultOfWorker(worker: Database, standbys: Standbys): Promise<string | undefined> {
  try {
    const [mode] = await worker.run<Mode>(findWriteModeStatement)
    return mode?.alone && standbys === 'required' ? withoutStandby : undefined
  } catch (error) {
    const { cause, code } = error as { cause?: unknown; code?: string }
    if (cause instanceof NoStandby) return withoutStandby
    return cause ? 'away' : `a worker fails every statement (SQLSTATE ${code})`
  }
}

const withoutStandby = 'a worker has no synchronous standby'

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
