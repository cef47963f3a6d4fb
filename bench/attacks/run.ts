// How many attacks on the ledger the holder of an earlier checkpoint or receipt finds: books with a million entries, appended
// to the log by the real job, then one random attack after the other, each rolled back. Exit code 0: every attack was found, and
// nothing was found without one.
import { createRandom } from '../../harness/random.ts'
import { createDatabase, createPool } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { entriesPerOrder, generate } from '../books/generate.ts'
import { startServer } from '../books/server.ts'
import type { Options } from '../options.ts'
import { createProgress, databaseLog, logLine } from '../report/progress.ts'
import { counted, publish } from '../report/report.ts'
import { logOrigin as origin, pepper } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { type Attacked, attackOnce, type Setting } from './experiment.ts'
import { createForgery } from './forged-ledger.ts'
import { readRealLog } from './forged-log.ts'
import { findFirst, sealBooks } from './holders.ts'
import { type Measured, reportOf } from './report.ts'

/** The customer with the most entries has about a thousand of a million: more would only take the attacker longer to repair. */
const busiest = 1_000
const longestStatementMs = 600_000
/** What was rolled back is still in the tables, until it is removed. */
const vacuumEvery = 20
const changedTables =
  'ledger_entries, accounts, orders, payment_operations, holds, events, log_runs, log_tiles, log_head'

export async function runAttacks(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const setting = await openSetting(parts, options)
  const falseAlarms: string[] = []
  const auditWithoutAttack = async () => {
    logLine('Auditing the log without an attack ...')
    const found = await findFirst(setting.database, ...setting.kept)
    if (found !== null) falseAlarms.push(found)
  }
  await auditWithoutAttack()
  const attacked = await attackAll(setting, options.attacks)
  await auditWithoutAttack()
  const measured: Measured = { logged: setting.logged, withoutAttack: { audits: 2, falseAlarms }, attacked }
  const missed = attacked.filter(({ found }) => found === null).length
  const failures = [
    ...falseAlarms.map((rule) => `found without an attack: ${rule}`),
    ...(missed > 0 ? [`not found: ${counted(missed, 'attack')}`] : []),
  ]
  const report = { machine: await machineOf({ books: setting }), ...reportOf(measured, options), failures }
  return publish(options.out, 'attacks', report, measured)
}

type LoggedSetting = Setting & Pick<Measured, 'logged'>

async function openSetting(
  parts: AsyncDisposableStack,
  { entries, seed }: { entries: number; seed: number },
): Promise<LoggedSetting> {
  const { connection } = await startServer({ keep: false }, parts)
  // One connection: what the attacker has done is seen by the audit, and is never committed.
  const pool = createPool({ connection, maxConnections: 1, statementLimitMs: longestStatementMs, log: databaseLog })
  const client = await pool.connect()
  parts.defer(async () => {
    client.release(true)
    await pool.end()
  })
  await client.query('set idle_in_transaction_session_timeout = 0')
  await migrate(client)
  logLine(`Generating books with ${entries} entries ...`)
  await generate(client, Math.ceil(entries / entriesPerOrder), { busiest })
  logLine('Appending them to the log ...')
  const database = createDatabase(client, databaseLog)
  const keys = logKeysOf([{ secret: pepper }], origin)
  const { kept, size, appendedMs } = await sealBooks(client, database, { keys, origin }, createRandom(seed))
  await client.query(createForgery)
  const logged = { entries: size, checkpoints: kept.length / 2, seconds: appendedMs / 1_000 }
  return { client, database, kept, seed, log: await readRealLog(client, origin, keys), logged }
}

async function attackAll(setting: Setting, count: number): Promise<Attacked[]> {
  const progress = createProgress(count)
  const attacked: Attacked[] = []
  for (let number = 1; number <= count; number += 1) {
    const done = await attackOnce(setting, number)
    attacked.push(done)
    const { verb, object, log: logForgery, entry, found, attackMs, checkMs } = done
    const took = `${(attackMs / 1_000).toFixed(1)} s and ${(checkMs / 1_000).toFixed(1)} s`
    const what = `${verb} ${object} of entry ${entry.entryNumber} (${entry.kind}), log ${logForgery}: ${took}`
    logLine(progress(`${what}: ${found ?? 'NOT FOUND'}`))
    if (number % vacuumEvery === 0) await setting.client.query(`vacuum ${changedTables}, forged.entries`)
  }
  return attacked
}
