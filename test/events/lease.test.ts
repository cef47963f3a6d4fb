// Processes that die or stall while they deliver: another process continues after the lease, and a process that lost it
// changes nothing any more. Statements repeated because their result was lost have one effect.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import type { DeliveryContext } from '../../src/events/deliver.ts'
import { createDeliverer } from '../../src/events/deliverer.ts'
import {
  advanceQueue,
  buryEvent,
  claimQueues,
  failQueue,
  listDueEndpoints,
  type Queue,
  releaseQueue,
} from '../../src/events/queues.sql.ts'
import { closeAll } from '../support/closing.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld, slowSettings } from '../support/events/world.ts'
import { losingAnswerOf } from '../support/service/recovery.ts'

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
afterEach(() => closeAll(consumer, world))

async function claim(holderId: string = crypto.randomUUID()): Promise<Queue | undefined> {
  return (await claimQueues(world.database, { endpointId, holderId, leaseMs: 60_000, limit: 16 }))[0]
}

async function mustClaim(): Promise<Queue> {
  return (await claim()) ?? assert.fail('nothing to claim')
}

/** The whole row of the queue. */
async function row(): Promise<object | undefined> {
  return (await world.query<object>('select * from event_queues'))[0]
}

const endLease = () => world.query(`update event_queues set lease_until = now()`)
const deadCount = async () => (await world.query('select event_number from dead_events')).length

test('a queue is delivered by one process at a time', async () => {
  await world.emit(customerId)
  assert.equal((await mustClaim()).nextEvent, 1)
  assert.equal(await claim(), undefined)
  await deliver(world.context())
  assert.deepEqual(consumer.received, [])
})

test('concurrent claims divide the queues: each queue goes to one process', async () => {
  for (let count = 0; count < 40; count += 1) await world.emit(await world.newCustomer())
  const claims = await Promise.all(
    Array.from({ length: 6 }, () =>
      claimQueues(world.database, { endpointId, holderId: crypto.randomUUID(), leaseMs: 60_000, limit: 10 }),
    ),
  )
  const customers = claims.flat().map((queue) => queue.customerId)
  assert.equal(new Set(customers).size, customers.length)
})

test('a process that died after an event was accepted: after its lease another sends it again, and then the next', async () => {
  for (let count = 0; count < 2; count += 1) await world.emit(customerId)
  // The dead process claimed the queue, sent the event and did nothing more.
  await mustClaim()
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [])
  await endLease()
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2])
})

test('a process that loses its database in the middle of a delivery: the event is sent again with its id, in order', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const diesSoon = processToCut()
  consumer.react = ({ payload }) => {
    if (payload.sequence === 2) diesSoon.cut()
    return 200
  }
  await deliver(diesSoon.context)
  assert.deepEqual(consumer.taken(), [1, 2])
  await endLease()
  consumer.react = () => 200
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2, 2, 3])
  const [, second, again] = consumer.received
  assert.equal(again?.id, second?.id)
})

/** A process whose database connections can be cut: from then on its statements fail. */
function processToCut(): { context: DeliveryContext; cut(): void } {
  let isCut = false
  const database: Database = {
    run: (statement, values) => (isCut ? Promise.reject(new Error('cut off')) : world.database.run(statement, values)),
  }
  return {
    context: world.context(slowSettings, { database }),
    cut() {
      isCut = true
    },
  }
}

const attemptOn = (eventNumber: number) => {
  return { eventNumber, attemptedAt: new Date(), status: 500, error: 'HTTP 500', tookMs: 1 }
}
const failure = { attempt: attemptOn(1), pauseMs: 1_000, requestedPauseMs: 0 }
const attemptCount = async () => (await world.query('select from event_attempts')).length

test('a stale holder changes nothing: it neither advances nor resets the queue, nor adds a dead letter', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const stale = await mustClaim()
  await endLease()
  const current = await mustClaim()
  assert.equal(await advanceQueue(world.database, current, { attempt: null, nextEvent: 2, leaseMs: 60_000 }), true)
  const before = await row()
  assert.equal(await advanceQueue(world.database, stale, { attempt: null, nextEvent: 2, leaseMs: 60_000 }), false)
  assert.equal(await advanceQueue(world.database, stale, { attempt: null, nextEvent: 4, leaseMs: 0 }), false)
  await failQueue(world.database, stale, failure)
  await releaseQueue(world.database, stale)
  for (const eventNumber of [1, 2, 3]) {
    assert.equal(await buryEvent(world.database, stale, { ...failure, attempt: attemptOn(eventNumber) }), false)
  }
  assert.deepEqual([await row(), await deadCount()], [before, 0])
  // Nor after the other process has released it.
  await advanceQueue(world.database, current, { attempt: null, nextEvent: 3, leaseMs: 0 })
  const released = await row()
  await failQueue(world.database, stale, failure)
  await buryEvent(world.database, stale, { ...failure, attempt: attemptOn(3) })
  assert.deepEqual([await row(), await deadCount(), await attemptCount()], [released, 0, 0])
})

