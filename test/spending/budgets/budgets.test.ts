// Budgets and the suspension of a customer over the internal API: what is refused, what counts, what is given back, and the events
// that warn. concurrency.test.ts covers simultaneous spends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../../harness/until.ts'
import { updateLowCredits } from '../../../src/credits/accounts.sql.ts'
import {
  type BudgetSetting,
  faultOfBudget,
  listBudgets,
  removeBudget,
  setBudget,
} from '../../../src/credits/budgets/budgets.sql.ts'
import { allCustomers } from '../../../src/credits/budgets/kinds.ts'
import { spendRestricted } from '../../../src/credits/budgets/restricted.sql.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { updateSuspension } from '../../../src/customers/customers.sql.ts'
import { listLatestEvents } from '../../../src/events/events.sql.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { type Answer, assertRefused, assertSuccess, testPeppers } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  assertLack,
  creditsPath,
  type SpendingService,
  startInternal,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

type Labels = { keyId?: string; userId?: string }

function spend(
  customerId: string,
  credits: number,
  labels: Labels = {},
  calls: Pick<typeof internal, 'call'> = internal,
) {
  const body = { customerId, credits, reference: crypto.randomUUID(), ...labels }
  return calls.call<{ balance: number }>(`${creditsPath}/spend`, { body })
}

async function setLimit(customerId: string, setting: Partial<BudgetSetting>): Promise<string> {
  const whole = {
    scope: 'CUSTOMER',
    value: null,
    period: 'MONTH',
    credits: 10,
    warnAt: null,
    ...setting,
    customerId,
  } as const
  const { budgetId } = (await setBudget(service.payments.database, whole)) ?? assert.fail('too many budgets')
  return budgetId
}

/** BUS002 by a budget with this much left. */
function assertOver(answer: Answer<unknown>, expected: { budgetId: string; value: string | null; left: number }): void {
  assert.deepEqual([answer.status, answer.body.code], [402, 'BUS002'], answer.text)
  const { limit } = answer.body.metadata as { limit: Record<string, unknown> }
  const { budgetId, value, left } = limit ?? {}
  assert.deepEqual({ budgetId, value, left }, expected, answer.text)
}

async function usesOf(customerId: string): Promise<string[]> {
  const budgets = await listBudgets(service.payments.database, customerId)
  return budgets.flatMap(({ uses }) => uses.map(({ value, used }) => `${value} ${used}`)).sort()
}

/** As if the period had begun earlier. A trigger keeps periods from going back. */
async function endPeriod(customerId: string): Promise<void> {
  await service.database.queryUnguarded(
    `update budget_usage set period_start = period_start - interval '2 months' where customer_id = $1`,
    [customerId],
  )
  await service.database.query(
    `update holds set charged = (
       select jsonb_agg(c || jsonb_build_object('period_start', (c ->> 'period_start')::timestamptz - interval '2 months'))
       from jsonb_array_elements(charged) as c)
     where customer_id = $1 and charged is not null`,
    [customerId],
  )
}

test('a spend beyond the budget of the customer is refused with the limit, what is left of it and when it renews', async () => {
  const { customerId } = await service.customerWith(50)
  const budgetId = await setLimit(customerId, { credits: 10, period: 'DAY' })
  assertSuccess(await spend(customerId, 8), 200)
  const refused = await spend(customerId, 3)
  const { limit, ...metadata } = refused.body.metadata as { limit: Record<string, unknown> }
  assert.deepEqual(metadata, { requested: 3, available: 42 })
  const { renewsAt, ...rest } = limit
  assert.deepEqual(rest, { budgetId, scope: 'CUSTOMER', value: null, period: 'DAY', credits: 10, left: 2 })
  // The next midnight in Korea.
  const hours = (Date.parse(String(renewsAt)) - Date.now()) / 3_600_000
  assert.match(String(renewsAt), /T15:00:00\.000Z$/)
  assert.ok(hours > 0 && hours <= 24, String(renewsAt))
  assert.match(refused.body.message ?? '', /^The daily budget of the customer has 2 of 10 credits left. It renews at /)
  assertSuccess(await spend(customerId, 2), 200)
  assertOver(await spend(customerId, 1), { budgetId, value: null, left: 0 })
})

