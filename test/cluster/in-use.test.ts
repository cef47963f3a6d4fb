// A database that is in use becomes the coordinator of a cluster: its rows are moved to the workers, and it is served as before.
// Only on a cluster: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { queryOrEveryGroup } from '../../harness/citus/every-group.ts'
import { prepare } from '../../src/db/prepare.ts'
import { assertInvariants } from '../support/audit/invariants.ts'
import {
  clusterVariable,
  createTestDatabase,
  openTestPool,
  serverVariable,
  type TestServer,
} from '../support/database/database.ts'
import type { ServerConnection } from '../support/database/places.ts'
import { startTestSandbox, startTestService } from '../support/service/service.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

async function query(connection: ServerConnection, ...texts: string[]): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  for (const text of texts) await client.query(text)
  await client.end()
}

test('a database that is in use is spread over workers with its rows', { skip }, async () => {
  await using parts = new AsyncDisposableStack()
  const database = await createTestDatabase({ template: 'template0' })
  parts.defer(() => database.drop())
  const { ownerConnection: owner } = database
  const places = { place: 'of the test', owner, serving: owner }
  await prepare(places)
  const sandbox = await startTestSandbox()
  parts.defer(() => sandbox.close())

  const before = await startTestService({ beside: { database, sandboxUrl: sandbox.url } })
  const customer = await before.newCustomer()
  await customer.confirmedOrder('PRO')
  await customer.paidOrder('BASIC')
  await before.payments.credits.spend({
    customerId: customer.customerId,
    credits: 10,
    reference: 'one',
    serviceId: 'svc_test',
  })
  await before.close()

  const { workers = [] } = JSON.parse(process.env[serverVariable] ?? '') as TestServer
  for (const server of [owner, ...workers]) {
    await query({ ...server, database: owner.database }, 'create extension citus')
  }
  await query(
    owner,
    `select citus_set_coordinator_host('${owner.host}', ${owner.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
  )
  await prepare(places)

  const pool = await openTestPool(owner, { plans: 'once', isCluster: true })
  parts.defer(() => pool.end())
  const spread = {
    ...database,
    pool,
    query: <Row extends object>(text: string, values?: unknown[]) => queryOrEveryGroup<Row>(pool, text, values),
  }
  await assertInvariants(spread)
  const after = await startTestService({ beside: { database: spread, sandboxUrl: sandbox.url } })
  parts.defer(() => after.close())
  const answer = await after.call<{ credits: number }>('/public/v1/payments/credits', { key: customer.apiKey })
  assert.equal(answer.body.data.credits, 100)
})
