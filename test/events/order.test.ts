// The guarantee as a whole: every event arrives, in order per customer, whatever the consumer does, however many
// processes deliver, and no endpoint waits for another.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createRandom, forSeeds } from '../../harness/random.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { routeByGroup } from '../../src/db/cluster/route.ts'
import type { Database } from '../../src/db/database.ts'
import { createDeliverer } from '../../src/events/deliverer.ts'
import { removeEndpoint } from '../../src/events/endpoints.ts'
import { wakeQueues } from '../../src/events/queues.sql.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import {
  createEventWorld,
  deliver,
  deliveries,
  type EventWorld,
  isAllDelivered,
  quickSettings,
  slowSettings,
} from '../support/events/world.ts'

let world: EventWorld
let consumer: Consumer
beforeEach(async () => {
  world = await createEventWorld()
  consumer = await startConsumer()
})
afterEach(async () => {
  await consumer.close()
  await world.close()
})

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const newCustomers = (count: number) => Promise.all(numbersTo(count).map(() => world.newCustomer()))
const neverStops = new AbortController().signal

/** Repetitions are allowed: the first arrivals must be in order. */
function assertInOrder(customerId: string, last: number): void {
  const firstArrivals = [...new Set(consumer.taken(customerId))]
  assert.deepEqual(firstArrivals, numbersTo(last))
}

/** No event was sent before all its predecessors were accepted. */
function assertNothingOvertakes(customerId: string): void {
  let taken = 0
  for (const { payload, status } of consumer.received.filter((each) => each.customerId === customerId)) {
    assert.ok(payload.sequence <= taken + 1, `${payload.sequence} was sent after ${taken}`)
    if (status === 200) taken = Math.max(taken, payload.sequence)
  }
}

test('two deliverers and a consumer that fails at random: all events arrive, in order per customer, with every seed', async () => {
  await forSeeds(3, async (random) => {
    const customers = await newCustomers(5)
    const endpointId = await world.register(consumer)
    const chance = createRandom(random.integer(1, 1_000_000))
    consumer.react = () => {
      if (chance.chance(0.25)) return 500
      return chance.chance(0.05) ? (response) => response.destroy() : 200
    }
    const contexts = await Promise.all([0, 1].map(() => world.contextOfOtherProcess(quickSettings)))
    const jobs = contexts.map((context) => {
      const deliverer = createDeliverer(context)
      const worker = startWorker([{ name: 'deliver', everyMs: 5, run: deliverer.run }], silentLog)
      return { stop: () => worker.stop().then(deliverer.finish) }
    })
    // Events are emitted while others are delivered; those of one customer one after the other, like the changes of its
    // account.
    try {
      for (let round = 0; round < 30; round += 1) {
        await Promise.all(customers.map((customerId) => (random.chance(0.8) ? world.emit(customerId) : 0)))
      }
      await until('all events are delivered', () => isAllDelivered(world.database))
    } finally {
      await Promise.all(jobs.map(({ stop }) => stop()))
    }
    for (const customerId of customers) {
      const { lastEvent = 0 } = (await world.queueOf(customerId, endpointId)) ?? {}
      assert.ok(lastEvent > 10)
      assertInOrder(customerId, lastEvent)
      assertNothingOvertakes(customerId)
    }
    await removeEndpoint(world.database, endpointId)
  })
})

test('a consumer that fails for an hour gets everything once it recovers, in order, and without waiting for each pause', async () => {
  const customers = await newCustomers(40)
  const endpointId = await world.register(consumer)
  const deliverMore = deliveries(world.context({ ...quickSettings, firstPauseMs: 20, longestPauseMs: 3_600_000 }))
  consumer.react = () => 503
  // Every five minutes each customer gets an event, and every due queue is tried.
  for (let minutes = 0; minutes < 60; minutes += 5) {
    for (const customerId of customers) await world.emit(customerId)
    await deliverMore()
    await world.passHours(5 / 60)
  }
  assert.deepEqual(consumer.taken(), [])
  // As if they had failed often: all have long pauses, one is due.
  await world.query(`update event_queues set due_at = now() + interval '50 minutes'`)
  await world.query(`update event_queues set due_at = now() where customer_id = $1`, [customers[0]])
  consumer.react = () => 200
  await until('all events are delivered', async () => {
    await deliverMore()
    return isAllDelivered(world.database)
  })
  for (const customerId of customers) {
    assert.deepEqual(consumer.taken(customerId), numbersTo(12))
    const queue = await world.queueOf(customerId, endpointId)
    assert.deepEqual([queue?.attempts, queue?.failing], [0, false])
  }
})

