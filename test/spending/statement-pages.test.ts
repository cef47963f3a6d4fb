// The statement page by page: the cursor returns every entry once, also while the customer keeps spending; kinds and times
// filter it; invalid query values are refused. The lots of the orders are paged in the same way.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type EntryKind, entryKinds } from '../../src/credits/movements.ts'
import { createOverrides } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess } from '../support/service/service.ts'
import { runEveryMovement } from '../support/spending/history.ts'
import {
  assertFieldRefused,
  atOnce,
  type ShownEntry,
  type SpendingService,
  startSpendingService,
} from '../support/spending/spending.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: SpendingService
let internal: SpendingService['internal']
let history: Awaited<ReturnType<typeof runEveryMovement>>
let everything: ShownEntry[]
before(async () => {
  service = await startSpendingService({ wrapGateway })
  internal = service.internal
  history = await runEveryMovement(service, overrides)
  everything = (await internal.statement(history.id)).body.data.entries
})
after(() => service.close())
afterEach(clear)

const numbers = (entries: ShownEntry[]) => entries.map((entry) => entry.entryNumber)

/** Reads page after page until there is no cursor any more. */
async function readAll(id: string, query: Record<string, string>, between: () => Promise<unknown> = async () => null) {
  const pages: ShownEntry[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await internal.statement(id, { ...query, ...(cursor ? { cursor } : {}) })
    assertSuccess(answer, 200)
    pages.push(answer.body.data.entries)
    cursor = answer.body.data.nextCursor
    await between()
  }
  return pages
}

for (const limit of [1, 2, 3, 5, 17, 18, 1_000]) {
  test(`pages of ${limit} cover the statement once, each full except the last`, async () => {
    const pages = await readAll(history.id, { limit: `${limit}` })
    assert.deepEqual(pages.flat(), everything)
    for (const page of pages.slice(0, -1)) assert.equal(page.length, limit)
    assert.equal(pages.length, Math.ceil(everything.length / limit))
  })
}

test('pages of 2 and of 5 cover the 5 lots of a customer once, newest first; the statement has those that are not used up', async () => {
  const customer = await service.newCustomer()
  const bought: string[] = []
  for (let order = 0; order < 5; order += 1) bought.unshift((await customer.confirmedOrder('BASIC')).orderId)
  for (const limit of [2, 5]) {
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await internal.lots(customer.customerId, { limit: `${limit}`, ...(cursor && { cursor }) })
      assertSuccess(answer, 200)
      pages.push(answer.body.data.lots.map(({ orderId }) => orderId))
      cursor = answer.body.data.nextCursor
    }
    assert.deepEqual(pages, limit === 5 ? [bought] : [bought.slice(0, 2), bought.slice(2, 4), bought.slice(4)])
  }
  assertSuccess(await internal.spend(customer.customerId, 1), 200)
  const { lots } = (await internal.statement(customer.customerId)).body.data
  assert.deepEqual(
    lots.map(({ orderId }) => orderId),
    bought.slice(0, 4),
  )
})

test('a page has 100 entries by default', async () => {
  const customer = await service.customerWith(60)
  const holds = await atOnce(60, () => internal.hold(customer.customerId, 1))
  await atOnce(60, (index) => internal.release(customer.customerId, holds[index]?.body.data.holdId ?? ''))
  const pages = await readAll(customer.customerId, {})
  assert.deepEqual(
    pages.map((page) => page.length),
    [100, 22],
  )
})

test('movements between two pages do not change the pages that follow', async () => {
  const customer = await service.customerWith(40)
  const id = customer.customerId
  for (let spend = 0; spend < 10; spend += 1) assertSuccess(await internal.spend(id, 1), 200)
  const first = numbers((await internal.statement(id)).body.data.entries)
  const pages = await readAll(id, { limit: '3' }, () => atOnce(2, () => internal.spend(id, 1)))
  assert.deepEqual(numbers(pages.flat()), first)
  assert.ok((await internal.statement(id)).body.data.entries.length > first.length)
})

test('kind filters the statement by one kind or several; the balances stay those of all movements', async () => {
  const kindsOf = new Set(everything.map((entry) => entry.kind))
  // test/adjustments has statements with these.
  const adjustments: string[] = ['GOODWILL', 'CORRECTION', 'REVERSAL']
  const others = entryKinds.filter((kind) => !adjustments.includes(kind))
  assert.deepEqual([...kindsOf].sort(), others.toSorted(), 'there is one of every other kind')
  const lists: EntryKind[][] = [
    ...entryKinds.map((kind) => [kind]),
    ['HOLD', 'EXPIRE'],
    ['GRANT', 'GRANT'],
    [...entryKinds],
  ]
  for (const kinds of lists) {
    const kind = kinds.join(',')
    const expected = everything.filter((entry) => kinds.includes(entry.kind))
    const answer = (await internal.statement(history.id, { kind })).body.data
    assert.deepEqual(answer.entries, expected, kind)
    assert.deepEqual(answer.closing, { balance: 101, held: 2, available: 99 })
    assert.deepEqual((await readAll(history.id, { kind, limit: '2' })).flat(), expected, kind)
  }
})

