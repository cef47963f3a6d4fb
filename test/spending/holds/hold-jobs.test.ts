// Holds as long jobs need them, over the internal API: a part is captured while the hold stays active, the expiry is moved, a
// hold takes what is available, and a dry run changes nothing. holds-races.test.ts covers simultaneous requests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { updateLowCredits } from '../../../src/credits/accounts.sql.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { assertRefused, assertSuccess } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  assertLack,
  creditsPath,
  type SpendingService,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

/** A customer with 21 credits, and a hold on some of them. */
async function heldCustomer(credits: number) {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('STANDARD')
  const opened = await internal.hold(customer.customerId, credits, { reference: 'the-job' })
  assertSuccess(opened, 201)
  return { customer, id: customer.customerId, holdId: opened.body.data.holdId, opened }
}

async function makeExpired(holdId: string): Promise<void> {
  await service.database.queryUnguarded(`update holds set expires_at = now() - interval '1 ms' where hold_id = $1`, [
    holdId,
  ])
}

test('parts are taken from a hold that stays active, and a final capture takes of the rest', async () => {
  const { customer, id, holdId, opened } = await heldCustomer(15)
  const first = await internal.capturePart(id, holdId, 4, 'job-1')
  assertSuccess(first, 200)
  assert.deepEqual(first.body.data, { holdId, captured: 4, remaining: 11, balance: 6 })
  assert.deepEqual((await internal.capturePart(id, holdId, 5, 'job-2')).body.data.remaining, 6)
  const [aside] = (await internal.statement(id)).body.data.setAside
  assert.equal(aside?.credits, 6)
  assertFieldRefused(await internal.capture(id, holdId, 7), 'VAL003', 'credits')
  const final = await internal.capture(id, holdId, 2)
  assert.deepEqual(final.body.data, { holdId, captured: 2, released: 4, balance: 10 })
  assert.equal(await customer.credits(), 10)
  assert.equal((await internal.capturePart(id, holdId, 4, 'job-1')).text, first.text)
  assert.equal((await internal.capture(id, holdId, 2)).text, final.text)
  assert.equal((await internal.hold(id, 15, { reference: 'the-job' })).text, opened.text)
  const { entries } = (await internal.statement(id)).body.data
  assert.deepEqual(
    entries.toReversed().map((each) => `${each.kind} ${each.delta}/${each.heldDelta} ${each.reference} ${each.holdId}`),
    [
      `GRANT 21/0 null null`,
      `HOLD 0/15 the-job ${holdId}`,
      `CAPTURE -4/-4 job-1 ${holdId}`,
      `CAPTURE -5/-5 job-2 ${holdId}`,
      `CAPTURE -2/-6 the-job ${holdId}`,
    ],
  )
})

test('a hold with parts can be released and can expire: what was captured stays captured', async () => {
  for (const end of ['release', 'expire'] as const) {
    const { customer, id, holdId } = await heldCustomer(10)
    assertSuccess(await internal.capturePart(id, holdId, 3), 200)
    if (end === 'release') {
      const released = await internal.release(id, holdId)
      assert.deepEqual(released.body.data, { holdId, captured: 0, released: 7, balance: 18 })
    } else {
      await makeExpired(holdId)
      assert.equal((await expireHolds(service.payments.database)).expired, 1)
    }
    assert.equal(await customer.credits(), 18)
    const refused = await internal.capturePart(id, holdId, 1)
    assertFieldRefused(refused, 'VAL003', 'holdId')
    assert.match(
      refused.text,
      new RegExp(`the hold is ${end === 'release' ? 'RELEASED' : 'EXPIRED'}, 3 of 10 captured`),
    )
  }
})

test('a part of more than is left is refused; the one that takes the last credits ends the hold: it is CAPTURED, and any other end is refused', async () => {
  const { id, holdId } = await heldCustomer(10)
  assertSuccess(await internal.capturePart(id, holdId, 6), 200)
  assertFieldRefused(await internal.capturePart(id, holdId, 5), 'VAL003', 'credits')
  const last = await internal.capturePart(id, holdId, 4, 'the-last')
  assert.deepEqual(last.body.data, { holdId, captured: 4, remaining: 0, balance: 11 })
  for (const refused of [
    await internal.capture(id, holdId),
    await internal.capture(id, holdId, 4),
    await internal.release(id, holdId),
    await internal.extend(id, holdId, 60),
    await internal.capturePart(id, holdId, 1),
  ]) {
    assertFieldRefused(refused, 'VAL003', 'holdId')
    assert.match(refused.text, /the hold is CAPTURED, 10 of 10/)
  }
  assert.equal((await internal.capturePart(id, holdId, 4, 'the-last')).text, last.text)
})

