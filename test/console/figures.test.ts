// The figures of the platform against a count of all rows: after random sequences of steps, with the aggregation at any
// moment, by two processes at once and with lost answers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { generate } from '../../bench/books/generate.ts'
import { createRandom, forSeeds } from '../../harness/random.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { homeHandlers, sumsOf } from '../../src/console/home/home.ts'
import type { Handler } from '../../src/console/routes.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../../src/core/korean-days.ts'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { anchorOf, groupsOf } from '../../src/db/groups.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { figureRules } from '../../src/payments/audit/check-figures.ts'
import { addDetails, addSlice, findPlace, readFiguresBetween } from '../../src/payments/books/figures.sql.ts'
import { createAggregateFigures } from '../../src/payments/books/figures.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { wrapConnections } from '../support/database/connections.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { losingAnswerOf } from '../support/service/recovery.ts'
import { assertSuccess, type TestCustomer } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
let generated: Promise<TestDatabase> | undefined

before(async () => {
  service = await startSpendingService({ settings: { pendingOrdersPerCustomer: 0 } })
})
after(async () => {
  await (await generated)?.drop()
  await service.close()
})

/** Books of many days, with nothing aggregated yet. */
async function generateBooks(): Promise<TestDatabase> {
  const books = await createTestDatabase()
  const owner = new pg.Client(books.ownerConnection)
  await owner.connect()
  await generate(owner, 600)
  // Generated customers are created by the test; here they must be older than their orders.
  await owner.query(`update customers set created_at = (select min(created_at) from orders) - interval '1 minute'`)
  await owner.end()
  return books
}

type Home = Awaited<ReturnType<Handler<'home'>>>

async function homeOf(database: Database, days = '365'): Promise<Home> {
  const { payments } = service
  const { home } = homeHandlers({ database, payments, isHeldBack: () => false })
  return home({ query: { days } } as Parameters<Handler<'home'>>[0])
}

/** No lag: nothing is under way when it is called. */
const addUpNow = (database: Database) => createAggregateFigures(database, { lag: 0 })

async function addAllUp(database: Database): Promise<void> {
  const addUp = addUpNow(database)
  while ((await addUp()).more);
}

const everythingText = `
  select
    (select json_object_agg(status, count) from (select status, count(*) from orders group by 1) s) as "states",
    (select count(*) from orders o where exists (
       select from payment_operations p where p.customer_id = o.customer_id and p.order_id = o.order_id
         and p.kind = 'CONFIRM' and p.state = 'EXPIRED')) as "expired",
    (select coalesce(sum(amount), 0) from orders where grant_entry is not null)::bigint as "captured",
    (select coalesce(sum(amount), 0) from orders where status in ('CANCELLED', 'REFUNDED'))::bigint as "returned",
    (select coalesce(sum(balance), 0) from accounts)::bigint as "outstanding",
    (select coalesce(sum(delta), 0) from ledger_entries where kind = 'GRANT')::bigint as "sold",
    (select coalesce(-sum(delta), 0) from ledger_entries where kind in ('SPEND', 'CAPTURE'))::bigint as "spent"`
type Everything = {
  states: Record<string, number>
  expired: number
  captured: number
  returned: number
  outstanding: number
  sold: number
  spent: number
}

async function countEverything(database: TestDatabase): Promise<Everything> {
  const [row] = await database.query<Everything>(everythingText)
  return row as Everything
}

/** As the page shows it: the sums over all its days, and the current totals. */
function shownBy({ orders, ordersExpired, days, creditsOutstanding }: Home): Everything {
  const sum = (name: 'ordersExpired' | 'captured' | 'returned' | 'creditsSold' | 'creditsSpent') =>
    days.reduce((result, day) => result + day[name], 0)
  return {
    states: Object.fromEntries(Object.entries(orders).filter(([, count]) => count !== 0)),
    expired: sum('ordersExpired') === ordersExpired ? ordersExpired : Number.NaN,
    captured: sum('captured'),
    returned: sum('returned'),
    outstanding: creditsOutstanding,
    sold: sum('creditsSold'),
    spent: sum('creditsSpent'),
  }
}

async function assertComplete(): Promise<void> {
  const home = await homeOf(service.payments.database)
  assert.deepEqual([home.figuresUpTo, home.expiredUpTo], [null, null])
  assert.deepEqual(shownBy(home), await countEverything(service.database))
  assert.equal(home.days.at(-1)?.creditsOutstanding, home.creditsOutstanding)
}

