// Events are written by the statement that causes them, atomically, and numbered per customer without a gap.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { updateLowCredits } from '../../src/credits/accounts.sql.ts'
import { addEndpoint, removeEndpoint } from '../../src/events/endpoints.ts'
import { type EventType, eventTypes } from '../../src/events/outbox.sql.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { orderInState, spend } from '../support/service/orders.ts'
import { settleAll } from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestService,
  testPeppers,
} from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

type EventRow = { number: number; type: string; data: Record<string, unknown> }

function eventsOf(customerId: string): Promise<EventRow[]> {
  return service.database.query<EventRow>(
    'select event_number as number, type, data from events where customer_id = $1 order by event_number',
    [customerId],
  )
}

async function typesOf(customerId: string): Promise<string[]> {
  const events = await eventsOf(customerId)
  assert.deepEqual(
    events.map(({ number }) => number),
    events.map((_, index) => index + 1),
  )
  return events.map(({ type }) => type)
}

const endings: { status: 'CONFIRMED' | 'FAILED' | 'CANCELLED' | 'REFUNDED'; types: EventType[]; balance: number }[] = [
  { status: 'CONFIRMED', types: ['order.confirmed'], balance: 21 },
  { status: 'FAILED', types: ['order.failed'], balance: 0 },
  { status: 'CANCELLED', types: ['order.confirmed', 'credits.empty', 'order.cancelled'], balance: 0 },
  { status: 'REFUNDED', types: ['order.confirmed', 'credits.empty', 'order.refunded'], balance: 0 },
]
for (const { status, types, balance } of endings) {
  test(`an order that becomes ${status} emits ${types.join(' and ')}`, async () => {
    const customer = await service.newCustomer()
    const { orderId, amount, credits } = await orderInState(service, customer, status)
    const { customerId } = customer
    assert.deepEqual(await typesOf(customerId), types)
    const last = (await eventsOf(customerId)).at(-1)
    const order = { customerId, orderId, status, packageType: 'STANDARD', amount, credits, balance }
    const added = {
      CONFIRMED: ['receiptUrl', 'cardNumber', 'approvalNumber', 'paidWith'],
      REFUNDED: ['refundedAmount'],
    }
    const { [status as string]: own = [] } = added as Record<string, string[]>
    assert.deepEqual(Object.keys(last?.data ?? {}), [...Object.keys(order), ...own])
    assert.deepEqual({ ...last?.data, ...order }, last?.data)
  })
}

test('an unpaid order emits nothing until it expires, and then order.failed; credits.empty needs credits before', async () => {
  const customer = await service.newCustomer()
  const orders = [await customer.purchase(), await customer.purchase('BASIC')]
  assert.deepEqual(await typesOf(customer.customerId), [])
  await service.database.query(
    `update orders set created_at = now() - interval '2 days' where customer_id = $1 and status = 'PENDING'`,
    [customer.customerId],
  )
  assert.equal((await expireOrders(service.payments.database, 86_400_000)).expired, 2)
  assert.deepEqual(await typesOf(customer.customerId), ['order.failed', 'order.failed'])
  const failedOrders = (await eventsOf(customer.customerId)).map(({ data }) => data.orderId)
  assert.deepEqual(failedOrders.sort(), orders.map(({ body }) => body.data.orderId).sort())
})

test('credits.low is emitted once each time the balance falls below the threshold', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  await updateLowCredits(service.payments.database, customerId, [10])
  await customer.confirmedOrder()
  const lowEvents = async () => (await eventsOf(customerId)).filter(({ type }) => type === 'credits.low')
  const spends: { credits: number; low: number }[] = [
    { credits: 11, low: 0 },
    { credits: 1, low: 1 },
    { credits: 1, low: 1 },
  ]
  for (const { credits, low } of spends) {
    assert.equal(await spend(service, customerId, credits), true)
    assert.equal((await lowEvents()).length, low, `after ${credits}`)
  }
  assert.deepEqual((await lowEvents())[0]?.data, { customerId, credits: 9, threshold: 10 })
  await customer.confirmedOrder()
  assert.equal(await spend(service, customerId, 25), true)
  assert.deepEqual(await typesOf(customerId), ['order.confirmed', 'credits.low', 'order.confirmed', 'credits.low'])
  assert.equal(await spend(service, customerId, 1_000), false)
  await updateLowCredits(service.payments.database, customerId, [])
  assert.equal(await spend(service, customerId, 1), true)
  assert.equal((await lowEvents()).length, 2)
})

test('each threshold of credits.low has its event once, when fewer credits than that are left', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  assert.deepEqual(await updateLowCredits(service.payments.database, customerId, [10, 15, 5, 10]), [15, 10, 5])
  await customer.confirmedOrder()
  for (const credits of [6, 1, 1, 3, 1, 1, 3, 1]) assert.equal(await spend(service, customerId, credits), true)
  const low = (await eventsOf(customerId)).filter(({ type }) => type === 'credits.low')
  assert.deepEqual(
    low.map(({ data }) => [data.credits, data.threshold]),
    [
      [14, 15],
      [9, 10],
      [4, 5],
    ],
  )
})

