// The connections of a process: not more than it is allowed, however few, and some of them for requests alone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { databaseUrl, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { statement } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

let testDatabase: TestDatabase
before(async () => {
  testDatabase = await createTestDatabase()
})
after(() => testDatabase.drop())

const sleepStatement = statement.global('test.sleep', 'select pg_sleep(1)')
const planStatement = statement.global('test.plan', `select current_setting('plan_cache_mode') as "mode"`)

for (const { allowed, use } of [
  { allowed: 2, use: 'service' },
  { allowed: 10, use: 'service' },
  { allowed: 2, use: 'command' },
] as const) {
  test(`a ${use} that may have ${allowed} connections has no more, and uses them all`, async (t) => {
    const options = {
      databaseUrl: databaseUrl(testDatabase.connection),
      databaseConnections: allowed,
      use,
      log: silentLog,
    }
    const opened = await openDatabase({ ...options, dataDir: newDirectory(t) })
    t.after(() => opened.close())
    const databases = use === 'service' ? [opened.database, opened.requestDatabase] : [opened.database]
    const asleep = databases.flatMap((database) =>
      Array.from({ length: allowed + 1 }, () => database.run(sleepStatement)),
    )
    const sleepingText = `select count(*)::int as sleeping from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep(1)%' and state = 'active' and pid <> pg_backend_pid()`
    let most = 0
    await until('all are used', async () => {
      const [row] = await testDatabase.query<{ sleeping: number }>(sleepingText)
      most = Math.max(most, row?.sleeping ?? 0)
      return most >= allowed
    })
    assert.equal(most, allowed)
    await Promise.allSettled(asleep)
  })
}

test('statements of requests use generic plans, those of the worker plans as needed', async (t) => {
  const options = { databaseUrl: databaseUrl(testDatabase.connection), databaseConnections: 2, log: silentLog }
  const opened = await openDatabase({ ...options, use: 'service', dataDir: newDirectory(t) })
  t.after(() => opened.close())
  assert.deepEqual(await opened.requestDatabase.run(planStatement), [{ mode: 'force_generic_plan' }])
  assert.deepEqual(await opened.database.run(planStatement), [{ mode: 'auto' }])
})

/** Ends the connection of this number when its client sends a query; the others reach the server. */
async function startProxy(t: TestContext, { ended }: { ended: number }): Promise<{ port: number; opened(): number }> {
  const { host, port } = testDatabase.connection
  let opened = 0
  const server = createServer((client) => {
    opened += 1
    const number = opened
    const target = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
    client.on('data', (bytes) => {
      if (number === ended && bytes.toString('latin1').startsWith('Q')) client.destroy()
      else target.write(bytes)
    })
    target.on('data', (bytes) => client.write(bytes))
    client.on('error', () => undefined).on('close', () => target.destroy())
    target.on('error', () => undefined).on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, opened: () => opened }
}

test('a start goes on when it loses the database half way, whichever of its connections ends', async (t) => {
  for (const ended of [1, 2, 3, 4]) {
    const proxy = await startProxy(t, { ended })
    const connection = { ...testDatabase.connection, host: '127.0.0.1', port: proxy.port }
    const options = { databaseUrl: databaseUrl(connection), databaseConnections: 2, databaseWaitMs: 30_000 }
    const lines: string[] = []
    const others = { log: silentLog, use: 'service', dataDir: newDirectory(t) } as const
    const opened = await openDatabase({ ...options, ...others, onWait: (line) => lines.push(line) })
    await opened.close()
    assert.ok(proxy.opened() > ended)
    assert.match(lines.join('\n'), /^The database test_\w+ at .*\. Waiting for up to 30 s\.$/)
  }
})