test('times, kinds and the cursor can be combined; opening and closing are those of the times on every page', async () => {
  const [from, to] = [everything.at(-3)?.createdAt ?? '', everything[2]?.createdAt ?? '']
  const inTime = everything.filter((entry) => entry.createdAt >= from && entry.createdAt <= to)
  assert.ok(inTime.length > 5 && inTime.length < everything.length)
  assert.deepEqual((await readAll(history.id, { from, to, limit: '4' })).flat(), inTime)
  const held = inTime.filter((entry) => entry.kind === 'HOLD' || entry.kind === 'RELEASE')
  assert.deepEqual((await readAll(history.id, { from, to, limit: '2', kind: 'HOLD,RELEASE' })).flat(), held)
  const pages = await readAll(history.id, { from, to, kind: 'EXPIRE', limit: '1' })
  assert.deepEqual(
    pages.flat().map((entry) => entry.kind),
    ['EXPIRE'],
  )
  // A time may have an offset; a cursor outside of the times is no error.
  const korean = new Date(new Date(from).getTime() + 9 * 3_600_000).toISOString().replace('Z', '+09:00')
  assert.deepEqual((await internal.statement(history.id, { from: korean, to })).body.data.entries, inTime)
  assert.deepEqual((await internal.statement(history.id, { from, cursor: '1' })).body.data.entries, [])
  const beyond = await internal.statement(history.id, { to, cursor: '999999999999999' })
  assert.equal(beyond.body.data.entries[0]?.createdAt, to)
  const later = (await internal.statement(history.id, { from, to, cursor: `${inTime.at(-2)?.entryNumber}` })).body.data
  const { opening, closing } = (await internal.statement(history.id, { from, to })).body.data
  assert.deepEqual([later.entries.length, later.opening, later.closing], [1, opening, closing])
})

const faulty: Record<string, string[]> = {
  limit: ['0', '-1', '1001', '1.5', '1e2', 'all', '', '0x10', ' 5'],
  cursor: ['0', '-1', '1.5', 'x', '', '1e3', '9999999999999999'],
  from: ['yesterday', '2026-01-31', '2026-13-01T00:00:00Z', '2026-01-32T00:00:00Z', '2026-01-31T25:00:00Z', '', '0'],
  to: ['2026-02-30T00:00:00Z', '2025-02-29T09:00:00+09:00', '2026-04-31T23:59:59.999Z', '2026-01-31 09:00:00'],
  kind: ['spend', 'NONE', 'GRANT,', ',', '', 'GRANT,NONE', 'GRANT SPEND'],
}
for (const [field, values] of Object.entries(faulty)) {
  test(`${field} is refused with VAL003 when its value is invalid: ${values.map((value) => `"${value}"`).join(' ')}`, async () => {
    for (const value of values) {
      assertFieldRefused(await internal.statement(history.id, { [field]: value }), 'VAL003', field)
    }
  })
}

test('a parameter given twice and a time span that ends before it begins are VAL003; an unknown customer is NOT000', async () => {
  const path = `/internal/v1/customers/${history.id}/statement`
  assertFieldRefused(await internal.call(`${path}?limit=1&limit=2`), 'VAL003', 'limit')
  const span = { from: '2026-01-31T09:00:00.001Z', to: '2026-01-31T09:00:00Z' }
  assertFieldRefused(await internal.statement(history.id, span), 'VAL003', 'to')
  assertRefused(await internal.statement(crypto.randomUUID(), span), 'VAL003')
  const unknown = await internal.statement(crypto.randomUUID())
  assertRefused(unknown, 'NOT000')
  assert.equal((await internal.statement('demo')).text, unknown.text)
  assertRefused(await internal.statement('demo', span), 'VAL003')
})

test('the earliest and the latest times are valid', async () => {
  for (const time of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) {
    for (const name of ['from', 'to']) assertSuccess(await internal.statement(history.id, { [name]: time }), 200)
  }
  assert.notEqual((await internal.statement(history.id, { from: '0000-01-01T00:00:00Z' })).body.code, 'INT001')
})

test('of more than a hundred holds setAside has the hundred that expire first', async () => {
  const customer = await service.customerWith(110)
  const { customerId } = customer
  const seconds = Array.from({ length: 110 }, (_, index) => 3_600 - index * 10)
  for (const expiresInSeconds of seconds) {
    assertSuccess(await internal.hold(customerId, 1, { expiresInSeconds, reference: `in-${expiresInSeconds}` }), 201)
  }
  const { setAside, balance } = (await internal.statement(customerId)).body.data
  assert.equal(balance.held, 110)
  assert.deepEqual(
    setAside.map(({ reference }) => reference),
    seconds
      .toReversed()
      .slice(0, 100)
      .map((each) => `in-${each}`),
  )
})
