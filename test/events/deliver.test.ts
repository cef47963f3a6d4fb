// Deliveries from the view of a consumer: the request, its signature, and the effect of each answer.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { until } from '../../harness/until.ts'
import { enableEndpoint } from '../../src/events/endpoints.ts'
import { type Consumer, type Received, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld, slowSettings } from '../support/events/world.ts'

let world: EventWorld
before(async () => {
  world = await createEventWorld()
})
after(() => world.close())

let consumer: Consumer
beforeEach(async () => {
  consumer = await startConsumer()
})
afterEach(async () => {
  await consumer.close()
  // The endpoints of one test must not affect the next.
  await world.query(`update event_endpoints set status = 'DISABLED'`)
})

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function deliverOne(): Promise<Received> {
  const customerId = await world.newCustomer()
  await world.register(consumer)
  await world.emit(customerId)
  await deliver(world.context())
  return consumer.received[0] ?? assert.fail('nothing was received')
}

test('an event is sent as type, timestamp, sequence and data, with the three headers of Standard Webhooks', async () => {
  const { headers, body, payload, customerId } = await deliverOne()
  assert.equal(consumer.received.length, 1)
  assert.deepEqual(Object.keys(JSON.parse(body)), ['type', 'timestamp', 'sequence', 'data'])
  assert.deepEqual([payload.type, payload.sequence], ['order.confirmed', 1])
  assert.deepEqual(payload.data, { customerId, number: 1 })
  assert.ok(Math.abs(Date.parse(payload.timestamp) - Date.now()) < 60_000)
  assert.equal(headers['content-type'], 'application/json')
  assert.match(headers['webhook-id'] ?? '', uuidPattern)
  assert.match(headers['webhook-timestamp'] ?? '', /^\d{10}$/)
  assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}=$/)
})