test('each key has the limit for itself, a named user has its own, and a spend without a label is not counted in either', async () => {
  const { customerId } = await service.customerWith(100)
  const ofKeys = await setLimit(customerId, { scope: 'KEY', credits: 5 })
  const ofUser = await setLimit(customerId, { scope: 'USER', value: 'ann', credits: 7 })
  assertSuccess(await spend(customerId, 5, { keyId: 'a' }), 200)
  assertSuccess(await spend(customerId, 4, { keyId: 'b', userId: 'ann' }), 200)
  assertOver(await spend(customerId, 1, { keyId: 'a', userId: 'bob' }), { budgetId: ofKeys, value: 'a', left: 0 })
  assertOver(await spend(customerId, 4, { keyId: 'c', userId: 'ann' }), { budgetId: ofUser, value: 'ann', left: 3 })
  assertSuccess(await spend(customerId, 20, { userId: 'bob' }), 200)
  assert.deepEqual(await usesOf(customerId), ['a 5', 'ann 4', 'b 4'])
  for (const label of ['', 'x'.repeat(201), 'a b', 7]) {
    const body = { customerId, credits: 1, reference: crypto.randomUUID(), keyId: label }
    assertFieldRefused(await internal.call(`${creditsPath}/spend`, { body }), 'VAL003', 'keyId')
  }
})

test('of several budgets that a spend exceeds the refusal names the one with the least left, of equal ones that which renews last', async () => {
  const { customerId } = await service.customerWith(100)
  await setLimit(customerId, { credits: 20, period: 'DAY' })
  const budgetId = await setLimit(customerId, { scope: 'KEY', credits: 10 })
  await setLimit(customerId, { credits: 30 })
  assertOver(await spend(customerId, 40, { keyId: 'a' }), { budgetId, value: 'a', left: 10 })
  const other = await service.customerWith(20)
  for (const period of ['MONTH', 'HOUR', 'DAY'] as const) await setLimit(other.customerId, { credits: 10, period })
  const { limit } = (await spend(other.customerId, 11)).body.metadata as { limit: { renewsAt: string } }
  const budgets = await listBudgets(service.payments.database, other.customerId)
  assert.equal(Date.parse(limit.renewsAt), Math.max(...budgets.map(({ renewsAt }) => renewsAt.getTime())))
})

test('the budget of a service over all customers counts all its tokens and all customers, and no other service; it warns the customer who spends', async (t) => {
  const [one, other] = [await service.customerWith(20), await service.customerWith(20)]
  const name = 'limited service'
  const [first, second] = [await startInternal(service.payments, name), await startInternal(service.payments, name)]
  t.after(() => Promise.all([first.close(), second.close()]))
  const budgetId = await setLimit(allCustomers, { scope: 'SERVICE', value: name, credits: 10 })
  assertSuccess(await spend(one.customerId, 6, {}, first), 200)
  assertSuccess(await spend(other.customerId, 3, {}, second), 200)
  assertOver(await spend(other.customerId, 2, {}, first), { budgetId, value: name, left: 1 })
  assertSuccess(await spend(other.customerId, 2), 200)
  const warnings = async ({ customerId }: { customerId: string }) => {
    const events = await listLatestEvents(service.payments.database, customerId, 10)
    return events.flatMap(({ type, data }) => (type === 'budget.low' ? (data as { allCustomers: boolean }) : []))
  }
  const [warned, ...more] = await warnings(other)
  assert.deepEqual([warned?.allCustomers, more, await warnings(one)], [true, [], []])
  assertRefused(await spend(crypto.randomUUID(), 1, {}, first), 'NOT000')
  await removeBudget(service.payments.database, budgetId)
  assertSuccess(await spend(other.customerId, 2, {}, first), 200)
})

test('a new period begins with nothing used; changed credits keep what was used; a removed budget refuses nothing', async () => {
  const { customerId } = await service.customerWith(50)
  const budgetId = await setLimit(customerId, { credits: 10 })
  assertSuccess(await spend(customerId, 10), 200)
  assertOver(await spend(customerId, 1), { budgetId, value: null, left: 0 })
  await endPeriod(customerId)
  assertSuccess(await spend(customerId, 9), 200)
  assert.equal(await setLimit(customerId, { credits: 5 }), budgetId)
  assertOver(await spend(customerId, 1), { budgetId, value: null, left: 0 })
  assert.equal(await setLimit(customerId, { credits: 12 }), budgetId)
  assertSuccess(await spend(customerId, 3), 200)
  await removeBudget(service.payments.database, budgetId)
  assertSuccess(await spend(customerId, 20), 200)
})

