// Holds that are ended by several requests at the same moment, at two services on one database: captures, releases, the
// expiry, or a cancel that needs the same credits. Exactly one succeeds, and all answers agree.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, forSeeds } from '../../harness/random.ts'
import { until } from '../../harness/until.ts'
import { expireHolds } from '../../src/credits/expire-holds.ts'
import { refund } from '../../src/payments/refund.ts'
import { closeAll } from '../support/closing.ts'
import { isLong } from '../support/long.ts'
import { type Cluster, countCodes, startCluster } from '../support/service/cluster.ts'
import { assertSuccess } from '../support/service/service.ts'
import { atOnce, type Spending, startInternal } from '../support/spending/spending.ts'

let cluster: Cluster
let listeners: Awaited<ReturnType<typeof startInternal>>[]
before(async () => {
  cluster = await startCluster(2)
  listeners = await Promise.all(cluster.contexts.map((context) => startInternal(context)))
})
after(() => closeAll(...listeners, cluster))

const at = (index: number): Spending => listeners[index % listeners.length] ?? assert.fail('no listener')

async function heldCustomer(credits: number) {
  const customer = await cluster.newCustomer()
  const order = await customer.confirmedOrder('STANDARD')
  const opened = await at(0).hold(customer.customerId, credits)
  assertSuccess(opened, 201)
  return { customer, order, id: customer.customerId, holdId: opened.body.data.holdId }
}

async function stateOf(holdId: string) {
  const [hold] = await cluster.database.query<{ state: string; captured: number | null; endings: number }>(
    `select h.state, h.captured, (
       select count(*)::int from ledger_entries e
       where e.customer_id = h.customer_id and e.hold_id = h.hold_id and e.kind <> 'HOLD') as endings
     from holds h where h.hold_id = $1`,
    [holdId],
  )
  return hold ?? assert.fail('no hold')
}

test('64 attempts to end a hold at once, captures, partial captures, releases and expiry: one ending, one entry, consistent answers', async (t) => {
  const ends: Record<string, number> = {}
  await forSeeds(isLong ? 30 : 12, async (random) => {
    const { customer, id, holdId } = await heldCustomer(10)
    // In a quarter of the rounds no attempt is late, in the others the hold expires in between.
    const clockMs = random.chance(0.25) ? 60_000 : random.integer(0, 12)
    await cluster.database.queryUnguarded(
      `update holds set expires_at = clock_timestamp() + $2 * interval '1 ms' where hold_id = $1`,
      [holdId, clockMs],
    )
    const plan = Array.from({ length: 64 }, (_, index) => ({
      index,
      pauseMs: random.integer(0, 12),
      way: random.pick(['capture', 'part', 'release', 'expire']),
    }))
    const results = await Promise.all(
      plan.map(async ({ index, pauseMs, way }) => {
        await sleep(pauseMs)
        if (way === 'expire') {
          await expireHolds((cluster.contexts[index % 2] ?? assert.fail('no context')).database)
          return { way, answer: null }
        }
        const answer = await (way === 'release'
          ? at(index).release(id, holdId)
          : at(index).capture(id, holdId, way === 'part' ? 4 : undefined))
        return { way, answer }
      }),
    )
    // Perhaps all attempts were late and the last sweep was too early.
    await until('the hold has ended', async () => {
      await expireHolds((cluster.contexts[0] ?? assert.fail('no context')).database)
      return (await stateOf(holdId)).state !== 'ACTIVE'
    })
    const { state, captured, endings } = await stateOf(holdId)
    const winner = { CAPTURED: captured === 10 ? 'capture' : 'part', RELEASED: 'release', EXPIRED: 'expire' }[state]
    ends[winner ?? state] = (ends[winner ?? state] ?? 0) + 1
    assert.equal(endings, 1)
    const answers = results.flatMap(({ way, answer }) => (answer ? [{ way, answer }] : []))
    assert.equal(new Set(answers.filter(({ way }) => way === winner).map(({ answer }) => answer.text)).size <= 1, true)
    for (const { way, answer } of answers) {
      if (way === winner) assertSuccess(answer, 200)
      else assert.match(answer.text, new RegExp(`"VAL003".*the hold is ${state}`))
    }
    assert.equal(await customer.credits(), 21 - (captured ?? 0))
  })
  await cluster.check()
  t.diagnostic(JSON.stringify(ends))
})