test('a part is taken once for its reference; other credits, another hold or another use of the reference is VAL003', async () => {
  const { id, holdId } = await heldCustomer(10)
  const other = (await internal.hold(id, 5, { reference: 'other-hold' })).body.data.holdId
  const part = await internal.capturePart(id, holdId, 3, 'part')
  assert.equal((await internal.capturePart(id, holdId, 3, 'part')).text, part.text)
  for (const [answer, rule] of [
    [await internal.capturePart(id, holdId, 2, 'part'), /was used for a part of 3 credits/],
    [await internal.capturePart(id, other, 3, 'part'), /was used for a part of another hold/],
    [await internal.capturePart(id, holdId, 5, 'other-hold'), /was used for a hold/],
    [await internal.spend(id, 3, 'part'), /was used for a part of a hold/],
    [await internal.hold(id, 3, { reference: 'part' }), /was used for a part of a hold/],
  ] as const) {
    assertFieldRefused(answer, 'VAL003', 'reference')
    assert.match(answer.text, rule)
  }
  assertSuccess(await internal.spend(id, 1, 'spent'), 200)
  assertFieldRefused(await internal.capturePart(id, holdId, 1, 'spent'), 'VAL003', 'reference')
  assert.equal((await service.entries(id)).filter((entry) => entry.startsWith('CAPTURE')).length, 1)
})

test('a part needs its credits and a reference, a final capture has none, and a refused one changes nothing', async () => {
  const { id, holdId } = await heldCustomer(10)
  const capture = (body: object) =>
    internal.call(`${creditsPath}/holds/${holdId}/capture`, { body: { customerId: id, ...body } })
  assertFieldRefused(await capture({ final: false, credits: 1 }), 'VAL002', 'reference')
  assertFieldRefused(await capture({ final: false, reference: 'a' }), 'VAL002', 'credits')
  assertFieldRefused(await capture({ final: false, credits: 1, reference: 'two words' }), 'VAL003', 'reference')
  assertFieldRefused(await capture({ final: 'no', credits: 1, reference: 'a' }), 'VAL003', 'final')
  for (const body of [
    { credits: 1, reference: 'a' },
    { final: true, reference: 'a' },
  ]) {
    assertFieldRefused(await capture(body), 'VAL003', 'reference')
  }
  assertRefused(await internal.capturePart(id, crypto.randomUUID(), 1), 'NOT000')
  assertRefused(await internal.capturePart((await service.newCustomer()).customerId, holdId, 1), 'NOT000')
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10'])
})

test('an extension moves the expiry to a later time only, is recorded then alone, and is refused when the hold has ended or its time is over', async () => {
  const { id, holdId, opened } = await heldCustomer(10)
  const { expiresAt } = opened.body.data
  const shorter = await internal.extend(id, holdId, 60)
  assertSuccess(shorter, 200)
  assert.deepEqual(shorter.body.data, { holdId, credits: 10, expiresAt, balance: 11 })
  // The audit measures the longest time of a hold from there.
  const text = 'select extended_at as at from holds where hold_id = $1'
  assert.deepEqual(await service.database.query(text, [holdId]), [{ at: null }])
  assertSuccess(await internal.capturePart(id, holdId, 4), 200)
  const from = Date.now()
  const { data } = (await internal.extend(id, holdId, 604_800)).body
  assert.deepEqual({ ...data, expiresAt: null }, { holdId, credits: 6, expiresAt: null, balance: 11 })
  assert.ok(Math.abs(new Date(data.expiresAt).getTime() - from - 604_800_000) < 5_000, data.expiresAt)
  assert.equal((await internal.extend(id, holdId, 1)).body.data.expiresAt, data.expiresAt)
  for (const seconds of [0, 604_801, 1.5, '60']) {
    assertFieldRefused(await internal.extend(id, holdId, seconds), 'VAL003', 'expiresInSeconds')
  }
  assertFieldRefused(await internal.extend(id, holdId, undefined), 'VAL002', 'expiresInSeconds')
  assertRefused(await internal.extend(id, crypto.randomUUID(), 60), 'NOT000')
  await makeExpired(holdId)
  const late = await internal.extend(id, holdId, 60)
  assertFieldRefused(late, 'VAL003', 'holdId')
  assert.match(late.text, /the hold is EXPIRED, 4 of 10 captured/)
})

