// The books in the console: requested reconciliations, days compared with the gateway to the won, discrepancies, and the
// permissions of each role.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { addDays, daysFromTo, koreanDayOf } from '../../src/core/korean-days.ts'
import { createDatabase } from '../../src/db/database.ts'
import { resolveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { refusingEnds } from '../support/console/refused-ends.ts'
import { createOverrides, losingAnswerOf } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
let api: ConsoleApi
let finance: Operator
let viewer: Operator

before(async () => {
  service = await startTestService({ wrapGateway })
  api = await openConsoleApi(service)
  finance = await api.newOperator('finance')
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

// The page is compiled with its own settings, which differ from those of this program.
const figures = (await import('../../console/src/pages/books/runs/run-figures.ts' as string)) as {
  discrepanciesOf(run: { bridge: object | null; result: object }): number
  hasDiscrepancies(result: object): boolean
  hasMatchedAll(result: object): boolean
}

const today = () => koreanDayOf(new Date())
const reason = 'to close the day'

/** Polls until the run has ended, as the page does. */
async function reconcile(from = today(), to = from) {
  const { reconciliationId } = await finance.get('reconcile', { body: { from, to, reason } })
  const find = () => viewer.get('run', { params: { reconciliationId } })
  await until('the run has ended', async () => (await find()).state !== 'under way')
  return find()
}

const dayOf = async (day: string) => (await viewer.get('days')).days.find((each) => each.day === day)

type LoggedRow = {
  command: string
  actor: string
  outcome: string | null
  subject: string | null
  reason: string | null
}
const actionsText = `
  select b.command, b.actor, e.outcome, b.subject, b.reason
  from operator_actions b left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
  where b.step = 'BEGUN' order by b.happened_at desc`

test('a day that was not compared is shown as such; the last 31 days are listed, today first', async () => {
  const { days } = await viewer.get('days')
  assert.deepEqual(
    days.map(({ day }) => day),
    Array.from({ length: 31 }, (_, ago) => addDays(today(), -ago)),
  )
  assert.deepEqual([...new Set(days.map(({ state }) => state))], ['not compared'])
  assert.deepEqual([days[0]?.gateway, days[0]?.books, days[0]?.comparedAt], [null, null, null])
})

test('a run returns its id at once, agrees to the won, and the action log has its beginning and its end', async () => {
  const customer = await service.newCustomer()
  const { paymentKey } = await customer.confirmedOrder('STANDARD')
  await customer.confirmedOrder('PRO')
  await customer.cancel(paymentKey)
  const run = await reconcile()
  assert.deepEqual([run.state, run.cause, run.result?.movements], ['finished', 'COMMAND', 3])
  assert.deepEqual([run.outcome, run.requestedBy], ['agrees', finance.name])
  assert.deepEqual(run.bridge, { lines: [], rest: { lines: 0, amount: 0 } })
  const day = await dayOf(today())
  const money = { captured: 120_000, cancelled: 20_000, net: 100_000 }
  assert.deepEqual([day?.state, day?.gateway, day?.books, day?.difference], ['agrees', money, money, 0])
  assert.equal(day?.reconciliationId, run.reconciliationId)
  await until(
    'the end is written',
    async () => (await service.database.query<LoggedRow>(actionsText))[0]?.outcome === 'ok',
  )
  const rows = await service.database.query<LoggedRow>(actionsText)
  const actor = `${finance.name} in the console from 127.0.0.1`
  assert.deepEqual(rows.slice(0, 2), [
    { command: 'reconcile carry-out', actor, outcome: 'ok', subject: run.reconciliationId, reason },
    { command: 'reconcile', actor, outcome: 'ok', subject: null, reason },
  ])
})

test('a difference that was repaired shows what differed, and the next run agrees', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder('STANDARD')
  await service.sandbox.capture(paymentKey, orderId, amount)
  await reconcile()
  const repaired = await dayOf(today())
  assert.deepEqual([repaired?.state, repaired?.difference], ['repaired', amount])
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  await reconcile()
  const agrees = await dayOf(today())
  assert.deepEqual([agrees?.state, agrees?.difference], ['agrees', 0])
})

test('a difference that no rule decides is listed until it is resolved with a note, and is open again only if it changes', async () => {
  const name = 'Partly Returned'
  const customer = await service.newCustomer(name)
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 1_000)
  const { reconciliationId } = await reconcile()
  assert.equal((await dayOf(today()))?.state, 'differs')
  /** The discrepancies that one run found, whatever other runs found. */
  async function foundBy(run: string, state: 'open' | 'resolved'): Promise<string[]> {
    const { discrepancies } = await viewer.get('discrepancies', { query: { state, reconciliationId: run } })
    return discrepancies.filter((each) => each.orderId === orderId).map((each) => each.discrepancyId)
  }
  const open = await viewer.get('discrepancies')
  const [found] = open.discrepancies.filter((each) => each.orderId === orderId)
  assert.ok(found, JSON.stringify(open))
  assert.deepEqual(await foundBy(reconciliationId, 'open'), [found.discrepancyId])
  assert.deepEqual([found.amount, found.customerName], [-1_000, name])
  assert.deepEqual(await lineOf(), ['PARTLY_CANCELLED_AT_GATEWAY', -1_000, name, found.discrepancyId, 'open'])
  assert.equal(open.open.amount, sumOf(open.discrepancies))
  const params = { discrepancyId: found.discrepancyId }
  const body = { reason: 'agreed with the buyer' }
  assertRefused(await viewer.request('resolveDiscrepancy', { params, body }), 'AUTH003')
  const resolved = await finance.get('resolveDiscrepancy', { params, body })
  assert.deepEqual(resolved, { ...params, kind: found.kind, resolution: 'agreed with the buyer' })
  assert.equal((await lineOf()).at(-1), 'resolved')
  const late = await finance.request('resolveDiscrepancy', { params, body: { reason: 'another note' } })
  const nowhere = { params: { discrepancyId: crypto.randomUUID() }, body }
  const none = await finance.request('resolveDiscrepancy', nowhere)
  for (const answer of [late, none]) assertRefused(answer, 'NOT000')
  assert.deepEqual([late.body.metadata?.reason, none.body.metadata?.reason], ['resolved', undefined])
  const { discrepancies } = await viewer.get('discrepancies', { query: { state: 'resolved' } })
  assert.equal(discrepancies[0]?.resolution, 'agreed with the buyer')
  const same = await reconcile()
  assert.deepEqual(await foundBy(same.reconciliationId, 'open'), [])
  assert.deepEqual([same.outcome, (await dayOf(today()))?.state], ['explained', 'explained'])
  assert.deepEqual(
    same.bridge?.lines.map((line) => [line.discrepancyId, line.resolvedAt !== null]),
    [[found.discrepancyId, true]],
  )
  await service.sandbox.cancel(paymentKey, 500)
  const later = await reconcile()
  assert.equal(later.outcome, 'differs')
  const again = await viewer.get('discrepancies')
  const reopened = again.discrepancies.find((each) => each.orderId === orderId) ?? assert.fail('it is not open')
  const { others } = await viewer.get('discrepancy', { params: { discrepancyId: reopened.discrepancyId } })
  assert.deepEqual(
    others.map(({ discrepancyId, resolution }) => [discrepancyId, resolution]),
    [[found.discrepancyId, 'agreed with the buyer']],
  )
  assert.deepEqual(await foundBy(reconciliationId, 'open'), [])
  assert.deepEqual(await foundBy(reconciliationId, 'resolved'), [found.discrepancyId])
  assert.equal((await foundBy(later.reconciliationId, 'open')).length, 1)
  assert.deepEqual(await foundBy(later.reconciliationId, 'resolved'), [])
  const unknown = { query: { reconciliationId: crypto.randomUUID() } }
  assertRefused(await viewer.request('discrepancies', unknown), 'NOT000')

  /** The line of the order in the bridge of the first run. */
  async function lineOf() {
    const { bridge } = await viewer.get('run', { params: { reconciliationId } })
    const line = bridge?.lines.find((each) => each.orderId === orderId) ?? assert.fail('there is no line')
    assert.notEqual(line.paymentKey, paymentKey, 'a viewer sees no payment key')
    return [line.kind, line.amount, line.customerName, line.discrepancyId, line.resolvedAt ? 'resolved' : 'open']
  }
})

const sumOf = (rows: { amount: number | null }[]) => rows.reduce((sum, { amount }) => sum + Math.abs(amount ?? 0), 0)

test('a grant unknown to the gateway, in the last moment of a day, is in the books of that day and differs', async () => {
  const day = addDays(today(), -2)
  const customer = await service.newCustomer()
  const { orderId, confirm, amount } = await customer.paidOrder()
  overrides.confirm = async () => ({ kind: 'approved', transactionKey: null })
  await confirm()
  clear()
  const lastMoment = Date.parse(`${day}T23:59:59.999+09:00`)
  await service.database.query('update payment_operations set opened_at = $2 where order_id = $1', [
    orderId,
    new Date(lastMoment),
  ])
  const run = await reconcile(day)
  assert.equal(Date.parse(run.to), lastMoment - 999)
  assert.deepEqual([run.result?.missingCaptured, run.result?.bookedCaptured, run.result?.captured], [amount, 0, 0])
  const shown = await dayOf(day)
  const money = { captured: amount, cancelled: 0, net: amount }
  assert.deepEqual([shown?.state, shown?.books, shown?.difference], ['differs', money, -amount])
  await reconcile(addDays(day, 1))
  assert.equal((await dayOf(addDays(day, 1)))?.state, 'agrees')
})

test('a day compared by version 0.7.0 is shown as before', async () => {
  const day = addDays(today(), -20)
  const from = new Date(`${day}T00:00:00+09:00`)
  const to = new Date(from.getTime() + 86_399_000)
  const reviewed = { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 }
  const sums = { movements: 1, captured: 20_000, cancelled: 0, bookedCaptured: 20_000, bookedCancelled: 0, foreign: 0 }
  const [row] = await service.database.query<{ id: string }>(
    `insert into reconciliations (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, finished_at, result)
     values (gen_random_uuid(), 'DAILY', $1, $2, gen_random_uuid(), now(), now(), $3)
     returning reconciliation_id as id`,
    [from, to, { from, to, ...sums, reviewed }],
  )
  const shown = await dayOf(day)
  assert.deepEqual([shown?.state, shown?.books?.net, shown?.difference], ['agrees', 20_000, 0])
  const run = await viewer.get('run', { params: { reconciliationId: row?.id ?? '' } })
  assert.deepEqual([run.result, Date.parse(run.to), run.bridge], [{ ...sums, reviewed }, to.getTime(), null])
})

/** A run with this result, of a day some time ago. */
async function insertRun(daysAgo: number, result: object, lengthSeconds = 86_399): Promise<string> {
  const day = addDays(today(), -daysAgo)
  const from = new Date(`${day}T00:00:00+09:00`)
  await service.database.query(
    `insert into reconciliations (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, finished_at, result)
     values (gen_random_uuid(), 'COMMAND', $1::timestamptz, $1::timestamptz + $2::int * interval '1 second', gen_random_uuid(), now(), now(), $3)`,
    [from, lengthSeconds, result],
  )
  return day
}

test('a day differs while something of it is open, or when sums differ and an order of another shop is among them; else it was repaired, or agrees', async () => {
  const none = { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 }
  const equal = {
    movements: 1,
    captured: 5,
    cancelled: 0,
    bookedCaptured: 5,
    bookedCancelled: 0,
    foreign: 0,
    reviewed: none,
  }
  const results: [string, object][] = [
    ['agrees', equal],
    ['agrees', { ...equal, foreign: 1 }],
    ['repaired', { ...equal, captured: 6 }],
    ['repaired', { ...equal, cancelled: 1 }],
    ['repaired', { ...equal, reviewed: { ...none, repaired: 1 } }],
    ['differs', { ...equal, captured: 6, foreign: 1 }],
    ['differs', { ...equal, reviewed: { ...none, disagrees: 1 } }],
    ['differs', { ...equal, reviewed: { ...none, unknown: 1 } }],
    ['differs', { ...equal, reviewed: { ...none, 'under way': 1 } }],
    ['differs', { ...equal, notListed: 1 }],
    ['differs', { ...equal, listedDifferently: 1 }],
  ]
  for (const [place, [state, result]] of results.entries()) {
    const day = await insertRun(place + 4, result)
    assert.equal((await dayOf(day))?.state, state, JSON.stringify(result))
  }
})

test('a run that ends within a past day has not compared that day', async () => {
  const reviewed = { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 }
  const sums = { movements: 0, captured: 0, cancelled: 0, bookedCaptured: 0, bookedCancelled: 0, foreign: 0, reviewed }
  assert.equal((await dayOf(await insertRun(3, sums, 43_200)))?.state, 'not compared')
})

test('a note whose answer is lost is stored as it was written, and another one is refused', async () => {
  await service.database.query(
    `insert into discrepancies (subject, kind, detail) values ('pay_lost', 'CAPTURED', '{}')`,
  )
  const [open] = await service.database.query<{ id: string }>(
    `select discrepancy_id as id from discrepancies where subject = 'pay_lost'`,
  )
  const connections = losingAnswerOf(service.database.pool, 'payments.resolveDiscrepancies')
  const database = createDatabase(connections, silentLog)
  assert.equal(await resolveDiscrepancy(database, open?.id ?? '', 'seen'), 'CAPTURED')
  assert.ok(connections.lost())
  assert.equal(await resolveDiscrepancy(database, open?.id ?? '', 'seen by another'), undefined)
})

test('there is one run at a time: the same days return the same run, other days are refused until it has ended', async () => {
  const going = Promise.withResolvers<void>()
  overrides.listMovements = async () => {
    await going.promise
    return { kind: 'page', movements: [], next: null }
  }
  const body = { from: today(), to: today(), reason }
  const started = await Promise.all(Array.from({ length: 12 }, () => finance.get('reconcile', { body })))
  const [id, ...others] = new Set(started.map(({ reconciliationId }) => reconciliationId))
  assert.deepEqual(others, [])
  const yesterday = addDays(today(), -1)
  const busy = await finance.request('reconcile', { body: { from: yesterday, to: today(), reason } })
  going.resolve()
  assertRefused(busy, 'SVC001')
  assert.deepEqual(busy.body.metadata, { reason: 'other days', began: false })
  const find = () => viewer.get('run', { params: { reconciliationId: id ?? '' } })
  await until('the run has ended', async () => (await find()).state === 'finished')
  clear()
  assert.notEqual((await reconcile()).reconciliationId, id)
})

test('a run whose beginning cannot be written to the action log is abandoned at once', async () => {
  await service.database.query(
    `alter table operator_actions add constraint no_run check (command <> 'reconcile carry-out') not valid`,
  )
  const run = await reconcile()
  await service.database.query('alter table operator_actions drop constraint no_run')
  assert.deepEqual([run.state, run.result], ['interrupted', null])
})

test('a run without an answer of the gateway is interrupted at once, not only when its lease is over', async () => {
  overrides.fetchPayment = async () => ({ kind: 'unknown', code: 'ECONNRESET' })
  overrides.listMovements = () => Promise.reject(new Error('the gateway is gone'))
  const run = await reconcile()
  clear()
  assert.deepEqual([run.state, run.result], ['interrupted', null])
  const [row] = await service.database.query<LoggedRow>(actionsText)
  assert.deepEqual([row?.command, row?.outcome], ['reconcile carry-out', 'the gateway is gone'])
})

test('a run is shown as over, with its result, only when its end is in the action log', async () => {
  const before = await reconcile()
  const params = { reconciliationId: '' }
  const find = () => viewer.get('run', { params })
  await refusingEnds(service.database, async () => {
    const started = await finance.get('reconcile', { body: { from: today(), to: today(), reason } })
    params.reconciliationId = started.reconciliationId
    const finished = 'select from reconciliations where reconciliation_id = $1 and finished_at is not null'
    await until('its result is stored', async () => {
      return (await service.database.query(finished, [params.reconciliationId])).length > 0
    })
    const run = await find()
    assert.deepEqual([run.state, run.finishedAt, run.result, run.outcome], ['under way', null, null, null])
    const day = await dayOf(today())
    assert.deepEqual([day?.state, day?.reconciliationId], ['under way', before.reconciliationId])
  })
  await until('the run is over', async () => (await find()).state === 'finished')
  const rows = await service.database.query<LoggedRow>(actionsText)
  const row = rows.find(({ subject }) => subject === params.reconciliationId)
  assert.deepEqual([row?.command, row?.outcome], ['reconcile carry-out', 'failed'])
})

test('the list of runs has no result of a run whose end is not in the action log yet', async () => {
  const newestOf = async () => (await viewer.get('runs')).runs[0] ?? assert.fail('there is no run')
  let reconciliationId = ''
  await refusingEnds(service.database, async () => {
    const started = await finance.get('reconcile', { body: { from: today(), to: today(), reason } })
    reconciliationId = started.reconciliationId
    const finished = 'select from reconciliations where reconciliation_id = $1 and finished_at is not null'
    await until('its result is stored', async () => {
      return (await service.database.query(finished, [reconciliationId])).length > 0
    })
    const run = await newestOf()
    assert.deepEqual(
      [run.reconciliationId, run.state, run.finishedAt, run.result],
      [reconciliationId, 'under way', null, null],
    )
  })
  await until('the run is over', async () => (await newestOf()).state === 'finished')
  const run = await newestOf()
  assert.deepEqual([run.reconciliationId, run.result === null], [reconciliationId, false])
})

test('a listener that closes stops its runs and waits for them', async () => {
  const closing = await openConsoleApi(service)
  const operator = await closing.newOperator('finance')
  // An endless list: only the stop ends the run.
  let pages = 0
  overrides.listMovements = async () => {
    pages += 1
    return { kind: 'page', movements: [], next: `page ${pages}` }
  }
  const { reconciliationId } = await operator.get('reconcile', { body: { from: today(), to: today(), reason } })
  await until('the run has begun', () => pages > 2)
  await closing.close()
  clear()
  assert.equal((await viewer.get('run', { params: { reconciliationId } })).state, 'interrupted')
  const [row] = await service.database.query<LoggedRow>(actionsText)
  assert.deepEqual([row?.command, row?.outcome], ['reconcile carry-out', 'The service was stopped.'])
})

test('the discrepancies of a run were seen since it began and found before it ended, to the microsecond', async () => {
  const reviewed = { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 }
  const sums = { movements: 0, captured: 0, cancelled: 0, bookedCaptured: 0, bookedCancelled: 0, foreign: 0, reviewed }
  const [{ id } = { id: '' }] = await service.database.query<{ id: string }>(
    `insert into reconciliations (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, started_at, finished_at, result)
     values (gen_random_uuid(), 'COMMAND', '2026-01-05 00:00+09', '2026-01-05 23:59:59+09', gen_random_uuid(), now(),
       '2026-01-06 01:00:00.000000+09', '2026-01-06 01:00:09.123456+09', $1)
     returning reconciliation_id as id`,
    [sums],
  )
  await service.database.query(
    `insert into discrepancies (subject, kind, detail, found_at, last_seen_at)
     select 'pay_' || subject, 'UNKNOWN_ORDER', '{}', found::timestamptz, seen::timestamptz
     from (values ('seen_before', '2026-01-05 01:00+09', '2026-01-06 00:59:59.999+09'),
                  ('seen_again', '2026-01-05 01:00+09', '2026-01-06 01:00+09'),
                  ('found_last', '2026-01-06 01:00:09.123400+09', '2026-01-06 01:00:09.1234+09'),
                  ('found_later', '2026-01-06 01:00:09.125+09', '2026-01-06 01:00:09.125+09')) as v (subject, found, seen)`,
  )
  const { discrepancies } = await finance.get('discrepancies', { query: { reconciliationId: id } })
  assert.deepEqual(
    discrepancies.map(({ subject }) => subject),
    ['pay_seen_again', 'pay_found_last'],
  )
})

test('runs are listed newest first, page by page, each once', async () => {
  const all = (await viewer.get('runs', { query: { limit: '200' } })).runs.map((run) => run.reconciliationId)
  const paged: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await viewer.get('runs', { query: { limit: '2', ...(cursor && { cursor }) } })
    assert.ok(page.runs.length <= 2)
    paged.push(...page.runs.map((run) => run.reconciliationId))
    cursor = page.nextCursor
  }
  assert.ok(all.length > 4)
  assert.deepEqual(paged, all)
})