test('a hold and a cancel of the same credits at the same moment: exactly one succeeds', async (t) => {
  const ends: Record<string, number> = {}
  async function race(seed: number): Promise<void> {
    const random = createRandom(seed)
    const customer = await cluster.newCustomer()
    const order = await customer.confirmedOrder('STANDARD')
    const [holdMs, cancelMs] = [random.integer(0, 6), random.integer(0, 6)]
    const credits = random.integer(1, 21)
    const [hold, cancel] = await Promise.all([
      sleep(holdMs).then(() => at(seed).hold(customer.customerId, credits)),
      sleep(cancelMs).then(() => customer.at(seed + random.integer(0, 1)).cancel(order)),
    ])
    const outcome = `${hold.body.code} ${cancel.body.code}`
    ends[outcome] = (ends[outcome] ?? 0) + 1
    if (hold.body.code === 'SUCCESS') {
      assert.equal(cancel.body.code, 'PAYMENT_CANCEL_FAILED', `seed ${seed}`)
      assert.equal(await customer.status(order.orderId), 'CONFIRMED')
      const captured = await at(seed).capture(customer.customerId, hold.body.data.holdId)
      assert.equal(captured.body.data.balance, 21 - credits)
      assert.equal((await customer.at(seed).cancel(order)).body.code, 'PAYMENT_CANCEL_FAILED')
      return
    }
    assert.deepEqual([hold.body.code, cancel.body.code], ['BUS002', 'SUCCESS'], `seed ${seed}`)
    assert.equal(await customer.status(order.orderId), 'CANCELLED')
    assert.equal(await customer.credits(), 0)
  }
  for (let first = 1; first <= 80; first += 8) await atOnce(8, (index) => race(first + index))
  await cluster.check()
  assert.equal(Object.keys(ends).length, 2, JSON.stringify(ends))
  t.diagnostic(JSON.stringify(ends))
})

test('holds, captures, cancels and refunds of a few customers at once cause no deadlock', async (t) => {
  const customers = await atOnce(3, async () => {
    const customer = await cluster.newCustomer()
    return { customer, orders: await atOnce(8, () => customer.confirmedOrder('STANDARD')) }
  })
  const counts: Record<string, number> = {}
  const count = (code: string) => {
    counts[code] = (counts[code] ?? 0) + 1
  }
  await forSeeds(2, async (random) => {
    await atOnce(150, async (index) => {
      const { customer, orders } = random.pick(customers as [(typeof customers)[0]])
      const order = orders[random.integer(0, 7)] ?? assert.fail('no order')
      const [way, credits] = [random.integer(0, 9), random.integer(1, 9)]
      await sleep(random.integer(0, 40))
      const context = cluster.contexts[index % 2] ?? assert.fail('no context')
      if (way === 0) return count(`cancel ${(await customer.at(index).cancel(order)).body.code}`)
      if (way === 1) {
        const reason = 'decided by the platform'
        return refund(context, { orderId: order.orderId, reason }).then(
          () => count('refund SUCCESS'),
          (error) => count(`refund ${error.code}`),
        )
      }
      const hold = await at(index).hold(customer.customerId, credits)
      count(`hold ${hold.body.code}`)
      if (hold.body.code !== 'SUCCESS' || way < 4) return
      const { holdId } = hold.body.data
      const ends = await atOnce(2, (next) =>
        next === way % 2
          ? at(index + next).capture(customer.customerId, holdId)
          : at(index + next).release(customer.customerId, holdId),
      )
      assert.deepEqual(countCodes(ends), { SUCCESS: 1, VAL003: 1 })
    })
  })
  await cluster.check()
  t.diagnostic(JSON.stringify(counts))
})