test('the list of budgets shows what is used of the present period, by the customer and by each key that has used any', async () => {
  const { customerId } = await service.customerWith(50)
  await setLimit(customerId, { credits: 20 })
  await setLimit(customerId, { scope: 'KEY', credits: 10 })
  assertSuccess(await spend(customerId, 8, { keyId: 'a' }), 200)
  const held = { customerId, credits: 3, reference: 'given-back', keyId: 'b' }
  const { holdId } = (await internal.call<{ holdId: string }>(`${creditsPath}/holds`, { body: held })).body.data
  assertSuccess(await internal.release(customerId, holdId), 200)
  assert.deepEqual(await usesOf(customerId), ['a 8', 'null 8'])
  await endPeriod(customerId)
  assert.deepEqual(await usesOf(customerId), ['null 0'])
})

test('of a budget of each key the list has the hundred keys that have used the most, and never less than nothing left', async () => {
  const { customerId } = await service.newCustomer()
  const budgetId = await setLimit(customerId, { scope: 'KEY', credits: 200 })
  await service.database.query(
    `insert into budget_usage (customer_id, budget_id, value, period_start, used, is_warned)
    select $1, $2, 'key-' || n, date_trunc('month', now(), 'Asia/Seoul'), n, true from generate_series(1, 120) n`,
    [customerId, budgetId],
  )
  await setLimit(customerId, { scope: 'KEY', credits: 100 })
  const [budget] = await listBudgets(service.payments.database, customerId)
  assert.equal(budget?.uses.length, 100)
  assert.deepEqual(budget.uses.at(0), { value: 'key-120', used: 120, left: 0 })
  assert.deepEqual(budget.uses.at(-1), { value: 'key-21', used: 21, left: 79 })
})

test('a budget warns when 80 % are used, rounded up and at least one, unless another number was set', async () => {
  const { customerId } = await service.newCustomer()
  const warnAtOf = async (credits: number, warnAt: number | null = null) => {
    const setting = { customerId, scope: 'CUSTOMER', value: null, period: 'DAY', credits, warnAt } as const
    return (await setBudget(service.payments.database, setting))?.warnAt
  }
  assert.deepEqual([await warnAtOf(10), await warnAtOf(11), await warnAtOf(1), await warnAtOf(0)], [8, 9, 1, 1])
  assert.deepEqual([await warnAtOf(10, 3), await warnAtOf(10)], [3, 8])
})

test('a budget of a customer has no value, that of a service its name, that of a key or user a label; it warns within its credits', () => {
  const faultOf = (setting: Partial<BudgetSetting>) =>
    faultOfBudget({ scope: 'CUSTOMER', value: null, period: 'DAY', credits: 5, warnAt: null, ...setting })?.field
  const label = 'x'.repeat(200)
  for (const [setting, field] of [
    [{}, undefined],
    [{ value: 'a' }, 'value'],
    [{ scope: 'SERVICE', value: 'two words' }, undefined],
    [{ scope: 'SERVICE' }, 'value'],
    [{ scope: 'SERVICE', value: '' }, 'value'],
    [{ scope: 'KEY' }, undefined],
    [{ scope: 'KEY', value: label }, undefined],
    [{ scope: 'KEY', value: `${label}x` }, 'value'],
    [{ scope: 'KEY', value: 'two words' }, 'value'],
    [{ scope: 'USER' }, undefined],
    [{ scope: 'USER', value: label }, undefined],
    [{ scope: 'USER', value: `${label}x` }, 'value'],
    [{ scope: 'USER', value: 'two words' }, 'value'],
    [{ warnAt: 5 }, undefined],
    [{ warnAt: 6 }, 'warnAt'],
    [{ credits: 0, warnAt: 1 }, undefined],
    [{ credits: 0, warnAt: 2 }, 'warnAt'],
  ] as const) {
    assert.equal(faultOf(setting), field, JSON.stringify(setting))
  }
})