/** The possible steps; none leaves an operation under way. */
function stepsOf(customer: TestCustomer, chosen: ReturnType<typeof createRandom>) {
  const { internal, payments } = service
  return {
    made: () => customer.purchase(chosen.pick(['BASIC', 'STANDARD', 'PRO'])),
    confirmed: () => customer.confirmedOrder(chosen.pick(['BASIC', 'STANDARD', 'PRO'])),
    declined: async () => (await customer.paidOrder('STANDARD', 'decline')).confirm(),
    expired: () => expireOrders(payments.database, 0),
    cancelled: async () => customer.cancel((await customer.confirmedOrder('STANDARD')).paymentKey),
    refunded: async () => {
      const { orderId } = await customer.confirmedOrder('STANDARD')
      if (chosen.chance(0.5)) await internal.spend(customer.customerId, await customer.credits())
      return refund(payments, { orderId, reason: 'a story' })
    },
    spent: () => internal.spend(customer.customerId, chosen.integer(1, 5)),
    reversed: async () => {
      const reference = crypto.randomUUID()
      const spent = await internal.spend(customer.customerId, 2, reference)
      if (spent.status === 200) await internal.reverse(customer.customerId, reference, { credits: 1 })
    },
    captured: async () => {
      const held = await internal.hold(customer.customerId, 2)
      if (held.status !== 201) return
      assertSuccess(await internal.capture(customer.customerId, held.body.data.holdId, chosen.integer(1, 2)), 200)
    },
    released: async () => {
      const held = await internal.hold(customer.customerId, 2)
      if (held.status === 201) await internal.release(customer.customerId, held.body.data.holdId)
    },
  }
}

test('the home page and the figures of each customer equal a count of all rows, whenever they were aggregated and by however many processes', async () => {
  const { database } = service.payments
  const losing = losingAnswerOf(service.database.pool, 'payments.addSliceToFigures')
  const addings: Record<string, () => Promise<unknown>> = {
    none: async () => undefined,
    one: () => addAllUp(database),
    'two at once': () => Promise.all([addAllUp(database), addAllUp(database)]),
    'one whose answer is lost': () => addAllUp(createDatabase(losing, silentLog)),
  }
  await forSeeds(4, async (random) => {
    const customer = await service.newCustomer()
    await customer.confirmedOrder('PRO')
    const steps = Object.values(stepsOf(customer, random))
    for (let step = 0; step < 12; step += 1) {
      await random.pick(steps as [() => Promise<unknown>, ...(() => Promise<unknown>)[]])()
      await addings[random.pick(['none', 'one', 'two at once', 'one whose answer is lost'])]?.()
      await assertComplete()
    }
  })
  for (const step of Object.values(stepsOf(await service.newCustomer(), createRandom(1)))) await step()
  await assertComplete()
  await addAllUp(createDatabase(losing, silentLog))
  assert.ok(losing.lost(), 'no answer was lost')
  await assertComplete()
  await assertFiguresOfCustomers()
})

async function wrongFigures(): Promise<string[]> {
  const { violations } = await audit(service.payments.database, { liveness: 'counted' })
  return violations.filter(({ invariant }) => invariant === 'F-1').map(({ rule }) => rule)
}

test('what is written after the clock of the database was set back is in the figures, and nothing is counted twice', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
  await addAllUp(database)
  for (const span of ['1 hour', '40 days']) {
    await service.database.query(
      `update figures_reached set reached = reached + $1::interval, details_reached = details_reached + $1::interval`,
      [span],
    )
    await customer.confirmedOrder('BASIC')
    await addAllUp(database)
    await assertComplete()
    await assertFiguresOfCustomers()
    assert.deepEqual(await wrongFigures(), [], span)
  }
})

