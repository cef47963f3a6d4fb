// Every Korean day is reconciled once, by the first instance to claim it. An unfinished day is taken over, a missed day
// is reconciled later, and days before the first customer are never due.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { bookCommands } from '../../src/commands/nouns/book-commands.ts'
import { newOperationId } from '../../src/core/ids.ts'
import { createDatabase } from '../../src/db/database.ts'
import { purgeMovements } from '../../src/payments/books/purge-movements.ts'
import { claimDailyRun, renewRun } from '../../src/payments/books/reconcile.sql.ts'
import { closeDay, type Reconciliation, reconcileDay } from '../../src/payments/books/reconcile.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { wrapConnections } from '../support/database/connections.ts'
import { contextOver, createOverrides, openContexts, openKinds, settleAll } from '../support/service/recovery.ts'
import { assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
  await service.newCustomer()
})
after(() => service.close())
beforeEach(() => {
  overrides.listMovements = async () => ({ kind: 'page', movements: [], next: null })
})
afterEach(async () => {
  clear()
  await service.database.query('truncate gateway_movements, reconciliations')
})

const stopping = new AbortController().signal
const reconcileNext = (context: PaymentContext = service.payments) => reconcileDay(context, stopping)

/** Sets the creation of the first customer to noon in Korea, this many days ago. */
async function setFirstCustomer(daysAgo: number): Promise<void> {
  await service.database.query(
    `update customers set created_at =
       (date_trunc('day', (now() - interval '30 minutes') at time zone 'Asia/Seoul') - $1 * interval '1 day'
         + interval '12 hours') at time zone 'Asia/Seoul'`,
    [daysAgo],
  )
}

/** The beginnings of the Korean days, by their number of days ago. */
async function koreanDays(...daysAgo: number[]): Promise<string[]> {
  const rows = await service.database.query<{ day: Date }>(
    `select (date_trunc('day', (now() - interval '30 minutes') at time zone 'Asia/Seoul') - n * interval '1 day')
       at time zone 'Asia/Seoul' as day from unnest($1::int[]) with ordinality as d (n, place) order by place`,
    [daysAgo],
  )
  return rows.map(({ day }) => day.toISOString())
}

type RunRow = { day: string; finished: boolean }

async function runs(): Promise<RunRow[]> {
  const rows = await service.database.query<{ day: Date; finished: boolean }>(
    `select from_time as day, finished_at is not null as finished from reconciliations where cause = 'DAILY' order by 1`,
  )
  return rows.map(({ day, finished }) => ({ day: day.toISOString(), finished }))
}

const finished = (day: string): RunRow => ({ day, finished: true })

test('the days since the first customer are due, oldest first, each once; today is not', async () => {
  await setFirstCustomer(3)
  const days = await koreanDays(3, 2, 1)
  for (const day of days) {
    const result = await reconcileNext()
    assert.equal(result?.from, day)
    assert.equal(Date.parse(result.to), Date.parse(day) + 86_399_000)
    assert.match(day, /T15:00:00\.000Z$/)
  }
  assert.equal(await reconcileNext(), null)
  assert.deepEqual(await runs(), days.map(finished))
})

/** The statement by which version 0.7.0 claims a day. It may run at the same time as this version. */
const claimDayOf07 = `
  insert into reconciliations as r (reconciliation_id, cause, from_time, to_time, holder_id, lease_until)
  select gen_random_uuid(), 'DAILY', day, day + interval '1 day' - interval '1 second', $1, now() + interval '2 minutes'
  from (
    select (date_trunc('day', (now() - interval '30 minutes') at time zone 'Asia/Seoul') - n * interval '1 day')
             at time zone 'Asia/Seoul' as day
    from generate_series(7, 1, -1) as n
  ) as days
  where day + interval '1 day' > (select min(created_at) from customers)
    and not exists (select from reconciliations done
                    where done.cause = 'DAILY' and done.from_time = day
                      and (done.finished_at is not null or done.lease_until > now()))
  order by day
  limit 1
  on conflict (from_time, to_time) where cause = 'DAILY'
  do update set holder_id = excluded.holder_id, lease_until = excluded.lease_until
  where r.finished_at is null and r.lease_until <= now()
  returning r.from_time as day`