test('a customer has at most 100 budgets, removed ones not counted: no further one is set, and each of them can still be changed', async () => {
  const { customerId } = await service.newCustomer()
  const set = (user: number, credits = 10, period: 'DAY' | 'HOUR' = 'DAY') => {
    const setting = { scope: 'USER', value: `user-${user}`, period, credits, warnAt: null } as const
    return setBudget(service.payments.database, { ...setting, customerId })
  }
  const budgets = await Promise.all(Array.from({ length: 99 }, (_, user) => set(user)))
  assert.ok(budgets.every((budget) => budget !== undefined))
  const last = await set(100)
  assert.ok(last)
  assert.deepEqual([await set(101), await set(100, 10, 'HOUR')], [undefined, undefined])
  assert.equal((await set(100, 20))?.budgetId, last.budgetId)
  await removeBudget(service.payments.database, last.budgetId)
  assert.ok(await set(101))
})

test('a hold lasts as long as requested and counts when it is opened, and its end gives back what was not captured, in the same period only', async () => {
  const { customerId } = await service.customerWith(100)
  const budgetId = await setLimit(customerId, { scope: 'USER', credits: 30 })
  const hold = async (credits: number, expiresInSeconds = 60) => {
    const body = { customerId, credits, reference: crypto.randomUUID(), expiresInSeconds, userId: 'ann' }
    const opened = await internal.call<{ holdId: string; expiresAt: string }>(`${creditsPath}/holds`, { body })
    assertSuccess(opened, 201)
    assert.ok(Date.parse(opened.body.data.expiresAt) < Date.now() + (expiresInSeconds + 60) * 1_000)
    return opened.body.data.holdId
  }
  const [captured, released, expired] = [await hold(10), await hold(8), await hold(12)]
  assertOver(await spend(customerId, 1, { userId: 'ann' }), { budgetId, value: 'ann', left: 0 })
  assertSuccess(await internal.capture(customerId, captured, 4), 200)
  assert.deepEqual(await usesOf(customerId), ['ann 24'])
  assertSuccess(await internal.release(customerId, released), 200)
  assert.deepEqual(await usesOf(customerId), ['ann 16'])
  await service.database.queryUnguarded('update holds set expires_at = now() where hold_id = $1', [expired])
  await expireHolds(service.payments.database)
  assert.deepEqual(await usesOf(customerId), ['ann 4'])
  const old = await hold(20)
  await endPeriod(customerId)
  assertSuccess(await spend(customerId, 5, { userId: 'ann' }), 200)
  assertSuccess(await internal.release(customerId, old), 200)
  assert.deepEqual(await usesOf(customerId), ['ann 5'])
})

test('a repeated reference gets its first answer, also when the budget is used up or the customer suspended', async () => {
  const { customerId } = await service.customerWith(50)
  await setLimit(customerId, { credits: 5 })
  const [first, held] = [
    await internal.spend(customerId, 3, 'spent'),
    await internal.hold(customerId, 2, { reference: 'held' }),
  ]
  assertSuccess(first, 200)
  await updateSuspension(service.payments.database, customerId, true)
  assert.equal((await internal.spend(customerId, 3, 'spent')).text, first.text)
  assert.equal((await internal.hold(customerId, 2, { reference: 'held' })).text, held.text)
  assert.deepEqual(await usesOf(customerId), ['null 5'])
})

test('more than is available is refused by the balance, and counts in no budget', async () => {
  const { customerId } = await service.customerWith(3)
  await setLimit(customerId, { credits: 100 })
  assertLack(await spend(customerId, 4), 4, 3)
  assert.deepEqual(await usesOf(customerId), ['null 0'])
})

/** Runs the statement while the spend waits for the account. */
async function overtakenBy<Result>(customerId: string, sql: string, spend: () => Promise<Result>): Promise<Result> {
  const change = await service.database.begin(customerId)
  await change.query('select from accounts where customer_id = $1 for no key update', [customerId])
  const waiting = spend()
  await until('the spend waits', async () => {
    const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await service.database.queryServers(text)).length > 0
  })
  await change.query(sql, [customerId])
  await change.commit()
  return waiting
}

