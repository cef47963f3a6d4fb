// The console's list of orders, the actions that an order offers to each role, and the page of a discrepancy.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ConsoleContext } from '../../src/console/context.ts'
import type { Data, Query } from '../../src/console/contract.ts'
import { orderHandlers } from '../../src/console/orders/orders.ts'
import { paymentUrlOfDiscrepancy, paymentUrlsBy } from '../../src/console/orders/payment-link.ts'
import { discrepancyTimeline } from '../../src/console/orders/timeline.ts'
import { newOrderId } from '../../src/core/ids.ts'
import { dayMs } from '../../src/core/korean-days.ts'
import type { Database } from '../../src/db/database.ts'
import type { FailureReason } from '../../src/payments/failure-reasons.ts'
import { maxOrdersScanned } from '../../src/payments/order-list.sql.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { startConsumer } from '../support/events/consumer.ts'
import { orderInState, spend } from '../support/service/orders.ts'
import { settleAll } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
let finance: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
  finance = await api.newOperator('finance')
})
after(() => closeAll(api, service))

/** Every page of a list, to its end. */
async function pagesOf(query: Query<'orders'>): Promise<Data<'orders'>['orders'][]> {
  const pages: Data<'orders'>['orders'][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Data<'orders'> = await viewer.get('orders', { query: { ...query, ...(cursor && { cursor }) } })
    pages.push(page.orders)
    cursor = page.nextCursor
  }
  return pages
}

/** Inserts unpaid orders in one statement. */
async function insertOrders(customerId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newOrderId())
  await service.database.query(
    `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status)
     select $1, id, 'BASIC', 'CARD', 1000, 1, 'PENDING' from unnest($2::text[]) id`,
    [customerId, ids],
  )
}

test('orders of all customers come newest first, page by page, each once, with the name of the customer', async () => {
  const [one, other] = [await service.newCustomer('First Buyer'), await service.newCustomer()]
  const made: string[] = []
  for (const customer of [one, other, one, other, one]) made.push((await customer.purchase()).body.data.orderId)
  const pages = await pagesOf({ limit: '2' })
  assert.ok(pages.every((page) => page.length <= 2))
  const listed = pages.flat()
  assert.deepEqual(
    listed.map(({ orderId }) => orderId),
    made.toSorted().reverse(),
  )
  const nameOf = new Map([
    [one.customerId, 'First Buyer'],
    [other.customerId, null],
  ])
  assert.ok(listed.every(({ customerId, customerName }) => customerName === nameOf.get(customerId)))
  const { order } = await viewer.get('order', { params: { orderId: made[0] ?? '' } })
  assert.equal(order.customerName, 'First Buyer')
  const own = (await pagesOf({ limit: '2', customerId: one.customerId })).flat()
  assert.deepEqual([own.length, new Set(own.map(({ customerId }) => customerId)).size], [3, 1])
})

test('a rare state is searched in ranges of limited length: no order is missed, in the file neither, and no page reads past its range', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await orderInState(service, customer, 'CONFIRMED')
  await insertOrders(customer.customerId, maxOrdersScanned)
  for (const query of [
    { status: 'CONFIRMED' as const },
    { status: 'CONFIRMED' as const, customerId: customer.customerId },
  ]) {
    const [first = [], ...others] = await pagesOf(query)
    assert.deepEqual([first, others.flat().map((each) => each.orderId)], [[], [orderId]])
  }
  const pending = await viewer.get('orders', {
    query: { status: 'PENDING', customerId: customer.customerId, limit: '3' },
  })
  const rest = {
    status: 'PENDING' as const,
    customerId: customer.customerId,
    limit: '3',
    cursor: pending.nextCursor ?? '',
  }
  const next = await viewer.get('orders', { query: rest })
  const ids = [...pending.orders, ...next.orders].map((each) => each.orderId)
  assert.deepEqual(ids, ids.toSorted().reverse())
  assert.equal(new Set(ids).size, 6)
  for (const query of [{ sort: 'highest' as const }, { sort: 'highest' as const, customerId: customer.customerId }]) {
    const refused = await viewer.request('orders', { query })
    assertRefused(refused, 'VAL003')
    assert.equal((refused.body.metadata as { reason?: string } | null)?.reason, 'too many to sort')
  }
  const linesOf = async (query: string) =>
    (await (await finance.save(`/orders.csv?customerId=${customer.customerId}${query}`)).text())
      .trim()
      .split('\r\n')
      .slice(1)
  assert.deepEqual(
    (await linesOf('&status=CONFIRMED')).map((line) => line.split(',')[0]),
    [orderId],
  )
  assert.equal(new Set(await linesOf('')).size, maxOrdersScanned + 1)
  const { matched } = await viewer.get('orders', { query: { status: 'CONFIRMED' } })
  assert.deepEqual(matched, { count: 0, amount: 0, kept: 0, among: maxOrdersScanned })
  await service.database.query(`delete from orders where customer_id = $1 and status = 'PENDING'`, [
    customer.customerId,
  ])
})

