// 2.7 of the failure catalogue from end to end: the sandbox sends, the listener stores, the worker queries the gateway.
// Notifications that arrive twice, late, early, in the wrong order or never lead to the same end.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import {
  claimNotifications,
  closeNotifications,
  type DueNotification,
  insertNotification,
} from '../../src/payments/recovery/notifications.sql.ts'
import { processNotifications } from '../../src/payments/recovery/notifications.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { closeAll } from '../support/closing.ts'
import {
  arrived,
  notificationsOf,
  outcomesOf,
  startTestWebhooks,
  type TestWebhooks,
} from '../support/gateway/webhooks.ts'
import { movements, spend, totalCalls } from '../support/service/orders.ts'
import { discrepanciesOf, makeDue, openKinds, operationStates, settleAll } from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
let webhooks: TestWebhooks
let wake: () => void = () => undefined
before(async () => {
  service = await startTestService()
  webhooks = await startTestWebhooks(service, { onStored: () => wake() })
  await service.sandbox.setWebhookUrl(webhooks.url)
})
after(() => closeAll(webhooks, service))
afterEach(async () => {
  wake = () => undefined
  await service.sandbox.clearFaults()
  await settleAll(service)
})

const partly = 'PARTLY_CANCELLED_AT_GATEWAY'

async function shortfallOf(orderId: string): Promise<unknown> {
  const [row] = await service.database.query<{ s: unknown }>(
    'select refund_shortfall as s from orders where order_id = $1',
    [orderId],
  )
  return row?.s
}

/** A CONFIRMED order whose DONE has arrived with the outcome "nothing new". */
async function confirmedOrder(customer: TestCustomer) {
  const order = await customer.confirmedOrder()
  await arrived(service, order.orderId, 1)
  assert.deepEqual(await outcomesOf(service, order.orderId), ['nothing new'])
  return order
}

test('a notification that our books already reflect costs no call to the gateway', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  const refused = await customer.paidOrder('STANDARD', 'decline')
  const steps: [orderId: string, arrivals: number, request: () => Promise<unknown>][] = [
    [order.orderId, 1, async () => undefined],
    [order.orderId, 2, () => customer.cancel(order.paymentKey)],
    [refused.orderId, 1, () => refused.confirm()],
  ]
  for (const [orderId, arrivals, request] of steps) {
    await request()
    await arrived(service, orderId, arrivals)
    const calls = totalCalls(service)
    assert.equal((await outcomesOf(service, orderId)).at(-1), 'nothing new')
    assert.equal(totalCalls(service), calls)
  }
  assert.deepEqual(
    [await customer.status(order.orderId), await customer.status(refused.orderId)],
    ['CANCELLED', 'FAILED'],
  )
})

test('a claimed notification is not claimed again before its next due time, by any process', async () => {
  const { database } = service.payments
  const [orderId, pauseMs] = [`ord_${crypto.randomUUID()}`, 60_000]
  const notified = {
    transmissionId: orderId,
    eventType: 'PAYMENT_STATUS_CHANGED',
    orderId,
    paymentKey: null,
    status: 'DONE',
  }
  await insertNotification(database, notified)
  const claim = async () => {
    const due = await claimNotifications(database, { limit: 100, firstPauseMs: pauseMs, longestPauseMs: pauseMs })
    return due.filter((each) => each.orderId === orderId).map(({ attempts }) => attempts)
  }
  assert.deepEqual([await claim(), await claim()], [[1], []])
  await makeDue(service)
  assert.deepEqual([await claim(), await claim()], [[2], []])
  await service.database.query('delete from webhook_notifications where order_id = $1', [orderId])
})

