// Goodwill and corrections by operators: what they do to the balance, the limit of a person and day, the second person, and
// that a repeat moves nothing. The console and the commands call these functions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import {
  type Charge,
  chargeDay,
  chargeValues,
  findUsedToday,
  listPendingRequests,
} from '../../src/credits/adjustments/adjust.sql.ts'
import { adjust, approve, limitsToday, reject } from '../../src/credits/adjustments/adjust.ts'
import { listAdjustments } from '../../src/credits/adjustments/adjustments.sql.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { type Cluster, startCluster } from '../support/service/cluster.ts'
import { assertRefused, assertSuccess } from '../support/service/service.ts'
import { atOnce } from '../support/spending/spending.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster(2)
})
after(() => cluster.close())

const limits = { perDay: 1_000, approvalAbove: 200 }
const databaseAt = (index: number) => cluster.contexts[index % 2]?.database ?? assert.fail('no service')

/** By a person that no other test uses. */
function adjustmentOf(customerId: string, credits: number, actor: string = crypto.randomUUID()) {
  const kind = credits > 0 ? ('GOODWILL' as const) : ('CORRECTION' as const)
  return { customerId, adjustmentId: crypto.randomUUID(), kind, credits, reason: 'slow answers', actor }
}

async function newCustomer() {
  const customer = await cluster.newCustomer()
  await customer.confirmedOrder('STANDARD')
  return customer
}

async function adjustedOf(customerId: string): Promise<number | undefined> {
  const text = 'select adjusted from accounts where customer_id = $1'
  return (await cluster.database.query<{ adjusted: number }>(text, [customerId]))[0]?.adjusted
}

async function areWaiting(count: number): Promise<boolean> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await cluster.database.queryServers(text)).length >= count
}

const refusedAs =
  (code: string, reason?: string) => (error: { code?: string; metadata?: { reason?: string } | null }) => {
    assert.deepEqual([error.code, error.metadata?.reason], [code, reason])
    return true
  }

test('goodwill grants and corrections move the balance with an event each, and a correction takes adjusted credits first', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  const database = databaseAt(0)
  const granted = await adjust(database, adjustmentOf(customerId, 5, 'kim'), limits)
  assert.deepEqual([granted.state, granted.available], ['DONE', 26])
  assert.equal(await adjustedOf(customerId), 5)
  assert.equal((await adjust(database, adjustmentOf(customerId, -7, 'kim'), limits)).available, 19)
  assert.equal(await adjustedOf(customerId), 0)
  await assert.rejects(adjust(database, adjustmentOf(customerId, -20, 'kim'), limits), refusedAs('BUS002'))
  await assert.rejects(adjust(database, adjustmentOf(crypto.randomUUID(), 1, 'kim'), limits), refusedAs('NOT000'))
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'GOODWILL 5', 'CORRECTION -7'])

  const events = await cluster.database.query<{ data: object }>(
    `select data from events where customer_id = $1 and type = 'credits.adjusted' order by event_number`,
    [customerId],
  )
  // The reason is internal.
  assert.deepEqual(
    events.map(({ data }) => data),
    [
      { customerId, kind: 'GOODWILL', credits: 5, balance: 26 },
      { customerId, kind: 'CORRECTION', credits: -7, balance: 19 },
    ],
  )
  const [newest] = await listAdjustments(database, customerId, { before: null, limit: 1 })
  assert.deepEqual(
    [newest?.kind, newest?.credits, newest?.actor, newest?.reason],
    ['CORRECTION', -7, 'kim', 'slow answers'],
  )
  // What was refused used nothing of the day.
  const [used] = await cluster.database.query(`select credits from adjustment_days where actor = 'kim'`)
  assert.deepEqual(used, { credits: 12 })
})

test('32 repeats of one adjustment at two services move once, are charged to the day once, a request not at all, and all get its answer', async () => {
  const customer = await newCustomer()
  for (const credits of [3, 300]) {
    const adjustment = adjustmentOf(customer.customerId, credits)
    const results = await atOnce(32, (index) => adjust(databaseAt(index), adjustment, limits))
    assert.equal(new Set(results.map((result) => JSON.stringify(result))).size, 1)
    const [used] = await cluster.database.query<{ credits: number }>(
      'select credits from adjustment_days where actor = $1',
      [adjustment.actor],
    )
    assert.equal(used?.credits, credits > limits.approvalAbove ? undefined : credits)
    const other = { ...adjustment, credits: credits + 1 }
    await assert.rejects(adjust(databaseAt(0), other, limits), refusedAs('VAL003'))
  }
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'GOODWILL 3'])
})