/** An order for each of these reasons. */
async function failedOrders(customer: TestCustomer): Promise<Record<string, string>> {
  const declined = await customer.paidOrder('BASIC', 'decline')
  const poor = await customer.paidOrder('STANDARD', 'insufficient')
  const left = await customer.paidOrder('STANDARD', 'expire')
  for (const each of [declined, poor, left]) assertRefused(await each.confirm(), 'VAL003')
  const { orderId: ofAnother, amount } = (await customer.purchase('PRO')).body.data
  const { paymentKey } = await (await service.newCustomer()).paidOrder('PRO')
  assertRefused(await customer.confirm(ofAnother, paymentKey, amount), 'VAL003')
  const { orderId: unpaid } = (await customer.purchase('PRO')).body.data
  await expireOrders(service.payments.database, 0)
  return {
    'card-declined': declined.orderId,
    'insufficient-funds': poor.orderId,
    'payment-expired': left.orderId,
    other: ofAnother,
    'order-expired': unpaid,
  }
}

test('orders are filtered by reason of failure, package and open operation, and their number and sum are those of all pages', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const failed = await failedOrders(customer)
  const waiting = await customer.paidOrder('STANDARD')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await waiting.confirm(), 'SVC001')
  const list = (query: Query<'orders'>) => viewer.get('orders', { query: { customerId, ...query } })
  for (const [failure, orderId] of Object.entries(failed) as [FailureReason, string][]) {
    for (const query of [{ failure }, { failure, status: 'FAILED' as const }]) {
      const { orders } = await list(query)
      assert.deepEqual(
        orders.map((each) => [each.orderId, each.failure?.reason]),
        [[orderId, failure]],
      )
    }
  }
  const groups = {
    expired: ['payment-expired', 'order-expired'],
    declined: ['card-declined', 'insufficient-funds', 'other'],
  }
  for (const [group, reasons] of Object.entries(groups)) {
    const { orders, matched } = await list({ failure: group as 'expired' | 'declined', status: 'FAILED' })
    assert.deepEqual(new Set(orders.map((each) => each.failure?.reason)), new Set(reasons))
    assert.equal(matched?.count, reasons.length)
  }
  const open = await list({ open: 'yes' })
  assert.deepEqual(
    open.orders.map(({ orderId, openOperation, failure }) => [orderId, openOperation, failure]),
    [[waiting.orderId, 'CONFIRM', null]],
  )
  assert.deepEqual((await list({ limit: '1' })).matched, { count: 6, amount: 261_000, kept: 0, among: null })
  const pro = await list({ packageType: 'PRO', limit: '1' })
  assert.deepEqual(pro.matched, { count: 2, amount: 200_000, kept: 0, among: null })
  assert.equal((await list({ packageType: 'PRO', limit: '1', cursor: pro.nextCursor ?? '' })).matched, null)
  const all = await viewer.get('orders', { query: { failure: 'order-expired' } })
  assert.ok(all.orders.some(({ orderId }) => orderId === failed['order-expired']))
  assert.ok(all.orders.every(({ status, failure }) => status === 'FAILED' && failure?.reason === 'order-expired'))
  const linesOf = async (query: string) =>
    (await (await finance.save(`/orders.csv?customerId=${customerId}${query}`)).text()).trim().split('\r\n').slice(1)
  assert.equal((await linesOf('')).length, 6)
  const [line = '', ...others] = await linesOf('&failure=insufficient-funds&language=ko')
  assert.deepEqual(others, [])
  assert.match(line, /^ord_.*,STANDARD,20000,21,결제 실패,잔액 부족·한도 초과,REJECT_CARD_PAYMENT,{9}$/)
  await settleAll(service)
})

