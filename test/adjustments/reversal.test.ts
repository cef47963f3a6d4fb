// Reversals over the internal API: the service that spent gives credits back, whole or in parts, once for each reference and
// never more than was spent. The credits have no cash value: the account and its chain know how many of them are left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listAdjustments } from '../../src/credits/adjustments/adjustments.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { closeAll } from '../support/closing.ts'
import { type Cluster, countCodes, definite, startCluster } from '../support/service/cluster.ts'
import { type Answer, assertRefused, assertSuccess, testPeppers } from '../support/service/service.ts'
import { assertFieldRefused, atOnce, type Spending, startInternal } from '../support/spending/spending.ts'

let cluster: Cluster
let listeners: Awaited<ReturnType<typeof startInternal>>[]
let internal: Awaited<ReturnType<typeof startInternal>>
before(async () => {
  cluster = await startCluster(2)
  listeners = await Promise.all(cluster.contexts.map((context) => startInternal(context)))
  internal = listeners[0] ?? assert.fail('no listener')
})
after(() => closeAll(...listeners, cluster))

const at = (index: number): Spending => listeners[index % listeners.length] ?? assert.fail('no listener')

async function newCustomer(packageType: 'STANDARD' | 'PRO' = 'STANDARD') {
  const customer = await cluster.newCustomer()
  await customer.confirmedOrder(packageType)
  return customer
}

async function adjustedOf(customerId: string): Promise<number | undefined> {
  const [row] = await cluster.database.query<{ adjusted: number }>(
    'select adjusted from accounts where customer_id = $1',
    [customerId],
  )
  return row?.adjusted
}

/** Adjusted credits after each entry, oldest first. */
async function adjustedAfter(customerId: string): Promise<(number | null)[]> {
  const rows = await cluster.database.query<{ adjusted: number | null }>(
    'select adjusted_after as adjusted from ledger_entries where customer_id = $1 order by entry_number',
    [customerId],
  )
  return rows.map(({ adjusted }) => adjusted)
}

const ruleOf = (answer: Answer<unknown>) =>
  (answer.body.metadata as { fields?: { rule: string }[] } | null)?.fields?.[0]?.rule

test('a spend is reversed in parts until nothing is left, with an event for each and a record of who and why; a repeat gets the first answer, one with other credits VAL003', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  const spent = 'analyses/2026-11-15/4711?x=%2F'
  assertSuccess(await internal.spend(customerId, 10, spent), 200)
  const first = await internal.reverse(customerId, spent, { credits: 4, reference: 'back-1' })
  assertSuccess(first, 200)
  assert.deepEqual(first.body.data, { reference: 'back-1', credits: 4, balance: 15 })

  assertFieldRefused(await internal.reverse(customerId, spent, { credits: 7 }), 'VAL003', 'credits')
  const rest = await internal.reverse(customerId.toUpperCase(), spent, { reference: 'back-2' })
  assert.deepEqual(rest.body.data, { reference: 'back-2', credits: 6, balance: 21 })
  const tooMuch = await internal.reverse(customerId, spent)
  assertFieldRefused(tooMuch, 'VAL003', 'credits')
  assert.equal(ruleOf(tooMuch), 'must be at most what is left to reverse, 0')

  for (const credits of [4, undefined]) {
    const again = await internal.reverse(customerId, spent, { credits, reference: 'back-1' })
    assert.equal(again.text, first.text)
  }
  for (const credits of [3, 5]) {
    const other = await internal.reverse(customerId, spent, { credits, reference: 'back-1' })
    assertFieldRefused(other, 'VAL003', 'reference')
  }
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'SPEND -10', 'REVERSAL 4', 'REVERSAL 6'])
  const events = await cluster.database.query(
    `select type, data from events where customer_id = $1 and type <> 'order.confirmed' order by event_number`,
    [customerId],
  )
  const [record] = await listAdjustments(cluster.contexts[0]?.database ?? assert.fail(), customerId, {
    before: null,
    limit: 1,
  })
  const { credits, reason, service, reference, reversedReference, actor } = record ?? assert.fail('no record')
  assert.deepEqual(
    { credits, reason, service, reference, reversedReference, actor },
    {
      credits: 6,
      reason: 'the work failed',
      service: 'analyses',
      reference: 'back-2',
      reversedReference: spent,
      actor: null,
    },
  )
  const data = (reference: string, credits: number, balance: number) => ({
    type: 'credits.reversed',
    data: { customerId, reference, reversedReference: spent, credits, balance },
  })
  assert.deepEqual(events, [data('back-1', 4, 15), data('back-2', 6, 21)])
})

test('64 duplicates of a reversal at two services move once and get one answer, also when nothing is left', async () => {
  for (const credits of [3, undefined]) {
    const customer = await newCustomer()
    assertSuccess(await internal.spend(customer.customerId, 5, 'work'), 200)
    const answers = await atOnce(64, (index) =>
      definite(() => at(index).reverse(customer.customerId, 'work', { credits, reference: 'back' })),
    )
    assert.deepEqual(countCodes(answers), { SUCCESS: 64 })
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.deepEqual(await customer.movements(), ['GRANT 21', 'SPEND -5', `REVERSAL ${credits ?? 5}`])
  }
  await cluster.check()
})

