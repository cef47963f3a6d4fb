// Groups of customers are moved from worker to worker while services sell and spend: nothing that was acknowledged is lost, and
// the books are right. Only on a cluster: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clusterVariable } from '../support/database/database.ts'
import { moveGroups, placements } from '../support/database/moves.ts'
import { type Cluster, startCluster } from '../support/service/cluster.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

let cluster: Cluster
before(async () => {
  if (!skip) cluster = await startCluster(2)
})
after(() => cluster?.close())

test('groups are moved under load: every acknowledged purchase and spend is in the books, once', {
  skip,
}, async (t) => {
  const buyers = await Promise.all(Array.from({ length: 12 }, () => cluster.newCustomer()))
  for (const buyer of buyers) for (let bought = 0; bought < 3; bought += 1) await buyer.confirmedOrder('PRO')
  let isMoving = true
  const done = buyers.map(() => ({ orders: 3, spends: 0 }))
  const codes: Record<string, number> = {}
  async function buyAndSpend(index: number): Promise<void> {
    const [buyer, own] = [buyers[index] ?? assert.fail('no buyer'), done[index] ?? assert.fail('no buyer')]
    for (let round = 0; isMoving; round += 1) {
      const { status, body } = await buyer.at(round % 2).purchase('BASIC', crypto.randomUUID())
      codes[body.code] = (codes[body.code] ?? 0) + 1
      if (status === 201) own.orders += 1
      const spent = await buyer
        .at(round % 2)
        .spend(1)
        .catch(({ code }) => ({ spent: 0, code }))
      own.spends += spent.spent
      await sleep(5)
    }
  }
  const buying = Promise.all(buyers.map((_, index) => buyAndSpend(index)))
  const origin = await placements(cluster.database)
  await moveGroups(cluster.database).finally(() => {
    isMoving = false
  })
  await buying
  const moved = await placements(cluster.database)
  assert.ok(moved.every(({ port }, index) => port !== origin[index]?.port))
  const orders = await countOf('orders')
  const spends = await countOf('ledger_entries', `where kind = 'SPEND'`)
  assert.deepEqual(
    buyers.map(({ customerId }) => ({ orders: orders.get(customerId) ?? 0, spends: spends.get(customerId) ?? 0 })),
    done,
  )
  const refused = Object.keys(codes).filter((code) => !['SUCCESS', 'SVC001'].includes(code))
  assert.deepEqual(refused, [])
  await cluster.check()
  t.diagnostic(JSON.stringify({ ...codes, spends: done.reduce((sum, own) => sum + own.spends, 0) }))
})

async function countOf(table: string, where = ''): Promise<Map<string, number>> {
  const rows = await cluster.database.query<{ customerId: string; count: number }>(
    `select customer_id as "customerId", count(*)::int as count from ${table} ${where} group by 1`,
  )
  return new Map(rows.map(({ customerId, count }) => [customerId, count]))
}
