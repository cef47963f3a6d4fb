// Dead letters: an event that cannot be delivered within days no longer blocks the next one, and can be listed and
// resent.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { countDeadByEndpoint } from '../../src/console/events/events.sql.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { countDeadEvents, listDeadEvents } from '../../src/events/dead.sql.ts'
import { updateEndpointStatus } from '../../src/events/endpoints.sql.ts'
import { enableEndpoint, removeEndpoint, retryQueues } from '../../src/events/endpoints.ts'
import { listEvents } from '../../src/events/events.sql.ts'
import { notSent, resendDeadEvents, resendEvents } from '../../src/events/resend.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld, isAllDelivered, slowSettings } from '../support/events/world.ts'

let world: EventWorld
let consumer: Consumer
let endpointId = ''
let customerId = ''
beforeEach(async () => {
  world = await createEventWorld()
  consumer = await startConsumer()
  endpointId = await world.register(consumer)
  customerId = await world.newCustomer()
})
afterEach(async () => {
  await consumer.close()
  await world.close()
})

const deadNumbers = async () =>
  (await listDeadEvents(world.database, 100, {})).map(({ eventNumber }) => eventNumber).sort((a, b) => a - b)

/** Makes events 1 to `count` of each customer dead letters; then the consumer accepts events again. */
async function bury(count: number, customers = [customerId]): Promise<void> {
  for (const each of customers) for (let number = 0; number < count; number += 1) await world.emit(each)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(73)
  for (let number = 0; number < count; number += 1) {
    await deliver(world.context())
    await world.passHours(1)
  }
  assert.equal((await listDeadEvents(world.database, 10_000, {})).length, count * customers.length)
  consumer.received.length = 0
  consumer.react = () => 200
}

test('an event that fails for 72 hours becomes a dead letter, and after a pause the next one is sent', async () => {
  await world.emit(customerId)
  await world.emit(customerId)
  consumer.react = ({ payload }) => (payload.sequence === 1 ? 500 : 200)
  await deliver(world.context())
  await world.passHours(71)
  await deliver(world.context())
  assert.deepEqual([await deadNumbers(), consumer.taken()], [[], []])
  await world.passHours(2)
  await deliver(world.context())
  assert.deepEqual([await deadNumbers(), consumer.taken()], [[1], []])
  await world.passHours(1)
  await deliver(world.context())
  assert.deepEqual([await deadNumbers(), consumer.taken()], [[1], [2]])
  const [dead] = await listDeadEvents(world.database, 100, { endpointId })
  assert.deepEqual(
    { ...dead, diedAt: 0 },
    {
      customerId,
      endpointId,
      eventNumber: 1,
      type: 'order.confirmed',
      attempts: 76,
      lastError: 'HTTP 500',
      diedAt: 0,
      data: { customerId, number: 1 },
    },
  )
  assert.deepEqual(await listDeadEvents(world.database, 100, { endpointId: 'end_other' }), [])
})

test('an attempt is counted once: as taken, as failed, or, when the event becomes a dead letter, as dead', async () => {
  const tallies = createTallies()
  const deliverOnce = () => deliver(world.context(slowSettings, { tallies }))
  await world.emit(customerId)
  await world.emit(customerId)
  consumer.react = ({ payload }) => (payload.sequence === 1 ? 500 : 200)
  await deliverOnce()
  await world.passHours(73)
  await deliverOnce()
  await world.passHours(1)
  await deliverOnce()
  assert.equal(consumer.received.length, 3)
  assert.deepEqual(tallies.deliveries, { taken: 1, failed: 1, dead: 1 })
})