test('a success after two failures in a row is not the end of an outage: no queue is woken', async () => {
  const [failing = '', alsoFailing = '', fine = ''] = await newCustomers(3)
  const endpointId = await world.register(consumer)
  consumer.react = ({ customerId }) => (customerId === fine ? 200 : 500)
  const deliverMore = deliveries(world.context())
  for (const customerId of [failing, alsoFailing]) await world.emit(customerId)
  await deliverMore()
  await world.query(`update event_queues set due_at = now() + interval '40 minutes'`)
  await world.emit(fine)
  await deliverMore()
  assert.deepEqual(consumer.taken(), [1])
  assert.ok(((await world.queueOf(failing, endpointId))?.dueInMs ?? 0) > 2_000_000)
})

test('the end of an outage wakes the queues of its endpoint, except those with a Retry-After', async () => {
  const other = await startConsumer()
  try {
    const [first = '', second = '', withRetryAfter = ''] = await newCustomers(3)
    const endpointId = await world.register(consumer)
    const otherId = await world.register(other)
    other.react = () => 500
    consumer.react = ({ customerId }) =>
      customerId === withRetryAfter ? (response) => response.writeHead(503, { 'retry-after': '1800' }).end() : 500
    for (const customerId of [first, second, withRetryAfter]) await world.emit(customerId)
    const deliverMore = deliveries(world.context())
    await deliverMore()
    await world.query(`update event_queues set due_at = now() + interval '40 minutes'`)
    await world.query('update event_queues set due_at = now() where customer_id = $1', [first])
    consumer.react = () => 200
    await deliverMore()
    assert.deepEqual(consumer.taken(), [1])
    assert.ok(((await world.queueOf(second, endpointId))?.dueInMs ?? Infinity) <= slowSettings.firstPauseMs)
    assert.ok(((await world.queueOf(withRetryAfter, endpointId))?.dueInMs ?? 0) > 2_000_000)
    assert.ok(((await world.queueOf(second, otherId))?.dueInMs ?? 0) > 2_000_000)
  } finally {
    await other.close()
  }
})

/** On a cluster every server enters the group of each new customer: a statement has time for some hundreds. */
const addedAtATime = 50

/** Each queue is that of a new customer, due in three hours. */
async function addWaitingQueues(endpointId: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= addedAtATime) await addQueues(endpointId, Math.min(left, addedAtATime))
}

async function addQueues(endpointId: string, count: number): Promise<void> {
  const customers = await world.query<{ id: string }>(
    'insert into customers (customer_id) select gen_random_uuid() from generate_series(1, $1) returning customer_id as id',
    [count],
  )
  const ids = customers.map(({ id }) => id)
  await world.query(
    `insert into events (customer_id, event_number, type, data, created_at)
     select id, 1, 'order.confirmed', '{}', now() from unnest($1::uuid[]) as id`,
    [ids],
  )
  await world.query(
    `insert into event_queues (customer_id, endpoint_id, next_event, last_event, due_at)
     select id, $1, 1, 1, now() + interval '3 hours' from unnest($2::uuid[]) as id`,
    [endpointId, ids],
  )
}
function endingDatabase(): Database {
  let statements = 0
  return wrapDatabase(world.database, (_statement, send) => {
    statements += 1
    return statements > 10 ? Promise.reject(new Error('it does not end')) : send()
  })
}
const wakeSpanMs = 7_200_000
const queuesBeyondSpan = async () =>
  (await world.query(`select from event_queues where due_at > now() + interval '2 hours'`)).length