test('of 20 adjustments of 3 at once by one person with a limit of 20 a day, at two services, 6 are made, 14 become requests, and the next day begins with nothing used', async () => {
  const customers = await Promise.all([newCustomer(), newCustomer(), newCustomer()])
  const outcomes = await atOnce(20, async (index) => {
    const customer = customers[index % 3] ?? assert.fail('no customer')
    const adjustment = adjustmentOf(customer.customerId, index % 2 === 0 ? 3 : -3, 'lee')
    const { state } = await adjust(databaseAt(index), adjustment, { ...limits, perDay: 20 })
    return state
  })
  assert.deepEqual(outcomes.toSorted(), [...Array(6).fill('DONE'), ...Array(14).fill('PENDING')])
  assert.equal(await findUsedToday(databaseAt(0), 'lee'), 18)
  // Another person, and another day, has a limit of their own.
  const [first] = customers
  assert.ok(first)
  await adjust(databaseAt(0), adjustmentOf(first.customerId, 3, 'park'), { ...limits, perDay: 20 })
  await cluster.database.query(`alter table adjustment_days disable trigger adjustment_days_only_grow`)
  await cluster.database.query(`update adjustment_days set day = day - 1 where actor = 'lee'`)
  await cluster.database.query(`alter table adjustment_days enable trigger adjustment_days_only_grow`)
  assert.equal(await findUsedToday(databaseAt(0), 'lee'), 0)
  await adjust(databaseAt(0), adjustmentOf(first.customerId, 20, 'lee'), { ...limits, perDay: 20 })
})

const charge = async (database: Database, charged: Charge) =>
  (await database.run(chargeDay.statement, chargeValues(charged, 20))).length > 0

test('the day of a limit is the Korean one, in whatever time zone a session is', async () => {
  const { customerId } = await newCustomer()
  const days = [koreanDayOf(new Date())]
  // Always two different days.
  for (const zone of ['Etc/GMT+12', 'Etc/GMT-14']) {
    const client = await cluster.database.ownerPool.connect()
    await client.query(`set time zone '${zone}'`)
    assert.ok(await charge(createDatabase(client, silentLog), adjustmentOf(customerId, 1, 'seo')))
    client.release(true)
  }
  days.push(koreanDayOf(new Date()))
  const rows = await cluster.database.query<{ day: string; credits: number }>(
    `select to_char(day, 'YYYY-MM-DD') as day, credits from adjustment_days where actor = 'seo'`,
  )
  assert.deepEqual(
    rows.map(({ credits }) => credits),
    [2],
  )
  assert.ok(days.includes(rows[0]?.day ?? ''), rows[0]?.day)
})

test('what is more than the limit of the day, or than what is left of it, becomes a request, also when it is repeated', async () => {
  const { customerId } = await newCustomer()
  const own = { ...limits, perDay: 20 }
  const adjustBy = (credits: number) => adjust(databaseAt(0), adjustmentOf(customerId, credits, 'moon'), own)
  assert.equal((await adjustBy(21)).state, 'PENDING')
  assert.equal((await adjustBy(15)).available, 36)
  const exceeding = adjustmentOf(customerId, -10, 'moon')
  for (const index of [0, 1]) assert.equal((await adjust(databaseAt(index), exceeding, own)).state, 'PENDING')
  assert.equal(await findUsedToday(databaseAt(0), 'moon'), 15)
  const refused = approve(databaseAt(0), exceeding.adjustmentId, 'moon the second', 9)
  await assert.rejects(refused, refusedAs('VAL003', 'adjustment limit'))
  await assert.rejects(refused, /^Refusal: Not approved: .* limit of 9 credits a day, of which 0 are used today/)
  assert.equal((await approve(databaseAt(0), exceeding.adjustmentId, 'moon the second', 10)).available, 26)
  assert.equal((await adjustBy(5)).available, 31)
})