test('the verifier of the library accepts the request, and no modified one', async () => {
  const { headers, body } = await deliverOne()
  const webhook = new Webhook(consumer.secrets[0] ?? '')
  assert.doesNotThrow(() => webhook.verify(body, headers))
  const late = `${Number(headers['webhook-timestamp']) - 301}`
  const changes: { what: string; body?: string; headers?: Record<string, string>; expected: RegExp }[] = [
    { what: 'body', body: body.replace('"sequence":1', '"sequence":2'), expected: /No matching signature/ },
    { what: 'id', headers: { 'webhook-id': crypto.randomUUID() }, expected: /No matching signature/ },
    { what: 'time', headers: { 'webhook-timestamp': `${Number(late) + 300}` }, expected: /No matching signature/ },
    { what: 'time, by more than five minutes', headers: { 'webhook-timestamp': late }, expected: /too old/ },
    { what: 'signature', headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` }, expected: /No matching signature/ },
  ]
  for (const { what, body: changed = body, headers: others, expected } of changes) {
    assert.throws(() => webhook.verify(changed, { ...headers, ...others }), expected, what)
  }
  const otherWebhook = new Webhook(`whsec_${btoa('x'.repeat(32))}`)
  assert.throws(() => otherWebhook.verify(body, headers), /No matching signature/)
})

test('an event that was not accepted is sent again, with the same webhook-id and body and a new timestamp and signature', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  const failed = await world.queueOf(customerId, endpointId)
  assert.deepEqual([failed?.nextEvent, failed?.attempts, failed?.lastError, failed?.failing], [1, 1, 'HTTP 500', true])
  await deliver(world.context())
  assert.equal(consumer.received.length, 1, 'before the pause is over')
  await world.passHours(1)
  consumer.react = () => 200
  await deliver(world.context())
  const [first, second, ...others] = consumer.received
  assert.deepEqual([second?.id, second?.payload.sequence, others], [first?.id, 1, []])
  const delivered = await world.queueOf(customerId, endpointId)
  assert.deepEqual([delivered?.nextEvent, delivered?.attempts, delivered?.lastError], [2, 0, null])
  await deliver(world.context())
  assert.equal(consumer.received.length, 2)
})

test('a new event does not hasten the one that waits after a failure, and is sent after it', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.emit(customerId)
  const { dueInMs = 0, lastEvent } = (await world.queueOf(customerId, endpointId)) ?? {}
  assert.ok(dueInMs > 40_000 && lastEvent === 2, `${dueInMs}`)
  await world.passHours(1)
  consumer.react = () => 200
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2])
})

const refusals: { reaction: 300 | 302 | 307 | 400 | 401 | 404 | 429 | 500 | 503; error: string }[] = (
  [300, 302, 307, 400, 401, 404, 429, 500, 503] as const
).map((status) => ({ reaction: status, error: `HTTP ${status}` }))
for (const { reaction, error } of refusals) {
  test(`${error} is a failure: the queue does not advance`, async () => {
    const customerId = await world.newCustomer()
    const endpointId = await world.register(consumer)
    await world.emit(customerId)
    consumer.react = () => reaction
    await deliver(world.context())
    const queue = await world.queueOf(customerId, endpointId)
    assert.deepEqual([queue?.nextEvent, queue?.lastError, queue?.leased], [1, error, false])
  })
}

test('no answer in time and a broken connection are failures with a named error', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  await world.emit(customerId)
  const error = async () => (await world.queueOf(customerId, endpointId))?.lastError
  consumer.react = () => 'hang'
  await deliver(world.context({ ...slowSettings, timeoutMs: 100 }))
  assert.equal(await error(), 'TimeoutError')
  await world.passHours(1)
  consumer.react = () => (response) => response.destroy()
  await deliver(world.context())
  assert.equal(await error(), 'UND_ERR_SOCKET')
})

test('the pause grows with each failure up to the longest', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  await world.emit(customerId)
  consumer.react = () => 500
  const context = world.context({ ...slowSettings, firstPauseMs: 600_000 })
  for (const pauseMs of [600_000, 1_200_000, 2_400_000, 3_600_000, 3_600_000]) {
    await deliver(context)
    const { dueInMs = 0 } = (await world.queueOf(customerId, endpointId)) ?? {}
    assert.ok(dueInMs > pauseMs * 0.7 && dueInMs <= pauseMs * 1.25, `${dueInMs} for ${pauseMs}`)
    await world.passHours(2, { isServiceDown: true })
  }
  assert.equal((await world.queueOf(customerId, endpointId))?.attempts, 5)
})

for (const { header, leastMs, mostMs } of [
  { header: '1800', leastMs: 1_700_000, mostMs: 1_800_000 },
  { header: new Date(Date.now() + 1_800_000).toUTCString(), leastMs: 1_600_000, mostMs: 1_800_000 },
  { header: '999999999', leastMs: 3_500_000, mostMs: 3_600_000 },
  { header: 'soon', leastMs: 40_000, mostMs: 75_000 },
]) {
  test(`Retry-After: ${header.length > 10 ? 'a date' : header} is respected, up to the longest pause`, async () => {
    const customerId = await world.newCustomer()
    const endpointId = await world.register(consumer)
    await world.emit(customerId)
    consumer.react = () => (response) => response.writeHead(503, { 'retry-after': header }).end()
    await deliver(world.context())
    const { dueInMs = 0 } = (await world.queueOf(customerId, endpointId)) ?? {}
    assert.ok(dueInMs > leastMs && dueInMs <= mostMs, `${dueInMs}`)
  })
}

test('Retry-After counts with 429 and 503, and with no other status', async () => {
  const endpointId = await world.register(consumer)
  const dueAfter: Record<number, boolean> = {}
  for (const status of [404, 429, 500, 503]) {
    const customerId = await world.newCustomer()
    await world.emit(customerId)
    consumer.react = () => (response) => response.writeHead(status, { 'retry-after': '1800' }).end()
    await deliver(world.context())
    dueAfter[status] = ((await world.queueOf(customerId, endpointId))?.dueInMs ?? 0) > 1_700_000
  }
  assert.deepEqual(dueAfter, { 404: false, 429: true, 500: false, 503: true })
})

test('410 disables the endpoint; later events wait, and enabling delivers all of them in order', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  await world.emit(customerId)
  consumer.react = () => 410
  await deliver(world.context())
  const [row] = await world.query<{ status: string }>('select status from event_endpoints where endpoint_id = $1', [
    endpointId,
  ])
  assert.equal(row?.status, 'DISABLED')
  await world.emit(customerId)
  await world.emit(customerId)
  await world.passHours(2)
  consumer.react = () => 200
  await deliver(world.context())
  assert.equal(consumer.received.length, 1)
  assert.equal(await enableEndpoint(world.database, endpointId), true)
  const queue = await world.queueOf(customerId, endpointId)
  assert.deepEqual([queue?.attempts, queue?.failing], [0, false])
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2, 3])
})

test('a consumer gets only its subscribed types, in order, also those from before a change of types', async () => {
  const customerId = await world.newCustomer()
  const all = await startConsumer()
  try {
    await world.register(consumer, ['order.refunded', 'credits.low'])
    await world.register(all)
    const types = ['order.confirmed', 'credits.low', 'order.failed', 'order.refunded', 'order.cancelled'] as const
    for (const type of types) await world.emit(customerId, type)
    await deliver(world.context())
    assert.deepEqual(consumer.taken(), [2, 4])
    assert.deepEqual(
      all.received.map(({ payload }) => payload.type),
      types,
    )
    for (const type of ['order.failed', 'order.failed', 'credits.low'] as const) await world.emit(customerId, type)
    await deliver(world.context())
    assert.deepEqual(consumer.taken(), [2, 4, 8])
  } finally {
    await all.close()
  }
})

test('an endless answer is cut off: the event counts as delivered and the next one is sent', async () => {
  const customerId = await world.newCustomer()
  const endpointId = await world.register(consumer)
  for (let count = 0; count < 2; count += 1) await world.emit(customerId)
  let cutOff = 0
  consumer.react = () => (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(5_000)), 1)
    response.on('close', () => {
      clearInterval(timer)
      cutOff += 1
    })
  }
  // Long before the timeout: by the number of bytes.
  await deliver(world.context({ ...slowSettings, timeoutMs: 600_000 }))
  assert.equal((await world.queueOf(customerId, endpointId))?.nextEvent, 3)
  await until('both answers are cut off', () => cutOff === 2)
})
