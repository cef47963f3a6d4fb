// The timeline of an order in the console: every step in order of time, from the purchase to the deliveries to each endpoint,
// and the actions that are possible now.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Data } from '../../src/console/contract.ts'
import { refunderOf } from '../../src/console/orders/ended.ts'
import { orderTimeline } from '../../src/console/orders/timeline.ts'
import { cancelledAtGateway } from '../../src/gateway/gateway.ts'
import { findOrderStory, type OrderStory } from '../../src/payments/books/order-story.sql.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { insertNotification } from '../../src/payments/recovery/notifications.sql.ts'
import { processNotifications } from '../../src/payments/recovery/notifications.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { orderInState, spend } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { contextOver, losingAnswerOf, makeDue, settleAll } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let consumer: Consumer
let endpointId: string
let support: Operator
let finance: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  consumer = await startConsumer()
  endpointId = await api.register(consumer)
  support = await api.newOperator('support')
  finance = await api.newOperator('finance')
})
afterEach(async () => {
  await service.sandbox.clearFaults()
  consumer.react = () => 200
})
after(() => closeAll(api, consumer, service))

type Story = Data<'order'>
const body = { reason: 'the customer has called' }
const read = (orderId: string, by: Operator = support) => by.get('order', { params: { orderId } })

/** As `LEDGER GRANT`: the kind of a moment, with the one detail that distinguishes it. */
function outline({ story }: Story): string[] {
  const distinguishing = ({ kind, detail }: Story['story'][number]) =>
    kind === 'OPERATION_ENDED' ? `${detail.kind} ${detail.state}` : (detail.kind ?? detail.type ?? detail.eventType)
  return story.map((each) =>
    [each.kind, distinguishing(each) ?? each.detail.command ?? each.detail.gatewayCode ?? []].flat().join(' '),
  )
}

const momentOf = ({ story }: Story, outlined: string) => {
  const found = story.find((each) => outline({ story: [each] } as Story)[0] === outlined)
  return found ?? assert.fail(`${outlined} is not in ${outline({ story } as Story).join(', ')}`)
}

const deliveriesOf = (page: Story, type: string) =>
  momentOf(page, `EVENT ${type}`).detail.deliveries as Record<string, unknown>[]

test('an order that got a 500 after its capture, was recovered and then cancelled, shows each step in order of time', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([
    { on: 'confirm', kind: 'error-after', times: 1 },
    { on: 'lookup', kind: 'error-before', times: 1 },
  ])
  assertRefused(await order.confirm(), 'SVC001')
  const pending = await read(order.orderId, finance)
  assert.equal(pending.open?.kind, 'CONFIRM')
  assert.deepEqual([pending.open?.attempts, pending.order.failure, pending.order.ended], [1, null, null])
  assert.equal(pending.order.paymentKey, order.paymentKey)
  await settleAll(service)
  assertSuccess(await customer.cancel(order.paymentKey, 'bought by mistake'), 200)
  await api.deliver()
  const page = await read(order.orderId)
  const [first, ...others] = outline(page).filter((each) => each.startsWith('ATTEMPT'))
  assert.ok(first)
  assert.deepEqual(
    outline(page).filter((each) => !each.startsWith('ATTEMPT')),
    [
      'PURCHASE',
      'OPERATION_BEGUN CONFIRM',
      'OPERATION_ENDED CONFIRM APPROVED',
      'LEDGER GRANT',
      'EVENT order.confirmed',
      'OPERATION_BEGUN CANCEL',
      'LEDGER HOLD',
      'OPERATION_ENDED CANCEL APPROVED',
      'LEDGER ROLLBACK',
      'EVENT order.cancelled',
    ],
  )
  assert.deepEqual(others, [], 'neighbouring attempts are one moment')
  const { at, detail } = page.story.find(({ kind }) => kind === 'ATTEMPT') ?? assert.fail('no attempt')
  const codes = detail.codes as { gatewayCode: string; count: number }[]
  assert.deepEqual([detail.count, codes.reduce((sum, { count }) => sum + count, 0)], [2, 2])
  assert.ok(at <= `${detail.until}`, 'the call and the first lookup had no result')
  assert.equal(outline(page).indexOf(first), 2)
  assert.deepEqual(momentOf(page, 'OPERATION_BEGUN CANCEL').detail.reason, 'bought by mistake')
  const { delta, heldDelta, balanceAfter } = momentOf(page, 'LEDGER HOLD').detail
  assert.deepEqual([delta, heldDelta, balanceAfter], [0, 21, 21])
  assert.deepEqual([page.order.status, page.open], ['CANCELLED', null])
  const { at: endedAt, ...ended } = page.order.ended ?? assert.fail('the order was not closed')
  assert.equal(endedAt, momentOf(page, 'OPERATION_ENDED CANCEL APPROVED').at)
  const byCustomer = { by: 'customer', operator: null, keyLastFour: customer.apiKey.slice(-4) }
  assert.deepEqual(ended, { ...byCustomer, reason: 'bought by mistake', amount: 20_000, credits: 21 })
  const times = page.story.map(({ at }) => at)
  assert.deepEqual(times, times.toSorted())
})

