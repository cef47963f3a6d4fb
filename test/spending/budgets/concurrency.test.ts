// Many spends and holds under budgets of all scopes at the same moment, at two services on one database. However they meet, no
// budget is exceeded by a credit, and what is counted is what has moved.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRandom } from '../../../harness/random.ts'
import { closeAll } from '../../support/closing.ts'
import { isLong } from '../../support/long.ts'
import { type Cluster, startCluster } from '../../support/service/cluster.ts'
import { assertBudgetsKept, inTurns, senderOf, setBudgets, spendOrHold } from '../../support/spending/budget-load.ts'
import { creditsPath, startInternal } from '../../support/spending/spending.ts'

let cluster: Cluster
let listeners: Awaited<ReturnType<typeof startInternal>>[]
before(async () => {
  cluster = await startCluster(2)
  listeners = await Promise.all(cluster.contexts.map((context) => startInternal(context)))
})
after(() => closeAll(...listeners, cluster))

const count = isLong ? 2_000 : 500
test(`${count} spends and holds at two services under budgets of all scopes: none is exceeded, and the counts are exact`, async (t) => {
  const random = createRandom(count)
  const customers = [await cluster.newCustomer(), await cluster.newCustomer()]
  for (const customer of customers) for (let bought = 0; bought < 3; bought += 1) await customer.confirmedOrder('PRO')
  const customerIds = customers.map(({ customerId }) => customerId)
  const { database } = cluster.contexts[0] ?? assert.fail('no service')
  const budgets = await setBudgets(database, customerIds, 'analyses', 200)
  const sent = await inTurns(count, 128, (index) => {
    const send = senderOf((attempt) => listeners[(index + attempt) % 2] ?? assert.fail('no listener'))
    return spendOrHold(random, customerIds, send)
  })
  // How much the load uses up is a matter of its order: holds that are released later give it back. Until the next credit is
  // refused something is left; then the budget of the customer, of its service or of all customers is used up to the last credit.
  const send = senderOf((attempt) => listeners[attempt % 2] ?? assert.fail('no listener'))
  for (const customerId of customerIds) {
    for (let code = 'SUCCESS'; code === 'SUCCESS'; ) {
      const moved = { customerId, reference: crypto.randomUUID() }
      code = (await send(`${creditsPath}/spend`, { ...moved, credits: 1 })).body.code
      sent.push({ ...moved, code })
    }
  }
  const codes = Object.fromEntries(
    Object.entries(Object.groupBy(sent, ({ code }) => code)).map(([code, of]) => [code, of?.length]),
  )
  const full = await assertBudgetsKept(cluster.database, budgets, 'analyses', sent)
  assert.deepEqual(Object.keys(codes).sort(), ['BUS002', 'SUCCESS'])
  assert.ok(full >= 1, `${full} budgets are used up`)
  await cluster.check()
  t.diagnostic(JSON.stringify({ ...codes, full }))
})