test('sorted by amount, orders come page by page, each once, also those of the same amount', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  await customer.purchase('PRO')
  await insertOrders(customerId, 4)
  const idsOf = (orders: Data<'orders'>['orders']) => orders.map(({ orderId }) => orderId)
  const newest = (await pagesOf({ customerId })).flat()
  const highest = await pagesOf({ customerId, sort: 'highest', limit: '2' })
  assert.deepEqual(idsOf(highest.flat()), idsOf(newest.toSorted((one, other) => other.amount - one.amount)))
})

test('a page has 50 rows where no limit is given', async () => {
  const { customerId } = await service.newCustomer()
  await insertOrders(customerId, 51)
  const pages = await pagesOf({ customerId })
  assert.deepEqual(
    pages.map(({ length }) => length),
    [50, 1],
  )
})

test('the sum of orders has what was ordered, and of it what was paid and not refunded', async () => {
  const customer = await service.newCustomer()
  for (const state of ['CONFIRMED', 'CANCELLED', 'FAILED'] as const) await orderInState(service, customer, state)
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 5_000)
  const body = { reason: 'agreed with the buyer' }
  await finance.get('settleOrder', { params: { orderId }, body })
  const { openDiscrepancies } = await finance.get('order', { params: { orderId } })
  const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
  assert.equal(openDiscrepancies[0]?.amount, -5_000)
  await finance.get('acceptDiscrepancy', { params: { discrepancyId }, body: { ...body, credits: 0 } })
  await customer.purchase('PRO')
  const { orders, matched } = await viewer.get('orders', { query: { customerId: customer.customerId } })
  const [amount, confirmed] = [orders, orders.filter(({ status }) => status === 'CONFIRMED')].map((rows) =>
    rows.reduce((sum, row) => sum + row.amount, 0),
  )
  assert.equal(orders.find((row) => row.orderId === orderId)?.refundedAmount, 5_000)
  const cancelled = orders.find(({ status }) => status === 'CANCELLED')
  assert.equal(cancelled?.refundedAmount, cancelled?.amount)
  assert.deepEqual(matched, { count: 5, amount, kept: (confirmed ?? 0) - 5_000, among: null })
})

test('of an order refunded in part the list has what went back in all, and the sum what was kept', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  const [params, body] = [{ orderId }, { reason: 'agreed with the buyer' }]
  await service.sandbox.cancel(paymentKey, 5_000)
  await finance.get('settleOrder', { params, body })
  const { openDiscrepancies } = await finance.get('order', { params })
  const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
  await finance.get('acceptDiscrepancy', { params: { discrepancyId }, body: { ...body, credits: 5 } })
  assert.ok(await spend(service, customer.customerId, 3))
  const { unused } = await finance.get('refundQuote', { params })
  const { amount, credits } = unused ?? assert.fail('nothing is left')
  await finance.get('refundUnused', { params, body: { ...body, amount, credits } })
  const { orders, matched } = await viewer.get('orders', { query: { customerId: customer.customerId } })
  assert.equal(orders[0]?.refundedAmount, 5_000 + amount)
  assert.deepEqual(matched, { count: 1, amount: 20_000, kept: 15_000 - amount, among: null })
  assert.ok(amount > 0 && amount < 15_000)
})