test('a figure that is not that of the books is found by the audit: of an hour, of all time, of a customer', async () => {
  const { database } = service.payments
  const { customerId } = await service.newCustomer()
  await addAllUp(database)
  const change = (text: string, values: unknown[] = []) => service.database.query(text, values)
  const [customer] = await service.database.query<{ created: string; earlier: string }>(
    `select created_at::text as created, (created_at - interval '5 hours')::text as earlier
     from customers where customer_id = $1`,
    [customerId],
  )
  const setCreated = (time = '') =>
    change('update customers set created_at = $2::timestamptz where customer_id = $1', [customerId, time])
  const [group] = groupsOf(database)
  // Only full hours are compared.
  await setCreated(customer?.earlier)
  assert.deepEqual(await wrongFigures(), [])
  const hour = `date_bin('1 hour', now(), 'epoch') - interval '2 hours'`
  await change(
    `insert into hourly_figures (customer_id, hour, figure, count, total) values ($1, ${hour}, 'orders made', 1, 1)`,
    [anchorOf(group ?? database)],
  )
  assert.deepEqual(await wrongFigures(), [figureRules.hour.rule, figureRules.sum.rule])
  await change(`delete from hourly_figures where hour = ${hour}`)
  await change('insert into customer_figures (customer_id, revenue, orders) values ($1, 1, 0)', [customerId])
  assert.deepEqual(await wrongFigures(), [figureRules.customer.rule])
  await change('delete from customer_figures where customer_id = $1', [customerId])
  await setCreated(customer?.created)
  assert.deepEqual(await wrongFigures(), [])
})

test('after a jump of the clock nothing is added up for as long as a statement may last', async () => {
  const place = { reached: new Date(0), detailsReached: new Date(0), safeTo: new Date(1_000), now: new Date(1_000) }
  const added: string[] = []
  const scripted = {
    run: async ({ name }: { name: string }) =>
      name === 'payments.findPlaceOfFigures' ? [{ ...place }] : added.push(name),
  } as unknown as Database
  const addUp = createAggregateFigures(scripted)
  await addUp()
  assert.equal(added.length, 2)
  place.now = new Date(place.now.getTime() + 60_000)
  place.safeTo = place.now
  assert.deepEqual(await addUp(), { more: false })
  assert.equal(added.length, 2)
})

/** No order of these tests is refunded in part. */
async function assertFiguresOfCustomers(): Promise<void> {
  const added = await service.database.query(
    'select customer_id, revenue, orders, last_purchase_at from customer_figures order by customer_id',
  )
  const counted = await service.database.query(
    `select customer_id, coalesce(sum(amount) filter (where status = 'CONFIRMED'), 0)::bigint as revenue,
       count(*) as orders, max(confirmed_at) as last_purchase_at
     from orders where grant_entry is not null group by 1 order by 1`,
  )
  assert.ok(added.length > 1)
  assert.deepEqual(added, counted)
}

test('a correction that takes credits lowers the figure of adjusted credits by as many', async () => {
  const { database } = service.payments
  const { customerId } = await service.newCustomer()
  const adjusted = async () => (await homeOf(database)).days.reduce((sum, day) => sum + day.creditsAdjusted, 0)
  const before = await adjusted()
  for (const [kind, credits] of [['GOODWILL', 10] as const, ['CORRECTION', -4] as const]) {
    const adjustmentId = crypto.randomUUID()
    const adjustment = { customerId, adjustmentId, kind, credits, reason: 'a story', actor: 'kim' }
    await adjust(database, adjustment, { perDay: 100, approvalAbove: 100 })
  }
  assert.equal(await adjusted(), before + 6)
  await addAllUp(database)
  assert.equal(await adjusted(), before + 6)
})

test('money that went back for a FAILED order, and a cancel or refund that the gateway refused, are in no figure, nor in one of their customer', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder('STANDARD')
  const figures = async () => {
    await addAllUp(database)
    const totals = `select figure, sum(count), sum(total) from hourly_figures where hour = '-infinity' group by 1 order by 1`
    return [
      await service.database.query(totals),
      await service.database.query('select * from customer_figures order by customer_id'),
    ]
  }
  const before = await figures()
  const shown = shownBy(await homeOf(database))
  for (const [kind, state, credits] of [
    ['RETURN', 'APPROVED', 0],
    ['REFUND', 'REJECTED', 0],
    ['CANCEL', 'REJECTED', 21],
  ]) {
    await service.database.queryUnguarded(
      `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, reason, state,
         credits_held, holder_id, lease_until, closed_at, closed_by)
       values ($1, gen_random_uuid(), $2, $3, 'pay_not_counted', 20000, 'a story', $4, $5, gen_random_uuid(), now(), now(),
         gen_random_uuid())`,
      [customer.customerId, orderId, kind, state, credits],
    )
  }
  assert.deepEqual(shownBy(await homeOf(database)), shown)
  assert.deepEqual(await figures(), before)
  await service.database.queryUnguarded(`delete from payment_operations where payment_key = 'pay_not_counted'`)
})