test('the queue that has waited longest is claimed first, and its endpoint is served first; one under way makes none due', async () => {
  const later = await startConsumer()
  try {
    const laterId = await world.register(later)
    const customers = [customerId, await world.newCustomer(), await world.newCustomer()]
    for (const each of customers) await world.emit(each)
    const wait = (minutes: number, customer: string | undefined, endpoint: string) =>
      world.query(
        `update event_queues set due_at = now() - $1::int * interval '1 minute'
         where customer_id = $2 and endpoint_id = $3`,
        [minutes, customer, endpoint],
      )
    for (const [index, minutes] of [2, 7, 4].entries()) await wait(minutes, customers[index], endpointId)
    for (const customer of customers) await wait(5, customer, laterId)
    const dueFirst = () => listDueEndpoints(world.database, [], 1)
    const claimFirst = async () => {
      const one = { endpointId, holderId: crypto.randomUUID(), leaseMs: 60_000, limit: 1 }
      return (await claimQueues(world.database, one))[0]?.customerId
    }
    assert.deepEqual([await dueFirst(), await claimFirst()], [[endpointId], customers[1]])
    assert.deepEqual([await dueFirst(), await claimFirst()], [[laterId], customers[2]])
    assert.deepEqual([await claimFirst(), await claimFirst()], [customers[0], undefined])
    assert.deepEqual(await listDueEndpoints(world.database, [], 10), [laterId])
  } finally {
    await later.close()
  }
})

test('a queue is not claimed before its pause is over', async () => {
  await world.emit(customerId)
  await failQueue(world.database, await mustClaim(), { ...failure, pauseMs: 600_000 })
  assert.equal(await claim(), undefined)
  await world.query('update event_queues set due_at = now()')
  assert.equal((await mustClaim()).attempts, 1)
})

test('a holder cannot make any event but the head of the queue a dead letter', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const queue = await mustClaim()
  await advanceQueue(world.database, queue, { attempt: null, nextEvent: 2, leaseMs: 60_000 })
  await buryEvent(world.database, queue, { ...failure, attempt: attemptOn(1) })
  assert.equal(await deadCount(), 0)
})

test('a holder cannot move the queue back to an earlier event', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const queue = await mustClaim()
  await advanceQueue(world.database, queue, { attempt: null, nextEvent: 3, leaseMs: 60_000 })
  assert.equal(await advanceQueue(world.database, queue, { attempt: null, nextEvent: 2, leaseMs: 60_000 }), true)
  assert.equal((await world.queueOf(customerId, endpointId))?.nextEvent, 3)
})

test('no queue of an endpoint that was disabled meanwhile is claimed, not even by its last holder', async () => {
  await world.emit(customerId)
  const { holderId } = await mustClaim()
  await world.query(`update event_endpoints set status = 'DISABLED'`)
  assert.equal(await claim(holderId), undefined)
  await endLease()
  assert.equal(await claim(), undefined)
  await world.query(`update event_endpoints set status = 'ACTIVE'`)
  assert.equal((await mustClaim()).nextEvent, 1)
})

test('while an event is sent its queue is leased for longer than the time limit, each event of it anew', async () => {
  for (let count = 0; count < 2; count += 1) await world.emit(customerId)
  const isLongEnough: unknown[] = []
  consumer.react = () => async (response) => {
    const [queue] = await world.query<{ is: boolean }>(
      `select lease_until > now() + $1::int * interval '1 ms' as is from event_queues`,
      [slowSettings.timeoutMs],
    )
    isLongEnough.push(queue?.is)
    await endLease()
    response.writeHead(200).end()
  }
  await deliver(world.context())
  assert.deepEqual(isLongEnough, [true, true])
})

test('a stalled deliverer that resumes after its lease sends no further event', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  let release: () => void = () => undefined
  consumer.react = () => (response) => {
    release = () => response.writeHead(200).end()
  }
  const stalled = createDeliverer(world.context())
  await stalled.run(new AbortController().signal)
  await until('the first event is being sent', () => consumer.received.length === 1)
  await endLease()
  consumer.react = () => 200
  await deliver(await world.contextOfOtherProcess(slowSettings))
  release()
  await stalled.finish()
  assert.deepEqual(
    consumer.received.map(({ payload }) => payload.sequence),
    [1, 1, 2, 3],
  )
  const queue = await world.queueOf(customerId, endpointId)
  assert.deepEqual([queue?.nextEvent, queue?.lastEvent, queue?.leased], [4, 3, false])
})

for (const name of ['events.claimQueues', 'events.advanceQueue', 'events.failQueue', 'events.buryEvent']) {
  test(`${name}: when its result is lost and the statement repeated, it has one effect`, async () => {
    const connections = losingAnswerOf(world.pool, name)
    const context = world.context(slowSettings, { database: createDatabase(connections, silentLog) })
    for (let count = 0; count < 2; count += 1) await world.emit(customerId)
    const isFailing = name === 'events.failQueue' || name === 'events.buryEvent'
    consumer.react = ({ payload }) => (isFailing && payload.sequence === 1 ? 500 : 200)
    if (name === 'events.buryEvent') {
      await deliver(world.context())
      await world.passHours(73)
    }
    await deliver(context)
    assert.equal(connections.lost(), true)
    const queue = await world.queueOf(customerId, endpointId)
    const ends = {
      nextEvent: queue?.nextEvent,
      attempts: queue?.attempts,
      leased: queue?.leased,
      dead: await deadCount(),
    }
    const expected = {
      'events.claimQueues': { nextEvent: 3, attempts: 0, leased: false, dead: 0 },
      'events.advanceQueue': { nextEvent: 3, attempts: 0, leased: false, dead: 0 },
      'events.failQueue': { nextEvent: 1, attempts: 1, leased: false, dead: 0 },
      'events.buryEvent': { nextEvent: 2, attempts: 75, leased: false, dead: 1 },
    }[name]
    assert.deepEqual(ends, expected)
    assert.deepEqual(consumer.taken(), isFailing ? [] : [1, 2])
    assert.equal(await attemptCount(), consumer.received.length)
  })
}
