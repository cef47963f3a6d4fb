// 2.7 of the failure catalogue at the webhook listener: a notification is stored once, before it is answered with 200. A
// request without the token, or that is not a notification, stores nothing.
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { after, afterEach, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { type Connections, createDatabase } from '../../src/db/database.ts'
import { closeAll } from '../support/closing.ts'
import {
  notificationOf,
  notificationsOf,
  outcomesOf,
  startTestWebhooks,
  type TestWebhooks,
  webhookToken,
} from '../support/gateway/webhooks.ts'
import { totalCalls } from '../support/service/orders.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let webhooks: TestWebhooks
let stored = 0
before(async () => {
  service = await startTestService()
  webhooks = await startTestWebhooks(service, { onStored: () => (stored += 1) })
})
after(() => closeAll(webhooks, service))
afterEach(() => service.database.query('delete from webhook_notifications'))

const success = { status: 200, code: 'SUCCESS' }
const orderId = 'ord_of_a_notification'
const transmission = (id: string) => ({ 'tosspayments-webhook-transmission-id': id })

test('a notification is stored with its order, payment key and status only, and the gateway is not called', async () => {
  const [calls, before] = [totalCalls(service), stored]
  const notified = { orderId, paymentKey: 'pay_1', status: 'CANCELED' }
  assert.deepEqual(await webhooks.post(notificationOf(notified), transmission('whtrans_1')), success)
  const [row, ...others] = await notificationsOf(service)
  assert.deepEqual(
    { ...row, processInMs: 0 },
    {
      ...notified,
      transmissionId: 'whtrans_1',
      eventType: 'PAYMENT_STATUS_CHANGED',
      attempts: 0,
      outcome: null,
      processInMs: 0,
    },
  )
  assert.deepEqual(others, [])
  assert.equal(stored, before + 1)
  assert.equal(totalCalls(service), calls)
})

test('W6: the 200 comes after the row is durable, not before', async () => {
  const durable = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const connections: Connections = {
    async query(query) {
      reached.resolve()
      await durable.promise
      return service.database.pool.query(query)
    },
  }
  const slow = await startTestWebhooks(service, { database: createDatabase(connections, silentLog) })
  try {
    let answered = false
    const answer = slow.post(notificationOf({ orderId })).finally(() => (answered = true))
    await reached.promise
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.deepEqual([answered, await notificationsOf(service)], [false, []])
    durable.resolve()
    assert.deepEqual(await answer, success)
    assert.equal((await notificationsOf(service)).length, 1)
  } finally {
    await slow.close()
  }
})

test('a wrong token, another path and another method are 404 NOT000, and nothing is stored', async () => {
  const before = stored
  const body = JSON.stringify(notificationOf({ orderId }))
  const headers = { 'content-type': 'application/json' }
  const paths = [
    '/',
    '/webhooks',
    '/webhooks/toss',
    '/webhooks/toss/',
    '/webhooks/toss/wrong',
    '/sandbox/webhooks',
    '/readyz',
    `/webhooks/toss/${webhookToken}x`,
    `/webhooks/toss/${webhookToken.toUpperCase()}`,
    `/webhooks//${webhookToken}`,
    `/webhooks/toss/${webhookToken}/`,
    `/webhooks/toss/${webhookToken}/more`,
    `/Webhooks/toss/${webhookToken}`,
    `/webhooks/toss/${'x'.repeat(300)}`,
    `/webhooks/toss/${'x'.repeat(301)}`,
    '/webhooks/toss/%00',
    '/webhooks/toss/%zz',
  ]
  for (const path of paths) {
    const answer = await webhooks.send(`${webhooks.base}${path}`, { method: 'POST', headers, body })
    assert.deepEqual(answer, { status: 404, code: 'NOT000' }, path)
  }
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const sent = method === 'GET' ? { method } : { method, headers, body }
    assert.deepEqual(await webhooks.send(webhooks.url, sent), { status: 404, code: 'NOT000' }, method)
  }
  assert.deepEqual([await notificationsOf(service), stored], [[], before])
})

test('without the token the body is not checked: too large and not JSON are 404 as well', async () => {
  const wrong = `${webhooks.base}/webhooks/toss/wrong`
  for (const body of ['{', 'x'.repeat(100_000)]) {
    assert.deepEqual(await webhooks.post(body, {}, wrong), { status: 404, code: 'NOT000' })
  }
})

