// Attempts to deliver: each is stored with its answer in the commit of the step it leads to, listed newest first, and deleted
// after a while. Test events are signed and checked like others and stored nowhere.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { insertAttempt, type ListedAttempt, listAttempts } from '../../src/events/attempts/attempts.sql.ts'
import { purgeAttempts } from '../../src/events/attempts/purge-attempts.ts'
import { sendTestEvent } from '../../src/events/attempts/test-event.ts'
import { findEndpoint, updateEndpointStatus } from '../../src/events/endpoints.sql.ts'
import { enableEndpoint, retryQueues } from '../../src/events/endpoints.ts'
import { wakeQueues } from '../../src/events/queues.sql.ts'
import { resendDeadEvents } from '../../src/events/resend.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld, slowSettings } from '../support/events/world.ts'

let world: EventWorld
let consumer: Consumer
let endpointId = ''
let customerId = ''
beforeEach(async () => {
  world = await createEventWorld()
  consumer = await startConsumer()
  endpointId = await world.register(consumer, ['order.confirmed'])
  customerId = await world.newCustomer()
})
afterEach(async () => {
  await consumer.close()
  await world.close()
})

/** Newest first, page by page. */
async function attemptsOf(id = endpointId, limit = 2): Promise<ListedAttempt[]> {
  const all: ListedAttempt[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await listAttempts(world.database, id, { cursor, limit })
    all.push(...page)
    if (page.length < limit) return all
    cursor = page.at(-1)?.cursor ?? null
  }
}
const outcomes = async () =>
  (await attemptsOf()).map(({ eventNumber, status, error }) => [eventNumber, status, error]).reverse()

test('each attempt is stored with event, customer, answer and duration, also the one that makes a dead letter', async () => {
  await world.emit(customerId, 'order.failed')
  await world.emit(customerId)
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(1)
  consumer.react = () => 'hang'
  await deliver(world.context({ ...slowSettings, timeoutMs: 100 }))
  await world.passHours(73)
  consumer.react = ({ payload }) => (payload.sequence === 2 ? 404 : 201)
  await deliver(world.context())
  await world.passHours(1)
  await deliver(world.context())
  assert.deepEqual(await outcomes(), [
    [2, 500, 'HTTP 500'],
    [2, null, 'TimeoutError'],
    [2, 404, 'HTTP 404'],
    [3, 201, null],
  ])
  const [newest, , hung] = await attemptsOf()
  assert.deepEqual([newest?.customerId, newest?.type], [customerId, 'order.confirmed'])
  assert.ok(Math.abs((newest?.attemptedAt.getTime() ?? 0) - Date.now()) < 60_000)
  assert.ok((hung?.tookMs ?? 0) >= 90 && (hung?.tookMs ?? 0) < 60_000)
  assert.deepEqual(await attemptsOf('end_other'), [])

  await resendDeadEvents(world.context(), { endpointId, customerId, eventNumber: 3 })
  consumer.react = () => 200
  await resendDeadEvents(world.context(), { endpointId, customerId, eventNumber: 2 })
  assert.deepEqual(
    (await outcomes()).slice(4),
    [[2, 200, null]],
    'a resend is an attempt; an event that is not dead is none',
  )
})

test('events of types that the endpoint does not want lead to no attempt', async () => {
  await world.emit(customerId, 'order.failed')
  await world.emit(customerId, 'credits.low')
  await deliver(world.context())
  assert.deepEqual([await outcomes(), consumer.received], [[], []])
})

test('old attempts are deleted in batches, those of removed endpoints too', async () => {
  await world.emit(customerId)
  await deliver(world.context())
  await world.query(
    `insert into event_attempts (customer_id, endpoint_id, event_number, attempted_at, took_ms)
     select $1, $2, number, now() - interval '31 days', 1 from generate_series(1, 1500) as number`,
    [customerId, endpointId],
  )
  await world.query(`update event_endpoints set status = 'REMOVED', secrets = '[]'`)
  assert.deepEqual(await purgeAttempts(world.database, 30), { more: true })
  assert.deepEqual(await purgeAttempts(world.database, 30), { more: false })
  assert.deepEqual(await outcomes(), [[1, 200, null]])
})

test('a retry makes waiting events due at once, all or those of one customer, and their failures still count', async () => {
  const other = await world.newCustomer()
  consumer.react = () => 500
  for (const each of [customerId, other]) await world.emit(each)
  await deliver(world.context())
  assert.equal(await retryQueues(world.database, endpointId, other), 1)
  await deliver(world.context())
  const attempts = async () =>
    Promise.all([customerId, other].map(async (each) => (await world.queueOf(each, endpointId))?.attempts))
  assert.deepEqual(await attempts(), [1, 2])
  consumer.react = () => 200
  assert.equal(await retryQueues(world.database, endpointId, null), 2)
  assert.equal(await retryQueues(world.database, endpointId, null), 0)
  await deliver(world.context())
  assert.deepEqual(await attempts(), [0, 0])
})

test('a retry and an enabling lift the pause that the endpoint asked for: the end of an outage wakes those queues again', async () => {
  consumer.react = () => (response) => response.writeHead(503, { 'retry-after': '1800' }).end()
  const lifts = [
    () => retryQueues(world.database, endpointId, null),
    () => enableEndpoint(world.database, endpointId),
  ] as const
  await world.emit(customerId)
  for (const lift of lifts) {
    await world.query('update event_queues set due_at = now()')
    await deliver(world.context())
    await lift()
    await world.query(`update event_queues set due_at = now() + interval '40 minutes'`)
    await wakeQueues(world.database, endpointId, 1)
    assert.ok(((await world.queueOf(customerId, endpointId))?.dueInMs ?? Infinity) < 60_000)
  }
})

test('an attempt is listed once, although it is stored again, with the type of the event of its own customer, none if that was deleted', async () => {
  const other = await world.newCustomer()
  await world.emit(other, 'order.failed')
  await world.emit(customerId)
  await deliver(world.context())
  assert.deepEqual(
    (await attemptsOf()).map((each) => [each.customerId, each.type]),
    [[customerId, 'order.confirmed']],
  )
  const ofDeleted = { eventNumber: 99, attemptedAt: new Date(), status: 200, error: null, tookMs: 1 }
  for (let each = 0; each < 2; each += 1) await insertAttempt(world.database, { customerId, endpointId }, ofDeleted)
  assert.deepEqual(
    (await attemptsOf()).map((each) => each.type),
    [null, 'order.confirmed'],
  )
})

test('a test event is signed, goes to a disabled endpoint too, and is stored nowhere; a private address is refused', async () => {
  await updateEndpointStatus(world.database, endpointId, 'DISABLED')
  const endpoint = (await findEndpoint(world.database, endpointId)) ?? assert.fail('it is there')
  const sent = await sendTestEvent(world.context(), endpoint)
  assert.deepEqual([sent.status, sent.error], [200, null])
  // The consumer has verified the signature.
  assert.deepEqual(
    consumer.received.map(({ payload: { type, sequence, data } }) => ({ type, sequence, data })),
    [{ type: 'endpoint.test', sequence: 0, data: { endpointId } }],
  )
  const outbound = { allowPrivate: false }
  const refused = await sendTestEvent(world.context(slowSettings, { outbound }), endpoint)
  assert.deepEqual([refused.status, refused.error], [null, 'the URL does not begin with https://'])
  assert.equal(consumer.received.length, 1)
  assert.deepEqual([await outcomes(), await world.query('select from events')], [[], []])
})
