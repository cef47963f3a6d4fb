// A service reports ready after all database queries of its start. Answers of ready processes must not depend on a
// pending query of the start, and no ready process may end because of one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { takeFreePorts } from '../../harness/ports.ts'
import {
  assertNothingRuns,
  clusterOf,
  defer,
  newDirectory,
  openBooks,
  runCommand,
  usedDataDir,
} from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { findPostmaster, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { startInProcess } from '../support/service/in-process.ts'
import { separateNotes } from '../support/service/notes.ts'
import { startWholeService } from '../support/service/whole-service.ts'

test('a service listens on its internal port only after the last query of its start', async (t) => {
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const [port = 0] = await takeFreePorts(1)
  const owner = new pg.Client(database.ownerConnection)
  await owner.connect()
  defer(t, () => owner.end())
  await owner.query('begin')
  await owner.query('lock table operators in access exclusive mode')
  const before = { database, dataDir: newDirectory(t) }
  // Its note about the data that it uses is not for the commands of other tests.
  separateNotes(t)
  const starting = startWholeService(t, { INTERNAL_PORT: `${port}` }, before)
  const isWaiting = async () => {
    const text = `select from pg_locks where relation = 'operators'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`
    return (await owner.query(text)).rowCount === 1
  }
  await until('the start queries operators', isWaiting)
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => 'not listening',
  )
  await owner.query('rollback')
  const { internalUrl } = await starting
  const later = await fetch(`${internalUrl}/readyz`)
  assert.deepEqual([ready, later.status], ['not listening', 200])
})

test('a service whose database has become read-only is not ready, and ready again when the database accepts writes', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startInProcess(t, dataDir)
  const books = await openBooks(t, dataDir)
  const readiness = async () => {
    const answer = await fetch(`${service.internalUrl}/readyz`)
    const { status, writes } = (await answer.json()) as Record<string, string>
    return `${answer.status} ${status}: ${writes}`
  }
  assert.equal(await readiness(), '200 ready: accepted')
  await books.query('alter system set default_transaction_read_only = on')
  await books.query('select pg_reload_conf()')
  await until(
    'the service is not ready',
    async () => (await readiness()) === '503 not ready: the database is read-only',
  )
  // Changing the setting does not write to a table.
  await books.query('alter system reset default_transaction_read_only')
  await books.query('select pg_reload_conf()')
  await until('the service is ready', async () => (await readiness()) === '200 ready: accepted')
  await service.close()
})

/** The status of /readyz. */
async function readyStatus({ internalUrl }: { internalUrl: string }): Promise<number> {
  return (await fetch(`${internalUrl}/readyz`)).status
}

test('a command after the end of all sessions does not stop the PostgreSQL of the running service', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startInProcess(t, dataDir)
  const postmaster = findPostmaster(clusterOf(dataDir))?.pid
  const books = await openBooks(t, dataDir)
  await books.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  const { code, stderr } = await runCommand(t, dataDir, ['keys', 'list', '--json'])
  assert.equal(code, 0, stderr)
  assert.equal(findPostmaster(clusterOf(dataDir))?.pid, postmaster)
  await until('the service is ready', async () => (await readyStatus(service)) === 200)
  await books.drop()
  await service.close()
  assertNothingRuns(dataDir)
})

test('a service starts its embedded PostgreSQL again when that has ended, and stops it when it ends itself', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startInProcess(t, dataDir)
  const before = findPostmaster(clusterOf(dataDir))?.pid
  await stopPostmaster(clusterOf(dataDir))
  await until('the service is ready', async () => (await readyStatus(service)) === 200)
  assert.notEqual(findPostmaster(clusterOf(dataDir))?.pid, before)
  await service.close()
  assertNothingRuns(dataDir)
})