const id = (length: number) => 'x'.repeat(length)
const notNotifications: [what: string, body: unknown, code: string, headers?: Record<string, string>][] = [
  ['no JSON', '{', 'VAL001'],
  ['an empty body', '', 'VAL001'],
  ['a list', '[]', 'VAL001'],
  ['null', 'null', 'VAL001'],
  ['an empty object', {}, 'VAL001'],
  ['a poisoned prototype', '{"__proto__": {"orderId": "x"}}', 'VAL001'],
  ['text', JSON.stringify(notificationOf({ orderId })), 'VAL001', { 'content-type': 'text/plain' }],
  ['more than 64 KiB', { ...notificationOf({ orderId }), padding: id(66_000) }, 'VAL004'],
  ['no order', { eventType: 'PAYMENT_STATUS_CHANGED', data: { paymentKey: 'pay_1', status: 'DONE' } }, 'VAL001'],
  ['no payment', { eventType: 'PAYMENT_STATUS_CHANGED' }, 'VAL001'],
  ['an order id that is a number', notificationOf({ orderId: 5 as never }), 'VAL001'],
  ['an order id of 201 characters', notificationOf({ orderId: id(201) }), 'VAL001'],
  ['an order id with NUL', notificationOf({ orderId: 'ord_\u0000' }), 'VAL001'],
  ['an order id with spaces', notificationOf({ orderId: 'ord id' }), 'VAL001'],
  ['a status that is not a word', notificationOf({ orderId, status: 'DO\nNE' }), 'VAL001'],
  ['a payment key of 201 characters', notificationOf({ orderId, paymentKey: id(201) }), 'VAL001'],
  ['a number of 201 characters', notificationOf({ orderId }), 'VAL001', transmission(id(201))],
  ['a transmission id with spaces', notificationOf({ orderId }), 'VAL001', transmission('a b')],
]
for (const [what, body, code, headers] of notNotifications) {
  test(`W10: ${what} is 400 ${code}, and nothing is stored`, async () => {
    assert.deepEqual(await webhooks.post(body, headers), { status: 400, code })
    assert.deepEqual(await notificationsOf(service), [])
  })
}

test('W10: no body at all is 400 VAL001', async () => {
  assert.deepEqual(await webhooks.send(webhooks.url, { method: 'POST' }), { status: 400, code: 'VAL001' })
})

test('an event of an unsupported type is 200, so that it is not repeated, and is not stored', async () => {
  const event = { eventType: 'BILLING_DELETED', createdAt: '2026-01-31T09:00:00.000000', data: { billingKey: 'b' } }
  assert.deepEqual(await webhooks.post(event), success)
  assert.deepEqual(await notificationsOf(service), [])
})

test('a deposit callback, which is flat and names no payment, is stored by its order', async () => {
  const deposit = { createdAt: '2026-01-31T09:00:00.000000', secret: 's', orderId, status: 'DONE', transactionKey: 't' }
  assert.deepEqual(await webhooks.post(deposit), success)
  const [row] = await notificationsOf(service)
  assert.deepEqual([row?.eventType, row?.orderId, row?.paymentKey], ['DEPOSIT_CALLBACK', orderId, null])
})

test('W1: 100 duplicates at once are 200 each and one row', async () => {
  const same = () => webhooks.post(notificationOf({ orderId }), transmission('whtrans_same'))
  const answers = await Promise.all(Array.from({ length: 100 }, same))
  for (const answer of answers) assert.deepEqual(answer, success)
  assert.equal((await notificationsOf(service)).length, 1)
  assert.deepEqual(await outcomesOf(service, orderId), ['no such order'])
  assert.deepEqual(await same(), success)
  assert.deepEqual(await outcomesOf(service, orderId), ['no such order'])
})

test('without a transmission id, the same body is the same notification', async () => {
  const headers = { 'content-type': 'application/json' }
  const send = (status: string) =>
    webhooks.send(webhooks.url, { method: 'POST', headers, body: JSON.stringify(notificationOf({ orderId, status })) })
  for (const status of ['DONE', 'DONE', 'CANCELED']) assert.deepEqual(await send(status), success)
  assert.deepEqual(
    (await notificationsOf(service)).map(({ status }) => status),
    ['DONE', 'CANCELED'],
  )
})

test('W7: without the database a notification is 503 SVC001 and not stored; the retry of the gateway is not lost', async () => {
  let isDown = true
  const connections: Connections = {
    async query(query) {
      if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      return service.database.pool.query(query)
    },
  }
  const cut = await startTestWebhooks(service, { database: createDatabase(connections, silentLog) })
  try {
    const send = () => cut.post(notificationOf({ orderId }), transmission('whtrans_again'))
    assert.deepEqual(await send(), { status: 503, code: 'SVC001' })
    assert.deepEqual(await notificationsOf(service), [])
    isDown = false
    assert.deepEqual(await send(), success)
    assert.equal((await notificationsOf(service)).length, 1)
  } finally {
    await cut.close()
  }
})

test('W7: a notification that is not stored within eight seconds is 503 SVC001, so that the gateway sends it again', async (t) => {
  const [begun, stuck] = [Promise.withResolvers<void>(), Promise.withResolvers<{ rows: unknown[] }>()]
  const query = () => {
    begun.resolve()
    return stuck.promise
  }
  const slow = await startTestWebhooks(service, { database: createDatabase({ query }, silentLog) })
  try {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    syncBuiltinESMExports()
    const answer = slow.post(notificationOf({ orderId }))
    await begun.promise
    t.mock.timers.tick(8_000)
    assert.deepEqual(await answer, { status: 503, code: 'SVC001' })
  } finally {
    t.mock.timers.reset()
    syncBuiltinESMExports()
    stuck.resolve({ rows: [] })
    await slow.close()
  }
})

test('the secret of the payment is stored nowhere', async () => {
  const customer = await service.newCustomer()
  const { orderId: own, paymentKey } = await customer.confirmedOrder()
  await webhooks.post(notificationOf({ orderId: own, paymentKey, status: 'PARTIAL_CANCELED' }))
  await outcomesOf(service, own)
  const tables = await service.database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  assert.ok(tables.length >= 10)
  for (const { name } of tables) {
    const rows = await service.database.query(`select from ${name} t where t::text like '%ps_secret_of_payment%'`)
    assert.deepEqual(rows, [], name)
  }
})