test('of 40 reversals of 3 at once, at two services, a spend of 20 gives back 6 times, and never more than was spent', async () => {
  const customer = await newCustomer()
  assertSuccess(await internal.spend(customer.customerId, 20, 'work'), 200)
  const answers = await atOnce(40, (index) =>
    definite(() => at(index).reverse(customer.customerId, 'work', { credits: 3, reference: `back-${index}` })),
  )
  assert.deepEqual(countCodes(answers), { SUCCESS: 6, VAL003: 34 })
  assert.equal(await customer.credits(), 19)
  await cluster.check()
})

test('the captures of a hold are reversed, not what was released, and nothing of a hold that is open', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  const { holdId } = (await internal.hold(customerId, 10, { reference: 'batch' })).body.data
  assert.equal(ruleOf(await internal.reverse(customerId, 'batch')), 'must be at most what is left to reverse, 0')
  assertSuccess(await internal.capture(customerId, holdId, 4), 200)
  assertFieldRefused(await internal.reverse(customerId, 'batch', { credits: 5 }), 'VAL003', 'credits')
  const reversed = await internal.reverse(customerId, 'batch', { reference: 'back' })
  assert.deepEqual(reversed.body.data, { reference: 'back', credits: 4, balance: 21 })
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'CAPTURE -4', 'REVERSAL 4'])
})

test('only the service that spent can reverse, with any of its tokens', async (t) => {
  const customer = await newCustomer()
  const { customerId } = customer
  assertSuccess(await internal.spend(customerId, 5, 'work'), 200)
  const [context] = cluster.contexts
  assert.ok(context)
  const stranger = await startInternal(context, 'reports')
  t.after(() => stranger.close())
  assertRefused(await stranger.reverse(customerId, 'work'), 'NOT000')
  const { token } = await issueToken(context.database, testPeppers, 'analyses')
  assertSuccess(await internal.as(token).reverse(customerId, 'work', { credits: 2 }), 200)

  const other = await newCustomer()
  assertRefused(await internal.reverse(other.customerId, 'work'), 'NOT000')
  assertRefused(await internal.reverse(crypto.randomUUID(), 'work'), 'NOT000')
  for (const text of ['unknown', 'a\0b', 'two words']) {
    assertRefused(await internal.reverse(customerId, text), 'NOT000')
  }
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'SPEND -5', 'REVERSAL 2'])
})

test('references of spends, holds and reversals are one namespace, and a reversal, or a part of a hold by its own reference, cannot be reversed', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  for (const reference of ['one', 'two']) assertSuccess(await internal.spend(customerId, 2, reference), 200)
  const { holdId } = (await internal.hold(customerId, 2, { reference: 'held' })).body.data
  assertSuccess(await internal.capturePart(customerId, holdId, 1, 'part'), 200)
  assertSuccess(await internal.reverse(customerId, 'one', { credits: 1, reference: 'back' }), 200)
  const used = [
    await internal.spend(customerId, 1, 'back'),
    await internal.hold(customerId, 1, { reference: 'back' }),
    await internal.reverse(customerId, 'two', { credits: 1, reference: 'back' }),
    await internal.reverse(customerId, 'one', { reference: 'two' }),
    await internal.reverse(customerId, 'one', { reference: 'held' }),
  ]
  for (const answer of used) assertFieldRefused(answer, 'VAL003', 'reference')
  for (const reference of ['back', 'part']) assertRefused(await internal.reverse(customerId, reference), 'NOT000')
})

test('every field of a reversal is checked, and nothing moves', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  assertSuccess(await internal.spend(customerId, 2, 'r'.repeat(200)), 200)
  const faulty = {
    credits: [0, -1, 1.5, '1'],
    reference: ['', 'two words'],
    reason: ['', ' ', 'a\nb', 'x'.repeat(201), 5],
  }
  for (const [field, values] of Object.entries(faulty)) {
    for (const value of values) {
      assertFieldRefused(await internal.reverse(customerId, 'r'.repeat(200), { [field]: value }), 'VAL003', field)
    }
  }
  assertFieldRefused(await internal.reverse(customerId, 'r'.repeat(200), { reason: null }), 'VAL002', 'reason')
  assertSuccess(await internal.reverse(customerId, 'r'.repeat(200), { reason: `${'가'.repeat(200)} ` }), 200)
})

test('credits that were given back are used last: paid ones go first, by spends, captures and cancels', async () => {
  const customer = await newCustomer('PRO')
  const { customerId } = customer
  assertSuccess(await internal.spend(customerId, 20, 'work'), 200)
  assertSuccess(await internal.reverse(customerId, 'work', { credits: 15 }), 200)
  assert.equal(await adjustedOf(customerId), 15)
  assertSuccess(await internal.spend(customerId, 90, 'paid-ones'), 200)
  assert.equal(await adjustedOf(customerId), 15)
  assertSuccess(await internal.spend(customerId, 5, 'given-back'), 200)
  assert.equal(await adjustedOf(customerId), 10)
  const { holdId } = (await internal.hold(customerId, 10, { reference: 'held' })).body.data
  assert.equal(await adjustedOf(customerId), 10)
  assertSuccess(await internal.capture(customerId, holdId), 200)
  assert.equal(await adjustedOf(customerId), 0)
  await customer.confirmedOrder('STANDARD')
  assert.equal(await adjustedOf(customerId), 0)
  // Entries of an account without adjusted credits do not mention them.
  assert.deepEqual(await adjustedAfter(customerId), [null, null, 15, 15, 10, 10, 0, null])
})
