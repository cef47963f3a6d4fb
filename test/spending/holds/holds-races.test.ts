// Holds that are ended by several requests at the same moment, at two services on one database: captures, releases, the
// expiry, or a cancel that needs the same credits. Exactly one succeeds, and all answers agree. Parts, extensions and holds
// of at most what is available: no reference is captured twice, no hold gives more than it held, no account holds more than
// it has.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, forSeeds } from '../../../harness/random.ts'
import { until } from '../../../harness/until.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { closeAll } from '../../support/closing.ts'
import { isLong } from '../../support/long.ts'
import { type Cluster, countCodes, startCluster } from '../../support/service/cluster.ts'
import { type Answer, assertSuccess } from '../../support/service/service.ts'
import { atOnce, type Spending, startInternal } from '../../support/spending/spending.ts'

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

async function expiresIn(holdId: string, ms: number): Promise<void> {
  await cluster.database.queryUnguarded(
    `update holds set expires_at = clock_timestamp() + $2 * interval '1 ms' where hold_id = $1`,
    [holdId, ms],
  )
}

const sweep = (index: number) => expireHolds((cluster.contexts[index % 2] ?? assert.fail('no context')).database)

async function holdRow(holdId: string) {
  const [row] = await cluster.database.query<{ state: string; capturedInAll: number; taken: number }>(
    `select h.state, (h.captured_in_parts + coalesce(h.captured, 0))::int as "capturedInAll", (
       select coalesce(sum(-e.delta), 0)::int from ledger_entries e
       where e.customer_id = h.customer_id and e.hold_id = h.hold_id) as taken
     from holds h where h.hold_id = $1`,
    [holdId],
  )
  return row ?? assert.fail('no hold')
}

