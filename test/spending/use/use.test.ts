// The use of a customer by day, against plain arithmetic over a random history: spends, holds, parts, releases and reversals of two
// services, over a midnight in Korea.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { forSeeds, type Random } from '../../../harness/random.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../../../src/core/korean-days.ts'
import { type UseDimension, type UseSums, useDimensions } from '../../../src/credits/use/use.sql.ts'
import { type CustomerUse, mostUseValues, readUse } from '../../../src/credits/use/use.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { assertRefused, assertSuccess, testPeppers } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  type SpendingService,
  startInternal,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let services: Record<string, SpendingService['internal']>
before(async () => {
  service = await startSpendingService()
  services = { analyses: service.internal, reports: await startInternal(service.payments, 'reports') }
})
after(async () => {
  await services.reports?.close()
  await service.close()
})

const today = () => koreanDayOf(new Date())

/** The day of the last movement. */
async function lastDay(customerId: string): Promise<string> {
  const [row] = await service.database.query<{ at: Date }>(
    'select moved_at as at from accounts where customer_id = $1',
    [customerId],
  )
  return koreanDayOf(row?.at ?? assert.fail('there is no account'))
}

/** The next movement of the customer is on a later day: an account is never before its last movement. */
async function nextDay(customerId: string): Promise<string> {
  const next = addDays(await lastDay(customerId), 1)
  await service.database.query(
    `update accounts set moved_at = $2::timestamptz - interval '1 microsecond' where customer_id = $1`,
    [customerId, startOfKoreanDay(next)],
  )
  return next
}

type Details = { keyId?: string; userId?: string; label?: string; units?: number }
type Moved = UseSums & { day: string; service: string; details: Details }
type Held = { holdId: string; reference: string; left: number; taken: number; caller: string; details: Details }

const valueBy = ({ service: name, details }: Moved, by: UseDimension) =>
  ({ service: name, key: details.keyId, user: details.userId, label: details.label })[by] ?? null

/** What the use must be. */
function addedUp(moved: Moved[], by: UseDimension) {
  const nothing = (): UseSums => ({ credits: 0, units: 0, count: 0 })
  const sumOf = (some: Moved[]) =>
    some.reduce((sum, { credits, units, count }) => {
      return { credits: sum.credits + credits, units: sum.units + units, count: sum.count + count }
    }, nothing())
  const byValue = [...Map.groupBy(moved, (each) => valueBy(each, by))]
  const rows = byValue.flatMap(([value, some]) =>
    [...Map.groupBy(some, ({ day }) => day)].map(([day, ofDay]) => ({ day, value, ...sumOf(ofDay) })),
  )
  return { rows, sums: byValue.map(([value, some]) => ({ value, ...sumOf(some) })), total: sumOf(moved) }
}

const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort()

function assertUse(use: CustomerUse, moved: Moved[]): void {
  const { rows, sums, total, others, by } = use
  const expected = addedUp(moved, by)
  assert.deepEqual(sorted(rows), sorted(expected.rows), by)
  assert.deepEqual(sorted(sums), sorted(expected.sums), by)
  assert.deepEqual([total, others], [expected.total, null])
  const days = rows.map(({ day }) => day)
  assert.deepEqual(days, days.toSorted())
  const credits = sums.map((sum) => sum.credits)
  assert.deepEqual(
    credits,
    credits.toSorted((a, b) => b - a),
  )
}

const callers = ['analyses', 'reports'] as const
const names = ['spend', 'spend', 'hold', 'hold', 'part', 'capture', 'release', 'reverse'] as const