test('the limits of today name what an operator may adjust alone: what is left of the day, where that is less', async () => {
  const { customerId } = await newCustomer()
  const own = { perDay: 20, approvalAbove: 8 }
  const aloneToday = async () => (await limitsToday(databaseAt(0), 'noh', own)).approvalAbove
  assert.equal(await aloneToday(), 8)
  for (const [credits, alone] of [
    [8, 8],
    [7, 5],
    [5, 0],
  ] as const) {
    await adjust(databaseAt(0), adjustmentOf(customerId, credits, 'noh'), own)
    assert.equal(await aloneToday(), alone)
  }
  const lowered = await limitsToday(databaseAt(0), 'noh', { perDay: 10, approvalAbove: 8 })
  assert.deepEqual(lowered, { perDay: 10, usedToday: 20, approvalAbove: 0 })
})

test('what is refused because the balance has moved meanwhile is not charged to the day, where one server has both', async () => {
  const { customerId } = await newCustomer()
  const [emptying, refused] = [adjustmentOf(customerId, -21), adjustmentOf(customerId, -20)]
  const asked = await adjust(databaseAt(0), adjustmentOf(customerId, -20), { ...limits, approvalAbove: 10 })
  const approver = crypto.randomUUID()
  const database: Database = {
    ...databaseAt(0),
    async run(statement, values) {
      if (statement.name === 'credits.adjust') await adjust(databaseAt(1), emptying, limits)
      return databaseAt(0).run(statement, values)
    },
  }
  await assert.rejects(adjust(database, refused, limits), refusedAs('BUS002'))
  await assert.rejects(approve(databaseAt(0), asked.adjustmentId, approver, 1_000), refusedAs('BUS002'))
  const isApart = databaseAt(0).groups !== undefined
  assert.equal(await findUsedToday(databaseAt(0), refused.actor), isApart ? 20 : 0)
  assert.equal(await findUsedToday(databaseAt(0), approver), 0)
})

test('an id is charged for one adjustment: with another customer or other credits it counts again', async () => {
  const [first, second] = [await newCustomer(), await newCustomer()]
  const own = { ...limits, perDay: 20 }
  const adjustment = adjustmentOf(first.customerId, 15, 'han')
  await adjust(databaseAt(0), adjustment, own)
  const ofAnother = { ...adjustment, customerId: second.customerId }
  assert.equal(await charge(databaseAt(1), ofAnother), false)
  await adjust(databaseAt(1), { ...ofAnother, credits: 5 }, own)
  assert.deepEqual(await second.movements(), ['GRANT 21', 'GOODWILL 5'])
  // Charged, and not made: the repeat may be made, and another amount needs its own share of the day.
  const small = adjustmentOf(first.customerId, 1, 'yoon')
  assert.ok(await charge(databaseAt(0), small))
  const large = { ...small, credits: 20 }
  assert.equal(await charge(databaseAt(0), large), false)
  assert.equal((await adjust(databaseAt(0), small, own)).state, 'DONE')
})

test('above the limit of one person an adjustment waits for another one, who approves it once', async () => {
  const customer = await newCustomer()
  const request = adjustmentOf(customer.customerId, 201, 'choi')
  const { adjustmentId } = request
  const stored = await adjust(databaseAt(0), request, limits)
  assert.deepEqual([stored.state, stored.available], ['PENDING', null])
  assert.equal(await customer.credits(), 21)
  await assert.rejects(approve(databaseAt(0), adjustmentId, 'choi', 1_000), refusedAs('VAL003', 'second person'))
  await assert.rejects(approve(databaseAt(0), adjustmentId, 'yoon', 200), refusedAs('VAL003', 'adjustment limit'))
  await assert.rejects(approve(databaseAt(0), crypto.randomUUID(), 'yoon', 1_000), refusedAs('NOT000'))

  const approvers = ['yoon', 'jang', 'lim', 'han']
  const outcomes = await atOnce(16, (index) =>
    approve(databaseAt(index), adjustmentId, approvers[index % 4] ?? '', 1_000).then(
      ({ available }) => `${approvers[index % 4]} ${available}`,
      (error) => refusedAs('VAL003', 'decided')(error) && 'decided',
    ),
  )
  // A repeat of the one who approved gets the answer again.
  assert.equal(new Set(outcomes.filter((outcome) => outcome !== 'decided')).size, 1)
  assert.equal(await customer.credits(), 222)
  await assert.rejects(reject(databaseAt(0), adjustmentId, 'choi'), refusedAs('VAL003', 'decided'))
  const repeated = await adjust(databaseAt(0), request, limits)
  assert.deepEqual([repeated.state, repeated.available], ['DONE', 222])
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'GOODWILL 201'])
})

