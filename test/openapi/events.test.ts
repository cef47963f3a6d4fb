// Delivered events, validated against the webhooks of the API document.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Schema from 'typebox/schema'
import { silentLog } from '../../harness/silent-log.ts'
import { updateLowCredits } from '../../src/credits/accounts.sql.ts'
import { setBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { addEndpoint } from '../../src/events/endpoints.ts'
import { createOutbound } from '../../src/events/outbound.ts'
import { eventTypes, platformCustomer } from '../../src/events/outbox.sql.ts'
import { apiDocument } from '../../src/listeners/api-document.ts'
import { writeCheckpointEvent } from '../../src/transparency/publication/checkpoints.sql.ts'
import { closeAll } from '../support/closing.ts'
import { bookkeeper, writeAdjustments } from '../support/database/books.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { deliver, quickSettings } from '../support/events/world.ts'
import { orderInState, spend } from '../support/service/orders.ts'
import { startTestService, type TestService, testPeppers } from '../support/service/service.ts'

type Parameter = { name: string; schema: object }
type Webhook = {
  post: { parameters: Parameter[]; requestBody: { content: { 'application/json': { schema: object } } } }
}
const { components, webhooks } = apiDocument() as { components: object; webhooks: Record<string, Webhook> }

/** References point into the document. */
const matches = (schema: object, value: unknown) => Schema.Check({ ...schema, components }, value)

let service: TestService
let consumer: Consumer
before(async () => {
  service = await startTestService()
  consumer = await startConsumer()
  const { database, tallies } = service.payments
  const { secret } = await addEndpoint(database, testPeppers[0], { url: consumer.url, types: [] })
  consumer.secrets.push(secret)
  const customer = await service.newCustomer()
  await updateLowCredits(database, customer.customerId, [5])
  for (const status of ['CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const) {
    await orderInState(service, customer, status)
  }
  const { customerId } = customer
  const budget = { customerId, scope: 'CUSTOMER', value: null, period: 'DAY', credits: 21, warnAt: null } as const
  await setBudget(database, budget)
  await spend(service, customerId, 20)
  await spend(service, customerId, 1)
  await writeAdjustments(bookkeeper(service.database.pool))
  await findOrCreateCustomer(database, platformCustomer, null)
  assert.ok(await writeCheckpointEvent(database, { size: 3, root: Buffer.alloc(32), note: 'the note' }))
  const outbound = createOutbound({ allowPrivate: true, timeoutMs: quickSettings.timeoutMs })
  await deliver({ database, outbound, sealing: testPeppers, settings: quickSettings, log: silentLog, tallies })
  await outbound.close()
})
after(() => closeAll(consumer, service))

for (const type of eventTypes) {
  test(`${type} is sent with the body and headers of the document`, () => {
    const received = consumer.received.filter(({ payload }) => payload.type === type)
    assert.notEqual(received.length, 0)
    const { parameters, requestBody } = (webhooks[type] as Webhook).post
    const { schema } = requestBody.content['application/json']
    for (const { payload, headers, body } of received) {
      assert.ok(matches(schema, payload), body)
      assert.ok(matches({ $ref: '#/components/schemas/Event' }, payload), body)
      for (const { name, schema: text } of parameters)
        assert.ok(matches(text, headers[name]), `${name}: ${headers[name]}`)
    }
  })
}

test('an event with an extra field, or of another type, does not match the schema', () => {
  const [{ payload } = assert.fail('nothing came')] = consumer.received
  const schema = { $ref: '#/components/schemas/Event' }
  assert.equal(matches(schema, { ...payload, more: 1 }), false)
  assert.equal(matches(schema, { ...payload, data: { ...payload.data, more: 1 } }), false)
  assert.equal(matches(schema, { ...payload, type: 'order.lost' }), false)
})
