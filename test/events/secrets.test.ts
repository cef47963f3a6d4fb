// Signing secrets: stored sealed, rotated with two valid at once, readable after KEY_PEPPER was rotated.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { type SealingSecret, seal, unseal } from '../../src/core/seal.ts'
import { rotateSecret, updateEndpointStatus } from '../../src/events/endpoints.sql.ts'
import { enableEndpoint, rotateEndpoint } from '../../src/events/endpoints.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld } from '../support/events/world.ts'
import { testPeppers } from '../support/service/service.ts'

let world: EventWorld
before(async () => {
  world = await createEventWorld()
})
after(() => world.close())

let consumer: Consumer
let customerId = ''
let endpointId = ''
beforeEach(async () => {
  consumer = await startConsumer()
  customerId = await world.newCustomer()
  endpointId = await world.register(consumer)
})
afterEach(async () => {
  await consumer.close()
  await world.query(`update event_endpoints set status = 'DISABLED'`)
})

const [pepper] = testPeppers
const newPepper: SealingSecret = { version: 2, secret: 'another pepper for the tests' }

async function rotate(sealing: SealingSecret = pepper): Promise<string> {
  return (await rotateEndpoint(world.database, sealing, endpointId)) ?? assert.fail('no such endpoint')
}

/** Sends an event and returns which of the secrets verify it. */
async function verifying(secrets: string[], sealing: readonly SealingSecret[] = testPeppers): Promise<boolean[]> {
  consumer.secrets.push(...secrets)
  await world.emit(customerId)
  await deliver(world.context(undefined, { sealing }))
  const { body, headers } = consumer.received.at(-1) ?? assert.fail('nothing was received')
  return secrets.map((secret) => {
    try {
      new Webhook(secret).verify(body, headers)
      return true
    } catch {
      return false
    }
  })
}

async function passOverlap(): Promise<void> {
  await world.query(
    `update event_endpoints set secrets = (
       select jsonb_agg(case when s ->> 'until' is null then s else s || '{"until":"2020-01-01T00:00:00Z"}' end)
       from jsonb_array_elements(secrets) s) where endpoint_id = $1`,
    [endpointId],
  )
}