test('exactly the limit of one person needs no second one, and a correction beyond it does as goodwill does', async () => {
  const { customerId } = await newCustomer()
  const own = { perDay: 100, approvalAbove: 10 }
  for (const [credits, expected] of [
    [10, 'DONE'],
    [-10, 'DONE'],
    [11, 'PENDING'],
    [-11, 'PENDING'],
  ] as const) {
    assert.equal((await adjust(databaseAt(0), adjustmentOf(customerId, credits), own)).state, expected, `${credits}`)
  }
})

test('who has no limit adjusts nothing and requests nothing', async () => {
  const { customerId } = await newCustomer()
  const refused = adjust(databaseAt(0), adjustmentOf(customerId, 1), { perDay: 0, approvalAbove: 0 })
  await assert.rejects(refused, refusedAs('VAL003', 'adjustment limit'))
  assert.deepEqual(await listPendingRequests(databaseAt(0), customerId, 10), [])
})

test('an approval that the balance does not cover uses nothing of the day', async () => {
  const { customerId } = await newCustomer()
  const request = adjustmentOf(customerId, -15)
  await adjust(databaseAt(0), request, { perDay: 100, approvalAbove: 10 })
  await adjust(databaseAt(0), adjustmentOf(customerId, -10), limits)
  const approver = crypto.randomUUID()
  await assert.rejects(approve(databaseAt(0), request.adjustmentId, approver, 100), refusedAs('BUS002'))
  assert.equal(await findUsedToday(databaseAt(0), approver), 0)
})

test('a correction takes no credits that are held, and a repeat has what was available after it', async () => {
  const { customerId } = await newCustomer()
  const hold = { customerId, holdId: crypto.randomUUID(), credits: 10, reference: 'held', serviceId: 'svc_test' }
  await cluster.contexts[0]?.credits.openHold({ ...hold, expiresInSeconds: 60 })
  await assert.rejects(adjust(databaseAt(0), adjustmentOf(customerId, -12), limits), refusedAs('BUS002'))
  const taking = adjustmentOf(customerId, -1)
  assert.equal((await adjust(databaseAt(0), taking, limits)).available, 10)
  assert.equal((await adjust(databaseAt(0), taking, limits)).available, 10)
})

test('an adjustment and a request with one id at once: one of them is made, and the id is refused for the other', async () => {
  const customer = await newCustomer()
  const small = adjustmentOf(customer.customerId, 10)
  const large = { ...small, credits: 11 }
  const own = { perDay: 100, approvalAbove: 10 }
  const other = await cluster.database.begin(customer.customerId)
  await other.query('select from accounts where customer_id = $1 for no key update', [customer.customerId])
  const adjusting = adjust(databaseAt(0), small, own)
  await until('the adjustment waits', () => areWaiting(1))
  let isStored = false
  const requesting = adjust(databaseAt(1), large, own).finally(() => {
    isStored = true
  })
  const outcomes = Promise.allSettled([adjusting, requesting])
  await until('the request waits or is stored', async () => isStored || (await areWaiting(2)))
  await other.rollback()

  const [adjusted, requested] = await outcomes
  assert.deepEqual([adjusted.status, requested.status], ['fulfilled', 'rejected'])
  assert.equal((await adjust(databaseAt(0), small, own)).available, 31)
  await assert.rejects(adjust(databaseAt(0), large, own), refusedAs('VAL003'))
  await assert.rejects(approve(databaseAt(0), small.adjustmentId, 'shin', 100), refusedAs('NOT000'))
  assert.deepEqual(await customer.movements(), ['GRANT 21', 'GOODWILL 10'])
  await cluster.check()
})

test('a rejected request moves nothing and cannot be approved; one that the balance no longer covers stays pending', async () => {
  const customer = await newCustomer()
  const rejected = adjustmentOf(customer.customerId, 500)
  await adjust(databaseAt(0), rejected, limits)
  assert.equal((await reject(databaseAt(0), rejected.adjustmentId, 'kang')).state, 'REJECTED')
  await assert.rejects(approve(databaseAt(0), rejected.adjustmentId, 'shin', 1_000), refusedAs('VAL003', 'decided'))
  assert.equal((await adjust(databaseAt(0), rejected, limits)).state, 'REJECTED')

  const taking = adjustmentOf(customer.customerId, -15)
  await adjust(databaseAt(0), taking, { perDay: 100, approvalAbove: 10 })
  await adjust(databaseAt(0), adjustmentOf(customer.customerId, -10), limits)
  await assert.rejects(approve(databaseAt(0), taking.adjustmentId, 'shin', 100), refusedAs('BUS002'))
  await adjust(databaseAt(0), adjustmentOf(customer.customerId, 4), limits)
  assert.equal((await approve(databaseAt(0), taking.adjustmentId, 'shin', 100)).available, 0)
  await cluster.check()
})