test('a spend that waited for the account while others used its budget is refused with what they have left', async () => {
  const { customerId } = await service.customerWith(50)
  const budgetId = await setLimit(customerId, { credits: 40 })
  assertSuccess(await spend(customerId, 1), 200)
  const use = 'update budget_usage set used = 38 where customer_id = $1'
  assertOver(await overtakenBy(customerId, use, () => spend(customerId, 5)), { budgetId, value: null, left: 2 })
})

test('a spend that waited for the account while a budget was set, or the customer suspended, moves nothing and runs again', async () => {
  const { customerId } = await service.customerWith(50)
  const { database } = service.payments
  await setLimit(customerId, { credits: 40 })
  async function isStaleAfter(sql: string): Promise<boolean> {
    const { serviceId } = internal.issued
    const input = { customerId, credits: 5, reference: crypto.randomUUID(), serviceId, keyId: 'a' }
    const { isStale, spent, available } = await overtakenBy(customerId, sql, () => spendRestricted(database, input))
    assert.deepEqual([spent, available], [0, 50])
    return isStale
  }
  const budgetId = crypto.randomUUID()
  const setNew = `insert into budgets (customer_id, budget_id, scope, period, credits, warn_at)
    values ($1, '${budgetId}', 'KEY', 'DAY', 4, 4)`
  assert.equal(await isStaleAfter(setNew), true)
  assertOver(await spend(customerId, 5, { keyId: 'a' }), { budgetId, value: 'a', left: 4 })
  assert.equal(await isStaleAfter('update customers set suspended_at = now() where customer_id = $1'), true)
  assertFieldRefused(await spend(customerId, 1), 'VAL003', 'customerId')
})

test('a spend that waited for the account while the budget of its service was lowered is refused by the new limit', async (t) => {
  const { customerId } = await service.customerWith(50)
  const name = 'lowered service'
  const limited = await startInternal(service.payments, name)
  t.after(() => limited.close())
  const budgetId = await setLimit(allCustomers, { scope: 'SERVICE', value: name, credits: 40, warnAt: 1 })
  assertSuccess(await spend(customerId, 1, {}, limited), 200)
  const lower = `update budgets set credits = 4 where budget_id = '${budgetId}' and $1::uuid is not null`
  const refused = await overtakenBy(customerId, lower, () => spend(customerId, 5, {}, limited))
  assertOver(refused, { budgetId, value: name, left: 3 })
})

test('all keys of a suspended customer are refused within a second and it spends nothing; holds that are open end as ever', async () => {
  const customer = await service.customerWith(50)
  const { customerId } = customer
  const second = await issueKey(service.payments.database, testPeppers, customerId)
  const balances = () =>
    Promise.all([customer.apiKey, second.apiKey].map((key) => service.call('/public/v1/payments/credits', { key })))
  const [captured, released] = [await internal.hold(customerId, 5), await internal.hold(customerId, 6)]
  for (const answer of await balances()) assertSuccess(answer, 200)
  await updateSuspension(service.payments.database, customerId, true)
  const refused = await spend(customerId, 1)
  assertFieldRefused(refused, 'VAL003', 'customerId')
  assert.equal(refused.body.message, 'The customer is suspended.')
  assertFieldRefused(await internal.hold(customerId, 1), 'VAL003', 'customerId')
  await until(
    'the keys are refused',
    async () => (await balances()).every(({ body }) => body.code === 'AUTH003'),
    1_000,
  )
  assertSuccess(await internal.capture(customerId, captured.body.data.holdId), 200)
  assertSuccess(await internal.release(customerId, released.body.data.holdId), 200)
  await updateSuspension(service.payments.database, customerId, false)
  await until('the keys work', async () => (await balances()).every(({ body }) => body.code === 'SUCCESS'), 2_000)
  assertSuccess(await spend(customerId, 45), 200)
})