test('an outcome closes only equal notifications that arrived before the gateway call, and none that is already closed', async () => {
  const { database } = service.payments
  const orderId = `ord_${crypto.randomUUID()}`
  const arrive = (transmissionId: string, more: { paymentKey?: string | null; status?: string } = {}) =>
    insertNotification(database, {
      transmissionId: `${orderId}_${transmissionId}`,
      eventType: 'PAYMENT_STATUS_CHANGED',
      orderId,
      paymentKey: 'pay_1',
      status: 'PARTIAL_CANCELED',
      ...more,
    })
  async function claim(): Promise<DueNotification> {
    const due = await claimNotifications(database, { limit: 100, firstPauseMs: 1, longestPauseMs: 1 })
    const found = due.find((each) => each.orderId === orderId && each.paymentKey === 'pay_1')
    return found ?? assert.fail('it was not claimed')
  }
  await arrive('first')
  await closeNotifications(database, await claim(), 'disagrees')
  await arrive('second')
  await arrive('of another payment', { paymentKey: 'pay_2' })
  await arrive('of no payment', { paymentKey: null })
  const due = await claim()
  await arrive('of another status', { status: 'CANCELED' })
  await arrive('during the gateway call')
  await closeNotifications(database, due, 'repaired')
  assert.deepEqual(
    (await notificationsOf(service, orderId)).map(({ transmissionId, outcome }) => [
      transmissionId.slice(orderId.length + 1),
      outcome,
    ]),
    [
      ['first', 'disagrees'],
      ['second', 'repaired'],
      ['of another payment', null],
      ['of no payment', null],
      ['of another status', null],
      ['during the gateway call', null],
    ],
  )
  await service.database.query('delete from webhook_notifications where order_id = $1', [orderId])
})

for (const { what, spent, entries } of [
  { what: 'nothing was spent', spent: 0, entries: ['GRANT 21', 'REFUND -21'] },
  { what: 'part was spent', spent: 15, entries: ['GRANT 21', 'SPEND -15', 'REFUND -6'] },
  { what: 'all was spent', spent: 21, entries: ['GRANT 21', 'SPEND -21'] },
]) {
  test(`F8: cancelled in the gateway’s dashboard, ${what}: REFUNDED, the remaining credits removed, ${spent} short`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await confirmedOrder(customer)
    if (spent > 0) await spend(service, customer.customerId, spent)
    const sent = service.calls.cancel
    await service.sandbox.cancel(paymentKey)
    await arrived(service, orderId, 2)
    assert.deepEqual((await outcomesOf(service, orderId)).at(-1), 'repaired')
    assert.equal(await customer.status(orderId), 'REFUNDED')
    assert.deepEqual(await movements(service, customer.customerId), entries)
    assert.equal(await shortfallOf(orderId), spent)
    assert.equal(await customer.credits(), 0)
    assert.equal(service.calls.cancel, sent)
    assert.deepEqual(await discrepanciesOf(service, orderId), [])
    assertRefused(await customer.cancel(paymentKey), 'PAYMENT_CANCEL_FAILED')
  })
}

test('X10: cancelled in part: a discrepancy, still CONFIRMED; the rest later: REFUNDED, and the discrepancy is resolved', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder(customer)
  for (const [cancelAmount, count] of [
    [5_000, 2],
    [5_000, 3],
  ] as const) {
    await service.sandbox.cancel(paymentKey, cancelAmount)
    await arrived(service, orderId, count)
    assert.deepEqual((await outcomesOf(service, orderId)).at(-1), 'disagrees')
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 21)
    assert.deepEqual(await openKinds(service, orderId), [partly])
  }
  await service.sandbox.cancel(paymentKey, 10_000)
  await arrived(service, orderId, 4)
  assert.deepEqual((await outcomesOf(service, orderId)).at(-1), 'repaired')
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
  const [found, ...others] = await discrepanciesOf(service, orderId)
  assert.deepEqual([found?.kind, found?.resolution, others], [partly, 'the gateway and our books agree', []])
})

test('C24: DONE that arrives before the answer to the confirm ends with one grant', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'delay-after', times: 1, delayMs: 700 }])
  const running = order.confirm()
  await arrived(service, order.orderId, 1)
  await processNotifications(service.payments)
  const [early] = await notificationsOf(service, order.orderId)
  assert.deepEqual([early?.outcome, early?.attempts, await customer.status(order.orderId)], [null, 1, 'PENDING'])
  assertSuccess(await running, 200)
  assert.deepEqual(await outcomesOf(service, order.orderId), ['nothing new'])
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM APPROVED'])
})

