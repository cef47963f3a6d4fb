// Many requests for the same credits at the same moment, over the internal API at one service and at two on one database.
// processes.test.ts covers two processes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../harness/random.ts'
import { closeAll } from '../support/closing.ts'
import { isLong } from '../support/long.ts'
import { type Cluster, type ClusterCustomer, countCodes, definite, startCluster } from '../support/service/cluster.ts'
import { type Answer, assertSuccess } from '../support/service/service.ts'
import { assertLack, atOnce, type Spending, startInternal } from '../support/spending/spending.ts'

let cluster: Cluster
let listeners: Awaited<ReturnType<typeof startInternal>>[]
before(async () => {
  cluster = await startCluster(2)
  listeners = await Promise.all(cluster.contexts.map((context) => startInternal(context)))
})
after(() => closeAll(...listeners, cluster))

let repeats = 0

/** Repeats a call whose outcome is unknown, as a sibling service does: a busy machine may need it. */
function known<Data>(request: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  let tries = 0
  return definite(() => {
    if (tries > 0) repeats += 1
    tries += 1
    return request()
  })
}

function at(index: number): Pick<Spending, 'spend' | 'hold' | 'capture' | 'release' | 'statement'> {
  const calls = listeners[index % listeners.length] ?? assert.fail('no listener')
  return {
    spend: (customerId, credits, reference = crypto.randomUUID()) =>
      known(() => calls.spend(customerId, credits, reference)),
    hold: (customerId, credits, more = { reference: crypto.randomUUID() }) =>
      known(() => calls.hold(customerId, credits, more)),
    capture: (...args) => known(() => calls.capture(...args)),
    release: (...args) => known(() => calls.release(...args)),
    statement: calls.statement,
  }
}

async function customerWithFifty(): Promise<ClusterCustomer> {
  const customer = await cluster.newCustomer()
  await customer.confirmedOrder('PRO')
  assertSuccess(await at(0).spend(customer.customerId, 60), 200)
  return customer
}

/** Asserts that every refusal has the available credits, and that no balance is below zero. */
async function assertFiftySucceeded(customer: ClusterCustomer, answers: Awaited<ReturnType<Spending['spend']>>[]) {
  assert.deepEqual(countCodes(answers), { SUCCESS: 50, BUS002: 150 })
  for (const answer of answers.filter(({ body }) => body.code === 'BUS002')) assertLack(answer, 1, 0)
  const balances = answers.flatMap(({ body }) => (body.code === 'SUCCESS' ? [body.data.balance] : []))
  assert.deepEqual(
    balances.sort((one, other) => one - other),
    Array.from({ length: 50 }, (_, balance) => balance),
    'every balance from 49 to 0 is in one answer',
  )
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await customer.movements(), ['GRANT 110', 'SPEND -60', ...Array(50).fill('SPEND -1')])
}

for (const [name, instances] of [
  ['one service', 1],
  ['two services on one database', 2],
] as const) {
  test(`200 spends at once on 50 credits, at ${name}: exactly 50 succeed`, async () => {
    for (let round = 0; round < 3; round += 1) {
      const customer = await customerWithFifty()
      const answers = await atOnce(200, (index) => at(index % instances).spend(customer.customerId, 1))
      await assertFiftySucceeded(customer, answers)
    }
    await cluster.check()
  })
}

test('duplicates at two services are one entry and one answer, also when they take the last credit', async () => {
  for (let round = 0; round < 10; round += 1) {
    const customer = await cluster.newCustomer()
    await customer.confirmedOrder('BASIC')
    const answers = await atOnce(32, (index) => at(index).spend(customer.customerId, 1, 'the-last'))
    assert.deepEqual(countCodes(answers), { SUCCESS: 32 })
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1)
    assert.deepEqual(await customer.movements(), ['GRANT 1', 'SPEND -1'])
  }
  await cluster.check()
})