test('each event has its own 72 hours: a younger one after a dead letter is retried, and dies at its own time', async () => {
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(50)
  await world.emit(customerId)
  await deliver(world.context())
  await world.passHours(23)
  await deliver(world.context())
  assert.deepEqual(await deadNumbers(), [1])
  const queue = await world.queueOf(customerId, endpointId)
  assert.deepEqual([queue?.nextEvent, queue?.attempts, queue?.failing], [2, 76, true])
  await world.passHours(1)
  await deliver(world.context())
  assert.deepEqual(await deadNumbers(), [1])
  await world.passHours(49)
  await deliver(world.context())
  assert.deepEqual([await deadNumbers(), await isAllDelivered(world.database)], [[1, 2], true])
})

test('events that an endpoint has not subscribed to delay neither its dead letter nor the event after it', async () => {
  const selective = await startConsumer()
  try {
    const selectiveId = await world.register(selective, ['order.refunded'])
    const types = ['order.failed', 'order.refunded', 'order.failed', 'order.refunded', 'order.failed'] as const
    for (const type of types) await world.emit(customerId, type)
    selective.react = () => 500
    await deliver(world.context())
    await world.passHours(73)
    await deliver(world.context())
    await world.passHours(1)
    await deliver(world.context())
    const dead = await listDeadEvents(world.database, 100, { endpointId: selectiveId })
    assert.deepEqual(
      dead.map(({ eventNumber }) => eventNumber),
      [2, 4],
    )
    assert.deepEqual([consumer.taken(), await isAllDelivered(world.database)], [[1, 2, 3, 4, 5], true])
    // Narrowing the types in the database leaves no queue unfinished.
    await world.emit(customerId, 'order.refunded')
    await world.query(`update event_endpoints set types = '{credits.low}' where endpoint_id = $1`, [selectiveId])
    await deliver(world.context())
    assert.equal(await isAllDelivered(world.database), true)
  } finally {
    await selective.close()
  }
})

test('days without a running service do not count: no event dies before its eleventh failure', async () => {
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(100, { isServiceDown: true })
  await deliver(world.context())
  assert.deepEqual(await deadNumbers(), [])
  for (const [attempts, dead] of [
    [9, []],
    [10, [1]],
  ] as const) {
    await world.query('update event_queues set attempts = $1, due_at = now()', [attempts])
    await deliver(world.context())
    assert.deepEqual(await deadNumbers(), dead)
  }
})

test('an endpoint that is enabled again starts afresh: no event dies at its first failure', async () => {
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(100)
  await updateEndpointStatus(world.database, endpointId, 'DISABLED')
  assert.equal(await enableEndpoint(world.database, endpointId), true)
  await deliver(world.context())
  assert.deepEqual(await deadNumbers(), [])
  assert.deepEqual((await world.queueOf(customerId, endpointId))?.attempts, 1)
})

test('an endpoint that was disabled for a week and fails once loses no event', async () => {
  await world.emit(customerId)
  await updateEndpointStatus(world.database, endpointId, 'DISABLED')
  await world.passHours(200)
  await updateEndpointStatus(world.database, endpointId, 'ACTIVE')
  consumer.react = () => 500
  await deliver(world.context())
  assert.deepEqual(await deadNumbers(), [])
  assert.equal((await world.queueOf(customerId, endpointId))?.nextEvent, 1)
})

test('resend delivers the dead events, oldest first, with their ids, and they are no longer dead', async () => {
  await bury(3)
  const ids = await world.query<{ id: string }>('select event_id as id from events order by event_number')
  assert.deepEqual(await resendDeadEvents(world.context(), {}), { resent: 3, left: 0, failed: [] })
  assert.deepEqual(consumer.taken(), [1, 2, 3])
  assert.deepEqual(
    consumer.received.map(({ id }) => ({ id })),
    ids,
  )
  assert.deepEqual(await deadNumbers(), [])
  assert.deepEqual(await resendDeadEvents(world.context(), {}), { resent: 0, left: 0, failed: [] })
})