test('an order names who closed it: an operator, the platform without one, or the gateway', async () => {
  const customer = await service.newCustomer()
  const [byPlatform, atGateway] = [await customer.confirmedOrder(), await customer.confirmedOrder()]
  await refund(service.payments, { orderId: byPlatform.orderId, reason: body.reason })
  await service.sandbox.cancel(atGateway.paymentKey)
  await support.get('settleOrder', { params: { orderId: atGateway.orderId }, body })
  const closers = [byPlatform, atGateway].map(async ({ orderId }) => (await read(orderId)).order.ended)
  assert.deepEqual(
    (await Promise.all(closers)).map((ended) => [ended?.by, ended?.operator]),
    [
      ['platform', null],
      ['gateway', null],
    ],
  )
})

test('an order whose payment was refused shows the key of that payment', async () => {
  const refused = await (await service.newCustomer()).paidOrder('STANDARD', 'decline')
  assertRefused(await refused.confirm(), 'VAL003')
  assert.equal((await read(refused.orderId, finance)).order.paymentKey, refused.paymentKey)
})

test('neighbouring attempts are one moment for each operation, with the number of each code and the time of the last', () => {
  const attemptOf = (operationId: string, gatewayCode: string, second: number) => ({
    operationId,
    gatewayCode,
    happenedAt: `2026-11-15T21:45:0${second}.000Z`,
  })
  const attempts = [attemptOf('a', 'X', 1), attemptOf('a', 'Y', 2), attemptOf('a', 'X', 3), attemptOf('b', 'X', 4)]
  const createdAt = new Date('2026-11-15T21:45:00Z')
  const nothing = { operations: [], entries: [], discrepancies: [], notifications: [], actions: [] }
  const [, ...moments] = orderTimeline({ ...nothing, createdAt, attempts } as unknown as OrderStory, [])
  const codes = [
    { gatewayCode: 'X', count: 2 },
    { gatewayCode: 'Y', count: 1 },
  ]
  assert.deepEqual(moments, [
    {
      at: attempts[0]?.happenedAt,
      kind: 'ATTEMPT',
      detail: { operationId: 'a', count: 3, until: attempts[2]?.happenedAt, codes },
    },
    { at: attempts[3]?.happenedAt, kind: 'ATTEMPT', detail: { operationId: 'b', gatewayCode: 'X' } },
  ])
})

test('what happened at one moment is shown with causes before effects', () => {
  const at = '2026-11-15T21:45:00.000Z'
  const operation = {
    operationId: 'a',
    kind: 'CONFIRM',
    state: 'APPROVED',
    gatewayCode: null,
    openedAt: at,
    closedAt: at,
  }
  const story = {
    createdAt: new Date(at),
    operations: [operation],
    attempts: [{ operationId: 'a', gatewayCode: 'X', happenedAt: at }],
    entries: [{ createdAt: at }],
    discrepancies: [{ foundAt: at, resolvedAt: at }],
    notifications: [{ receivedAt: at }],
    actions: [{ at }],
  } as unknown as OrderStory
  const events = [{ createdAt: new Date(at) }] as Parameters<typeof orderTimeline>[1]
  assert.deepEqual(
    orderTimeline(story, events).map(({ kind }) => kind),
    [
      'PURCHASE',
      'WEBHOOK',
      'OPERATOR',
      'OPERATION_BEGUN',
      'ATTEMPT',
      'OPERATION_ENDED',
      'LEDGER',
      'EVENT',
      'DISCREPANCY_FOUND',
      'DISCREPANCY_RESOLVED',
    ],
  )
})

