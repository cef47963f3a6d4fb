// The signature of an event, computed from the published rule alone, as a consumer without the library does.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { rotateEndpoint } from '../../src/events/endpoints.ts'
import { closeAll } from '../support/closing.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld } from '../support/events/world.ts'
import { testPeppers } from '../support/service/service.ts'

let world: EventWorld
let consumer: Consumer
let endpointId: string
before(async () => {
  world = await createEventWorld()
  consumer = await startConsumer()
  endpointId = await world.register(consumer)
})
after(() => closeAll(consumer, world))

/** HMAC-SHA256 with the base64-decoded secret as key, over the three parts joined by dots. */
function signatureOf(
  secret: string,
  { 'webhook-id': id, 'webhook-timestamp': at }: Record<string, string>,
  body: string,
) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
}

async function nextDelivery() {
  await world.emit(await world.newCustomer())
  await deliver(world.context())
  return consumer.received.at(-1) ?? assert.fail('no delivery')
}

test('the signature is HMAC-SHA256 of id, time and body under the secret of the endpoint', async () => {
  const [secret = ''] = consumer.secrets
  const { headers, body, id } = await nextDelivery()
  assert.equal(headers['webhook-signature'], signatureOf(secret, headers, body))
  assert.match(id, /^[\w-]+$/)
  // The current time in seconds.
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000) < 300)
  for (const changed of [{ 'webhook-id': 'other' }, { 'webhook-timestamp': '1' }]) {
    assert.notEqual(headers['webhook-signature'], signatureOf(secret, { ...headers, ...changed }, body))
  }
  assert.notEqual(headers['webhook-signature'], signatureOf(secret, headers, `${body} `))
})

test('during the rotation of a secret there are two signatures, one with each secret', async () => {
  const former = consumer.secrets[0] ?? ''
  const secret = (await rotateEndpoint(world.database, testPeppers[0], endpointId)) ?? assert.fail('no such endpoint')
  consumer.secrets.push(secret)
  const { headers, body } = await nextDelivery()
  const expected = [secret, former].map((each) => signatureOf(each, headers, body))
  assert.deepEqual(headers['webhook-signature']?.split(' ').toSorted(), expected.toSorted())
})