/** Random movements, before and after a midnight. */
async function runHistory(customerId: string, { pick, integer, chance }: Random): Promise<Moved[]> {
  const moved: Moved[] = []
  const holds: Held[] = []
  const reversible: { reference: string; left: number; caller: string; details: Details }[] = []
  const detailsOf = (): Details => ({
    ...(chance(0.6) && { keyId: pick(['key-1', 'key-2']) }),
    ...(chance(0.6) && { userId: pick(['user-1', 'user-2', 'user-3']) }),
    ...(chance(0.6) && { label: pick(['summary', 'search']) }),
    ...(chance(0.6) && { units: integer(0, 1_000) }),
  })
  async function note(caller: string, details: Details, credits: number, isFirst: boolean): Promise<void> {
    moved.push({
      day: await lastDay(customerId),
      service: caller,
      details,
      credits,
      units: isFirst ? (details.units ?? 0) : 0,
      count: Number(isFirst),
    })
  }
  const steps: Record<(typeof names)[number], (caller: string, details: Details) => Promise<void>> = {
    async spend(caller, details) {
      const [credits, reference] = [integer(1, 5), crypto.randomUUID()]
      assertSuccess(await callsOf(caller).spend(customerId, credits, reference, details), 200)
      if (chance(0.3)) assertSuccess(await callsOf(caller).spend(customerId, credits, reference, details), 200)
      await note(caller, details, credits, true)
      reversible.push({ reference, left: credits, caller, details })
    },
    async hold(caller, details) {
      const [left, reference] = [integer(2, 9), crypto.randomUUID()]
      const answer = await callsOf(caller).hold(customerId, left, { ...details, reference })
      assertSuccess(answer, 201)
      holds.push({ holdId: answer.body.data.holdId, reference, left, taken: 0, caller, details })
    },
    async part() {
      const hold = holds.find(({ left }) => left > 1)
      if (!hold) return
      const credits = integer(1, hold.left - 1)
      assertSuccess(await callsOf(hold.caller).capturePart(customerId, hold.holdId, credits), 200)
      await note(hold.caller, hold.details, credits, hold.taken === 0)
      hold.left -= credits
      hold.taken += credits
    },
    async capture() {
      const hold = holds.shift()
      if (!hold) return
      const credits = integer(1, hold.left)
      assertSuccess(await callsOf(hold.caller).capture(customerId, hold.holdId, credits), 200)
      await note(hold.caller, hold.details, credits, hold.taken === 0)
      reversible.push({ ...hold, left: hold.taken + credits })
    },
    async release() {
      const hold = holds.shift()
      if (hold) assertSuccess(await callsOf(hold.caller).release(customerId, hold.holdId), 200)
    },
    async reverse() {
      const used = reversible.shift()
      if (!used) return
      const credits = integer(1, used.left)
      assertSuccess(await callsOf(used.caller).reverse(customerId, used.reference, { credits }), 200)
      await note(used.caller, used.details, -credits, false)
    },
  }
  for (let step = 0; step < 40; step += 1) {
    if (step === 20) await nextDay(customerId)
    await steps[pick(names)](pick(callers), detailsOf())
  }
  return moved
}

const callsOf = (name: string) => services[name] ?? assert.fail(name)

test('the use by each dimension is what the history adds up to', async () => {
  await forSeeds(3, async (random) => {
    const { customerId } = await service.customerWith(1_100)
    const from = await lastDay(customerId)
    const moved = await runHistory(customerId, random)
    const to = await lastDay(customerId)
    assert.notEqual(from, to)
    for (const by of useDimensions) {
      assertUse(await readUse(service.payments.database, { customerId, by, from, to }), moved)
    }
  })
})

test('the answer of the API has the days that are named, both included, and by default the last 31', async () => {
  const { customerId } = await service.customerWith(110)
  const [first, internal] = [today(), service.internal]
  assertSuccess(await internal.spend(customerId, 1, 'a', { label: 'summary', units: 7 }), 200)
  const second = await nextDay(customerId)
  assertSuccess(await internal.spend(customerId, 2, 'b', { label: 'summary' }), 200)
  assertSuccess(await internal.reverse(customerId, 'a'), 200)
  const ofFirst = { day: first, value: 'summary', credits: 1, units: 7, count: 1 }
  const ofSecond = { day: second, value: 'summary', credits: 1, units: 0, count: 1 }
  const rowsOf = async (query: Record<string, string>) => (await internal.use(customerId, query)).body.data.rows
  assert.deepEqual(await rowsOf({ by: 'label' }), [ofFirst])
  assert.deepEqual(await rowsOf({ by: 'label', from: second, to: second }), [ofSecond])
  assert.deepEqual(await rowsOf({ by: 'label', from: first, to: second }), [ofFirst, ofSecond])
  const { from, to, by, sums, total, others } = (await internal.use(customerId)).body.data
  assert.deepEqual([from, to, by, others], [addDays(first, -30), first, 'service', null])
  assert.deepEqual(sums, [{ value: 'analyses', credits: 1, units: 7, count: 1 }])
  assert.deepEqual(total, { credits: 1, units: 7, count: 1 })
})