test('with version 0.7.0 at the same time: neither reconciles a day that the other has claimed or finished, and each takes over abandoned days', async () => {
  await setFirstCustomer(3)
  const [first = '', second = '', third = ''] = await koreanDays(3, 2, 1)
  const claimAs07 = async () =>
    (await service.database.query<{ day: Date }>(claimDayOf07, [newOperationId()]))[0]?.day.toISOString()
  const endLeases = () =>
    service.database.query('update reconciliations set lease_until = now() where finished_at is null')
  assert.equal((await reconcileNext())?.from, first)
  assert.equal(await claimAs07(), second)
  assert.equal((await claimDailyRun(service.payments.database, newOperationId(), 60_000))?.from.toISOString(), third)
  assert.equal(await claimAs07(), undefined)
  await endLeases()
  assert.equal((await reconcileNext())?.from, second)
  assert.equal(await claimAs07(), third)
  assert.equal(await reconcileNext(), null)
  await endLeases()
  assert.equal((await reconcileNext())?.from, third)
  assert.deepEqual(await runs(), [first, second, third].map(finished))
})

test('the whole last second of a day belongs to it: an operation and a movement of its last moments are compared, once', async () => {
  await setFirstCustomer(2)
  const days = await koreanDays(2, 1)
  const [, midnight = ''] = days
  const ago = (ms: number) => new Date(Date.parse(midnight) - ms)
  const customer = await service.newCustomer()
  // One payment that was captured without an operation of ours, and one approved operation that was never captured.
  const captured = await customer.paidOrder()
  await service.sandbox.capture(captured.paymentKey, captured.orderId, captured.amount)
  const { paymentKey, orderId, amount } = captured
  const movedAt = ago(300)
  const moved = { transactionKey: 'tx_last', paymentKey, orderId, direction: 'CAPTURE', amount, movedAt } as const
  overrides.listMovements = async ({ from, to }) => {
    // To the second.
    const isRequested = movedAt >= from && movedAt.getTime() < Math.floor(to.getTime() / 1_000) * 1_000 + 1_000
    return { kind: 'page', movements: isRequested ? [moved] : [], next: null }
  }
  const approved = await customer.paidOrder()
  overrides.confirm = async () => ({ kind: 'approved', transactionKey: null })
  assertSuccess(await approved.confirm(), 200)
  await service.database.query('update payment_operations set opened_at = $2 where order_id = $1', [
    approved.orderId,
    ago(1),
  ])
  overrides.fetchPayment = (paymentKey) =>
    paymentKey === approved.paymentKey ? Promise.resolve({ kind: 'absent' }) : undefined
  const results = [await reconcileNext(), await reconcileNext()]
  assert.deepEqual(
    results.map((result) => [result?.from, result?.to, result?.movements, result?.missingCaptured]),
    days.map((day, place) => [
      day,
      new Date(Date.parse(day) + 86_399_000).toISOString(),
      ...(place === 0 ? [1, approved.amount] : [0, 0]),
    ]),
  )
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await openKinds(service, approved.orderId), ['NOT_CAPTURED_AT_GATEWAY'])
})

for (const [what, to] of [
  ['a day', (last: string) => last],
  ['its last second', (last: string) => `${last}T23:59:59+09:00`],
] as const) {
  test(`the command compares up to the very end of ${what}`, async () => {
    const requestedEnds: Date[] = []
    overrides.listMovements = async (query) => {
      requestedEnds.push(query.to)
      return { kind: 'page', movements: [], next: null }
    }
    const command = bookCommands.find(({ name }) => name === 'reconcile')
    const [from, last] = ['2026-01-30', '2026-01-31']
    const { payments } = service
    const values = { from, to: to(last) }
    const call = { database: payments.database, payments: async () => payments, values, onProgress: () => undefined }
    assert.ok(command?.run)
    const result = (await command.run(call as never)) as Reconciliation
    assert.deepEqual([result.from, result.to], ['2026-01-29T15:00:00.000Z', '2026-01-31T14:59:59.000Z'])
    assert.equal(requestedEnds.at(-1)?.toISOString(), '2026-01-31T14:59:59.999Z')
  })
}

test('a day is due half an hour after its end, and not before', async () => {
  await setFirstCustomer(0)
  const [day = ''] = await koreanDays(0)
  for (const [minutes, due] of [
    [29, undefined],
    [30, day],
  ] as const) {
    const moment = new Date(Date.parse(day) + 86_400_000 + minutes * 60_000).toISOString()
    const { pool } = service.database
    const database = createDatabase(
      {
        query: ({ text, values }) => pool.query(text.replaceAll('now()', `'${moment}'::timestamptz`), values),
      },
      silentLog,
    )
    const run = await claimDailyRun(database, newOperationId(), 60_000)
    assert.equal(run?.from.toISOString(), due, `${minutes} minutes after the end`)
  }
})