test('a discrepancy that the service resolved shows that, also when an operator has acted on it before, afterwards or without success', () => {
  const second = (count: number) => `2026-11-15T21:45:0${count}.000Z`
  const found = {
    discrepancyId: 'd',
    kind: 'OPERATION_STUCK',
    subject: 'ord_1',
    detail: {},
    foundAt: second(0),
    lastSeenAt: second(0),
  }
  const discrepancy = { ...found, resolvedAt: second(4), resolution: 'the operation was settled' }
  const kindsWith = (at: number, end: number, outcome = 'ok') => {
    const by = { actionId: 'a', actor: 'kim', command: 'discrepancies resolve', reason: 'seen', outcome }
    return discrepancyTimeline(discrepancy, [{ ...by, at: second(at), refusal: null, endedAt: second(end) }]).map(
      ({ kind }) => kind,
    )
  }
  assert.deepEqual(kindsWith(3, 5), ['DISCREPANCY_FOUND', 'OPERATOR'])
  assert.deepEqual(kindsWith(1, 2), ['DISCREPANCY_FOUND', 'OPERATOR', 'DISCREPANCY_RESOLVED'])
  assert.deepEqual(kindsWith(5, 6), ['DISCREPANCY_FOUND', 'DISCREPANCY_RESOLVED', 'OPERATOR'])
  assert.deepEqual(kindsWith(3, 5, 'NOT000'), ['DISCREPANCY_FOUND', 'OPERATOR', 'DISCREPANCY_RESOLVED'])
})

test('days are those of Korea: an order of the last millisecond before midnight is of the day before; a day that does not exist, or days in reverse, are refused', async () => {
  const { customerId } = await service.newCustomer()
  const midnight = Date.parse('2026-03-04T00:00:00+09:00')
  const times = [midnight - 1, midnight, midnight + dayMs - 1]
  // An id is generated before its order is stored.
  const ids = times.map((ms) => newOrderId(ms - 1))
  const [before, at, last] = ids
  await service.database.query(
    `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status, created_at)
     select $1, id, 'BASIC', 'CARD', 1000, 1, 'PENDING', at from unnest($2::text[], $3::timestamptz[]) as o (id, at)`,
    [customerId, ids, times.map((ms) => new Date(ms))],
  )
  const of = async (query: Query<'orders'>) =>
    (await pagesOf({ ...query, limit: '1' })).flat().map((row) => row.orderId)
  assert.deepEqual(await of({ from: '2026-03-04', to: '2026-03-04' }), [last, at])
  assert.deepEqual(await of({ to: '2026-03-03' }), [before])
  assert.deepEqual(await of({ customerId, from: '2026-03-03' }), [last, at, before])
  for (const query of [{ from: '2026-02-30' }, { from: '2026-03-04', to: '2026-03-03' }, { to: '1960-01-01' }]) {
    assertRefused(await viewer.request('orders', { query }), 'VAL003')
  }
  await service.database.query('delete from orders where customer_id = $1', [customerId])
})

test('a note on an order is in its timeline, one on a customer on its page, with no other action, and both change nothing else', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const { customerId } = customer
  const note = (text: string) => ({ body: { reason: text } })
  assert.equal(await finance.get('addOrderNote', { params: { orderId }, ...note('asked for the invoice') }), null)
  await finance.get('addCustomerNote', { params: { customerId }, ...note('pays at the end of the month') })
  await finance.get('addCustomerNote', { params: { customerId }, ...note('has called twice') })
  const support = await api.newOperator('support')
  await support.get('suspendCustomer', { params: { customerId }, ...note('a reason of another action') })
  const { story, order } = await viewer.get('order', { params: { orderId } })
  const { detail } = story.at(-1) ?? assert.fail('the timeline is empty')
  assert.deepEqual([detail.command, detail.reason, detail.outcome], ['orders note', 'asked for the invoice', 'ok'])
  assert.equal(order.status, 'CONFIRMED')
  const { notes } = await viewer.get('customer', { params: { customerId } })
  assert.deepEqual(
    notes.map(({ actor, note }) => [actor.startsWith(finance.name), note]),
    [
      [true, 'has called twice'],
      [true, 'pays at the end of the month'],
    ],
  )
  assertRefused(
    await finance.request('addCustomerNote', { params: { customerId: crypto.randomUUID() }, ...note('nothing') }),
    'NOT000',
  )
})