test('a capture of another service counts for that service, with the key and label of the hold', async () => {
  const { customerId } = await service.customerWith(110)
  const { holdId } = (await service.internal.hold(customerId, 9, { keyId: 'key-1', units: 3 })).body.data
  const { token } = await issueToken(service.payments.database, testPeppers, 'clean-up', ['hold', 'manage-holds'])
  assertSuccess(await service.internal.as(token).capture(customerId, holdId, 4), 200)
  const sumsBy = async (by: string) => (await service.internal.use(customerId, { by })).body.data.sums
  assert.deepEqual(await sumsBy('service'), [{ value: 'clean-up', credits: 4, units: 3, count: 1 }])
  assert.deepEqual(await sumsBy('key'), [{ value: 'key-1', credits: 4, units: 3, count: 1 }])
})

test('a hold of which nothing was captured, and what operators and purchases move, is no use', async () => {
  const { customerId } = await service.customerWith(110)
  await service.internal.hold(customerId, 9, { units: 3 })
  const { rows, sums, total } = (await service.internal.use(customerId)).body.data
  assert.deepEqual([rows, sums, total], [[], [], { credits: 0, units: 0, count: 0 }])
})

test('values after the first thousand are one sum, and a long ledger is read in pages', async () => {
  const { customerId } = await service.newCustomer()
  const values = mostUseValues + 5
  const entries = 12_000
  await service.database.queryUnguarded(
    `insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, reference, held_delta, held_after,
       service_id, created_at, entry_hash)
     select $1, n, 'SPEND', -1, 0, 'spend-' || n, 0, 0, $2, now(), decode(repeat('00', 32), 'hex')
     from generate_series(1, $3::bigint) as n`,
    [customerId, service.internal.issued.serviceId, entries],
  )
  await service.database.queryUnguarded(
    `insert into use_details (customer_id, entry_number, user_id, units)
     select $1, n, 'user-' || n % $2, 2 from generate_series(1, $3::bigint) as n`,
    [customerId, values, entries],
  )
  await service.database.queryUnguarded('update accounts set last_entry = $2 where customer_id = $1', [
    customerId,
    entries,
  ])
  const { rows, sums, others, total } = (await service.internal.use(customerId, { by: 'user' })).body.data
  assert.deepEqual([rows.length, sums.length], [mostUseValues, mostUseValues])
  assert.deepEqual(total, { credits: entries, units: 2 * entries, count: entries })
  const listed = sums.reduce((sum, { credits }) => sum + credits, 0)
  assert.deepEqual(others, { credits: entries - listed, units: 2 * (entries - listed), count: entries - listed })
  assert.ok(listed < entries)
  await service.database.queryUnguarded(
    `delete from use_details where customer_id = '${customerId}'; delete from ledger_entries where customer_id = '${customerId}';
     update accounts set last_entry = 0 where customer_id = '${customerId}'`,
  )
})

test('a span that is too long, backwards or no span is refused, and so is an unknown dimension or customer', async () => {
  const { customerId } = await service.newCustomer()
  const { use } = service.internal
  assertFieldRefused(await use(customerId, { from: addDays(today(), -92), to: today() }), 'VAL003', 'to')
  assertSuccess(await use(customerId, { from: addDays(today(), -91), to: today() }), 200)
  assertFieldRefused(await use(customerId, { from: today(), to: addDays(today(), -1) }), 'VAL003', 'to')
  assertFieldRefused(await use(customerId, { from: '2026-02-30' }), 'VAL003', 'from')
  assertFieldRefused(await use(customerId, { to: '2199-01-01' }), 'VAL003', 'to')
  assertFieldRefused(await use(customerId, { by: 'hour' }), 'VAL003', 'by')
  assertRefused(await use(crypto.randomUUID()), 'NOT000')
})

test('a token without the scope read is refused', async () => {
  const { customerId } = await service.newCustomer()
  const { token } = await issueToken(service.payments.database, testPeppers, 'spends', ['spend', 'hold'])
  assertRefused(await service.internal.as(token).use(customerId), 'AUTH003')
})