test('what happens at the moment at which a slice ends is in the next slice, once', async () => {
  const { database } = service.payments
  await addAllUp(database)
  const customer = await service.newCustomer()
  const { customerId } = customer
  await customer.confirmedOrder('STANDARD')
  type Times = { made: string; moved: string; at: Date }
  const [times] = await service.database.query<Times>(
    `select o.created_at::text as made, o.confirmed_at::text as moved, date_trunc('milliseconds', o.confirmed_at) as at
     from orders o where customer_id = $1`,
    [customerId],
  )
  const { made, moved, at } = times ?? assert.fail('no order')
  const setTimes = async (ofOrder: string, ofMovement: string) => {
    for (const [table, column, time] of [
      ['orders', 'created_at', ofOrder],
      ['payment_operations', 'closed_at', ofMovement],
      ['ledger_entries', 'created_at', ofMovement],
    ]) {
      const text = `update ${table} set ${column} = $2 where customer_id = $1`
      await service.database.queryUnguarded(text, [customerId, time])
    }
  }
  await setTimes(at.toISOString(), at.toISOString())
  const counted = async () => [
    await service.database.query(
      `select figure, sum(count)::int as count from hourly_figures
       where hour = '-infinity' and figure in ('orders made', 'orders confirmed', 'credits granted')
       group by 1 order by 1`,
    ),
    await service.database.query('select orders from customer_figures where customer_id = $1', [customerId]),
  ]
  const before = (await counted())[0] as { figure: string; count: number }[]
  // The group of the customer is not known here; the others have nothing at these times.
  const addTo = async (end: Date) => {
    for (const group of groupsOf(database)) {
      const { reached, detailsReached } = (await findPlace(group, 0)) ?? assert.fail('no figures')
      await addSlice(group, reached, end)
      await addDetails(group, detailsReached, end)
    }
  }
  await addTo(at)
  assert.deepEqual(await counted(), [before, []])
  await addTo(new Date(at.getTime() + 1))
  assert.deepEqual(await counted(), [
    before.map(({ figure, count }) => ({ figure, count: count + 1 })),
    [{ orders: 1 }],
  ])
  await setTimes(made, moved)
  await assertComplete()
})

test('a cancel that is added up later than its purchase leaves the last purchase of the customer', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  const { paymentKey } = await customer.confirmedOrder('BASIC')
  await addAllUp(database)
  assertSuccess(await customer.cancel(paymentKey), 200)
  await addAllUp(database)
  await assertFiguresOfCustomers()
})

test('the details begin with the first customer where an older version has moved the other mark, and end up complete', async () => {
  const { database } = service.payments
  await addAllUp(database)
  const [{ hours } = { hours: 0 }] = await service.database.query<{ hours: number }>(
    `select count(*) as hours from hourly_figures where figure <> 'orders expired'`,
  )
  await service.database.query(`delete from hourly_figures where figure = 'orders expired'`)
  await service.database.query('delete from customer_figures')
  await service.database.query('update figures_reached set details_reached = null')
  await assertComplete()
  // While the details are far behind, the other figures are complete.
  await service.database.query(`update figures_reached set details_reached = now() - interval '1 hour'`)
  const behind = await homeOf(database)
  assert.deepEqual([behind.figuresUpTo, behind.today.comparison, behind.month.comparison], [null, null, null])
  assert.ok(behind.expiredUpTo)
  await service.database.query('update figures_reached set details_reached = null')
  await Promise.all([addAllUp(database), addAllUp(database)])
  await assertComplete()
  await assertFiguresOfCustomers()
  const [after] = await service.database.query<{ hours: number }>(
    `select count(*) as hours from hourly_figures where figure <> 'orders expired'`,
  )
  assert.equal(after?.hours, hours)
})

const closeForAMoment = 'do $$ begin lock table figures_reached in exclusive mode; perform pg_sleep(0.03); end $$'

test('the first start of many processes at once begins the figures once', async () => {
  const { database } = service.payments
  for (let round = 0; round < 20; round += 1) {
    for (const table of ['hourly_figures', 'customer_figures', 'figures_reached']) {
      await service.database.query(`delete from ${table}`)
    }
    // They read that nothing has begun, and then begin at the same time.
    const groups = groupsOf(database)
    const gate = groups.length > 1 ? null : service.database.query(closeForAMoment)
    await Promise.all(groups.flatMap((group) => [1, 2, 3, 4, 5, 6].map(() => findPlace(group, 0))))
    await gate
  }
  await addAllUp(database)
  await assertComplete()
})