test('C24: DONE settles a confirm whose answer was lost, before the worker retries it', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  await arrived(service, order.orderId, 1)
  assert.deepEqual(await outcomesOf(service, order.orderId), ['repaired'])
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
  assert.equal(service.calls.confirm > 0, true)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('W1: a webhook that is sent twice is one row with one outcome', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder(customer)
  await service.sandbox.setFaults([{ on: 'webhook', kind: 'duplicate', times: 1 }])
  await service.sandbox.cancel(paymentKey)
  await arrived(service, orderId, 2)
  await until('both copies were delivered', async () => (await copiesOf(paymentKey)) === 2)
  assert.deepEqual(await outcomesOf(service, orderId), ['nothing new', 'repaired'])
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
})

/** How often the last webhook of a payment was sent. */
async function copiesOf(paymentKey: string): Promise<number> {
  const response = await fetch(`${service.sandboxUrl}/sandbox/webhooks`)
  const { webhooks: all } = (await response.json()) as { webhooks: { paymentKey: string; attempts: unknown[] }[] }
  return all.findLast((each) => each.paymentKey === paymentKey)?.attempts.length ?? 0
}

for (const kind of ['reorder', 'delay'] as const) {
  test(`W3: ${kind}: DONE that arrives after CANCELED changes nothing any more`, async () => {
    const customer = await service.newCustomer()
    await service.sandbox.setFaults([{ on: 'webhook', kind, times: 1, ...(kind === 'delay' && { delayMs: 400 }) }])
    const { orderId, paymentKey } = await customer.confirmedOrder()
    await service.sandbox.cancel(paymentKey)
    await arrived(service, orderId, 2)
    const statuses = (await notificationsOf(service, orderId)).map(({ status }) => status)
    assert.deepEqual(statuses, ['CANCELED', 'DONE'])
    await outcomesOf(service, orderId)
    assert.equal(await customer.status(orderId), 'REFUNDED')
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
    assert.deepEqual(await discrepanciesOf(service, orderId), [])
  })
}

test('W2: the same status under new transmission ids is looked up once and has no second effect', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder(customer)
  await service.sandbox.setFaults([{ on: 'webhook', kind: 'drop', times: 1 }])
  await service.sandbox.cancel(paymentKey)
  const body = { eventType: 'PAYMENT_STATUS_CHANGED', data: { orderId, paymentKey, status: 'CANCELED' } }
  for (let copy = 0; copy < 30; copy += 1) assert.equal((await webhooks.post(body)).status, 200)
  const lookups = service.calls.fetchPayment
  await makeDue(service)
  assert.deepEqual(await processNotifications(service.payments), { taken: 30, more: false })
  // One lookup finds the cancellation, one sees it repaired.
  assert.equal(service.calls.fetchPayment, lookups + 2)
  const outcomes = await outcomesOf(service, orderId)
  assert.deepEqual([outcomes.length, new Set(outcomes.slice(1))], [31, new Set(['repaired'])])
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
})

test('W8: while the lookup fails the notification waits, longer each time; then it takes effect', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder(customer)
  await service.sandbox.cancel(paymentKey)
  await arrived(service, orderId, 2)
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 3 }])
  for (const attempts of [1, 2, 3]) {
    await makeDue(service)
    assert.deepEqual(await processNotifications(service.payments), { taken: 1, more: false })
    const waiting = (await notificationsOf(service, orderId)).at(-1)
    assert.deepEqual([waiting?.attempts, waiting?.outcome], [attempts, null])
    assert.ok((waiting?.processInMs ?? 0) <= 200)
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  }
  assert.deepEqual((await outcomesOf(service, orderId)).at(-1), 'repaired')
  assert.equal(await customer.status(orderId), 'REFUNDED')
})

