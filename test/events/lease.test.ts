// Processes that die or stall while they deliver: somebody else goes on after the lease, and whoever lost it changes
// nothing any more. Steps that were repeated because their answer was lost happen once.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import type { DeliveryContext } from '../../src/events/deliver.ts'
import { createDeliverer } from '../../src/events/deliverer.ts'
import {
  advanceQueue,
  buryEvent,
  claimQueues,
  failQueue,
  type Queue,
  releaseQueue,
} from '../../src/events/queues.sql.ts'
import { closeAll } from '../support/closing.ts'
import { silentLog } from '../support/database/database.ts'
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

/** The whole row. */
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

test('claims at the same moment share the queues out: each goes to one', async () => {
  for (let count = 0; count < 40; count += 1) await world.emit(await world.newCustomer())
  const claims = await Promise.all(
    Array.from({ length: 6 }, () =>
      claimQueues(world.database, { endpointId, holderId: crypto.randomUUID(), leaseMs: 60_000, limit: 10 }),
    ),
  )
  const customers = claims.flat().map((queue) => queue.customerId)
  assert.equal(new Set(customers).size, customers.length)
})

test('a process that died after the event was taken: after its lease another sends it again, and then the next', async () => {
  for (let count = 0; count < 2; count += 1) await world.emit(customerId)
  // As the dead one did: it claimed, it sent, and it got no further.
  await mustClaim()
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [])
  await endLease()
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2])
})

test('a process that is cut off in the middle of a delivery: the event comes again with its id, in its place', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const doomed = processToCut()
  consumer.react = ({ payload }) => {
    if (payload.sequence === 2) doomed.cut()
    return 200
  }
  await deliver(doomed.context)
  assert.deepEqual(consumer.taken(), [1, 2])
  await endLease()
  consumer.react = () => 200
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1, 2, 2, 3])
  const [, second, again] = consumer.received
  assert.equal(again?.id, second?.id)
})

/** A process whose connections can be cut: from then on none of its statements arrives. */
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

const failure = { error: 'HTTP 500', pauseMs: 1_000, requestedPauseMs: 0 }

test('a stale holder changes nothing: neither forwards, nor backwards, nor into the dead letters', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const stale = await mustClaim()
  await endLease()
  const current = await mustClaim()
  assert.equal(await advanceQueue(world.database, current, 2, 60_000), true)
  const before = await row()
  assert.equal(await advanceQueue(world.database, stale, 2, 60_000), false)
  assert.equal(await advanceQueue(world.database, stale, 4, 0), false)
  await failQueue(world.database, stale, failure)
  await releaseQueue(world.database, stale)
  for (const eventNumber of [1, 2, 3]) {
    assert.equal(await buryEvent(world.database, stale, { ...failure, eventNumber }), false)
  }
  assert.deepEqual([await row(), await deadCount()], [before, 0])
  // Nor when the other has given it back.
  await advanceQueue(world.database, current, 3, 0)
  const released = await row()
  await failQueue(world.database, stale, failure)
  await buryEvent(world.database, stale, { ...failure, eventNumber: 3 })
  assert.deepEqual([await row(), await deadCount()], [released, 0])
})

test('a holder that buries another event than the head buries none', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const queue = await mustClaim()
  await advanceQueue(world.database, queue, 2, 60_000)
  await buryEvent(world.database, queue, { ...failure, eventNumber: 1 })
  assert.equal(await deadCount(), 0)
})

test('a holder that steps to an event before the one it has reached stays where it is', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  const queue = await mustClaim()
  await advanceQueue(world.database, queue, 3, 60_000)
  assert.equal(await advanceQueue(world.database, queue, 2, 60_000), true)
  assert.equal((await world.queueOf(customerId, endpointId))?.nextEvent, 3)
})

test('nothing of an endpoint that has been disabled since it was found is claimed, by its last holder neither', async () => {
  await world.emit(customerId)
  const { holderId } = await mustClaim()
  await world.query(`update event_endpoints set status = 'DISABLED'`)
  assert.equal(await claim(holderId), undefined)
  await endLease()
  assert.equal(await claim(), undefined)
  await world.query(`update event_endpoints set status = 'ACTIVE'`)
  assert.equal((await mustClaim()).nextEvent, 1)
})

test('a stalled deliverer that wakes after its lease sends no further event', async () => {
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  let release: () => void = () => undefined
  consumer.react = () => (response) => {
    release = () => response.writeHead(200).end()
  }
  const stalled = createDeliverer(world.context())
  await stalled.run(new AbortController().signal)
  await until('the first event is under way', () => consumer.received.length === 1)
  await endLease()
  consumer.react = () => 200
  await deliver(world.contextBeside(slowSettings))
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
  test(`${name}: its answer is lost and the statement repeated, and it has happened once`, async () => {
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
  })
}