test('the same slice is added once, however often it is requested', async () => {
  const { database } = service.payments
  await service.newCustomer().then((customer) => customer.confirmedOrder('BASIC'))
  const figures = () => service.database.query('select * from hourly_figures order by customer_id, hour, figure')
  const marks = await Promise.all(groupsOf(database).map((group) => findPlace(group, 0)))
  const before = await figures()
  await addAllUp(database)
  const added = await figures()
  assert.notDeepEqual(added, before)
  for (const [number, group] of groupsOf(database).entries()) {
    await addSlice(group, marks[number]?.reached ?? assert.fail('no figures'), new Date())
  }
  assert.deepEqual(await figures(), added)
})

test('a slice that exceeds the statement timeout is shortened until it fits', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('BASIC')
  const { pool } = service.database
  let tooSlow = 0
  const slow = wrapConnections(pool, (query, send) => {
    const [, from, to] = query.values as [string, Date, Date]
    if (query.name !== 'payments.addSliceToFigures' || to.getTime() - from.getTime() <= 450_000) return send()
    tooSlow += 1
    throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  })
  for (const table of ['hourly_figures', 'customer_figures']) await service.database.query(`delete from ${table}`)
  await service.database.query(
    `update figures_reached f set reached = first.at, details_reached = first.at
     from (select date_trunc('milliseconds', min(created_at)) - interval '2 hours' as at from customers) first`,
  )
  await addAllUp(createDatabase(slow, silentLog))
  assert.ok(tooSlow >= 3, `${tooSlow}`)
  await assertComplete()
})

test('short slices without a backlog do not lengthen the next slice: after a stop the aggregation continues with one hour', async () => {
  const hourMs = 3_600_000
  const place = { reached: new Date(0), detailsReached: new Date(2 ** 50), safeTo: new Date(10_000), now: new Date(0) }
  const lengths: number[] = []
  const scripted = {
    async run({ name }: { name: string }, values: unknown[] = []) {
      if (name !== 'payments.addSliceToFigures') return [{ ...place }]
      const [, from, to] = values as [string, Date, Date]
      lengths.push(to.getTime() - from.getTime())
      place.reached = to
      return []
    },
  } as Database
  const addUp = createAggregateFigures(scripted)
  for (let call = 0; call < 20; call += 1) {
    assert.deepEqual(await addUp(), { more: false })
    place.safeTo = new Date(place.safeTo.getTime() + 10_000)
  }
  place.safeTo = new Date(place.reached.getTime() + 100 * hourMs)
  assert.deepEqual(await addUp(), { more: true })
  assert.deepEqual(await addUp(), { more: true })
  assert.deepEqual(lengths.slice(-2), [hourMs, 2 * hourMs])
})

test('the aggregation waits for rows of uncommitted transactions, however long the commit takes', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  const slow = await service.database.begin(customer.customerId)
  await slow.query(
    `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits)
     values ($1, 'ord_000000000000000000000000000000000000', 'BASIC', 'CARD', 1000, 1)`,
    [customer.customerId],
  )
  await customer.purchase('BASIC')
  await addAllUp(database)
  await slow.commit()
  await addAllUp(database)
  await assertComplete()
})