test('of an operation in progress its own attempts are counted, and none of the one before', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('STANDARD')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  await settleAll(service)
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(order.paymentKey), 'SVC001')
  const { open } = await read(order.orderId)
  assert.deepEqual([open?.kind, open?.attempts], ['CANCEL', 1])
  await settleAll(service)
})

test('a reason with bidirectional controls is accepted, stored and returned as it was sent, and shown with the controls escaped', async () => {
  const reason = 'refund \u202etseuqer\u202c \u2066ok\u2069\u200f'
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  assertSuccess(await customer.cancel(order.paymentKey, reason), 200)
  const again = await customer.cancel(order.paymentKey, reason)
  assert.deepEqual(again.body.metadata, { paymentKey: order.paymentKey, reason })
  const [kept] = await service.database.query<{ reason: string }>(
    `select reason from payment_operations where order_id = $1 and kind = 'CANCEL'`,
    [order.orderId],
  )
  assert.equal(kept?.reason, reason)
  const answer = await support.request('order', { params: { orderId: order.orderId } })
  assert.doesNotMatch(answer.text, /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/)
  const shown = momentOf(answer.body.data, 'OPERATION_BEGUN CANCEL').detail.reason
  assert.equal(shown, String.raw`refund \u202etseuqer\u202c \u2066ok\u2069\u200f`)
})

test('an attempt is stored once although its statement is repeated, and at most 200 are stored per operation', async () => {
  const customer = await service.newCustomer()
  const { orderId, confirm } = await customer.paidOrder()
  const text = `select from payment_attempts join payment_operations using (customer_id, operation_id) where order_id = '${orderId}'`
  const kept = async () => (await service.database.query(text)).length
  await service.sandbox.setFaults([
    { on: 'confirm', kind: 'error-before', times: 1 },
    { on: 'lookup', kind: 'error-before', times: 2 },
  ])
  assertRefused(await confirm(), 'SVC001')
  assert.equal(await kept(), 1)
  const connections = losingAnswerOf(service.database.pool, 'payments.releaseLease')
  await makeDue(service)
  await recover(contextOver(service.payments, connections))
  assert.ok(connections.lost())
  assert.equal(await kept(), 2)
  await service.database.queryOf(
    customer.customerId,
    `insert into payment_attempts (customer_id, operation_id, holder_id, gateway_code)
     select customer_id, operation_id, gen_random_uuid(), 'ONE_OF_MANY'
     from payment_operations cross join generate_series(1, 198) where order_id = $1`,
    [orderId],
  )
  await makeDue(service)
  assert.equal((await support.get('settleOrder', { params: { orderId }, body })).result, 'unknown')
  assert.equal(await kept(), 200)
  const { open } = await read(orderId)
  assert.deepEqual([open?.attempts, open?.attemptsAtMost], [200, 200])
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('paid and no credits: support finds the cause and settles, and the timeline shows the operator and the reason', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  assert.equal(await customer.credits(), 0)
  const settled = await support.get('settleOrder', { params: { orderId: order.orderId }, body })
  assert.deepEqual(settled, { result: 'repaired', status: 'CONFIRMED' })
  assert.equal(await customer.credits(), 21)
  const page = await read(order.orderId)
  const { actor, reason, outcome } = momentOf(page, 'OPERATOR orders settle').detail
  assert.match(`${actor}`, new RegExp(`^${support.name} in the console`))
  assert.deepEqual([reason, outcome], [body.reason, 'ok'])
  assert.ok(outline(page).indexOf('OPERATOR orders settle') < outline(page).indexOf('LEDGER GRANT'))
})

test('a refund is quoted, done once by finance, and shown with its shortfall; support may not refund', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  assert.ok(await spend(service, customer.customerId, 5))
  const params = { orderId }
  assertRefused(await support.request('refundQuote', { params }), 'AUTH003')
  assertRefused(await support.request('refundOrder', { params, body }), 'AUTH003')
  const quote = await finance.get('refundQuote', { params })
  assert.deepEqual(
    [quote.paid, quote.backToTheCard, quote.gatewayCode, quote.creditsTakenBack, quote.shortfall],
    [20_000, 20_000, null, 16, 5],
  )
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 1 }])
  const blind = await finance.get('refundQuote', { params })
  assert.equal(blind.backToTheCard, null)
  assert.match(blind.gatewayCode ?? '', /^[A-Z][A-Z0-9_]+$/)
  const refunded = { orderId, status: 'REFUNDED', refundedAmount: 20_000, creditsTakenBack: 16, shortfall: 5 }
  assert.deepEqual(await finance.get('refundOrder', { params, body }), refunded)
  assert.deepEqual(await finance.get('refundOrder', { params, body }), refunded)
  const page = await read(orderId, finance)
  assert.equal(page.order.refundShortfall, 5)
  const { at: _, operator, ...ended } = page.order.ended ?? assert.fail('the order was not closed')
  assert.ok(operator?.startsWith(`${finance.name} in the console`))
  assert.deepEqual(ended, { by: 'operator', keyLastFour: null, reason: body.reason, amount: 20_000, credits: 16 })
  assert.ok(outline(page).includes('EVENT order.refunded'))
  const again = await finance.request('refundQuote', { params })
  assertRefused(again, 'PAYMENT_CANCEL_FAILED')
  assert.equal(again.body.message, 'The order is REFUNDED, not CONFIRMED.')
  assert.deepEqual(again.body.metadata, { reason: 'not confirmed' })
  assert.equal(outline(page).filter((each) => each === 'LEDGER REFUND').length, 1)
})