test('one customer, 500 requests at once that grant, spend, hold, capture and release: the sum is exact', async (t) => {
  const random = createRandom(500)
  const customer = await cluster.newCustomer()
  const { customerId } = customer
  await customer.confirmedOrder('PRO')
  const paid = await atOnce(100, () => customer.paidOrder('BASIC'))
  const sums = { granted: 110, spent: 0, captured: 0, held: 0 }
  const counts: Record<string, number> = {}

  async function holdAndEnd(index: number, credits: number): Promise<string> {
    const hold = await at(index).hold(customerId, credits)
    if (hold.body.code !== 'SUCCESS') return `hold ${hold.body.code}`
    const { holdId } = hold.body.data
    if (index % 3 === 0) {
      sums.held += credits
      return 'hold kept'
    }
    if (index % 3 === 1) {
      assertSuccess(await at(index + 1).release(customerId, holdId), 200)
      return 'hold released'
    }
    const { captured, released } = (await at(index + 1).capture(customerId, holdId, 1)).body.data
    assert.deepEqual([captured, released], [1, credits - 1])
    sums.captured += captured
    return 'hold captured'
  }
  async function spend(index: number, credits: number): Promise<string> {
    const answer = await at(index).spend(customerId, credits)
    if (answer.body.code === 'SUCCESS') sums.spent += credits
    return `spend ${answer.body.code}`
  }
  async function confirm(index: number, order: (typeof paid)[0]): Promise<string> {
    assertSuccess(await known(() => customer.at(index).confirm(order)), 200)
    sums.granted += order.credits
    return 'grant'
  }

  const tasks = random.shuffled([
    ...paid.map((order) => (index: number) => confirm(index, order)),
    ...Array.from({ length: 200 }, () => (index: number) => spend(index, random.integer(1, 2))),
    ...Array.from({ length: 200 }, () => (index: number) => holdAndEnd(index, random.integer(1, 3))),
  ])
  for (const result of await atOnce(500, (index) => tasks[index]?.(index) ?? assert.fail('no task'))) {
    counts[result] = (counts[result] ?? 0) + 1
  }
  const { granted, spent, captured, held } = sums
  const balance = granted - spent - captured
  const statement = (await at(0).statement(customerId)).body.data
  assert.deepEqual(statement.balance, { balance, held, available: balance - held })
  assert.equal(await customer.credits(), balance - held)
  assert.equal(granted, 210)
  await cluster.check()
  t.diagnostic(JSON.stringify({ ...sums, ...counts, repeats }))
})

const races = isLong ? 240 : 96
test(`4.6: a cancel and a spend of the same credits, ${races} times: never both refunded and spent`, async (t) => {
  const ends: Record<string, number> = {}
  async function race(seed: number): Promise<void> {
    const random = createRandom(seed)
    const customer = await cluster.newCustomer()
    const { customerId } = customer
    const order = await customer.confirmedOrder('STANDARD')
    const credits = random.chance(0.5) ? 21 : random.integer(1, 21)
    const [spendMs, cancelMs] = [random.integer(0, 6), random.integer(0, 6)]
    const offset = random.integer(0, 1)
    const [spend, cancel] = await Promise.all([
      sleep(spendMs).then(() => at(seed).spend(customerId, credits, 'the-spend')),
      sleep(cancelMs).then(() => known(() => customer.at(seed + offset).cancel(order))),
    ])
    const outcome = `${spend.body.code} ${cancel.body.code}`
    ends[outcome] = (ends[outcome] ?? 0) + 1
    const spendWon = spend.body.code === 'SUCCESS'
    assert.equal(outcome, spendWon ? 'SUCCESS PAYMENT_CANCEL_FAILED' : 'BUS002 SUCCESS', `seed ${seed}`)
    if (!spendWon) assertLack(spend, credits, 0)
    assert.equal(await customer.status(order.orderId), spendWon ? 'CONFIRMED' : 'CANCELLED')
    assert.deepEqual(await customer.movements(), ['GRANT 21', spendWon ? `SPEND -${credits}` : 'ROLLBACK -21'])
    assert.equal(await customer.credits(), spendWon ? 21 - credits : 0)
  }
  for (let first = 1; first <= races; first += 12) await atOnce(12, (index) => race(first + index))
  // Checks among others that the gateway has the money of the confirmed orders and of no other.
  await cluster.check()
  assert.equal(Object.keys(ends).length, 2, 'each of the two has won at least once')
  t.diagnostic(JSON.stringify(ends))
})
