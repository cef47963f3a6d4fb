// Sections 4.2 and 4.6 with many simultaneous requests, to one service and to two on one database.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { forSeeds, type Random } from '../../../harness/random.ts'
import { isLong } from '../../support/long.ts'
import { type Cluster, countCodes, definite, startCluster } from '../../support/service/cluster.ts'
import { assertRefused, assertSuccess } from '../../support/service/service.ts'

function atOnce<Value>(count: number, request: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => request(index)))
}

for (const size of [1, 2]) {
  const place = size === 1 ? 'at one service' : 'at two services on one database'
  describe(place, () => {
    let cluster: Cluster
    before(async () => {
      cluster = await startCluster(size)
    })
    after(() => cluster.close())

    /** Sometimes delays the gateway, so that requests overlap during the gateway call and not only before and after it. */
    async function maybeDelay(random: Random, on: 'confirm' | 'cancel'): Promise<void> {
      const delayMs = random.integer(5, 120)
      await cluster.sandbox.setFaults(random.chance(0.6) ? [{ on, kind: 'delay', times: 1, delayMs }] : [])
    }

    test(`4.2: 64 simultaneous confirms of one order all get the same answer, and one adds credits, ${place}`, () =>
      forSeeds(isLong ? 6 : 2, async (random) => {
        const customer = await cluster.newCustomer()
        const order = await customer.paidOrder('STANDARD')
        const calls = cluster.calls('confirm')
        await maybeDelay(random, 'confirm')
        const answers = await atOnce(64, (index) => definite(() => customer.at(index).confirm(order)))
        const [answer] = answers
        for (const { status, body } of answers) assert.deepEqual([status, body], [200, answer?.body])
        assert.equal(answer?.body.data.totalCredits, 21)
        assert.equal(cluster.calls('confirm') - calls, 1)
        assert.deepEqual(await customer.movements(), ['GRANT 21'])
        const payments = await cluster.sandbox.paymentsOf(order.orderId)
        assert.deepEqual(
          payments.map((payment) => payment.status),
          ['DONE'],
        )
        await cluster.check()
      }))

    test(`4.6: of 64 simultaneous cancels of one payment one succeeds and deducts the credits once, ${place}`, () =>
      forSeeds(isLong ? 6 : 2, async (random) => {
        const customer = await cluster.newCustomer()
        // There are enough credits for a second hold: the open operation is the reason for the refusals.
        await customer.confirmedOrder('PRO')
        const order = await customer.confirmedOrder('STANDARD')
        const calls = cluster.calls('cancel')
        await maybeDelay(random, 'cancel')
        const answers = await atOnce(64, (index) => customer.at(index).cancel(order))
        const { SUCCESS, PAYMENT_CANCEL_FAILED = 0, SVC001 = 0 } = countCodes(answers)
        assert.deepEqual([SUCCESS, PAYMENT_CANCEL_FAILED + SVC001], [1, 63])
        assert.equal(cluster.calls('cancel') - calls, 1)
        assert.deepEqual(await customer.movements(), ['GRANT 110', 'GRANT 21', 'ROLLBACK -21'])
        assert.equal(await customer.credits(), 110)
        const [payment] = await cluster.sandbox.paymentsOf(order.orderId)
        assert.deepEqual([payment?.status, payment?.cancels?.length], ['CANCELED', 1])
        assertRefused(await customer.at(1).cancel(order), 'PAYMENT_CANCEL_FAILED')
        await cluster.check()
      }))

    test(`4.2 and 4.6: a confirm and a cancel of the same payment end in CONFIRMED with credits or CANCELLED without, ${place}`, (t) => {
      const ends: Record<string, number> = {}
      return forSeeds(isLong ? 16 : 6, async (random) => {
        const customer = await cluster.newCustomer()
        const order = await customer.paidOrder('STANDARD')
        await cluster.sandbox.setFaults(
          (['confirm', 'cancel'] as const).map((on) => ({
            on,
            kind: 'delay',
            times: 2,
            delayMs: random.integer(0, 25),
          })),
        )
        const pauses = Array.from({ length: 6 }, () => random.integer(0, 30))
        const [first, ...others] = await atOnce(6, async (index) => {
          await sleep(pauses[index])
          const { confirm, cancel } = customer.at(index)
          return definite<unknown>(() => (index < 3 ? confirm(order) : cancel(order)))
        })
        const confirms = countCodes([first, ...others.slice(0, 2)].filter((each) => each !== undefined))
        const cancels = countCodes(others.slice(2))
        const cancelled = cancels.SUCCESS === 1
        const status = await customer.status(order.orderId)
        ends[status] = (ends[status] ?? 0) + 1
        assert.equal(status, cancelled ? 'CANCELLED' : 'CONFIRMED')
        assert.equal(await customer.credits(), cancelled ? 0 : 21)
        // A cancel that is too early is NOT000; a confirm after the cancel is refused with the state.
        assert.equal(cancels.NOT000 ?? 0, 3 - (cancels.SUCCESS ?? 0) - (cancels.PAYMENT_CANCEL_FAILED ?? 0))
        assert.equal((confirms.SUCCESS ?? 0) + (cancelled ? (confirms.VAL003 ?? 0) : 0), 3)
        assert.ok((confirms.SUCCESS ?? 0) >= 1)
        await cluster.check()
      }).then(() => t.diagnostic(JSON.stringify(ends)))
    })

    test(`4.2: orders of one customer confirmed at once all add their credits, ${place}`, () =>
      forSeeds(isLong ? 6 : 2, async (random) => {
        const customer = await cluster.newCustomer()
        const orders = await atOnce(16, () => customer.paidOrder(random.pick(['BASIC', 'STANDARD', 'PRO'])))
        const answers = await Promise.all(
          random.shuffled(orders).map((order, index) => customer.at(index).confirm(order)),
        )
        for (const answer of answers) assertSuccess(answer, 200)
        const sum = orders.reduce((total, order) => total + order.credits, 0)
        const totals = answers.map((answer) => answer.body.data.totalCredits)
        assert.equal(Math.max(...totals), sum)
        assert.equal(new Set(totals).size, orders.length)
        assert.equal(await customer.credits(), sum)
        await cluster.check()
      }))

    test(`4.2: a paymentKey confirmed for two orders at once is captured for its own order only, ${place}`, () =>
      forSeeds(isLong ? 8 : 3, async (random) => {
        const customer = await cluster.newCustomer()
        const order = await customer.paidOrder('STANDARD')
        const other = { ...(await customer.paidOrder('STANDARD')), paymentKey: order.paymentKey }
        await maybeDelay(random, 'confirm')
        const [first, second] = random.shuffled([order, other])
        assert.ok(first && second)
        const answers = await Promise.all([customer.at(0).confirm(first), customer.at(1).confirm(second)])
        const [own, foreign] = first === order ? answers : answers.reverse()
        assertRefused(foreign ?? assert.fail(), 'VAL003')
        // While the other order claims the key, the right one is refused and stays PENDING: the next confirm succeeds.
        if (own?.body.code !== 'SUCCESS') assertRefused(own ?? assert.fail(), 'VAL003')
        assertSuccess(await customer.at(0).confirm(order), 200)
        assertRefused(await customer.at(1).confirm(other), 'VAL003')
        assert.deepEqual(await customer.movements(), ['GRANT 21'])
        await cluster.check()
      }))
  })
}

test('4.2: a confirm that has waited for the limit is answered with SVC001, and its retry with the original answer', async () => {
  const cluster = await startCluster(2, { settings: { operationWaitMs: 60 } })
  try {
    const customer = await cluster.newCustomer()
    const order = await customer.paidOrder('STANDARD')
    await cluster.sandbox.setFaults([{ on: 'confirm', kind: 'delay', times: 1, delayMs: 500 }])
    const answers = await atOnce(64, (index) => customer.at(index).confirm(order))
    const successes = answers.filter((answer) => answer.body.code === 'SUCCESS')
    assert.ok(successes.length >= 1)
    assert.equal(countCodes(answers).SVC001, 64 - successes.length)
    for (const answer of answers) if (answer.status === 503) assert.equal(answer.headers.get('retry-after'), '1')
    for (const answer of [...successes, await customer.at(0).confirm(order), await customer.at(1).confirm(order)]) {
      assert.deepEqual(answer.body, successes[0]?.body)
    }
    assert.equal(cluster.calls('confirm'), 1)
    await cluster.check()
  } finally {
    await cluster.close()
  }
})
