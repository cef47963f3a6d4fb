// Rules of refunds with a day: an order is judged by the rule of the Korean day of its confirm, for ever, and a start that would
// change this is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import type { Call } from '../../src/commands/command.ts'
import { orderCommands } from '../../src/commands/nouns/order-commands.ts'
import { readConfig } from '../../src/config.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../../src/core/korean-days.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { shopInfo } from '../../src/dev/shop.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { findOrderStory } from '../../src/payments/books/order-story.sql.ts'
import { listRules, ruleOf, storeRules } from '../../src/payments/refunds/dated-rules.sql.ts'
import { type RefundRule, ruleInWords } from '../../src/payments/refunds/dated-rules.ts'
import { keepRefundRules } from '../../src/payments/refunds/keep-rules.ts'
import { clusterVariable, createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { assertSuccess, testSettings } from '../support/service/service.ts'
import { startWholeService } from '../support/service/whole-service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

const showOrder = orderCommands.find(({ name }) => name === 'orders show')

const first = testSettings.firstRefundRule
const ruleFrom = (from: string, members: Partial<RefundRule> = {}): RefundRule => ({
  from,
  fullPriceDays: 0,
  smallestAmount: 3_000,
  sharePercent: 80,
  ...members,
})
const today = koreanDayOf(new Date())
const tomorrow = addDays(today, 1)

let service: SpendingService
before(async () => {
  service = await startSpendingService()
  // The rule of today, as if the service had started with it before.
  await storeRules(service.payments.database, [first, ruleFrom(today)], today)
})
after(() => service.close())

async function orderWith(spent: number) {
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  if (spent > 0) assertSuccess(await service.internal.spend(customerId, spent), 200)
  return { customerId, orderId }
}

/** A setting of the coordinator's session does not reach the groups. */
const skip = process.env[clusterVariable] ? 'triggers stay on in a cluster' : false
const withoutTriggers = (changes: string) =>
  service.database.query(`do $$ begin set local session_replication_role = replica; ${changes}; end $$`)

/** Set back afterwards. */
async function confirmedAt<Value>(orderId: string, moment: Date, work: () => Promise<Value>): Promise<Value> {
  const [order] = await service.database.query<{ at: string }>(
    'select confirmed_at::text as at from orders where order_id = $1',
    [orderId],
  )
  const set = (at: string) => withoutTriggers(`update orders set confirmed_at = '${at}' where order_id = '${orderId}'`)
  await set(moment.toISOString())
  try {
    return await work()
  } finally {
    await set(order?.at ?? '')
  }
}

for (const { spent, amount, credits, value } of [
  { spent: 0, amount: 16_000, credits: 21, value: 20_000 },
  { spent: 1, amount: 15_200, credits: 20, value: 19_000 },
  { spent: 16, amount: 3_200, credits: 5, value: 4_000 },
]) {
  test(`with ${spent} of 21 credits used, 80 percent of ${value} won go back, and the refund keeps its rule`, async () => {
    const { customerId, orderId } = await orderWith(spent)
    const quote = await service.internal.refundQuote(customerId, orderId)
    assertSuccess(quote, 200)
    const expected = { rule: 'unused part', amount, credits, value, terms: ruleFrom(today) }
    const { rule, terms } = quote.body.data
    assert.deepEqual(
      { rule, amount: quote.body.data.amount, credits: quote.body.data.credits, value: quote.body.data.value, terms },
      expected,
    )
    const answer = await service.internal.refund(customerId, orderId, quote.body.data)
    assertSuccess(answer, 200)
    assert.deepEqual([answer.body.data.refundedAmount, answer.body.data.creditsTakenBack], [amount, credits])
    const story = await findOrderStory(service.payments.database, orderId)
    const kept = story?.operations.map(({ kind, refundRule }) => [kind, refundRule])
    assert.deepEqual(kept, [
      ['CONFIRM', null],
      ['REFUND', ruleFrom(today)],
    ])
    const shown = await showOrder?.run?.({
      database: service.payments.database,
      positionals: [orderId],
      values: {},
    } as Partial<Call> as Call)
    assert.match(JSON.stringify(shown), new RegExp(`"refundRule":"rule since ${today}: 80 %`))
    const [payment] = await service.sandbox.paymentsOf(orderId)
    assert.equal(payment?.balanceAmount, 20_000 - amount)
    const lots = await service.internal.lots(customerId)
    assert.deepEqual(
      lots.body.data.lots.map((lot) => [lot.used, lot.takenBack, lot.value, lot.refundedAmount]),
      [[spent, credits, 0, amount]],
    )
    assert.deepEqual((await audit(service.payments.database)).violations, [])
  })
}

test('the smallest amount is compared with the share', async () => {
  const { customerId, orderId } = await orderWith(17)
  const quote = await service.internal.refundQuote(customerId, orderId)
  assert.match(quote.text, /2400 KRW are less than the smallest refund, 3000 KRW/)
})

test('an order of the last moment of a day is judged by the rule before, one of midnight in Korea by the new one', {
  skip,
}, async () => {
  const midnight = startOfKoreanDay(today) ?? assert.fail()
  const { customerId, orderId } = await orderWith(5)
  const quoteAt = (moment: Date) =>
    confirmedAt(orderId, moment, () => service.internal.refundQuote(customerId, orderId))
  const before = await quoteAt(new Date(midnight.getTime() - 1))
  assert.deepEqual([before.body.data.terms, before.body.data.amount], [first, 15_000])
  const since = await quoteAt(midnight)
  assert.deepEqual([since.body.data.terms, since.body.data.amount], [ruleFrom(today), 12_000])
})

test('a day that begins between quote and refund changes nothing for an order of the day before', {
  skip,
}, async () => {
  const { database } = service.payments
  const { customerId, orderId } = await orderWith(5)
  const yesterday = new Date((startOfKoreanDay(today) ?? assert.fail()).getTime() - 1)
  const after = ruleFrom(tomorrow, { sharePercent: 50 })
  await confirmedAt(orderId, yesterday, async () => {
    const quote = await service.internal.refundQuote(customerId, orderId)
    assertSuccess(quote, 200)
    await storeRules(database, [after], today)
    const answer = await service.internal.refund(customerId, orderId, quote.body.data)
    assertSuccess(answer, 200)
    assert.equal(answer.body.data.refundedAmount, 15_000)
    const [kept] = await service.database.query<{ rule: string }>(
      `select refund_rule::text as rule from payment_operations where order_id = $1 and kind = 'REFUND'`,
      [orderId],
    )
    assert.equal(kept?.rule, '-infinity')
  })
  // The order is of today again, and so is what its refund is compared with.
  await withoutTriggers(`
    update payment_operations set refund_rule = null, amount = 12000 where order_id = '${orderId}' and kind = 'REFUND';
    update orders set refunded_amount = 12000 where order_id = '${orderId}'`)
})

test('a process that does not know the rules cannot return more than the share', async () => {
  const { customerId, orderId } = await orderWith(5)
  const [confirm] = await service.database.query<{ key: string }>(
    'select payment_key as key from payment_operations where order_id = $1',
    [orderId],
  )
  const [account] = await service.database.query<{ last: number }>(
    'select last_entry as last from accounts where customer_id = $1',
    [customerId],
  )
  const claim = (amount: number) =>
    service.payments.batches.claimCancel({
      customerId,
      operationId: crypto.randomUUID(),
      kind: 'REFUND',
      paymentKey: confirm?.key ?? '',
      reason: 'of an older version',
      leaseMs: 1,
      part: { amount, credits: 16, atEntry: account?.last ?? 0 },
    })
  await assert.rejects(claim(15_000), { code: '23001' })
})

test('every day has the rule that holds on it', async () => {
  const rows = await service.database.query<{ moment: string; from: string | null }>(
    `select to_char(o.confirmed_at at time zone 'UTC', 'HH24:MI:SS') as moment, (select holds_from::text from ${ruleOf(sql`o.confirmed_at`)} r) as from
    from (values ('${today}T00:00:00+09:00'::timestamptz - interval '1 second'), ('${today}T00:00:00+09:00')) o (confirmed_at)`,
  )
  assert.deepEqual(rows, [
    { moment: '14:59:59', from: '-infinity' },
    { moment: '15:00:00', from: today },
  ])
})

test('the shop names the rule of the day, also after midnight', (t) => {
  const rules: [RefundRule, RefundRule] = [first, ruleFrom('2026-12-01', { smallestAmount: 3_000 })]
  const config = readConfig({ DATA_DIR: '/nowhere' })
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-30T23:59:59+09:00') })
  const info = shopInfo({ ...config, refundRules: rules })
  const shown = () => [info.smallestRefund, info.refundShare]
  assert.deepEqual(shown(), [first.smallestAmount, 100])
  t.mock.timers.tick(1_000)
  assert.deepEqual(shown(), [3_000, 80])
})

test('a rule is a sentence', () => {
  assert.equal(
    ruleInWords(ruleFrom('2026-12-01', { fullPriceDays: 7, smallestAmount: 1_000 })),
    'rule since 2026-12-01: full price within 7 days, then 80 % of the unused value, at least ₩1,000',
  )
  assert.match(
    ruleInWords({ ...first, fullPriceDays: 1 }),
    /^rule from the beginning: full price within 1 day, then 100 %/,
  )
  assert.match(ruleInWords({ ...first, fullPriceDays: 0 }), /^rule from the beginning: 100 % of the unused value/)
})

async function withDatabase(work: (database: Database, own: OwnTestDatabase) => Promise<void>): Promise<void> {
  const own = await createTestDatabase()
  try {
    await work(createDatabase(own.pool, silentLog), own)
  } finally {
    await own.drop()
  }
}

const stored = async (database: Database) => (await listRules(database)).rules

test('a start stores its rules; later ones may be added and changed until their day, and one that is missing stays', async () => {
  await withDatabase(async (database) => {
    const later = ruleFrom(tomorrow)
    await keepRefundRules(database, [first], silentLog)
    await keepRefundRules(database, [first, later], silentLog)
    assert.deepEqual(await stored(database), [first, later])
    const changed = { ...later, sharePercent: 50 }
    await keepRefundRules(database, [first, changed], silentLog)
    const warned: string[] = []
    await keepRefundRules(database, [first], { ...silentLog, warn: (_, text) => warned.push(text) })
    assert.deepEqual(await stored(database), [first, changed])
    assert.match(warned.join(), /without a rule that another one has stored/)
    // Nothing is sold yet.
    await keepRefundRules(database, [first, ruleFrom('2020-01-01'), changed], silentLog)
    assert.equal((await stored(database)).length, 3)
  })
})

test('a start whose settings change a rule that holds, or are without it, is refused', async () => {
  await withDatabase(async (database) => {
    const rules = [first, ruleFrom('2020-01-01')]
    await keepRefundRules(database, rules, silentLog)
    for (const [changed, message] of [
      [
        [{ ...first, fullPriceDays: 8 }, rules[1]],
        /^REFUND_FULL_PRICE_DAYS, REFUND_SMALLEST_AMOUNT: .* rule from the beginning/,
      ],
      [[first, ruleFrom('2020-01-01', { sharePercent: 81 })], /^REFUND_RULES: .* rule since 2020-01-01: .* It stays/],
      [[first], /^REFUND_RULES: .* rule since 2020-01-01/],
      [[first, ruleFrom('2020-01-02')], /^REFUND_RULES: .* rule since 2020-01-01/],
    ] as [RefundRule[], RegExp][]) {
      await assert.rejects(keepRefundRules(database, changed, silentLog), { message })
    }
    assert.deepEqual(await stored(database), rules)
  })
})

test('a new rule does not begin on a day since which an order was confirmed', async () => {
  await orderWith(0)
  const { database } = service.payments
  const rules = await stored(database)
  const added = ruleFrom(addDays(today, -1))
  const message = new RegExp(`^REFUND_RULES: orders were confirmed since ${added.from}`)
  await assert.rejects(keepRefundRules(database, [first, added, ...rules.slice(1)], silentLog), { message })
  await keepRefundRules(database, rules, silentLog)
  assert.deepEqual(await stored(database), rules)
})

test('the role of the service cannot write a rule of a day since which an order was confirmed, nor one out of bounds', async () => {
  const { customerId, orderId } = await orderWith(5)
  const quote = () => service.internal.refundQuote(customerId, orderId)
  const before = (await quote()).body
  const insert = (from: string, days = 1, least = 1, share = 100) =>
    service.database.pool.query('insert into refund_rules values ($1, $2, $3, $4)', [from, days, least, share])
  const yesterday = addDays(today, -1)
  for (const past of [yesterday, '0044-03-15 BC']) await assert.rejects(insert(past), { code: '23001' })
  for (const [from, ...numbers] of [
    ['infinity'],
    ['20000-01-01'],
    [tomorrow, 3_651],
    [tomorrow, 1, 100_001],
    [tomorrow, 1, 1, 101],
  ] as [string, ...number[]][]) {
    await assert.rejects(insert(from, ...numbers), { code: '23514' }, from)
  }
  assert.deepEqual((await quote()).body, before)
})

test('a service stores the rules of its settings, and does not start with other ones for the past', async (t) => {
  const settings = { REFUND_FULL_PRICE_DAYS: '14', REFUND_RULES: JSON.stringify([ruleFrom(tomorrow)]) }
  const { database, dataDir, close } = await startWholeService(t, settings)
  assert.deepEqual(await stored(createDatabase(database.pool, silentLog)), [
    { ...first, fullPriceDays: 14 },
    ruleFrom(tomorrow),
  ])
  await close()
  await assert.rejects(startWholeService(t, { ...settings, REFUND_FULL_PRICE_DAYS: '15' }, { database, dataDir }), {
    message:
      /^REFUND_FULL_PRICE_DAYS, REFUND_SMALLEST_AMOUNT: orders are judged by the rule from the beginning: full price within 14 days/,
  })
})

test('of several processes that start at once with other rules those with the stored one start', async () => {
  await withDatabase(async (database) => {
    const starts = await Promise.allSettled(
      [7, 8, 7, 8, 7, 8].map((fullPriceDays) => keepRefundRules(database, [{ ...first, fullPriceDays }], silentLog)),
    )
    const [kept] = await stored(database)
    assert.deepEqual(
      starts.map(({ status }) => status === 'fulfilled'),
      [7, 8, 7, 8, 7, 8].map((days) => days === kept?.fullPriceDays),
    )
  })
})