test('budgets and the suspension of a customer limit what is used, not cancels and refunds', async () => {
  const customer = await service.newCustomer()
  const [cancelled, refunded] = [await customer.confirmedOrder('STANDARD'), await customer.confirmedOrder('STANDARD')]
  await setLimit(customer.customerId, { credits: 1 })
  assertSuccess(await customer.cancel(cancelled.paymentKey), 200)
  await updateSuspension(service.payments.database, customer.customerId, true)
  const { creditsTakenBack } = await refund(service.payments, { orderId: refunded.orderId, reason: 'agreed' })
  assert.equal(creditsTakenBack, 21)
  assert.deepEqual(await usesOf(customer.customerId), ['null 0'])
})

test('budget.low is sent once in a period, then credits.low with the lowest step, then credits.empty, in this order', async () => {
  const { customerId } = await service.customerWith(50)
  const { database } = service.payments
  const budgetId = await setLimit(customerId, { scope: 'KEY', credits: 45, warnAt: 20 })
  await updateLowCredits(database, customerId, [20, 40, 5])
  const emitted = async () => {
    const events = (await listLatestEvents(database, customerId, 100)).toReversed()
    return events.filter(({ type }) => !type.startsWith('order.')).map(({ type, data }) => ({ type, data }))
  }
  assertSuccess(await spend(customerId, 11, { keyId: 'a' }), 200)
  assert.deepEqual(await emitted(), [{ type: 'credits.low', data: { customerId, credits: 39, threshold: 40 } }])
  assertSuccess(await spend(customerId, 34, { keyId: 'a' }), 200)
  const [, budget, low] = await emitted()
  const { renewsAt, ...data } = (budget?.data ?? {}) as Record<string, unknown>
  assert.deepEqual(data, {
    customerId,
    allCustomers: false,
    budgetId,
    scope: 'KEY',
    value: 'a',
    period: 'MONTH',
    credits: 45,
    used: 45,
    left: 0,
  })
  assert.equal(typeof renewsAt, 'string')
  assert.deepEqual(low, { type: 'credits.low', data: { customerId, credits: 5, threshold: 20 } })
  const held = await internal.hold(customerId, 5)
  const end = [
    { type: 'credits.low', data: { customerId, credits: 0, threshold: 5 } },
    { type: 'credits.empty', data: { customerId, credits: 0 } },
  ]
  assert.deepEqual((await emitted()).slice(3), end)
  // Two steps at once: one event, with the lowest. The budget of the key warns no second time.
  assertSuccess(await internal.release(customerId, held.body.data.holdId), 200)
  await updateLowCredits(database, customerId, [4, 3])
  assertSuccess(await spend(customerId, 5, { keyId: 'b' }), 200)
  assert.deepEqual((await emitted()).slice(5), [
    { type: 'credits.low', data: { customerId, credits: 0, threshold: 3 } },
    { type: 'credits.empty', data: { customerId, credits: 0 } },
  ])
})

test('budget.low is sent when exactly as much is used as it warns at, once in a period, and again in the next', async () => {
  for (const spends of [
    [7, 1, 1, 1],
    [8, 1, 1],
  ]) {
    const { customerId } = await service.customerWith(50)
    await setLimit(customerId, { credits: 10, warnAt: 8 })
    const warnings = async () => {
      const events = await listLatestEvents(service.payments.database, customerId, 100)
      return events.filter(({ type }) => type === 'budget.low').map(({ data }) => (data as { used: number }).used)
    }
    let used = 0
    for (const credits of spends) {
      assertSuccess(await spend(customerId, credits), 200)
      used += credits
      assert.deepEqual(await warnings(), used < 8 ? [] : [8])
    }
    await endPeriod(customerId)
    assertSuccess(await spend(customerId, 9), 200)
    assert.deepEqual(await warnings(), [9, 8])
  }
})

test('a hold can end although less is counted than it gives back', async () => {
  const { customerId } = await service.customerWith(50)
  await setLimit(customerId, { credits: 40 })
  const { holdId } = (await internal.hold(customerId, 10)).body.data
  await service.database.queryUnguarded('update budget_usage set used = 4 where customer_id = $1', [customerId])
  assertSuccess(await internal.release(customerId, holdId), 200)
  assert.deepEqual(await usesOf(customerId), ['null 0'])
})