test('an event that is not accepted stays dead, and blocks only the later ones of its customer', async () => {
  const other = await world.newCustomer()
  await bury(3, [customerId, other])
  consumer.react = (event) => (event.customerId === customerId && event.payload.sequence === 2 ? 422 : 200)
  const failed = [{ customerId, endpointId, eventNumber: 2, type: 'order.confirmed', error: 'HTTP 422' }]
  assert.deepEqual(await resendDeadEvents(world.context(), {}), { resent: 4, left: 1, failed })
  assert.deepEqual([consumer.taken(customerId), consumer.taken(other)], [[1], [1, 2, 3]])
  assert.deepEqual(await deadNumbers(), [2, 3])
})

test('an endpoint that does not answer, or is disabled, gets at most one attempt in a resend', async () => {
  await bury(2, [customerId, await world.newCustomer()])
  consumer.react = () => 'hang'
  const silent = await resendDeadEvents(world.context({ ...slowSettings, timeoutMs: 100 }), {})
  assert.deepEqual([silent.resent, silent.left, silent.failed[0]?.error], [0, 3, 'TimeoutError'])
  assert.equal(consumer.received.length, 1)
  await updateEndpointStatus(world.database, endpointId, 'DISABLED')
  const disabled = await resendDeadEvents(world.context(), {})
  assert.deepEqual([disabled.left, disabled.failed[0]?.error], [3, 'the endpoint is disabled'])
  assert.equal(consumer.received.length, 1)
})

test('dead events are counted up to a limit, for all or for a selection', async () => {
  const other = await world.newCustomer()
  await bury(2, [customerId, other])
  const count = (limit: number, of = {}) => countDeadEvents(world.database, limit, of)
  assert.deepEqual([await count(3), await count(4), await count(5)], [3, 4, 4])
  assert.deepEqual([await count(5, { customerId }), await count(1, { customerId, endpointId })], [2, 1])
  assert.equal(await count(5, { endpointId: 'end_other' }), 0)
})

test('a resend that has no time left sends nothing more, and says how many are left', async () => {
  await bury(3)
  let asked = 0
  const deadline = { remainingMs: () => (asked++ === 0 ? 1 : 0) }
  assert.deepEqual(await resendDeadEvents(world.context(), {}, { deadline }), { resent: 1, left: 2, failed: [] })
  assert.deepEqual([consumer.taken(), await deadNumbers()], [[1], [2, 3]])
})

test('events of an order are resent to active endpoints that want their types, and none after one that was not accepted', async () => {
  const [wanting, disabled] = [await startConsumer(), await startConsumer()]
  try {
    const wantingId = await world.register(wanting, ['order.refunded'])
    await updateEndpointStatus(world.database, await world.register(disabled), 'DISABLED')
    for (const type of ['order.confirmed', 'order.failed', 'order.refunded'] as const)
      await world.emit(customerId, type)
    const events = await listEvents(world.database, { customerId, nextEvent: 1, lastEvent: 3 }, [], 10)
    consumer.react = ({ payload }) => (payload.sequence === 2 ? 500 : 200)
    const { delivered, failed } = await resendEvents(world.context(), customerId, events)
    assert.deepEqual([delivered, failed.map(({ error }) => error)], [2, ['HTTP 500', notSent.behindAnother]])
    assert.deepEqual([consumer.taken(), wanting.taken(), disabled.received], [[1], [3], []])
    assert.deepEqual(new Set(failed.map((each) => each.endpointId)), new Set([endpointId]), wantingId)
  } finally {
    for (const each of [wanting, disabled]) await each.close()
  }
})

test('dead letters are listed in the order in which they died', async () => {
  await bury(3)
  await world.query(`update dead_events set died_at = now() - event_number * interval '1 hour'`)
  const listed = await listDeadEvents(world.database, 100, {})
  assert.deepEqual(
    listed.map(({ eventNumber }) => eventNumber),
    [3, 2, 1],
  )
})

test('a resend of events that the database does not record fails, and reports no deliveries', async () => {
  await world.emit(customerId)
  const events = await listEvents(world.database, { customerId, nextEvent: 1, lastEvent: 1 }, [], 1)
  await world.query('alter table event_attempts add constraint none check (false)')
  await assert.rejects(resendEvents(world.context(), customerId, events), { code: '23514' })
})