for (const { status, type } of [
  { status: 'CANCELLED', type: 'order.cancelled' },
  { status: 'REFUNDED', type: 'order.refunded' },
] as const) {
  test(`an order that becomes ${status} crosses the threshold with its hold: all events are emitted`, async () => {
    const customer = await service.newCustomer()
    await updateLowCredits(service.payments.database, customer.customerId, [5])
    await orderInState(service, customer, status)
    assert.deepEqual(await typesOf(customer.customerId), ['order.confirmed', 'credits.low', 'credits.empty', type])
  })
}

test('a hold may cross the threshold, and its end never does', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { credits } = service.payments
  await updateLowCredits(service.payments.database, customerId, [10])
  await customer.confirmedOrder()
  const serviceId = 'svc_test'
  for (const [turn, captured] of [4, null].entries()) {
    const [holdId, reference] = [crypto.randomUUID(), `hold-${turn}`]
    await credits.openHold({ customerId, holdId, credits: 12, reference, serviceId, expiresInSeconds: 60 })
    const ending = captured === null ? ('RELEASE' as const) : ('CAPTURE' as const)
    await credits.endHold({ customerId, holdId, ending, captured, serviceId })
  }
  const emitted = (await eventsOf(customerId)).map(({ type, data }) => `${type} ${data.credits}`)
  assert.deepEqual(emitted, ['order.confirmed 21', 'credits.low 9', 'credits.low 5'])
})

test('the time of an event is that of its entry, and later numbers have no earlier times', async () => {
  const customer = await service.newCustomer()
  await updateLowCredits(service.payments.database, customer.customerId, [5])
  await orderInState(service, customer, 'CANCELLED')
  const [row] = await service.database.query<{ same: boolean; sorted: boolean }>(
    `select (select bool_and(v.created_at = e.created_at) from events v join ledger_entries e using (customer_id)
             where v.customer_id = $1 and (v.type, e.kind) in (
               ('order.confirmed', 'GRANT'), ('credits.low', 'HOLD'), ('order.cancelled', 'ROLLBACK'))) as same,
       (select bool_and(later.created_at >= v.created_at) from events v join events later using (customer_id)
        where v.customer_id = $1 and later.event_number > v.event_number) as sorted`,
    [customer.customerId],
  )
  assert.deepEqual(row, { same: true, sorted: true })
})

test('a refused request emits nothing', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  assertRefused(await customer.confirm(order.orderId, order.paymentKey, 1), 'VAL003')
  assert.equal(await spend(service, customer.customerId, 1), false)
  assert.deepEqual(await typesOf(customer.customerId), [])
})

test('many concurrent requests of one customer: numbers without a gap, in the order of the movements', async () => {
  const customer = await service.newCustomer()
  const orders = await Promise.all(Array.from({ length: 12 }, () => customer.paidOrder('BASIC')))
  for (const answer of await Promise.all(orders.map((order) => order.confirm()))) assertSuccess(answer, 200)
  assert.equal((await typesOf(customer.customerId)).length, 12)
  const balances = (await eventsOf(customer.customerId)).map(({ data }) => data.balance)
  assert.deepEqual(
    balances,
    orders.map((_, index) => index + 1),
  )
})

test('a rolled back statement has no effect: neither credits nor event, and a repetition has both', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { endpointId } = await addEndpoint(service.payments.database, testPeppers[0], {
    url: 'http://127.0.0.1:9/',
    types: [],
  })
  const order = await customer.paidOrder()
  // The last write of the statement fails.
  await service.database.query(`
    create function refuse_queue() returns trigger language plpgsql as
    $$ begin raise exception 'no room' using errcode = '53100'; end $$`)
  await service.database.query(
    'create trigger refuse before insert on event_queues for each row execute function refuse_queue()',
  )
  try {
    assertRefused(await order.confirm(), 'SVC001')
    assert.deepEqual([await typesOf(customerId), await customer.credits()], [[], 0])
  } finally {
    await service.database.query('drop trigger refuse on event_queues')
  }
  await settleAll(service)
  assert.deepEqual([await typesOf(customerId), await customer.credits()], [['order.confirmed'], 21])
  const queues = await service.database.query<{ next: number; last: number }>(
    'select next_event as next, last_event as last from event_queues where customer_id = $1',
    [customerId],
  )
  assert.deepEqual(queues, [{ next: 1, last: 1 }])
  await removeEndpoint(service.payments.database, endpointId)
})

test('removing an endpoint while orders are confirmed fails none of them', async () => {
  const { database } = service.payments
  const endpoint = { url: 'http://127.0.0.1:9/', types: [...eventTypes] }
  for (let round = 0; round < 5; round += 1) {
    const { endpointId } = await addEndpoint(database, testPeppers[0], endpoint)
    const customers = await Promise.all(Array.from({ length: 6 }, () => service.newCustomer()))
    const orders = await Promise.all(customers.map((customer) => customer.paidOrder('BASIC')))
    const confirming = orders.map((order) => order.confirm())
    await removeEndpoint(database, endpointId)
    for (const answer of await Promise.all(confirming)) assertSuccess(answer, 200)
  }
})
