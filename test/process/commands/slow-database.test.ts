// Commands that read much, on a database that takes its time: a person waits for them and can interrupt them, so they have no
// time limit of a request. They report on stderr what they wait for.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { type Cleaner, databaseUrl, defer, newDirectory } from '../../../harness/processes.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { callCli } from '../../support/service/cli-call.ts'

/** Longer than a request waits for an answer of the database, 7 s. */
const slowMs = 8_000
const slowStatement = 'payments.auditEntries'

/** A way to the database on which that statement takes so long, each time. */
async function slowWay(t: Cleaner, { connection }: TestDatabase): Promise<string> {
  const { host, port } = connection
  const server = createServer((client) => {
    const target = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
    client.on('data', (bytes) => {
      const isSlow = bytes.toString('latin1').includes(slowStatement)
      if (isSlow) setTimeout(() => target.write(bytes), slowMs)
      else target.write(bytes)
    })
    target.on('data', (bytes) => client.write(bytes))
    client.on('error', () => undefined).on('close', () => target.destroy())
    target.on('error', () => undefined).on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, () => server.close())
  return databaseUrl({ ...connection, host: '127.0.0.1', port: (server.address() as AddressInfo).port })
}

test('an audit waits for a statement that takes longer than one of a request may, and reports that on stderr', async (t) => {
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const settings = { DATABASE_URL: await slowWay(t, database), DATABASE_WAIT_MS: '1000' }
  const { code, stdout, stderr, status } = await callCli(t, newDirectory(t), ['audit', '--json'], settings)
  assert.equal(code, 0, stderr)
  assert.equal(JSON.parse(stdout).ok, true)
  const waits = status.map((line) => JSON.parse(line).progress)
  assert.ok(
    waits.some((wait) => /^Waiting for the database for \d+ s: payments\.auditEntries, rows: /.test(wait)),
    stderr,
  )
})
