// When a service says that it is ready: after everything that its start asks the database for. What ready processes answer
// must not depend on a question that is still open, and no ready process may end because of one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { takeFreePorts } from '../../chaos/ports.ts'
import { createTestDatabase } from '../support/database.ts'
import { defer, newDirectory } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { startWholeService } from '../support/whole-service.ts'

test('a service listens on its internal port when nothing of its start is left to be asked', async (t) => {
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const [port = 0] = await takeFreePorts(1)
  const owner = new pg.Client(database.ownerConnection)
  await owner.connect()
  defer(t, () => owner.end())
  await owner.query('begin')
  await owner.query('lock table operators in access exclusive mode')
  const before = { database, dataDir: newDirectory(t) }
  const starting = startWholeService(t, { INTERNAL_PORT: `${port}` }, before)
  const isWaiting = async () => {
    const text = `select from pg_locks where relation = 'operators'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`
    return (await owner.query(text)).rowCount === 1
  }
  await until('the start asks for operators', isWaiting)
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => 'nobody there',
  )
  await owner.query('rollback')
  const { internalUrl } = await starting
  const later = await fetch(`${internalUrl}/readyz`)
  assert.deepEqual([ready, later.status], ['nobody there', 200])
})