test('a cursor that is no order id and a page of more than 200 are refused, and a path with a malformed order id is not found', async () => {
  for (const query of [{ cursor: 'ord_1' }, { limit: '201' }, { limit: '0' }]) {
    assertRefused(await viewer.request('orders', { query }), 'VAL003')
  }
  for (const orderId of ['ord_none', newOrderId(), "ord_' or 1=1"]) {
    assertRefused(await viewer.request('order', { params: { orderId } }), 'NOT000')
    const body = { reason: 'nothing to lose' }
    for (const name of ['settleOrder', 'refundOrder', 'resendEvents', 'addOrderNote'] as const) {
      assertRefused(await finance.request(name, { params: { orderId }, body }), 'NOT000')
    }
    assertRefused(await finance.request('refundQuote', { params: { orderId } }), 'NOT000')
  }
})

type Action = Data<'order'>['actions'][number]
const codesOf = async (operator: Operator, orderId: string) => {
  const { actions } = await operator.get('order', { params: { orderId } })
  const shown = ({ action, allowed, code }: Action) => [action, allowed ? 'allowed' : code]
  return Object.fromEntries(actions.map(shown))
}

test('an action states whether it is allowed now, or why not: role, state, open operation, no event, no endpoint that is active', async (t) => {
  const customer = await service.newCustomer()
  const confirmed = await orderInState(service, customer, 'CONFIRMED')
  assert.deepEqual(await codesOf(viewer, confirmed.orderId), {
    settle: 'role',
    refund: 'role',
    'resend events': 'role',
  })
  assert.deepEqual(await codesOf(finance, confirmed.orderId), {
    settle: 'allowed',
    refund: 'allowed',
    'resend events': 'no endpoint',
  })
  const consumer = await startConsumer()
  t.after(() => consumer.close())
  await api.register(consumer)
  assert.equal((await codesOf(finance, confirmed.orderId))['resend events'], 'allowed')
  await service.database.query(`update event_endpoints set status = 'DISABLED'`)
  assert.equal((await codesOf(finance, confirmed.orderId))['resend events'], 'no endpoint')
  const pending = await customer.paidOrder()
  assert.deepEqual(await codesOf(finance, pending.orderId), {
    settle: 'allowed',
    refund: 'state',
    'resend events': 'no events',
  })
  const { actions } = await finance.get('order', { params: { orderId: pending.orderId } })
  assert.equal(actions.find(({ action }) => action === 'refund')?.why, 'The order is PENDING, not CONFIRMED.')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await pending.confirm(), 'SVC001')
  assert.equal((await codesOf(finance, pending.orderId)).refund, 'open')
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'reset-before', times: 9 }])
  const params = { orderId: pending.orderId }
  const quoted = await finance.request('refundQuote', { params })
  const refunded = await finance.request('refundOrder', { params, body: { reason: 'the buyer called' } })
  assert.deepEqual(
    [quoted, refunded].map(({ body: { code, metadata } }) => [code, metadata]),
    [
      ['PAYMENT_CANCEL_FAILED', { reason: 'open' }],
      ['SVC001', { reason: 'open', began: false }],
    ],
    'neither has begun a refund',
  )
  await service.sandbox.clearFaults()
  await settleAll(service)
})

test('a refund quote during which the order is refunded by another request reports that the order has changed', async () => {
  const { payments } = service
  const { orderId } = await (await service.newCustomer()).confirmedOrder('STANDARD')
  let faster: Promise<unknown> | undefined
  const database: Database = {
    async run(statement, values) {
      faster ??= refund(payments, { orderId, reason: 'agreed with the buyer' })
      await faster
      return payments.database.run(statement, values)
    },
  }
  const parts = { database: payments.database, payments: { ...payments, database } } as ConsoleContext
  const { refundQuote } = orderHandlers(parts)
  await assert.rejects(refundQuote({ params: { orderId } } as Parameters<typeof refundQuote>[0]), {
    code: 'PAYMENT_CANCEL_FAILED',
    metadata: { reason: 'changed' },
  })
})