test('after a rotation the old and the new secret verify for a day, and after it only the new', async () => {
  const [old = ''] = consumer.secrets
  const rotated = await rotate()
  assert.match(rotated, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(await verifying([old, rotated]), [true, true])
  assert.equal(consumer.received.at(-1)?.headers['webhook-signature']?.split(' ').length, 2)
  const [row] = await world.query<{ hours: number }>(
    `select extract(epoch from (secrets -> 1 ->> 'until')::timestamptz - now())::float8 / 3600 as hours
     from event_endpoints where endpoint_id = $1`,
    [endpointId],
  )
  assert.ok(Math.abs((row?.hours ?? 0) - 24) < 0.1)
  await passOverlap()
  assert.deepEqual(await verifying([old, rotated]), [false, true])
})

test('events after a rotation are signed with the new secret, also within one queue', async () => {
  const rotated = Promise.withResolvers<string>()
  consumer.react =
    ({ payload }) =>
    (response) => {
      if (payload.sequence === 1) rotate().then(rotated.resolve, rotated.reject)
      rotated.promise.then((secret) => {
        consumer.secrets.push(secret)
        response.writeHead(200).end()
      })
    }
  for (let count = 0; count < 2; count += 1) await world.emit(customerId)
  await deliver(world.context())
  const [first, second] = consumer.received
  assert.ok(first && second)
  const verifier = new Webhook(await rotated.promise)
  assert.throws(() => verifier.verify(first.body, first.headers))
  assert.ok(verifier.verify(second.body, second.headers))
})

test('an endpoint that is disabled in the middle of a queue gets nothing more, and everything when it is enabled', async () => {
  const { database } = world
  consumer.react = () => (response) => {
    updateEndpointStatus(database, endpointId, 'DISABLED').then(() => response.writeHead(200).end())
  }
  for (let count = 0; count < 3; count += 1) await world.emit(customerId)
  await deliver(world.context())
  const came = () => consumer.received.map(({ payload }) => payload.sequence)
  assert.deepEqual(came(), [1])
  assert.equal((await world.queueOf(customerId, endpointId))?.leased, false)
  consumer.react = () => 200
  assert.equal(await enableEndpoint(database, endpointId), true)
  await deliver(world.context())
  assert.deepEqual(came(), [1, 2, 3])
})

test('concurrent rotations lose no secret: every secret that was returned verifies', async () => {
  const [old = ''] = consumer.secrets
  const rotated = await Promise.all([rotate(), rotate(), rotate()])
  assert.deepEqual(await verifying([old, ...rotated]), [true, true, true, true])
})

test('after many rotations within a day at most five secrets are kept, the newest among them', async () => {
  const rotated: string[] = []
  for (let count = 0; count < 7; count += 1) rotated.push(await rotate())
  assert.deepEqual(await verifying(rotated), [false, false, true, true, true, true, true])
})

test('a secret ends a day after the rotation that replaced it: a later rotation does not move its end', async () => {
  await rotate()
  const end = '2099-01-01T00:00:00Z'
  await world.query(`update event_endpoints set secrets = jsonb_set(secrets, '{1,until}', $2) where endpoint_id = $1`, [
    endpointId,
    JSON.stringify(end),
  ])
  await rotate()
  const [row] = await world.query<{ ends: (string | null)[] }>(
    `select jsonb_path_query_array(secrets, '$[*].until') as ends from event_endpoints where endpoint_id = $1`,
    [endpointId],
  )
  assert.equal(row?.ends.length, 3)
  assert.deepEqual([row?.ends.at(0), row?.ends.at(-1)], [null, end])
})

test('a rotation deletes the secrets whose overlap of a day is over', async () => {
  await rotate()
  await passOverlap()
  await rotate()
  const [row] = await world.query<{ count: number }>(
    'select jsonb_array_length(secrets) as count from event_endpoints where endpoint_id = $1',
    [endpointId],
  )
  assert.equal(row?.count, 2)
})

test('a rotation that is repeated because its answer was lost keeps its secret once, and the end of the one before', async () => {
  await rotate()
  const rotation = { endpointId, sealed: 'sealed once', keptSeconds: 86_400, keptAtMost: 4 }
  const stored = async () => {
    assert.equal(await rotateSecret(world.database, rotation), true)
    const rows = await world.query<{ secrets: object }>('select secrets from event_endpoints where endpoint_id = $1', [
      endpointId,
    ])
    return rows[0]?.secrets as { sealed: string; until: string | null }[]
  }
  const first = await stored()
  assert.deepEqual([first.length, first[0]], [3, { sealed: 'sealed once', until: null }])
  rotation.keptSeconds = 1_000_000
  assert.deepEqual(await stored(), first)
})

test('an unknown endpoint cannot be rotated', async () => {
  assert.equal(await rotateEndpoint(world.database, pepper, 'end_none'), undefined)
})

test('the database has only sealed secrets: none is readable, and two seals of one secret differ', async () => {
  const secrets = [...consumer.secrets, await rotate()]
  const rows = await world.query<{ row: string }>('select e::text as row from event_endpoints e')
  for (const secret of secrets) {
    const key = secret.slice('whsec_'.length)
    const bytes = Buffer.from(key, 'base64')
    for (const shown of [secret, key, bytes.toString('hex'), bytes.toString('base64url')]) {
      assert.ok(rows.every(({ row }) => !row.includes(shown)))
    }
  }
  assert.notEqual(seal('text', 'end_1', pepper), seal('text', 'end_1', pepper))
})

test('with a new KEY_PEPPER before the old one, older seals are readable and new ones use the new pepper', async () => {
  const both = [newPepper, pepper]
  const [old = ''] = consumer.secrets
  assert.deepEqual(await verifying([old], both), [true])
  const rotated = await rotate(newPepper)
  assert.deepEqual(await verifying([old, rotated], both), [true, true])
  await passOverlap()
  // Now the old pepper can be removed.
  assert.deepEqual(await verifying([rotated], [newPepper]), [true])
})

test('without the pepper of a sealed secret nothing is sent, and the event waits', async () => {
  await world.emit(customerId)
  await deliver(world.context(undefined, { sealing: [newPepper] }))
  assert.deepEqual(consumer.received, [])
  const queue = await world.queueOf(customerId, endpointId)
  assert.deepEqual([queue?.nextEvent, queue?.lastError], [1, 'sealed under secret 1, which is not among KEY_PEPPER'])
})

test('a sealed text that was changed, has another context, or uses another pepper of the same version, does not open', () => {
  const sealed = seal('whsec_secret', 'end_1', pepper)
  assert.equal(unseal(sealed, 'end_1', [newPepper, pepper]), 'whsec_secret')
  const body = Buffer.from(sealed.slice(2), 'base64url')
  for (let place = 0; place < body.length; place += 1) {
    const changed = Buffer.from(body)
    changed[place] = (changed[place] ?? 0) ^ 1
    assert.throws(() => unseal(`1.${changed.toString('base64url')}`, 'end_1', [pepper]), `byte ${place}`)
  }
  for (const broken of ['', '1.', '1.AAAA', sealed.slice(0, 10), 'not sealed']) {
    assert.throws(() => unseal(broken, 'end_1', [pepper]), broken)
  }
  assert.throws(() => unseal(sealed, 'end_2', [pepper]))
  assert.throws(() => unseal(sealed, 'end_1', [{ ...pepper, secret: 'not the same' }]))
  assert.throws(() => unseal(sealed.replace(/^1/, '2'), 'end_1', [newPepper, pepper]))
})