test('the end of an outage leaves queues that are due as they are, and ends when more than a thousand queues wait', async () => {
  const [due = '', soon = ''] = await newCustomers(2)
  const endpointId = await world.register(consumer)
  for (const customerId of [due, soon]) await world.emit(customerId)
  await addWaitingQueues(endpointId, 1_001)
  const dueAt = async (customerId: string) =>
    (await world.query('select due_at::text from event_queues where customer_id = $1', [customerId]))[0]
  await world.query(`update event_queues set due_at = now() - interval '1 hour' where customer_id = $1`, [due])
  await world.query(`update event_queues set due_at = now() + interval '1 hour' where customer_id = $1`, [soon])
  const before = [await dueAt(due), await dueAt(soon)]
  await wakeQueues(endingDatabase(), endpointId, wakeSpanMs)
  assert.deepEqual([await dueAt(due), await dueAt(soon)], before)
  assert.equal(await queuesBeyondSpan(), 0)
})

test('the end of an outage wakes all queues on a cluster too, where each group of customers wakes a thousand at a time', async () => {
  const endpointId = await world.register(consumer)
  await addWaitingQueues(endpointId, 2_001)
  const cluster = routeByGroup(world.database, [endingDatabase(), endingDatabase()], () => 0)
  await wakeQueues(cluster, endpointId, wakeSpanMs)
  assert.equal(await queuesBeyondSpan(), 0)
})

test('an endpoint that hangs delays no other: all events of the other arrive while the first lane waits', async () => {
  const hanging = await startConsumer()
  try {
    hanging.react = () => 'hang'
    await world.register(hanging)
    await world.register(consumer)
    // More than a lane claims at a time.
    const customers = await newCustomers(40)
    for (const customerId of customers) await world.emit(customerId)
    const deliverer = createDeliverer(world.context({ ...slowSettings, timeoutMs: 60_000 }))
    const stopping = new AbortController()
    await deliverer.run(stopping.signal)
    await until('the other has all events', () => consumer.received.length === 40)
    assert.ok(hanging.received.length <= 16)
    // Later events, too.
    for (const customerId of customers) await world.emit(customerId)
    await until('the other has the later events', async () => {
      await deliverer.run(stopping.signal)
      return consumer.received.length === 80
    })
    assert.ok(hanging.received.length <= 16, 'one lane for an endpoint, 16 queues at a time')
    stopping.abort()
    await hanging.close()
    await deliverer.finish()
    for (const customerId of customers) assert.deepEqual(consumer.taken(customerId), [1, 2])
  } finally {
    await hanging.close()
  }
})

test('on a stop, a lane finishes its current event, sends no other, and releases the queue for the next process', async () => {
  const [customerId = ''] = await newCustomers(1)
  const endpointId = await world.register(consumer)
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const stopping = new AbortController()
  consumer.react = () => {
    stopping.abort()
    return 200
  }
  const deliverer = createDeliverer(world.context())
  await deliverer.run(stopping.signal)
  await deliverer.finish()
  const queue = await world.queueOf(customerId, endpointId)
  assert.deepEqual([queue?.nextEvent, queue?.leased, consumer.taken()], [2, false, [1]])
  await deliver(await world.contextOfOtherProcess(slowSettings))
  assert.deepEqual(consumer.taken(), [1, 2, 3])
})

test('a lane continues until nothing is due: more events than one turn sends, more queues than one lane claims', async () => {
  const customers = await newCustomers(20)
  await world.register(consumer)
  for (const customerId of customers) await world.emit(customerId)
  for (let count = 1; count < 50; count += 1) await world.emit(customers[0] ?? '')
  const deliverer = createDeliverer(world.context())
  await deliverer.run(neverStops)
  await deliverer.finish()
  assert.deepEqual(consumer.taken(customers[0]), numbersTo(50))
  assert.equal(consumer.received.length, 69)
})

test('a customer whose event hangs delays no other customer of the endpoint', async () => {
  const [hanging = '', ...others] = await newCustomers(40)
  const endpointId = await world.register(consumer)
  const held: (() => void)[] = []
  consumer.react = ({ customerId }) =>
    customerId === hanging ? (response) => held.push(() => response.writeHead(200).end()) : 200
  for (const customerId of [hanging, ...others]) await world.emit(customerId)
  const deliverer = createDeliverer(world.context({ ...slowSettings, timeoutMs: 60_000 }))
  await deliverer.run(neverStops)
  await until('the others have their events', () => consumer.received.length === 40)
  assert.equal((await world.queueOf(hanging, endpointId))?.nextEvent, 1)
  for (const answer of held) answer()
  await deliverer.finish()
  assert.equal(await isAllDelivered(world.database), true)
})
