// Old events are deleted when every endpoint has them, and only those.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { updateEndpointStatus } from '../../src/events/endpoints.sql.ts'
import { removeEndpoint } from '../../src/events/endpoints.ts'
import { createPurgeEvents } from '../../src/events/purge-events.ts'
import { audit, recordedAudit } from '../../src/payments/audit/audit.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld } from '../support/events/world.ts'

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

async function emit(count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) await world.emit(customerId)
}

const makeOlder = (days: number, upTo = 1_000_000) =>
  world.query(`update events set created_at = created_at - $1::int * interval '1 day' where event_number <= $2`, [
    days,
    upTo,
  ])

async function forget(): Promise<void> {
  const run = createPurgeEvents(world.database, 30)
  while ((await run()).more);
}

async function kept(): Promise<number[]> {
  const rows = await world.query<{ number: number }>(
    'select event_number::int as number from events where customer_id = $1 order by event_number',
    [customerId],
  )
  return rows.map(({ number }) => number)
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('events that every endpoint has are deleted when they are old, except the last; numbers go on', async () => {
  await emit(6)
  await deliver(world.context())
  await makeOlder(31, 4)
  await forget()
  assert.deepEqual(await kept(), [5, 6])
  await makeOlder(31)
  await forget()
  assert.deepEqual(await kept(), [6])
  await emit(1)
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), numbers(1, 7))
  assert.deepEqual(await world.query('select deleted_events::int as count from accounts'), [{ count: 5 }])
})

test('deleted events are not lost rows: an audit does not miss those that an earlier one counted', async () => {
  const missing = async () =>
    (await audit(world.database)).violations.flatMap(({ invariant, detail }) => (invariant === 'J-3' ? [detail] : []))
  await emit(6)
  await deliver(world.context())
  await recordedAudit(world.database, 'COMMAND', { onUnwritten: assert.fail })
  await makeOlder(31)
  await forget()
  assert.deepEqual(await kept(), [6])
  assert.deepEqual(await missing(), [])
  // One more than were deleted and are left.
  await world.query(
    `insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
     values (gen_random_uuid(), 'DAILY', now(), 1, '{"events": 7}', 0, '[]')`,
  )
  assert.deepEqual(await missing(), [{ scan: 'events', rows: 1, counted: 7 }])
})

test('without an endpoint nothing needs them: old events of all customers are deleted, however many there are', async () => {
  await removeEndpoint(world.database, endpointId)
  // More events of a customer, and more customers, than one statement deletes.
  await emit(230)
  for (let customer = 0; customer < 25; customer += 1) {
    const other = await world.newCustomer()
    for (let number = 0; number < 2; number += 1) await world.emit(other)
  }
  await makeOlder(31)
  await forget()
  const left = await world.query<{ count: number }>('select count(*)::int as count from events group by customer_id')
  assert.deepEqual(
    left,
    Array.from({ length: 26 }, () => ({ count: 1 })),
  )
  assert.deepEqual(await kept(), [230])
})

test('an event that an endpoint still has to get stays, and all after it: also at a disabled endpoint', async () => {
  await emit(3)
  await deliver(world.context())
  const other = await startConsumer()
  const otherEndpoint = await world.register(other)
  await emit(3)
  await updateEndpointStatus(world.database, otherEndpoint, 'DISABLED')
  await deliver(world.context())
  await makeOlder(31)
  await forget()
  assert.deepEqual(await kept(), [4, 5, 6])
  await updateEndpointStatus(world.database, otherEndpoint, 'ACTIVE')
  await deliver(world.context())
  await forget()
  assert.deepEqual([await kept(), other.taken()], [[6], [4, 5, 6]])
  await other.close()
})

test('an idle queue keeps no event: that of an endpoint which has wanted none of the later types', async () => {
  const other = await startConsumer()
  const types = await world.register(other, ['credits.low'])
  await emit(1)
  await world.emit(customerId, 'credits.low')
  await emit(3)
  await deliver(world.context())
  await makeOlder(31)
  await forget()
  assert.deepEqual(await kept(), [5])
  await world.emit(customerId, 'credits.low')
  await deliver(world.context())
  assert.deepEqual(other.taken(), [2, 6])
  const queue = await world.queueOf(customerId, types)
  assert.deepEqual([queue?.nextEvent, queue?.lastEvent], [7, 6])
  await other.close()
})

test('a dead letter stays, and all after it', async () => {
  await emit(3)
  consumer.react = ({ payload }) => (payload.sequence === 2 ? 500 : 200)
  await deliver(world.context())
  await world.passHours(73)
  for (let hour = 0; hour < 2; hour += 1) {
    await deliver(world.context())
    await world.passHours(1)
  }
  assert.deepEqual(consumer.taken(), [1, 3])
  await makeOlder(31)
  await forget()
  assert.deepEqual(await kept(), [2, 3])
})

test('an account that a payment has locked is left for the next time', async () => {
  await emit(3)
  await deliver(world.context())
  await makeOlder(31)
  const payment = await world.begin(customerId)
  await payment.query('select from accounts where customer_id = $1 for no key update', [customerId])
  await forget()
  assert.deepEqual(await kept(), [1, 2, 3])
  await payment.commit()
  await forget()
  assert.deepEqual(await kept(), [3])
})

test('the database refuses to delete an event that is young, or not delivered, or not counted by its account', async () => {
  await emit(3)
  const deleteFirst = () => world.query('delete from events where event_number = 1')
  const refused = { constraint: 'events_deleted_after_delivery' }
  await world.query('update accounts set deleted_events = 1 where last_event > 0')
  await makeOlder(31)
  await assert.rejects(deleteFirst(), refused, 'not delivered')
  await deliver(world.context())
  await makeOlder(-2)
  await assert.rejects(deleteFirst(), refused, 'young')
  await makeOlder(2)
  await assert.rejects(world.query('delete from events where event_number = 2'), refused, 'not counted')
  await deleteFirst()
  assert.deepEqual(await kept(), [2, 3])
})