test('a page of discrepancies continues after the last of the page before, also of one moment, open ones oldest first and resolved ones newest first', async () => {
  await service.database.query(
    `insert into discrepancies (subject, kind, detail, found_at)
     select 'pay_' || n, 'UNKNOWN_ORDER', '{}', now() - n / 3 * interval '1 hour' from generate_series(1, 5) n`,
  )
  async function idsOf(state: 'open' | 'resolved'): Promise<{ paged: string[]; all: string[]; times: string[] }> {
    const paged: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await viewer.get('discrepancies', { query: { state, limit: '1', ...(cursor && { cursor }) } })
      paged.push(...page.discrepancies.map((each) => each.discrepancyId))
      cursor = page.nextCursor
    }
    const { discrepancies } = await viewer.get('discrepancies', { query: { state, limit: '200' } })
    const all = discrepancies.map((each) => each.discrepancyId)
    return { paged, all, times: discrepancies.map((each) => each.resolvedAt ?? each.foundAt) }
  }
  const open = await idsOf('open')
  assert.ok(open.all.length >= 6)
  assert.deepEqual([open.paged, open.times.toSorted()], [open.all, open.times])
  for (const discrepancyId of open.all.slice(0, 5)) {
    await finance.get('resolveDiscrepancy', { params: { discrepancyId }, body: { reason: 'another shop' } })
  }
  const resolved = await idsOf('resolved')
  assert.deepEqual([resolved.paged, resolved.times.toSorted().reverse()], [resolved.all, resolved.times])
})