test('days are Korean days, and the credits outstanding at the end of each follow from all days before it', async () => {
  generated = generateBooks()
  const books = await generated
  const database = createDatabase(books.pool, silentLog)
  const behind = await homeOf(database)
  assert.ok(behind.figuresUpTo, 'a month that was not aggregated is not complete')
  assert.deepEqual(Object.values(behind.orders), [0, 0, 0, 0, 0])
  await addAllUp(database)
  const home = await homeOf(database, '90')
  assert.equal(home.figuresUpTo, null)
  const direct = await books.query<{ day: string; made: number; captured: number; outstanding: number }>(
    `select to_char(day, 'YYYY-MM-DD') as day,
         (select count(*) from orders where created_at >= b and created_at < e) as made,
         (select coalesce(sum(amount), 0) from payment_operations
          where kind = 'CONFIRM' and state = 'APPROVED' and closed_at >= b and closed_at < e)::bigint as captured,
         (select coalesce(sum(delta), 0) from ledger_entries where created_at < e)::bigint as outstanding
       from generate_series(date_trunc('day', now() at time zone 'Asia/Seoul') - interval '89 days',
                            now() at time zone 'Asia/Seoul', interval '1 day') day
       cross join lateral (select day at time zone 'Asia/Seoul' as b, (day + interval '1 day') at time zone 'Asia/Seoul' as e) s
       order by 1`,
  )
  const shown = home.days.map(({ day, ordersMade: made, captured, creditsOutstanding: outstanding }) => ({
    day,
    made,
    captured,
    outstanding,
  }))
  assert.deepEqual(shown, direct)
  const [total] = await books.query<{ balance: number }>('select sum(balance)::bigint as balance from accounts')
  assert.equal(home.creditsOutstanding, total?.balance)
  assert.equal(home.today.netPaid, home.days.at(-1)?.netPaid)
  const month = home.days.filter(({ day }) => `${day}`.slice(0, 7) === `${home.days.at(-1)?.day}`.slice(0, 7))
  assert.equal(
    home.month.netPaid,
    month.reduce((sum, { netPaid }) => sum + netPaid, 0),
  )
})

test('an accepted part is returned money of its day, and lowers what its customer has paid', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  const returned = async () => (await homeOf(database)).days.reduce((sum, day) => sum + day.returned, 0)
  const before = await returned()
  await service.sandbox.cancel(paymentKey, 5_000)
  await acceptPartOf(service.payments, { customerId, orderId })
  assert.equal(await returned(), before + 5_000)
  await addAllUp(database)
  assert.equal(await returned(), before + 5_000)
  const figures = await service.database.query('select revenue, orders from customer_figures where customer_id = $1', [
    customerId,
  ])
  assert.deepEqual(figures, [{ revenue: 15_000, orders: 1 }])
})

test('an order of which a part was accepted is no refunded order: it stays among the CONFIRMED', async () => {
  const { database } = service.payments
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  const { orders } = await homeOf(database)
  await service.sandbox.cancel(paymentKey, 5_000)
  await acceptPartOf(service.payments, { customerId, orderId })
  assert.deepEqual((await homeOf(database)).orders, orders)
})

const seoul = (time: string) => new Date(`2026-${time}:00+09:00`)

/** The home page at a moment up to which the figures are aggregated, and the spans that it compares. */
async function comparedAt(now: Date, detailsReached = now) {
  let spans: unknown[] = [[], [], [], []]
  const atThatTime = wrapConnections(service.database.pool, async (query, send) => {
    if (query.name === 'payments.readFiguresBetween') spans = query.values
    const { rows } = await send()
    if (query.name !== 'payments.readFigures') return { rows }
    const complete = { asOf: now, reached: now, detailsReached, upTo: null, detailsUpTo: null }
    return { rows: rows.map((row) => ({ ...(row as object), ...complete })) }
  })
  const home = await homeOf(createDatabase(atThatTime, silentLog))
  const [, names, from, to] = spans as [string, string[], Date[], Date[]]
  return { home, spans: names.map((name, place) => [name, from[place], to[place]]) }
}

test('a month is compared with all of the month before where that is shorter: on 30 March with all of February', async () => {
  const { spans } = await comparedAt(seoul('03-30T12:30'))
  assert.deepEqual(spans.slice(-2), [
    ['month now', seoul('03-01T00:00'), seoul('03-30T12:00')],
    ['month before', seoul('02-01T00:00'), seoul('03-01T00:00')],
  ])
})

test('today is compared with yesterday, and the month with the one before, up to the last full hour that both aggregations have reached', async () => {
  const { spans } = await comparedAt(seoul('03-18T12:05'), seoul('03-18T11:59'))
  assert.deepEqual(spans, [
    ['today now', seoul('03-18T00:00'), seoul('03-18T11:00')],
    ['today before', seoul('03-17T00:00'), seoul('03-17T11:00')],
    ['month now', seoul('03-01T00:00'), seoul('03-18T11:00')],
    ['month before', seoul('02-01T00:00'), seoul('02-18T11:00')],
  ])
})

test('in the first hour of a day today is not compared, and in that of a month neither is the month', async () => {
  const isCompared = async (time: string) => {
    const { today, month } = (await comparedAt(seoul(time))).home
    return [today.comparison !== null, month.comparison !== null]
  }
  assert.deepEqual(await isCompared('03-18T00:59'), [false, true])
  assert.deepEqual(await isCompared('03-18T01:00'), [true, true])
  assert.deepEqual(await isCompared('04-01T00:59'), [false, false])
})