test('an expired order and a refused one show it in their timeline, and each has its event', async () => {
  const customer = await service.newCustomer()
  const refused = await orderInState(service, customer, 'FAILED')
  assert.deepEqual(outline(await read(refused.orderId)), [
    'PURCHASE',
    'OPERATION_BEGUN CONFIRM',
    'OPERATION_ENDED CONFIRM REJECTED',
    'EVENT order.failed',
  ])
  assert.deepEqual((await read(refused.orderId)).order.failure, {
    reason: 'card-declined',
    gatewayCode: 'REJECT_CARD_COMPANY',
  })
  const { orderId: expired } = (await customer.purchase()).body.data
  await expireOrders(service.payments.database, 0)
  assert.deepEqual(outline(await read(expired)), ['PURCHASE', 'OPERATION_ENDED CONFIRM EXPIRED', 'EVENT order.failed'])
  assert.deepEqual((await read(expired)).order.failure, { reason: 'order-expired', gatewayCode: null })
  assert.equal(
    typeof momentOf(await read(refused.orderId), 'OPERATION_ENDED CONFIRM REJECTED').detail.gatewayCode,
    'string',
  )
})

test('the operator of a refund is the one whose action was running when it began, not a service, and not one that was killed or had ended before', () => {
  const second = (count: number) => `2026-11-15T21:45:0${count}.000Z`
  const action = { actor: 'kim', command: 'orders refund', at: second(2), endedAt: second(4) }
  const killed = { ...action, actor: 'lee', at: second(1), endedAt: null }
  const service = { ...action, actor: 'service svc_0123456789abcdefghij' }
  const later = { ...action, actor: 'park', at: second(5), endedAt: second(6) }
  const refund = { kind: 'REFUND', gatewayCode: null, openedAt: second(3) } as const
  assert.equal(refunderOf(refund, [killed, action, later]), 'kim')
  assert.equal(refunderOf(refund, [killed, service]), null)
  assert.equal(refunderOf(refund, [{ ...action, at: second(1), endedAt: second(2) }]), null)
  const adopted = { ...refund, gatewayCode: cancelledAtGateway }
  assert.equal(refunderOf(adopted, [killed, action]), null)
  assert.equal(refunderOf(adopted, [killed, { ...action, command: 'discrepancies accept' }]), 'kim')
})