test('a range that is reversed, too long, in the future or without a valid day is refused with its field', async () => {
  const wrong = [
    { from: addDays(today(), -1), to: addDays(today(), -2), field: 'to' },
    { from: addDays(today(), -366), to: today(), field: 'to' },
    { from: addDays(today(), 1), to: addDays(today(), 1), field: 'from' },
    { from: '2026-02-30', to: today(), field: 'from' },
    { from: today(), to: '2026-99-01', field: 'to' },
  ]
  for (const { from, to, field } of wrong) {
    const answer = await finance.request('reconcile', { body: { from, to, reason } })
    assertRefused(answer, 'VAL003')
    const { fields } = answer.body.metadata as { fields: { field: string }[] }
    assert.deepEqual(
      fields.map((each) => each.field),
      [field],
      answer.text,
    )
  }
  assertRefused(await viewer.request('days', { query: { from: '2025-01-01', to: '2026-06-01' } }), 'VAL003')
  assertRefused(await viewer.request('runs', { query: { cursor: 'nothing' } }), 'VAL003')
  // Valid days for which there are no books.
  for (const to of ['9999-12-31', '0001-01-01', '1999-12-31', addDays(today(), 2)]) {
    assertRefused(await viewer.request('days', { query: { to } }), 'VAL003')
    for (const file of ['days', 'payments']) {
      assert.equal((await finance.save(`/books/${file}.csv?from=${to}&to=${to}`)).status, 400)
    }
    assertRefused(await finance.request('reconcile', { body: { from: to, to, reason } }), 'VAL003')
  }
})