test('a missed day is reconciled within a week, not later', async () => {
  await setFirstCustomer(30)
  const days = await koreanDays(7, 6, 5, 4, 3, 2, 1)
  for (const day of days) assert.equal((await reconcileNext())?.from, day)
  assert.equal(await reconcileNext(), null)
})

test('with a first customer created today, or without any, nothing is due', async () => {
  await setFirstCustomer(0)
  assert.equal(await reconcileNext(), null)
  const empty = await startTestService()
  assert.equal(await reconcileNext(empty.payments), null)
  await empty.close()
})

test('six instances at once reconcile each day once', async () => {
  await setFirstCustomer(5)
  const others = await openContexts(service, 6)
  try {
    const days = await Promise.all(
      others.contexts.map(async (context) => {
        const done: string[] = []
        for (let day = await reconcileNext(context); day; day = await reconcileNext(context)) done.push(day.from)
        return done
      }),
    )
    assert.deepEqual(days.flat().sort(), await koreanDays(5, 4, 3, 2, 1))
  } finally {
    await others.close()
  }
  assert.deepEqual(await runs(), (await koreanDays(5, 4, 3, 2, 1)).map(finished))
})

test('a claimed day is not claimed again; after its lease it is taken over, and its former holder cannot renew it', async () => {
  await setFirstCustomer(2)
  const [first = '', second = ''] = await koreanDays(2, 1)
  const { database } = service.payments
  const slow = (await claimDailyRun(database, newOperationId(), 60_000)) ?? assert.fail('nothing to claim')
  assert.equal(slow.from.toISOString(), first)
  assert.equal((await reconcileNext())?.from, second)
  assert.equal(await reconcileNext(), null)
  assert.equal(await renewRun(database, slow, 60_000), true)
  await service.database.query(`update reconciliations set lease_until = now() where finished_at is null`)
  assert.equal((await reconcileNext())?.from, first)
  assert.equal(await renewRun(database, slow, 60_000), false)
  assert.deepEqual(await runs(), [first, second].map(finished))
})

test('a process that lost its run to another one stops without a result', async () => {
  await setFirstCustomer(1)
  overrides.listMovements = async () => {
    await service.database.query('update reconciliations set holder_id = gen_random_uuid()')
    return { kind: 'page', movements: [], next: null }
  }
  await assert.rejects(reconcileNext(), { message: 'another process has taken the run over' })
  assert.deepEqual(
    (await runs()).map((run) => run.finished),
    [false],
  )
})

test('a run that takes longer than a second renews its lease, and ends by the first renewal after it was taken over', async (t) => {
  await setFirstCustomer(1)
  let [now, pages] = [0, 0]
  t.mock.method(performance, 'now', () => now)
  const renewals: number[] = []
  const counted = wrapConnections(service.database.pool, (query, send) => {
    if (query.name === 'payments.renewReconciliation') renewals.push(now)
    return send()
  })
  overrides.listMovements = async () => {
    now += 500
    pages += 1
    if (pages === 5) await service.database.query('update reconciliations set holder_id = gen_random_uuid()')
    return { kind: 'page', movements: [], next: pages < 9 ? `page ${pages}` : null }
  }
  const run = reconcileNext(contextOver(service.payments, counted))
  await assert.rejects(run, { message: 'another process has taken the run over' })
  assert.deepEqual([renewals, pages], [[0, 1_000, 2_000, 3_000], 6])
})

test('a process that is stopped leaves the day for the next', async () => {
  await setFirstCustomer(1)
  await assert.rejects(reconcileDay(service.payments, AbortSignal.abort()), { name: 'AbortError' })
  assert.deepEqual(
    (await runs()).map((run) => run.finished),
    [false],
  )
})