test('a retry, an enabling and a removal are of one endpoint: queues and dead letters of others stay as they are', async () => {
  const other = await startConsumer()
  try {
    const otherId = await world.register(other)
    for (const each of [consumer, other]) each.react = () => 500
    await world.emit(customerId)
    await deliver(world.context())
    await world.passHours(73)
    await world.emit(customerId)
    await deliver(world.context())
    const ofOther = async () => [
      await world.query('select * from event_queues where endpoint_id = $1', [otherId]),
      await world.query('select * from dead_events where endpoint_id = $1', [otherId]),
    ]
    const before = await ofOther()
    assert.deepEqual(
      before.map((rows) => rows.length),
      [1, 1],
    )
    await retryQueues(world.database, endpointId, null)
    await enableEndpoint(world.database, endpointId)
    await removeEndpoint(world.database, endpointId)
    assert.deepEqual(await ofOther(), before)
  } finally {
    await other.close()
  }
})

test('resend of one endpoint leaves those of others', async () => {
  const other = await startConsumer()
  try {
    const otherId = await world.register(other)
    other.react = () => 500
    await world.emit(customerId)
    consumer.react = () => 500
    await deliver(world.context())
    await world.passHours(73)
    await deliver(world.context())
    for (const each of [consumer, other]) each.react = () => 200
    // Those of one endpoint do not use up the limit of another.
    const counted = await countDeadByEndpoint(world.database, 1, null)
    assert.deepEqual([counted.get(endpointId), counted.get(otherId)], [1, 1])
    assert.equal((await resendDeadEvents(world.context(), { endpointId: otherId })).resent, 1)
    assert.deepEqual([consumer.taken(), other.taken()], [[], [1]])
    assert.equal((await listDeadEvents(world.database, 10, { endpointId })).length, 1)
  } finally {
    await other.close()
  }
})

test('resend of one customer leaves those of others', async () => {
  const other = await world.newCustomer()
  await bury(2, [customerId, other])
  const ofOther = { customerId: other }
  assert.deepEqual(await resendDeadEvents(world.context(), ofOther), { resent: 2, left: 0, failed: [] })
  assert.deepEqual([consumer.taken(other), consumer.taken(customerId)], [[1, 2], []])
  assert.equal((await listDeadEvents(world.database, 10, ofOther)).length, 0)
  assert.equal((await listDeadEvents(world.database, 10, { customerId })).length, 2)
})

test('resend takes all of them, however many, without the same one twice', async () => {
  await world.query(
    `insert into events (customer_id, event_number, type, data, created_at)
     select $1::uuid, n, 'order.failed', json_build_object('customerId', $1::uuid), now() from generate_series(1, 1201) n`,
    [customerId],
  )
  await world.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     select $1, $2, n, 9, 'HTTP 500' from generate_series(1, 1201) n`,
    [customerId, endpointId],
  )
  assert.deepEqual(await resendDeadEvents(world.context(), {}), { resent: 1_201, left: 0, failed: [] })
  assert.deepEqual(
    consumer.taken(),
    Array.from({ length: 1_201 }, (_, index) => index + 1),
  )
})

test('removing an endpoint deletes its queues, dead letters and secrets, and no event is sent to it any more', async () => {
  await bury(2)
  await world.emit(customerId)
  assert.equal(await removeEndpoint(world.database, endpointId), true)
  await world.emit(customerId)
  await deliver(world.context())
  assert.deepEqual(consumer.received, [])
  const left = await world.query(
    `select (select count(*) from event_queues) as queues, (select count(*) from dead_events) as dead,
       (select secrets::text from event_endpoints) as secrets`,
  )
  assert.deepEqual(left, [{ queues: 0, dead: 0, secrets: '[]' }])
  assert.equal(await removeEndpoint(world.database, 'end_none'), false)
  assert.equal(await updateEndpointStatus(world.database, endpointId, 'ACTIVE'), false)
})