test('today begins at midnight in Korea, and the month at midnight of its first day', async () => {
  const { today, month } = (await comparedAt(seoul('03-18T00:30'))).home
  assert.deepEqual([today.from, month.from], [seoul('03-18T00:00'), seoul('03-01T00:00')])
})

test('the figures are read from the first day of the month on, however few days are shown', async () => {
  let from: unknown
  const read = wrapConnections(service.database.pool, (query, send) => {
    if (query.name === 'payments.readFigures') from = query.values[2]
    return send()
  })
  const { month } = await homeOf(createDatabase(read, silentLog), '7')
  assert.ok(from instanceof Date && from <= new Date(month.from))
})

test('today and the month are compared with a count of the rows up to the same hour of the periods before them', async () => {
  const books = await (generated ?? assert.fail('they are generated and aggregated above'))
  await assertCompared(books, await homeOf(createDatabase(books.pool, silentLog), '90'))
})

/** Today and the month, and the periods before them up to the same hour: counted by the rows. */
async function assertCompared(books: TestDatabase, home: Home): Promise<void> {
  const count = async (begin: Date, end: Date) => {
    const [row] = await books.query<{ made: number; captured: number }>(
      `select (select count(*) from orders where created_at >= $1 and created_at < $2) as made,
         (select coalesce(sum(amount), 0) from payment_operations
          where kind = 'CONFIRM' and state = 'APPROVED' and closed_at >= $1 and closed_at < $2)::bigint as captured`,
      [begin, end],
    )
    return row
  }
  for (const period of ['today', 'month'] as const) {
    const { from, comparison } = home[period]
    const start = new Date(from)
    const dayBefore = addDays(koreanDayOf(start), -1)
    const startBefore = startOfKoreanDay(period === 'today' ? dayBefore : `${dayBefore.slice(0, 8)}01`) as Date
    // Null in the first hour.
    if (comparison === null) return assert.ok(Date.now() - start.getTime() < 3_660_000)
    const upTo = new Date(comparison.upTo)
    assert.ok(upTo.getTime() % 3_600_000 === 0 && upTo > start)
    const endBefore = new Date(Math.min(startBefore.getTime() + upTo.getTime() - start.getTime(), start.getTime()))
    const shown = [comparison.now, comparison.before].map(({ ordersMade: made, captured }) => ({ made, captured }))
    assert.deepEqual(shown, [await count(start, upTo), await count(startBefore, endBefore)])
  }
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000
  const span = { name: 'a', from: new Date(hour - 9 * 86_400_000), to: new Date(hour - 5 * 86_400_000) }
  const sums = sumsOf(await readFiguresBetween(createDatabase(books.pool, silentLog), [span]))
  assert.ok(sums.ordersMade > 0)
  assert.deepEqual({ made: sums.ordersMade, captured: sums.captured }, await count(span.from, span.to))
}

test('an order counts as expired when it expired, or when the payment was not made in time, by the code of its refusal', async () => {
  const { database } = service.payments
  const customer = await service.newCustomer()
  const refusedWith = async (code: string) => {
    const { orderId, confirm } = await customer.paidOrder('STANDARD', 'decline')
    await confirm()
    await service.database.queryUnguarded(
      `update payment_operations set gateway_code = $2 where order_id = $1 and kind = 'CONFIRM'`,
      [orderId, code],
    )
  }
  await addAllUp(database)
  const before = (await homeOf(database)).ordersExpired
  for (const code of ['EXPIRED', 'NOT_FOUND_PAYMENT', 'NOT_FOUND_PAYMENT_SESSION', 'REJECT_CARD_PAYMENT']) {
    await refusedWith(code)
  }
  // A code of a payment that was captured, or of a cancel, is none of a refusal.
  const { orderId } = await customer.confirmedOrder()
  await service.database.queryUnguarded(
    `update payment_operations set gateway_code = 'EXPIRED' where order_id = $1 and kind = 'CONFIRM'`,
    [orderId],
  )
  assert.equal((await homeOf(database)).ordersExpired, before + 3)
  await addAllUp(database)
  assert.equal((await homeOf(database)).ordersExpired, before + 3)
})