test('R8: a day with a payment that the gateway could not look up is not finished: it is reconciled again', async () => {
  await setFirstCustomer(2)
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const [day = ''] = await koreanDays(2)
  const movedAt = new Date(Date.parse(day) + 3_600_000)
  const captured = { transactionKey: 'tx', paymentKey, orderId, direction: 'CAPTURE', amount, movedAt } as const
  overrides.listMovements = async ({ from }) => {
    const movements = from.toISOString() === day ? [captured] : []
    return { kind: 'page', movements, next: null }
  }
  overrides.fetchPayment = async () => ({ kind: 'unknown', code: 'ECONNRESET' })
  await assert.rejects(reconcileNext())
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.deepEqual(await runs(), [{ day, finished: false }])
  delete overrides.fetchPayment
  await service.database.query(`update reconciliations set lease_until = now() where finished_at is null`)
  const result = await reconcileNext()
  assert.deepEqual([result?.from, result?.reviewed.repaired, result?.captured], [day, 1, amount])
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('R8: a day with a payment that is under way is not finished: it is reconciled again', async () => {
  await setFirstCustomer(2)
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const claim = { customerId, operationId: newOperationId(), orderId, paymentKey, amount }
  await service.payments.batches.claimConfirm({ ...claim, leaseMs: 60_000 })
  await service.sandbox.capture(paymentKey, orderId, amount)
  const [day = ''] = await koreanDays(2)
  const movedAt = new Date(Date.parse(day) + 3_600_000)
  const captured = { paymentKey, orderId, direction: 'CAPTURE', amount, movedAt } as const
  overrides.listMovements = async ({ from }) => {
    const [row] = await service.database.query<{ key: string | null }>(
      'select transaction_key as key from payment_operations where order_id = $1',
      [orderId],
    )
    const movements = from.toISOString() === day ? [{ ...captured, transactionKey: row?.key ?? 'not known yet' }] : []
    return { kind: 'page', movements, next: null }
  }
  await assert.rejects(reconcileNext(), /could not be compared yet/)
  assert.deepEqual(await runs(), [{ day, finished: false }])
  await settleAll(service)
  await service.database.query(`update reconciliations set lease_until = now() where finished_at is null`)
  const result = await reconcileNext()
  assert.deepEqual([result?.from, result?.bookedCaptured], [day, amount])
})

test('closing the day reconciles all days that are due', async () => {
  await setFirstCustomer(3)
  assert.deepEqual(await closeDay(service.payments, stopping), { more: false })
  assert.deepEqual(await runs(), (await koreanDays(3, 2, 1)).map(finished))
})

test('movements of the last second of a day are deleted with the others', async () => {
  const { database, payments } = service
  await database.query(
    `insert into reconciliations
       (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, finished_at, result)
     values (gen_random_uuid(), 'DAILY', '2020-01-05T00:00:00+09:00', '2020-01-05T23:59:59+09:00', gen_random_uuid(),
       now(), now(), '{}')`,
  )
  for (const time of ['05T00:00:00', '05T23:59:58', '05T23:59:59', '05T23:59:59.999999', '06T00:00:00']) {
    await database.query(
      `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
       values ($1, 'pay', 'order', 'CAPTURE', 1000, $2)`,
      [time, `2020-01-${time}+09:00`],
    )
  }
  assert.deepEqual(await purgeMovements(payments), { more: false })
  assert.deepEqual(await database.query('select transaction_key as left from gateway_movements'), [
    { left: '06T00:00:00' },
  ])
})

test('movements are deleted long after their day, if the daily reconciliation of it has finished: a run on request is not enough', async () => {
  const { database, payments } = service
  const noonOf = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString()
  const cases = [
    { day: 401, finished: true, kept: false },
    { day: 402, finished: false, kept: true },
    { day: 403, finished: null, kept: true },
    { day: 399, finished: true, kept: true },
    { day: 404, finished: true, kept: true, cause: 'COMMAND' },
  ]
  for (const { day, finished: isFinished, cause = 'DAILY' } of cases) {
    await database.query(
      `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
       values ($1, 'pay', 'order', 'CAPTURE', 1000, $2)`,
      [`${day}`, noonOf(day)],
    )
    if (isFinished === null) continue
    const span = `$1::timestamptz - interval '12 hours', $1::timestamptz + interval '12 hours'`
    await database.query(
      `insert into reconciliations
         (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, finished_at, result)
       values (gen_random_uuid(), $3, ${span}, gen_random_uuid(), now(),
         case when $2 then now() end, case when $2 then '{}'::jsonb end)`,
      [noonOf(day), isFinished, cause],
    )
  }
  const left = async () => {
    const rows = await database.query<{ day: number }>('select transaction_key::int as day from gateway_movements')
    return rows.map(({ day }) => day).toSorted()
  }
  const everything = cases.map(({ day }) => day).toSorted()
  await purgeMovements({ ...payments, settings: { ...payments.settings, movementsKeptDays: 0 } })
  assert.deepEqual(await left(), everything)
  assert.deepEqual(await purgeMovements(payments), { more: false })
  assert.deepEqual(
    await left(),
    cases
      .filter(({ kept }) => kept)
      .map(({ day }) => day)
      .toSorted(),
  )
})
