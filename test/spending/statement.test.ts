// The statement of a customer explains the balance: every movement with its cause, the balance after each, and the current
// holds. statement-pages.test.ts covers pages and filters.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { balancesAt } from '../../src/credits/statement/statement.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { createOverrides, settleAll } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess } from '../support/service/service.ts'
import { runEveryMovement } from '../support/spending/history.ts'
import { type ShownEntry, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: SpendingService
let internal: SpendingService['internal']
let history: Awaited<ReturnType<typeof runEveryMovement>>
before(async () => {
  service = await startSpendingService({ wrapGateway })
  internal = service.internal
  history = await runEveryMovement(service, overrides)
})
after(() => service.close())
afterEach(clear)

async function oldestFirst(): Promise<ShownEntry[]> {
  return (await internal.statement(history.id)).body.data.entries.toReversed()
}

test('the statement has every movement with its kind, its amounts and its cause', async () => {
  const { ids } = history
  const entries = await oldestFirst()
  const operations = new Map(entries.filter((entry) => entry.orderId).map((entry) => [entry.orderId, entry.holdId]))
  /** Credits of an order are held by an operation of that order. */
  const operation = (order: string) => operations.get(ids[order] ?? '')
  const shown = entries.map(({ kind, delta, heldDelta, orderId, holdId, reference, service: name }) =>
    [kind, delta, heldDelta, orderId, holdId, reference, name].join(' '),
  )
  const expected = [
    ['GRANT', 110, 0, ids.kept, null, null, null],
    ['GRANT', 21, 0, ids.cancelled, null, null, null],
    ['SPEND', -5, 0, null, null, 'a-spend', 'analyses'],
    ['HOLD', 0, 10, null, ids.captured, 'captured', 'analyses'],
    ['HOLD', 0, 7, null, ids.released, 'released', 'analyses'],
    ['CAPTURE', -4, -10, null, ids.captured, 'captured', 'analyses'],
    ['HOLD', 0, 3, null, ids.expired, 'expired', 'analyses'],
    ['RELEASE', 0, -7, null, ids.released, 'released', 'analyses'],
    ['EXPIRE', 0, -3, null, ids.expired, 'expired', null],
    ['HOLD', 0, 110, ids.kept, operation('kept'), null, null],
    ['RELEASE', 0, -110, ids.kept, operation('kept'), null, null],
    ['HOLD', 0, 21, ids.cancelled, operation('cancelled'), null, null],
    ['ROLLBACK', -21, -21, ids.cancelled, operation('cancelled'), null, null],
    ['GRANT', 21, 0, ids.refunded, null, null, null],
    ['HOLD', 0, 21, ids.refunded, operation('refunded'), null, null],
    ['REFUND', -21, -21, ids.refunded, operation('refunded'), null, null],
    ['HOLD', 0, 2, null, ids.open, 'open', 'analyses'],
  ]
  assert.deepEqual(
    shown,
    expected.map((row) => row.join(' ')),
  )
  for (const order of ['kept', 'cancelled', 'refunded']) assert.match(operation(order) ?? '', /^[0-9a-f-]{36}$/)
})

test('entries are newest first and numbered without a gap, in the order of time', async () => {
  const { entries } = (await internal.statement(history.id)).body.data
  assert.deepEqual(
    entries.map((entry) => entry.entryNumber),
    entries.map((_, index) => entries.length - index),
  )
  const times = entries.map((entry) => entry.createdAt)
  assert.deepEqual(times, times.toSorted().toReversed())
  for (const time of times) assert.equal(new Date(time).toISOString(), time)
})

test('the balances of an entry follow from those of the entry before, and the last ones are the current balances', async () => {
  const before = { balance: 0, held: 0 }
  for (const { delta, heldDelta, balanceAfter, heldAfter, availableAfter } of await oldestFirst()) {
    before.balance += delta
    before.held += heldDelta ?? Number.NaN
    assert.deepEqual(
      [balanceAfter, heldAfter, availableAfter],
      [before.balance, before.held, before.balance - before.held],
    )
  }
  const { balance, opening, closing, nextCursor } = (await internal.statement(history.id)).body.data
  const now = { balance: 101, held: 2, available: 99 }
  assert.deepEqual(balance, now)
  assert.deepEqual(closing, now)
  assert.deepEqual(opening, { balance: 0, held: 0, available: 0 })
  assert.equal(nextCursor, null)
  assert.equal(await history.customer.credits(), 99)
  assert.deepEqual({ ...before, available: before.balance - before.held }, now)
})

test('the balance at a moment in the past is returned as closing, as opening, and by balancesAt', async () => {
  const { id, moments } = history
  for (const { what, at, balances, entries } of moments) {
    const upTo = (await internal.statement(id, { to: at.toISOString() })).body.data
    assert.deepEqual(upTo.closing, balances, what)
    assert.equal(upTo.entries.length, entries, what)
    const next = new Date(at.getTime() + 1)
    const from = (await internal.statement(id, { from: next.toISOString() })).body.data
    assert.deepEqual(from.opening, balances, what)
    assert.equal(from.entries.length, (moments.at(-1)?.entries ?? 0) - entries, what)
    assert.deepEqual(await balancesAt(service.payments.database, id, at), balances, what)
  }
  assert.deepEqual(await balancesAt(service.payments.database, id, null), moments.at(-1)?.balances)
})

test('from and to are both included, to the millisecond', async () => {
  const { id } = history
  const entries = await oldestFirst()
  for (const [index, { createdAt }] of entries.entries()) {
    const same = entries.filter((entry) => entry.createdAt === createdAt).map((entry) => entry.entryNumber)
    const answer = (await internal.statement(id, { from: createdAt, to: createdAt })).body.data
    assert.deepEqual(answer.entries.map((entry) => entry.entryNumber).toReversed(), same)
    const earlier = entries.findLast((entry) => entry.createdAt < createdAt)
    assert.equal(answer.opening.balance, earlier?.balanceAfter ?? 0, `${index}`)
    const latest = entries.findLast((entry) => entry.createdAt === createdAt)
    assert.equal(answer.closing.held, latest?.heldAfter)
  }
  const longAgo = (await internal.statement(id, { to: '2001-01-01T00:00:00Z' })).body.data
  assert.deepEqual([longAgo.entries, longAgo.closing.balance, longAgo.balance.balance], [[], 0, 101])
  const notYet = (await internal.statement(id, { from: '2101-01-01T00:00:00+09:00' })).body.data
  assert.deepEqual([notYet.entries, notYet.opening.balance, notYet.closing.balance], [[], 101, 101])
})

test('setAside lists the holds: those of services and of a cancel whose outcome is not known, but of no credits none', async () => {
  const customer = await service.newCustomer()
  const id = customer.customerId
  const order = await customer.confirmedOrder('STANDARD')
  await customer.confirmedOrder('STANDARD')
  const first = (await internal.hold(id, 3, { reference: 'sooner', expiresInSeconds: 60 })).body.data
  const second = (await internal.hold(id, 4, { reference: 'later' })).body.data
  overrides.cancel = overrides.findCancel = async () => ({ kind: 'unknown', code: 'TIMEOUT' })
  assertRefused(await customer.cancel(order.paymentKey), 'SVC001')
  const { balance, setAside, entries } = (await internal.statement(id)).body.data
  assert.deepEqual(balance, { balance: 42, held: 28, available: 14 })
  const common = { orderId: null, service: 'analyses', by: 'HOLD' }
  assert.deepEqual(setAside, [
    { ...common, holdId: first.holdId, credits: 3, reference: 'sooner', expiresAt: first.expiresAt },
    { ...common, holdId: second.holdId, credits: 4, reference: 'later', expiresAt: second.expiresAt },
    {
      by: 'CANCEL',
      holdId: entries[0]?.holdId,
      credits: 21,
      reference: null,
      orderId: order.orderId,
      service: null,
      expiresAt: null,
    },
  ])
  assert.equal(
    setAside.reduce((sum, { credits }) => sum + credits, 0),
    balance.held,
  )
  const other = await service.newCustomer()
  const { orderId } = await other.confirmedOrder('BASIC')
  assertSuccess(await internal.spend(other.customerId, 1), 200)
  await assert.rejects(refund(service.payments, { orderId, reason: 'agreed' }), { code: 'SVC001' })
  assert.deepEqual((await internal.statement(other.customerId)).body.data.setAside, [])
  clear()
  await settleAll(service)
  const settled = (await internal.statement(id)).body.data
  assert.deepEqual(
    settled.setAside.map(({ by }) => by),
    ['HOLD', 'HOLD'],
  )
  assert.deepEqual(settled.balance, { balance: 21, held: 7, available: 14 })
  assertSuccess(await internal.release(id, first.holdId), 200)
})

test('a customer without movements has an empty statement, and the case of the UUID does not matter', async () => {
  const { customerId } = await service.newCustomer()
  const none = { balance: 0, held: 0, available: 0 }
  const answer = await internal.statement(customerId.toUpperCase())
  assertSuccess(answer, 200)
  assert.deepEqual(answer.body.data, {
    customerId,
    balance: none,
    setAside: [],
    lots: [],
    opening: none,
    closing: none,
    entries: [],
    nextCursor: null,
  })
})