test('a range has 366 days at most, begins with 2000 and may end tomorrow', async () => {
  const spanOf = async (query: { from?: string; to: string }) => {
    const { days } = await viewer.get('days', { query })
    return [days.length, days.at(-1)?.day, days[0]?.day]
  }
  const [first, tomorrow] = [addDays(today(), -365), addDays(today(), 1)]
  assert.deepEqual(await spanOf({ from: first, to: today() }), [366, first, today()])
  assert.deepEqual(await spanOf({ to: '2000-01-02' }), [2, '2000-01-01', '2000-01-02'])
  assert.deepEqual(await spanOf({ to: tomorrow }), [31, addDays(today(), -29), tomorrow])
})

test('a run matched all only without unknown orders and stored movements that differ, and each of these is a discrepancy', () => {
  const reviewed = { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 }
  const equal = { captured: 5, cancelled: 0, bookedCaptured: 5, bookedCancelled: 0, movements: 1, foreign: 0, reviewed }
  // A capture and a cancel of an unknown order.
  const unknown = { ...equal, foreign: 2, otherServices: 0, unknownOrders: 2 }
  const differing = { ...equal, listedDifferently: 1 }
  const all = [equal, unknown, differing, { ...equal, foreign: 1, otherServices: 1 }, { ...equal, captured: 6 }]
  assert.deepEqual(all.map(figures.hasMatchedAll), [true, false, false, false, false])
  assert.deepEqual(all.map(figures.hasDiscrepancies), [false, true, true, false, false])
  const lines = ['MOVEMENT_DIFFERS', 'UNKNOWN_ORDER'].map((kind) => ({ kind, discrepancyId: kind }))
  assert.equal(figures.discrepanciesOf({ bridge: null, result: differing }), 1)
  assert.equal(figures.discrepanciesOf({ bridge: { lines }, result: differing }), 2)
})

test('days are counted, not compared as texts', () => {
  assert.deepEqual(daysFromTo('2024-02-28', '2024-03-01'), ['2024-02-28', '2024-02-29', '2024-03-01'])
  assert.deepEqual(daysFromTo('9999-12-31', '9999-12-31'), ['9999-12-31'])
  assert.deepEqual(daysFromTo('2024-03-01', '2024-02-28'), [])
})

test('a viewer may read the books but not start a reconciliation, and support may not start one either', async () => {
  const support = await api.newOperator('support')
  const [before] = await service.database.query<{ runs: number }>('select count(*) as runs from reconciliations')
  for (const operator of [viewer, support]) {
    assertRefused(await operator.request('reconcile', { body: { from: today(), to: today(), reason } }), 'AUTH003')
  }
  const [afterwards] = await service.database.query<{ runs: number }>('select count(*) as runs from reconciliations')
  assert.deepEqual(afterwards, before)
  assertRefused(await viewer.request('run', { params: { reconciliationId: crypto.randomUUID() } }), 'NOT000')
})