test('the internal API lists the budgets of a customer with their use', async () => {
  const { customerId } = await service.customerWith(50)
  await setLimit(customerId, { scope: 'KEY', credits: 10 })
  assertSuccess(await spend(customerId, 4, { keyId: 'a' }), 200)
  const path = (id: string) => `/internal/v1/customers/${id}/budgets`
  const { budgets } = (await internal.call<{ budgets: { uses: object[] }[] }>(path(customerId.toUpperCase()))).body.data
  assert.deepEqual(
    budgets.map(({ uses }) => uses),
    [[{ value: 'a', used: 4, left: 6 }]],
  )
  for (const id of ['unknown', crypto.randomUUID()]) assertRefused(await internal.call(path(id)), 'NOT000')
})

test('a hold with atMost takes what the account and every budget have left, and counts with that; none left is BUS002', async () => {
  const { customerId } = await service.customerWith(20)
  const budgetId = await setLimit(customerId, { scope: 'KEY', credits: 12 })
  await setLimit(customerId, { credits: 100 })
  const hold = (credits: number, reference: string, keyId?: string) => {
    const body = { customerId, credits, reference, keyId, atMost: true }
    return internal.call<{ credits: number; balance: number }>(`${creditsPath}/holds`, { body })
  }
  assertSuccess(await spend(customerId, 5, { keyId: 'a' }), 200)
  const byBudget = await hold(50, 'by-the-budget', 'a')
  assert.deepEqual([byBudget.body.data.credits, byBudget.body.data.balance], [7, 8], byBudget.text)
  assert.equal((await hold(50, 'by-the-budget', 'a')).text, byBudget.text)
  assertOver(await hold(50, 'none-left', 'a'), { budgetId, value: 'a', left: 0 })
  assert.equal((await hold(3, 'as-wanted', 'b')).body.data.credits, 3)
  assert.equal((await hold(50, 'by-the-account', 'b')).body.data.credits, 5)
  assertLack(await hold(50, 'nothing-available', 'b'), 50, 0)
  assert.deepEqual(await usesOf(customerId), ['a 12', 'b 8', 'null 20'])
})

test('parts of a hold change no usage; its end gives back exactly the rest, and the last part nothing', async () => {
  const { customerId } = await service.customerWith(50)
  await setLimit(customerId, { credits: 40 })
  const open = async () => (await internal.hold(customerId, 10)).body.data.holdId
  const [captured, released, ended] = [await open(), await open(), await open()]
  for (const holdId of [captured, released, ended]) {
    assertSuccess(await internal.capturePart(customerId, holdId, 4), 200)
  }
  assertSuccess(await internal.capturePart(customerId, ended, 6), 200)
  assert.deepEqual(await usesOf(customerId), ['null 30'])
  assertSuccess(await internal.capture(customerId, captured, 1), 200)
  assert.deepEqual(await usesOf(customerId), ['null 25'])
  assertSuccess(await internal.release(customerId, released), 200)
  assert.deepEqual(await usesOf(customerId), ['null 19'])
})

test('a dry run beyond a budget, or of a suspended customer, is refused as the request would be, and counts nothing', async () => {
  const { customerId } = await service.customerWith(20)
  const budgetId = await setLimit(customerId, { scope: 'USER', credits: 6 })
  assertSuccess(await spend(customerId, 4, { userId: 'ann' }), 200)
  const dry = (path: 'spend' | 'holds', credits: number, more = {}) => {
    const body = { customerId, credits, reference: 'dry', userId: 'ann', dryRun: true, ...more }
    return internal.call<{ credits: number; balance: number }>(`${creditsPath}/${path}`, { body })
  }
  for (const path of ['spend', 'holds'] as const) {
    assertOver(await dry(path, 3), { budgetId, value: 'ann', left: 2 })
    assertSuccess(await dry(path, 2), 200)
    assertSuccess(await dry(path, 3, { userId: 'bob' }), 200)
  }
  const { credits, balance } = (await dry('holds', 50, { atMost: true })).body.data
  assert.deepEqual([credits, balance], [2, 14])
  await updateSuspension(service.payments.database, customerId, true)
  for (const path of ['spend', 'holds'] as const) assertFieldRefused(await dry(path, 1), 'VAL003', 'customerId')
  await updateSuspension(service.payments.database, customerId, false)
  assert.deepEqual(await usesOf(customerId), ['ann 4'])
  assertSuccess(await internal.spend(customerId, 16, 'dry'), 200)
})