test('W8: after twenty failed lookups it is left to reconciliation', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder(customer)
  await service.sandbox.cancel(paymentKey)
  await arrived(service, orderId, 2)
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 100 }])
  await service.database.query('update webhook_notifications set attempts = 18 where order_id = $1', [orderId])
  for (const outcome of [null, 'left to reconciliation']) {
    await makeDue(service)
    await processNotifications(service.payments)
    assert.deepEqual((await notificationsOf(service, orderId)).at(-1)?.outcome, outcome)
  }
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('W6: a notification wakes the worker, which processes it without further calls', async () => {
  const notifications = { name: 'notifications', everyMs: 60_000, run: () => processNotifications(service.payments) }
  const recovery = { name: 'recover', everyMs: 60_000, run: () => recover(service.payments) }
  const worker = startWorker([recovery, notifications], silentLog)
  wake = () => worker.wake('notifications')
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey)
  await until('the order is refunded', async () => (await customer.status(orderId)) === 'REFUNDED')
  await worker.stop()
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'REFUND -21'])
})

test('a notification that agrees with the order is looked up all the same: about another payment, or with a doubt or an operation open', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const notify = async (orderId: string, paymentKey: string | null, status: string) => {
    const transmissionId = crypto.randomUUID()
    const { database } = service.payments
    await insertNotification(database, {
      transmissionId,
      eventType: 'PAYMENT_STATUS_CHANGED',
      orderId,
      paymentKey,
      status,
    })
    await processNotifications(service.payments)
    const stored = await notificationsOf(service, orderId)
    return stored.find((each) => each.transmissionId === transmissionId)?.outcome
  }
  const order = await confirmedOrder(customer)
  const { orderId, paymentKey } = order
  assert.equal(await notify(orderId, paymentKey, 'DONE'), 'nothing new')
  assert.equal(await notify(orderId, 'pay_another', 'DONE'), 'agrees')
  assert.equal(await notify(orderId, paymentKey, 'SOMETHING_NEW'), 'agrees')
  await saveDiscrepancy(service.payments.database, {
    kind: 'PAYMENT_DIFFERS',
    subject: orderId,
    order: { customerId, orderId },
    detail: { paymentKey },
  })
  assert.equal(await notify(orderId, paymentKey, 'DONE'), 'agrees')
  assert.deepEqual(await openKinds(service, orderId), [])
  await service.sandbox.cancel(paymentKey)
  await arrived(service, orderId, 6)
  await outcomesOf(service, orderId)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.equal(await notify(orderId, paymentKey, 'CANCELED'), 'nothing new')
  const pending = await customer.paidOrder()
  assert.equal(await notify(pending.orderId, pending.paymentKey, 'EXPIRED'), 'nothing new')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-before', times: 1 }])
  assertRefused(await pending.confirm(), 'SVC001')
  assert.equal(await notify(pending.orderId, pending.paymentKey, 'ABORTED'), 'repaired')
  assert.equal(await customer.status(pending.orderId), 'CONFIRMED')
})

test('the pause of a notification doubles with each try up to the longest, and is shortened by half of it at most', async () => {
  const { database } = service.payments
  const orderId = `ord_${crypto.randomUUID()}`
  await insertNotification(database, {
    transmissionId: orderId,
    eventType: 'X',
    orderId,
    paymentKey: null,
    status: null,
  })
  for (const [attempts, longest] of [
    [0, 60],
    [1, 120],
    [2, 200],
    [100, 200],
  ] as const) {
    const [{ before } = assert.fail('no row')] = await service.database.query<{ before: string }>(
      `update webhook_notifications set process_at = now(), attempts = $2 where transmission_id = $1
       returning process_at::text as before`,
      [orderId, attempts],
    )
    await claimNotifications(database, { limit: 100, firstPauseMs: 60_000, longestPauseMs: 200_000 })
    const [row] = await service.database.query<{ longest: boolean; shortest: boolean }>(
      `select process_at <= now() + $2 * interval '1 s' as longest,
         process_at >= $3::timestamptz + $2 * interval '500 ms' as shortest
       from webhook_notifications where transmission_id = $1`,
      [orderId, longest, before],
    )
    assert.deepEqual(row, { longest: true, shortest: true }, `${attempts}`)
  }
  await service.database.query('delete from webhook_notifications where transmission_id = $1', [orderId])
})
