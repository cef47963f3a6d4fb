// Credits that are spent, granted and deducted at the same moment, at two services on one database: sections 4.4 and 4.6,
// and spending. No credits are both spent and refunded, and nothing is counted twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { forSeeds } from '../../../harness/random.ts'
import { isLong } from '../../support/long.ts'
import {
  type Cluster,
  type ClusterCustomer,
  countCodes,
  definite,
  startCluster,
} from '../../support/service/cluster.ts'
import { assertSuccess } from '../../support/service/service.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster(2)
})
after(() => cluster.close())

function atOnce<Value>(count: number, request: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => request(index)))
}

/** Fifty credits, from ten orders confirmed at once. */
async function customerWithFifty(): Promise<ClusterCustomer> {
  const customer = await cluster.newCustomer()
  await atOnce(10, (index) => customer.confirmedOrder(index < 2 ? 'STANDARD' : 'BASIC'))
  assert.equal(await customer.credits(), 50)
  return customer
}

test('200 simultaneous spends of 1 on 50 credits: exactly 50 succeed', () =>
  forSeeds(3, async () => {
    const customer = await customerWithFifty()
    const spends = await atOnce(200, (index) => customer.at(index).spend(1))
    assert.equal(spends.filter((each) => each.spent).length, 50)
    assert.equal(await customer.credits(), 0)
    await cluster.check()
  }))

test('32 simultaneous spends with one reference take the credits once, and all return the same amount', () =>
  forSeeds(isLong ? 10 : 4, async (_random, seed) => {
    const customer = await cluster.newCustomer()
    await customer.confirmedOrder('STANDARD')
    const spends = await atOnce(32, (index) => customer.at(index).spend(2, `batch-${seed}`))
    assert.deepEqual(
      spends.map((each) => each.spent),
      Array(32).fill(2),
    )
    assert.deepEqual(await customer.movements(), ['GRANT 21', 'SPEND -2'])
    await cluster.check()
  }))

test('32 simultaneous spends with one reference that cannot be covered all fail, and the reference can be used later', async () => {
  const customer = await cluster.newCustomer()
  await customer.confirmedOrder('BASIC')
  const spends = await atOnce(32, (index) => customer.at(index).spend(2, 'later'))
  assert.deepEqual(
    spends.map((each) => each.spent),
    Array(32).fill(0),
  )
  await customer.confirmedOrder('BASIC')
  assert.deepEqual(await customer.at(0).spend(2, 'later'), { ...spends[0], spent: 2, available: 0, isNew: true })
  assert.deepEqual(await customer.movements(), ['GRANT 1', 'GRANT 1', 'SPEND -2'])
})

test('4.6: credits are never both spent and refunded, in any order of spends and a cancel', (t) => {
  const ends: Record<string, number> = {}
  return forSeeds(isLong ? 16 : 6, async (random) => {
    const customer = await cluster.newCustomer()
    const others = random.integer(0, 5)
    await atOnce(others, () => customer.confirmedOrder('BASIC'))
    const order = await customer.confirmedOrder('STANDARD')
    const delayMs = random.integer(0, 30)
    await cluster.sandbox.setFaults([{ on: 'cancel', kind: 'delay', times: 1, delayMs }])
    const spending = Array.from({ length: 24 }, () => ({
      credits: random.integer(1, 4),
      pauseMs: random.integer(3, 60),
    }))
    const cancelPauseMs = random.chance(0.5) ? 0 : random.integer(5, 20)
    const [cancel, ...spends] = await Promise.all([
      sleep(cancelPauseMs).then(() => customer.at(0).cancel(order)),
      ...spending.map(async ({ credits, pauseMs }, index) => {
        await sleep(pauseMs)
        return (await customer.at(index).spend(credits)).spent ? credits : 0
      }),
    ])
    const spent = spends.reduce((sum, credits) => sum + credits, 0)
    const { code } = cancel.body
    ends[code] = (ends[code] ?? 0) + 1
    assert.ok(code === 'SUCCESS' || code === 'PAYMENT_CANCEL_FAILED', cancel.text)
    assert.equal(await customer.status(order.orderId), code === 'SUCCESS' ? 'CANCELLED' : 'CONFIRMED')
    const granted = others + (code === 'SUCCESS' ? 0 : 21)
    assert.ok(spent <= granted, `${spent} spent of ${granted}`)
    assert.equal(await customer.credits(), granted - spent)
    await cluster.check()
  }).then(() => t.diagnostic(JSON.stringify(ends)))
})

test('4.6: a cancel holds its credits also when another order grants them at the same moment', (t) => {
  const ends: Record<string, number> = {}
  return forSeeds(isLong ? 16 : 6, async (random) => {
    const customer = await cluster.newCustomer()
    const spentOrder = await customer.confirmedOrder('STANDARD')
    assert.equal((await customer.at(0).spend(21)).spent, 21)
    const other = await customer.paidOrder('STANDARD')
    const confirmPauseMs = random.integer(0, 4)
    const [confirm, ...cancels] = await Promise.all([
      sleep(confirmPauseMs).then(() => customer.at(0).confirm(other)),
      ...Array.from({ length: 24 }, async (_, index) => {
        await sleep(Math.floor(index / 2))
        return definite(() => customer.at(index).cancel(spentOrder))
      }),
    ])
    assertSuccess(confirm, 200)
    const { SUCCESS = 0, PAYMENT_CANCEL_FAILED = 0 } = countCodes(cancels)
    ends[SUCCESS] = (ends[SUCCESS] ?? 0) + 1
    assert.ok(SUCCESS <= 1 && SUCCESS + PAYMENT_CANCEL_FAILED === 24, JSON.stringify(countCodes(cancels)))
    assert.equal(await customer.status(spentOrder.orderId), SUCCESS === 1 ? 'CANCELLED' : 'CONFIRMED')
    assert.equal(await customer.credits(), SUCCESS === 1 ? 0 : 21)
    await cluster.check()
  }).then(() => t.diagnostic(`cancels that succeeded: ${JSON.stringify(ends)}`))
})

test('4.6: cancels that the gateway refuses release the credits each time, however many are sent at once', async () => {
  const refusing = await startCluster(2, {
    wrapGateway: (gateway) => ({ ...gateway, cancel: async () => ({ kind: 'rejected', code: 'REFUND_REJECTED' }) }),
  })
  try {
    await forSeeds(4, async () => {
      const customer = await refusing.newCustomer()
      const order = await customer.confirmedOrder('STANDARD')
      const answers = await atOnce(16, (index) => definite(() => customer.at(index).cancel(order)))
      assert.deepEqual(countCodes(answers), { PAYMENT_CANCEL_FAILED: 16 })
      assert.equal(await customer.status(order.orderId), 'CONFIRMED')
      assert.equal(await customer.credits(), 21)
      assert.deepEqual(await customer.movements(), ['GRANT 21'])
      await refusing.check()
    })
  } finally {
    await refusing.close()
  }
})