test('a notified status is that of the payment in progress, until it was processed and agrees with our books', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, confirm } = await customer.paidOrder()
  const notifiedAfter = async (key: string, status: string) => {
    const notification = { transmissionId: crypto.randomUUID(), eventType: 'PAYMENT_STATUS_CHANGED', orderId }
    await insertNotification(service.payments.database, { ...notification, paymentKey: key, status })
    return (await read(orderId)).order.notified
  }
  assert.equal(await notifiedAfter(paymentKey, 'DONE'), 'DONE')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await confirm(), 'SVC001')
  assert.equal(await notifiedAfter('pay_another', 'EXPIRED'), 'DONE')
  for (let count = 0; count < 100; count += 1) await notifiedAfter(paymentKey, 'IN_PROGRESS')
  assert.equal(await notifiedAfter(paymentKey, 'DONE'), 'DONE')
  for (const [outcome, notified] of [
    ['disagrees', 'DONE'],
    ['agrees', null],
  ]) {
    await service.database.query(
      `update webhook_notifications set processed_at = now(), outcome = $2 where order_id = $1`,
      [orderId, outcome],
    )
    assert.equal((await read(orderId)).order.notified, notified)
  }
  await settleAll(service)
})

test('webhooks and discrepancies are shown with their result', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey, 5_000)
  const reported = {
    transmissionId: crypto.randomUUID(),
    eventType: 'PAYMENT_STATUS_CHANGED',
    status: 'PARTIAL_CANCELED',
  }
  await insertNotification(service.payments.database, { ...reported, orderId, paymentKey })
  await makeDue(service)
  await processNotifications(service.payments)
  const doubted = await read(orderId)
  const { status, outcome } = momentOf(doubted, 'WEBHOOK PAYMENT_STATUS_CHANGED').detail
  assert.deepEqual([status, outcome], ['PARTIAL_CANCELED', 'disagrees'])
  const kinds = doubted.openDiscrepancies.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['PARTLY_CANCELLED_AT_GATEWAY'])
  assert.equal((await support.get('settleOrder', { params: { orderId }, body })).result, 'disagrees')
  assert.equal(momentOf(await read(orderId), 'OPERATOR orders settle').detail.outcome, 'failed')
  await service.sandbox.cancel(paymentKey)
  assert.equal((await support.get('settleOrder', { params: { orderId }, body })).result, 'repaired')
  const page = await read(orderId)
  assert.deepEqual(page.openDiscrepancies, [])
  assert.ok(outline(page).indexOf('DISCREPANCY_FOUND PARTLY_CANCELLED_AT_GATEWAY') > 0)
  assert.equal(
    momentOf(page, 'DISCREPANCY_RESOLVED PARTLY_CANCELLED_AT_GATEWAY').detail.resolution,
    'the gateway and our books agree',
  )
})

test('an order shows the actions and discrepancies of its own, and none of another order of its customer', async () => {
  const customer = await service.newCustomer()
  const [{ orderId }, other] = [await customer.confirmedOrder(), await customer.confirmedOrder()]
  for (const each of [orderId, other.orderId]) {
    const [{ id } = { id: '' }] = await service.database.query<{ id: string }>(
      `insert into discrepancies (subject, kind, detail, customer_id, order_id) values ($2, 'CAPTURED', '{}', $1, $2)
       returning discrepancy_id as id`,
      [customer.customerId, each],
    )
    await finance.get('resolveDiscrepancy', { params: { discrepancyId: id }, body: { reason: `of ${each}` } })
    await finance.get('addOrderNote', { params: { orderId: each }, body: { reason: `of ${each}` } })
  }
  const page = await read(orderId, finance)
  const found = outline(page).filter((each) => each.startsWith('DISCREPANCY_FOUND'))
  const acts = page.story.filter(({ kind }) => kind === 'OPERATOR').map(({ detail }) => [detail.command, detail.reason])
  assert.deepEqual(found, ['DISCREPANCY_FOUND CAPTURED'])
  assert.deepEqual(acts, [
    ['discrepancies resolve', `of ${orderId}`],
    ['orders note', `of ${orderId}`],
  ])
})