test('the person who rejected a request gets the answer again, and another one that it is decided', async () => {
  const request = adjustmentOf((await newCustomer()).customerId, 500)
  await adjust(databaseAt(0), request, limits)
  const first = await reject(databaseAt(0), request.adjustmentId, 'kang')
  assert.deepEqual(await reject(databaseAt(1), request.adjustmentId, 'kang'), first)
  await assert.rejects(reject(databaseAt(1), request.adjustmentId, 'shin'), refusedAs('VAL003', 'decided'))
})

test('an id is refused for another kind or other credits, and that of a request for another customer', async () => {
  const [first, second] = [await newCustomer(), await newCustomer()]
  const [request, done] = [adjustmentOf(first.customerId, 500), adjustmentOf(first.customerId, 5)]
  for (const adjustment of [request, done]) {
    await adjust(databaseAt(0), adjustment, limits)
    for (const other of [{ kind: 'CORRECTION' as const }, { credits: 4 }]) {
      await assert.rejects(adjust(databaseAt(0), { ...adjustment, ...other }, limits), refusedAs('VAL003'))
    }
  }
  const ofAnother = { ...request, customerId: second.customerId }
  await assert.rejects(adjust(databaseAt(0), ofAnother, limits), refusedAs('VAL003'))
})

test('the requests that wait are listed oldest first, of a customer or of all, and adjustments newest first, of their customer', async () => {
  const [first, second] = [await newCustomer(), await newCustomer()]
  const requests = [first, second, first, first].map(({ customerId }) => adjustmentOf(customerId, 500))
  for (const request of requests) await adjust(databaseAt(0), request, limits)
  const [one, two, three, decided] = requests.map(({ adjustmentId }) => adjustmentId)
  await reject(databaseAt(0), decided ?? '', 'kang')
  const pending = async (customerId: string | null, limit = 1_000) => {
    const listed = await listPendingRequests(databaseAt(0), customerId, limit)
    return listed.map(({ adjustmentId }) => adjustmentId)
  }
  assert.deepEqual(await pending(first.customerId), [one, three])
  assert.deepEqual(await pending(first.customerId, 1), [one])
  assert.deepEqual((await pending(null)).slice(-3), [one, two, three])
  for (const credits of [1, 2, 3]) await adjust(databaseAt(0), adjustmentOf(first.customerId, credits), limits)
  await adjust(databaseAt(0), adjustmentOf(second.customerId, 4), limits)
  const listed = (before: number | null, limit: number) =>
    listAdjustments(databaseAt(0), first.customerId, { before, limit })
  const newest = await listed(null, 2)
  const older = await listed(newest.at(-1)?.entryNumber ?? null, 2)
  assert.deepEqual(
    [newest, older].map((page) => page.map(({ credits }) => credits)),
    [[3, 2], [1]],
  )
})

test('a cancel is not covered by goodwill: used credits are not paid back because others were given', async () => {
  const customer = await cluster.newCustomer()
  const { paymentKey } = await customer.confirmedOrder('STANDARD')
  const { customerId } = customer
  await adjust(databaseAt(0), adjustmentOf(customerId, -1), limits)
  await adjust(databaseAt(0), adjustmentOf(customerId, 30), limits)
  assertRefused(await customer.at(0).cancel({ paymentKey }), 'PAYMENT_CANCEL_FAILED')
  // A credit that was paid for covers it.
  await customer.confirmedOrder('BASIC')
  assertSuccess(await customer.at(1).cancel({ paymentKey }), 200)
  assert.equal(await customer.credits(), 30)
  await cluster.check()
})

test('an adjustment that did not happen, for a reason that is gone, is not refused: its outcome is unknown', async () => {
  const { customerId } = await newCustomer()
  const database = databaseAt(0)
  // As after a failover: what stood in the way was on the former primary alone.
  const lost: Database = {
    run: (statement, values) =>
      statement.name === 'credits.adjust' ? Promise.resolve([]) : database.run(statement, values),
  }
  const own = { ...limits, perDay: 5 }
  await assert.rejects(adjust(lost, adjustmentOf(customerId, 5), own), refusedAs('SVC001'))
})