test('a discrepancy has a page: the values of both sides, the actions about it, who resolved it with which note, and other discrepancies of the order', async () => {
  const support = await api.newOperator('support')
  const customer = await service.newCustomer('Both Sides')
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 5_000)
  const settle = () => support.get('settleOrder', { params: { orderId }, body: { reason: 'the buyer called' } })
  const idOfOpen = async () => (await viewer.get('order', { params: { orderId } })).openDiscrepancies[0]?.discrepancyId
  const read = (operator: Operator, discrepancyId: string) => operator.get('discrepancy', { params: { discrepancyId } })
  const codes = ({ actions }: Data<'discrepancy'>) => actions.map(({ action, code }) => [action, code ?? 'allowed'])
  const historyOf = ({ history }: Data<'discrepancy'>) =>
    history.map(({ kind, detail }) => [kind, detail.actor && `${detail.actor}`.split(' ')[0], detail.reason])

  await settle()
  const first = (await idOfOpen()) ?? assert.fail('nothing was found')
  await settle()
  const page = await read(finance, first)
  const { detail, customerId, customerName, orderId: about, kind } = page.discrepancy
  assert.deepEqual([customerId, customerName], [customer.customerId, 'Both Sides'])
  assert.deepEqual([about, kind], [orderId, 'PARTLY_CANCELLED_AT_GATEWAY'])
  const gateway = { status: 'PARTIAL_CANCELED', amount: 20_000, balance: 15_000 }
  assert.deepEqual(detail, { paymentKey, orderStatus: 'CONFIRMED', orderAmount: 20_000, gateway })
  assert.deepEqual(page.order, { orderId, status: 'CONFIRMED', amount: 20_000, credits: 21 })
  assert.deepEqual(historyOf(page), [
    ['DISCREPANCY_FOUND', undefined, undefined],
    ['OPERATOR', support.name, 'the buyer called'],
  ])
  assert.deepEqual(
    codes(page).map(([, code]) => code),
    ['allowed', 'allowed', 'allowed'],
  )
  assert.deepEqual(codes(await read(support, first)).slice(1), [
    ['accept', 'role'],
    ['resolve', 'role'],
  ])
  assert.deepEqual(codes(await read(viewer, first)).at(0), ['settle', 'role'])

  const body = { reason: 'the shop gave it back' }
  await finance.get('resolveDiscrepancy', { params: { discrepancyId: first }, body })
  // What was resolved is open again when more goes back.
  await service.sandbox.cancel(paymentKey, 1_000)
  await settle()
  const closed = await read(finance, first.toUpperCase())
  assert.equal(closed.discrepancy.resolution, body.reason)
  assert.deepEqual(historyOf(closed).slice(2), [['OPERATOR', finance.name, body.reason]])
  assert.deepEqual(
    codes(closed).map(([, code]) => code),
    ['resolved', 'resolved', 'resolved'],
  )
  const { story } = await viewer.get('order', { params: { orderId } })
  const resolved = story.filter(({ detail }) => detail.command === 'discrepancies resolve')
  assert.deepEqual(
    resolved.map(({ detail }) => detail.reason),
    [body.reason],
  )
  const { orderId: ofAnother } = await customer.confirmedOrder('BASIC')
  await service.database.query(
    `insert into discrepancies (subject, kind, detail, customer_id, order_id) values ($2, 'CAPTURED', '{}', $1, $2)`,
    [customer.customerId, ofAnother],
  )
  const again = await read(finance, (await idOfOpen()) ?? '')
  assert.deepEqual(
    again.others.map(({ discrepancyId }) => discrepancyId),
    [first],
  )
  assert.deepEqual(historyOf(again), [['DISCREPANCY_FOUND', undefined, undefined]])

  const [{ stray } = { stray: '' }] = await service.database.query<{ stray: string }>(
    `insert into discrepancies (subject, kind, detail) values ('pay_stray', 'UNKNOWN_ORDER', '{}')
     returning discrepancy_id as stray`,
  )
  const strange = await read(finance, stray)
  assert.deepEqual([strange.order, strange.others], [null, []])
  assert.deepEqual(codes(strange).slice(0, 2), [
    ['settle', 'no order'],
    ['accept', 'not a part'],
  ])
  assertRefused(await viewer.request('discrepancy', { params: { discrepancyId: crypto.randomUUID() } }), 'NOT000')
})