test('an action that was taken for lost and then ended has its own end', async () => {
  const { orderId } = await (await service.newCustomer()).confirmedOrder('BASIC')
  const actionId = crypto.randomUUID()
  await service.database.query(
    `insert into operator_actions (action_id, step, actor, command, arguments, subject)
     values ($1, 'BEGUN', 'kim', 'orders settle', '{}', $2)`,
    [actionId, orderId],
  )
  for (const [step, outcome] of [
    ['LOST', 'unknown'],
    ['ENDED', 'ok'],
  ]) {
    await service.database.query(
      `insert into operator_actions (action_id, step, outcome, about) values ($1, $2, $3, '{}')`,
      [actionId, step, outcome],
    )
    const { detail } = momentOf(await read(orderId), 'OPERATOR orders settle')
    assert.deepEqual([detail.outcome, detail.endedAt !== null], [outcome, step === 'ENDED'])
  }
})

test('each event shows its state at each endpoint; resent events are delivered in order and are no longer dead', async () => {
  const customer = await service.newCustomer()
  const order = await orderInState(service, customer, 'CANCELLED')
  consumer.react = ({ customerId }) => (customerId === customer.customerId ? 500 : 200)
  await api.deliver()
  const waiting = deliveriesOf(await read(order.orderId), 'order.confirmed')
  assert.equal(waiting.length, 1)
  const { host, state, error, attempts, endpointStatus, nextTryAt } = waiting[0] ?? {}
  assert.deepEqual(
    [host, state, error, attempts, endpointStatus],
    [new URL(consumer.url).host, 'WAITING', 'HTTP 500', 1, 'ACTIVE'],
  )
  assert.ok(Date.parse(`${nextTryAt}`) > Date.now())
  await service.database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     values ($1, $2, 1, 80, 'HTTP 500')`,
    [customer.customerId, endpointId],
  )
  await service.database.queryUnguarded('update event_queues set next_event = 2 where customer_id = $1', [
    customer.customerId,
  ])
  const dead = await read(order.orderId)
  assert.deepEqual(
    ['order.confirmed', 'order.cancelled'].map((type) => deliveriesOf(dead, type)[0]?.state),
    ['DEAD', 'WAITING'],
  )
  const params = { orderId: order.orderId }
  const failures = [
    { endpointId, type: 'order.confirmed', error: 'HTTP 500' },
    { endpointId, type: 'order.cancelled', error: 'not sent: the one before it was not taken' },
  ]
  assert.deepEqual(await support.get('resendEvents', { params, body }), { delivered: 0, failed: failures })
  assert.equal(momentOf(await read(order.orderId), 'OPERATOR orders resend-events').detail.outcome, 'failed')
  consumer.react = () => 200
  assert.deepEqual(await support.get('resendEvents', { params, body }), { delivered: 2, failed: [] })
  const came = consumer.received.filter(({ customerId }) => customerId === customer.customerId).slice(-2)
  assert.deepEqual(
    came.map(({ payload }) => [payload.type, payload.data.orderId]),
    [
      ['order.confirmed', order.orderId],
      ['order.cancelled', order.orderId],
    ],
  )
  const [queue] = await service.database.query<{ next: number }>(
    'select next_event as next from event_queues where customer_id = $1',
    [customer.customerId],
  )
  assert.equal(queue?.next, 2, 'the queue does not depend on a resend')
  const page = await read(order.orderId)
  assert.deepEqual(
    ['order.confirmed', 'order.cancelled'].map((type) => deliveriesOf(page, type)[0]?.state),
    ['DELIVERED', 'WAITING'],
  )
})

test('an event is not sent to an endpoint that was added after it, and is not shown at one that does not want its type', async (t) => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const late = await startConsumer()
  t.after(() => late.close())
  const [lateId, otherId] = [await api.register(late), await api.register(late)]
  await service.database.query(`update event_endpoints set types = '{order.refunded}' where endpoint_id = $1`, [
    otherId,
  ])
  const deliveries = deliveriesOf(await read(orderId), 'order.confirmed')
  assert.equal(deliveries.find((each) => each.endpointId === lateId)?.state, 'NOT_SENT')
  assert.equal(
    deliveries.some((each) => each.endpointId === otherId),
    false,
  )
  await service.database.query(
    `update event_endpoints set status = 'REMOVED', secrets = '[]' where endpoint_id = any ($1)`,
    [[lateId, otherId]],
  )
})

test('an event is found among thousands of one customer, and the events of other orders are not shown', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const before = await customer.confirmedOrder('BASIC')
  const order = await customer.confirmedOrder()
  await customer.confirmedOrder('BASIC')
  // As if thousands of events had come before and after, one second apart.
  await service.database.queryOf(
    customerId,
    `with shifted as (
       update events set event_number = event_number + 5000 where customer_id = $1 returning event_number, created_at
     ),
     edge as (select min(created_at) as first, max(created_at) as last from shifted)
     insert into events (customer_id, event_number, type, data, created_at)
     select $1, case when i <= 5000 then i else i + 3 end, 'credits.low', json_build_object('customerId', $1::text, 'credits', 1, 'threshold', 2),
            case when i <= 5000 then first - (5001 - i) * interval '1 s' else last + (i - 5000) * interval '1 s' end
     from edge cross join generate_series(1, 7000) i`,
    [customerId],
  )
  await service.database.query('update accounts set last_event = 7003 where customer_id = $1', [customerId])
  const { eventNumber } = momentOf(await read(order.orderId), 'EVENT order.confirmed').detail
  assert.equal(eventNumber, 5_002)
  assert.equal(momentOf(await read(before.orderId), 'EVENT order.confirmed').detail.eventNumber, 5_001)
})

test('what accepted parts have returned is in the refunded amount of an order, and their credits are no shortfall of its refund', async () => {
  const { database } = service.payments
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  const story = async () => {
    const { status, refundedAmount, refundShortfall } =
      (await findOrderStory(database, orderId)) ?? assert.fail(orderId)
    return [status, refundedAmount, refundShortfall]
  }
  assert.deepEqual(await story(), ['CONFIRMED', null, null])
  await service.sandbox.cancel(paymentKey, 5_000)
  await acceptPartOf(service.payments, { customerId, orderId })
  assert.deepEqual(await story(), ['CONFIRMED', 5_000, null])
  assert.ok(await spend(service, customerId, 10))
  await service.sandbox.cancel(paymentKey)
  assert.equal(await review(service.payments, { customerId, orderId }), 'repaired')
  assert.deepEqual(await story(), ['REFUNDED', 20_000, 10])
})

test('an operation shows when it is tried again only while it is open, and the story has no entry of another order', async () => {
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  const other = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(paymentKey), 'SVC001')
  const shown = async () => (await findOrderStory(service.payments.database, orderId)) ?? assert.fail(orderId)
  const begun = await shown()
  assert.deepEqual(
    begun.operations.map(({ kind, nextAttemptAt }) => [kind, nextAttemptAt !== null]),
    [
      ['CONFIRM', false],
      ['CANCEL', true],
    ],
  )
  assert.deepEqual(
    begun.attempts.map(({ operationId }) => operationId),
    [begun.operations[1]?.operationId],
  )
  const leaseEnd = "lease_until = settle_at + interval '1 minute'"
  const [{ at } = assert.fail('nothing is open')] = await service.database.query<{ at: Date }>(
    `update payment_operations set ${leaseEnd} where customer_id = $1 and state = 'OPEN' returning lease_until as at`,
    [customerId],
  )
  const leased = (await shown()).operations[1]
  assert.equal(leased?.nextAttemptAt, at.toISOString(), 'the next try is after the lease')
  await service.database.query(
    `update payment_operations set lease_until = now() where customer_id = $1 and state = 'OPEN'`,
    [customerId],
  )
  await settleAll(service)
  const { operations, entries, refundedAmount } = await shown()
  assert.deepEqual([operations.map(({ nextAttemptAt }) => nextAttemptAt), refundedAmount], [[null, null], null])
  assert.deepEqual(
    entries.map(({ kind, delta }) => [kind, delta]),
    [
      ['GRANT', 21],
      ['HOLD', 0],
      ['ROLLBACK', -21],
    ],
  )
  const { entries: ofOther } =
    (await findOrderStory(service.payments.database, other.orderId)) ?? assert.fail('no order')
  assert.deepEqual(
    ofOther.map(({ kind }) => kind),
    ['GRANT'],
  )
})