test('atMost holds what is available, at least one credit; a repeat gets the first answer, other credits VAL003', async () => {
  const { customerId } = await service.customerWith(7)
  const more = { reference: 'up-to', atMost: true }
  assertSuccess(await internal.hold(customerId, 2, { atMost: true }), 201)
  const held = await internal.hold(customerId, 100, more)
  assertSuccess(held, 201)
  assert.deepEqual([held.body.data.credits, held.body.data.balance], [5, 0])
  assert.equal((await internal.hold(customerId, 100, more)).text, held.text)
  for (const refused of [
    await internal.hold(customerId, 99, more),
    await internal.hold(customerId, 5, more),
    await internal.hold(customerId, 5, { reference: 'up-to' }),
  ]) {
    assertFieldRefused(refused, 'VAL003', 'reference')
    assert.match(refused.text, /was used for a hold of at most 100 credits/)
  }
  assertLack(await internal.hold(customerId, 3, { atMost: true, reference: 'later' }), 3, 0)
  assertSuccess(await internal.release(customerId, held.body.data.holdId), 200)
  assert.equal((await internal.hold(customerId, 3, { atMost: true, reference: 'later' })).body.data.credits, 3)
  assertFieldRefused(await internal.hold(customerId, 3, { reference: 'x', atMost: 'yes' }), 'VAL003', 'atMost')
})

test('a repeat that wants exactly the credits does not get the answer of one with atMost, nor the other way round', async () => {
  const { customerId } = await service.customerWith(10)
  const hold = (credits: number, reference: string, atMost: boolean) =>
    internal.hold(customerId, credits, { reference, atMost })
  assert.equal((await hold(5, 'exactly', false)).body.data.credits, 5)
  assert.equal((await hold(100, 'up-to', true)).body.data.credits, 5)
  for (const [answer, rule] of [
    [await hold(100, 'up-to', false), /was used for a hold of at most 100 credits/],
    [await hold(5, 'exactly', true), /was used for a hold of 5 credits/],
  ] as const) {
    assertFieldRefused(answer, 'VAL003', 'reference')
    assert.match(answer.text, rule)
  }
})

/** Everything that a request about this customer could write. */
async function rowsOf(customerId: string): Promise<unknown> {
  const [rows] = await service.database.query(
    `select (select json_agg(a) from accounts a where a.customer_id = $1) as accounts,
            (select json_agg(e) from ledger_entries e where e.customer_id = $1) as entries,
            (select json_agg(h order by h.opening_entry) from holds h where h.customer_id = $1) as holds,
            (select count(*) from events v where v.customer_id = $1) as events`,
    [customerId],
  )
  return rows
}

test('a dry run answers what the request would get, and changes no row', async () => {
  const { customerId } = await service.customerWith(10)
  await updateLowCredits(service.payments.database, customerId, [10])
  assertSuccess(await internal.spend(customerId, 1, 'spent'), 200)
  const held = await internal.hold(customerId, 2, { reference: 'held' })
  const before = await rowsOf(customerId)
  const spend = (credits: number, reference = 'new', id = customerId) =>
    internal.call(`${creditsPath}/spend`, { body: { customerId: id, credits, reference, dryRun: true } })
  const hold = (credits: number, reference = 'new', more = {}) =>
    internal.hold(customerId, credits, { reference, dryRun: true, ...more })
  assert.deepEqual((await spend(7)).body.data, { reference: 'new', credits: 7, balance: 0 })
  const wouldHold = await hold(3)
  assertSuccess(wouldHold, 200)
  assert.deepEqual(wouldHold.body.data, { holdId: null, credits: 3, expiresAt: null, balance: 4 })
  assert.deepEqual((await hold(50, 'new', { atMost: true })).body.data, {
    holdId: null,
    credits: 7,
    expiresAt: null,
    balance: 0,
  })
  assert.deepEqual((await spend(1, 'spent')).body.data, { reference: 'spent', credits: 1, balance: 9 })
  assert.deepEqual((await hold(2, 'held')).body.data, held.body.data)
  assertLack(await spend(8), 8, 7)
  assertLack(await hold(8), 8, 7)
  assertFieldRefused(await spend(2, 'spent'), 'VAL003', 'reference')
  assertFieldRefused(await spend(2, 'held'), 'VAL003', 'reference')
  assertFieldRefused(await hold(3, 'held'), 'VAL003', 'reference')
  assertRefused(await spend(1, 'new', crypto.randomUUID()), 'NOT000')
  assert.deepEqual(await rowsOf(customerId), before)
  assertSuccess(await internal.spend(customerId, 7, 'new'), 200)
  assertLack(await hold(1, 'more', { atMost: true }), 1, 0)
})
