// A worker is lost while services sell and spend, and its standby takes its place: nothing that was acknowledged is lost, and the
// services go on by themselves. On a cluster of its own, whose servers can be ended: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type Citus, type CitusNode, startCitus } from '../../harness/citus/citus.ts'
import { defer, newDirectory } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { prepare } from '../../src/db/prepare.ts'
import { clusterVariable } from '../support/database/database.ts'
import type { ServerConnection } from '../support/database/places.ts'
import { type Service, startSales } from '../support/service/sales.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

const wholeFile = { after }
const directory = newDirectory(wholeFile)
let citus: Citus
let places: { owner: ServerConnection; serving: ServerConnection }
before(async () => {
  if (skip) return
  citus = await startCitus(directory, { workers: 2 })
  defer(wholeFile, () => citus.stop())
  const login = (user: string) => ({ ...citus.coordinator, user, password: 'of the tests', database: 'credits' })
  places = { owner: login('credits_owner'), serving: login('credits_service') }
  const roles = [places.owner, places.serving].map(
    ({ user, password }) => `create role ${user} login password '${password}'`,
  )
  await citus.onEveryNode(...roles)
  await citus.createDatabase('credits', places.owner.user)
  await prepare({ place: 'of the tests', ...places })
})

async function readiness({ internalUrl }: Service): Promise<string> {
  const { writes } = (await (await fetch(`${internalUrl}/readyz`)).json()) as { writes: string }
  return writes
}

/** As Patroni does it, on the coordinator: sessions that wait for the lost one are ended. */
async function replace(lost: CitusNode, by: CitusNode): Promise<void> {
  const client = new pg.Client({ ...citus.coordinator, database: 'credits' })
  await client.connect()
  try {
    await client.query(
      'select citus_update_node(nodeid, nodename, $2, true, 1000) from pg_dist_node where nodeport = $1',
      [lost.connection.port, by.connection.port],
    )
  } finally {
    await client.end()
  }
}

test('a worker without a standby is refused where standbys are required, by its name', { skip }, async (t) => {
  await citus.addStandby(citus.nodes[0] ?? assert.fail('no coordinator'))
  const { host, port } = citus.workers[0] ?? assert.fail('no worker')
  const settings = { DATABASE_STANDBYS: 'required', DATABASE_WAIT_MS: '0' }
  await assert.rejects(startSales(t, places, settings), {
    message: new RegExp(`^The database of the worker ${host}:${port} has no synchronous standby`),
  })
})

for (const [number, how] of [
  [1, 'killed'],
  [2, 'frozen'],
] as const) {
  test(`a worker is ${how} under load, its standby takes over, and every acknowledged purchase and spend is there once`, {
    skip,
  }, async (t) => {
    const lost = citus.nodes[number] ?? assert.fail('no worker')
    const standbys = await Promise.all(citus.nodes.slice(number).map(citus.addStandby))
    const [standby] = standbys
    assert.ok(standby)
    const sales = await startSales(t, places, { DATABASE_STANDBYS: 'required' })
    const service = await sales.startService()
    await sales.wait(3)
    assert.equal(await readiness(service), 'accepted')

    const lostAt = performance.now()
    await lost.lose(how)
    await standby.promote()
    await replace(lost, standby)
    await until('the service is not ready', async () => /worker has no/.test(await readiness(service)))
    await citus.addStandby(standby)
    await sales.wait(1)
    const secondsAway = Math.round((performance.now() - lostAt) / 1_000)
    await until('the service is ready', async () => (await readiness(service)) === 'accepted')
    await sales.wait(3)
    t.diagnostic(JSON.stringify({ ...(await sales.stop()), secondsAway }))
  })
}