test('64 attempts to end a hold at once, captures, partial captures, releases and expiry: one ending, one entry, consistent answers', async (t) => {
  const ends: Record<string, number> = {}
  await forSeeds(isLong ? 30 : 12, async (random) => {
    const { customer, id, holdId } = await heldCustomer(10)
    // In a quarter of the rounds no attempt is late, in the others the hold expires in between.
    const clockMs = random.chance(0.25) ? 60_000 : random.integer(0, 12)
    await expiresIn(holdId, clockMs)
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

test('64 simultaneous duplicates of a part capture once, also when it takes the last credits, and all get one answer', async () => {
  for (const { held, remaining } of [
    { held: 10, remaining: 7 },
    { held: 3, remaining: 0 },
  ]) {
    const { customer, id, holdId } = await heldCustomer(held)
    const answers = await atOnce(64, (index) => at(index).capturePart(id, holdId, 3, 'one-part'))
    assert.deepEqual(countCodes(answers), { SUCCESS: 64 })
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers[0]?.body.data.remaining, remaining)
    assert.equal(await customer.credits(), 21 - held)
    assert.equal((await holdRow(holdId)).taken, 3)
  }
})

test('one reference for parts of two holds at once captures from one of them', async () => {
  const { id, holdId } = await heldCustomer(10)
  const other = (await at(0).hold(id, 10)).body.data.holdId
  const answers = await atOnce(16, (index) => at(index >> 1).capturePart(id, index % 2 ? holdId : other, 2, 'shared'))
  assert.deepEqual(countCodes(answers), { SUCCESS: 8, VAL003: 8 })
  assert.equal((await holdRow(holdId)).taken + (await holdRow(other)).taken, 2)
})

test('parts that race a final capture, a release and the expiry never take more than was held, and every answer is true', async () => {
  const ends = new Set<string>()
  await forSeeds(isLong ? 30 : 12, async (random) => {
    const { customer, id, holdId } = await heldCustomer(10)
    await expiresIn(holdId, random.chance(0.4) ? 60_000 : random.integer(0, 30))
    const plan = Array.from({ length: 48 }, (_, index) => ({
      index,
      pauseMs: random.integer(0, 25),
      way: index < 36 ? 'part' : random.pick(['capture', 'release', 'expire']),
      credits: random.integer(1, 3),
    }))
    const answers: Answer<{ captured: number }>[] = []
    await Promise.all(
      plan.map(async ({ index, pauseMs, way, credits }) => {
        await sleep(pauseMs)
        if (way === 'expire') return void (await sweep(index))
        answers.push(
          await (way === 'part'
            ? at(index).capturePart(id, holdId, credits, `part-${index}`)
            : way === 'capture'
              ? at(index).capture(id, holdId)
              : at(index).release(id, holdId)),
        )
      }),
    )
    assert.deepEqual(
      Object.keys(countCodes(answers)).filter((code) => code !== 'SUCCESS' && code !== 'VAL003'),
      [],
    )
    const { state, capturedInAll, taken } = await holdRow(holdId)
    // A final capture may have been answered several times.
    const parts = answers.flatMap(({ body }) => (body.data && 'remaining' in body.data ? [body.data.captured] : []))
    const finals = answers.flatMap(({ body }) => (body.data && 'released' in body.data ? [body.data.captured] : []))
    assert.equal(taken, parts.reduce((sum, each) => sum + each, 0) + Math.max(0, ...finals))
    assert.equal(capturedInAll, taken)
    assert.ok(taken <= 10, `${taken} of 10`)
    if (state !== 'ACTIVE') assert.equal(await customer.credits(), 21 - taken)
    ends.add(state)
  })
  assert.ok(ends.size >= 2, [...ends].join())
})

test('an extension that races the expiry: an extended hold is captured in the end, a refused extension is of an expired one', async () => {
  const outcomes = new Set<string>()
  await forSeeds(isLong ? 60 : 20, async (random) => {
    const { id, holdId } = await heldCustomer(5)
    await expiresIn(holdId, random.integer(0, 120))
    const [extended] = await Promise.all([
      sleep(random.integer(0, 60)).then(() => at(0).extend(id, holdId, 600)),
      ...[1, 2, 3].map((index) => sleep(random.integer(0, 130)).then(() => sweep(index))),
    ])
    const captured = await at(1).capture(id, holdId)
    outcomes.add(extended.body.code)
    assert.equal(captured.body.code, extended.body.code, `${extended.text} ${captured.text}`)
    assert.equal((await holdRow(holdId)).state, extended.body.code === 'SUCCESS' ? 'CAPTURED' : 'EXPIRED')
  })
  assert.deepEqual([...outcomes].toSorted(), ['SUCCESS', 'VAL003'])
})

test('an extension that waited for the hold until its time was over is refused: another request may have found it expired', async () => {
  const { id, holdId } = await heldCustomer(5)
  await expiresIn(holdId, 400)
  const other = await cluster.database.begin(id)
  await other.query('select from holds where hold_id = $1 for update', [holdId])
  const extending = at(0).extend(id, holdId, 600)
  await sleep(600)
  await other.rollback()
  const refused = await extending
  assert.match(refused.text, /the hold is EXPIRED/)
})

test('64 simultaneous requests to hold at most 5 among spends hold what there is and no more', async () => {
  const customer = await cluster.newCustomer()
  for (let order = 0; order < 6; order += 1) await customer.confirmedOrder('STANDARD')
  const { customerId } = customer
  const [holds, spends] = await Promise.all([
    // Each reference twice.
    atOnce(64, (index) => at(index).hold(customerId, 5, { atMost: true, reference: `job-${index >> 1}` })),
    atOnce(8, (index) => at(index).spend(customerId, 2)),
  ])
  for (const answers of [holds, spends]) {
    assert.deepEqual(
      Object.keys(countCodes(answers)).filter((code) => !['BUS002', 'SUCCESS'].includes(code)),
      [],
    )
  }
  const [row = assert.fail('no account')] = await cluster.database.query<{ balance: number; held: number }>(
    `select balance::int, held::int from accounts where customer_id = $1`,
    [customerId],
  )
  assert.deepEqual([row.held, await customer.credits()], [row.balance, 0])
  const creditsOf = new Map(holds.flatMap(({ body: { data } }) => (data ? [[data.holdId, data.credits] as const] : [])))
  const credits = [...creditsOf.values()]
  assert.equal(
    credits.reduce((sum, each) => sum + each, 0),
    row.held,
  )
  assert.ok(credits.every((each) => each >= 1 && each <= 5))
})