test('an accepted partial cancellation is shown as made at the gateway and not as a request of ours, and apart from the refund of the rest', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 5_000)
  const body = { reason: 'agreed with the buyer' }
  await finance.get('settleOrder', { params: { orderId }, body })
  const { openDiscrepancies } = await finance.get('order', { params: { orderId } })
  const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
  await finance.get('acceptDiscrepancy', { params: { discrepancyId }, body: { ...body, credits: 6 } })

  const { order, lot, story } = await finance.get('order', { params: { orderId } })
  assert.deepEqual([order.status, order.refundedAmount, order.refundShortfall], ['CONFIRMED', 5_000, null])
  assert.deepEqual([order.ended, order.parts], [null, { amount: 5_000, credits: 6 }])
  assert.equal(openDiscrepancies[0]?.paymentUrl, `https://gateway.example/payments/${paymentKey}?order=${orderId}`)
  assert.deepEqual([lot?.used, lot?.unused, lot?.takenBack, lot?.value], [0, 15, 6, 15_000])
  const { discrepancy } = await finance.get('discrepancy', { params: { discrepancyId } })
  assert.equal(discrepancy.resolution, body.reason)
  const ofPart = story.filter(({ kind, detail }) => kind.startsWith('OPERATION_') && detail.kind === 'PART')
  assert.deepEqual(
    ofPart.map(({ kind, detail: { gatewayCode, amount, creditsHeld, reason } }) => [
      kind,
      gatewayCode,
      amount,
      creditsHeld,
      reason,
    ]),
    [['OPERATION_ENDED', 'CANCELLED_AT_GATEWAY', 5_000, 6, body.reason]],
  )

  const quote = await finance.get('refundQuote', { params: { orderId } })
  assert.deepEqual(
    [quote.creditsOfTheOrder, quote.creditsTakenBack, quote.shortfall, quote.unused?.credits],
    [21, 15, 0, 15],
  )
  await finance.get('refundOrder', { params: { orderId }, body })
  const { order: closed } = await finance.get('order', { params: { orderId } })
  assert.deepEqual([closed.status, closed.refundedAmount, closed.refundShortfall], ['REFUNDED', 20_000, 0])
  assert.deepEqual(closed.parts, order.parts)
  const { at: _, operator, ...ended } = closed.ended ?? assert.fail('the order was not closed')
  assert.deepEqual(ended, { by: 'operator', keyLastFour: null, ...body, amount: 15_000, credits: 15 })
  assert.ok(operator?.startsWith(finance.name))
})

test('the address of a payment at the gateway has its key and its order encoded; a discrepancy without an order of ours has it too', () => {
  const urlOf = paymentUrlsBy('https://gateway.example/{paymentKey}?order={orderId}')
  assert.equal(
    urlOf({ paymentKey: 'a/b?c$&', orderId: '&to=elsewhere' }),
    'https://gateway.example/a%2Fb%3Fc%24%26?order=%26to%3Delsewhere',
  )
  const unknown = { kind: 'UNKNOWN_ORDER', subject: 'pay_1', orderId: null, detail: { orderId: 'of another shop' } }
  assert.equal(paymentUrlOfDiscrepancy(urlOf, unknown), 'https://gateway.example/pay_1?order=of%20another%20shop')
  assert.equal(paymentUrlOfDiscrepancy(urlOf, { ...unknown, kind: 'MOVEMENT_DIFFERS' }), null)
  assert.equal(paymentUrlsBy(undefined)({ paymentKey: 'pay_1', orderId: 'ord_1' }), null)
})
