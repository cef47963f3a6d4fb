// Who is remembered, for how long, and how a suspension is noticed: with a clock of the test's own, and the triggers of the
// database that say when somebody was suspended.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashKey, issueKey, type Peppers } from '../../src/customers/api-keys.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { findSuspendedKeys, listKeys, updateKeyStatus } from '../../src/customers/customers.sql.ts'
import { type CheckedKey, createKeyCheck } from '../../src/customers/key-check.ts'
import { findSuspendedTokens, listTokens, updateTokenStatus } from '../../src/customers/service-tokens.sql.ts'
import { createAuthenticateService, issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database/database.ts'

const pepper = { version: 1, secret: 'a pepper of sixteen' }
const secretOf = (name: string) => `key_${name}`
const hashOf = (name: string) => hashKey(secretOf(name), pepper).keyHash

type Key = CheckedKey & { name: string }

/** A recogniser over keys in memory, with what it has asked. */
function createWorld(names: string[]) {
  const world = {
    timeMs: 0,
    suspended: new Set<string>(),
    lookups: 0,
    questions: 0,
    renewed: [] as [name: string, pepperVersion: number][],
    isAway: false,
    /** Holds lookups back until it is called. */
    hold: undefined as Promise<void> | undefined,
    recognise: (_name: string): Key | Promise<Key> => assert.fail('not made yet'),
  }
  const recogniser = createKeyCheck<Key>({
    peppers: [pepper],
    pattern: /^key_/,
    now: () => world.timeMs,
    find: async (hashes) => {
      world.lookups += hashes.length
      if (world.isAway) throw new Error('away')
      const found = hashes.map(({ keyHash }) => {
        const name = names.find((each) => hashOf(each).equals(keyHash))
        return name
          ? { name, keyHash, status: world.suspended.has(name) ? ('SUSPENDED' as const) : ('ACTIVE' as const) }
          : null
      })
      await world.hold
      return found
    },
    findSuspended: async () => {
      world.questions += 1
      if (world.isAway) throw new Error('away')
      return [...world.suspended]
    },
    idOf: ({ name }) => name,
    renew: async ({ name }, hash) => {
      world.renewed.push([name, hash.pepperVersion])
    },
  })
  world.recognise = (name) => recogniser(secretOf(name))
  return world
}

async function codeOf(answer: () => unknown): Promise<string> {
  try {
    await answer()
    return 'SUCCESS'
  } catch (error) {
    return (error as { code: string }).code
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('who was recognised is looked for once a minute, and one question keeps all of them fresh', async () => {
  const world = createWorld(['a', 'b'])
  for (; world.timeMs < 60_000; world.timeMs += 100) {
    await world.recognise('a')
    await world.recognise('b')
  }
  assert.equal(world.lookups, 2)
  assert.ok(world.questions >= 120 && world.questions <= 200, `${world.questions} questions`)
  world.timeMs += 100
  await world.recognise('a')
  assert.equal(world.lookups, 3)
})

test('who is remembered is recognised without waiting for anything', async () => {
  const world = createWorld(['a'])
  await world.recognise('a')
  await settled()
  assert.equal((world.recognise('a') as Key).status, 'ACTIVE')
})

test('a suspension is felt within a second of use, and its end as well', async () => {
  const world = createWorld(['a', 'b'])
  const use = async (name: string) => {
    const code = await codeOf(() => world.recognise(name))
    await settled()
    return code
  }
  await use('a')
  world.suspended.add('a')
  const codes: string[] = []
  for (let step = 0; step < 10; step += 1, world.timeMs += 100) codes.push(await use('a'))
  assert.equal(codes.at(-1), 'AUTH003')
  assert.equal(await use('b'), 'SUCCESS')
  world.suspended.delete('a')
  for (let step = 0; step < 10; step += 1, world.timeMs += 100) codes.push(await use('a'))
  assert.equal(codes.at(-1), 'SUCCESS')
})

test('what is remembered does not outlive the answers of the database', async () => {
  const world = createWorld(['a'])
  await world.recognise('a')
  await settled()
  world.isAway = true
  world.timeMs += 800
  assert.equal(await codeOf(() => world.recognise('a')), 'SUCCESS')
  await settled()
  world.timeMs += 200
  await assert.rejects(async () => world.recognise('a'), /away/)
  world.isAway = false
  assert.equal(await codeOf(() => world.recognise('a')), 'SUCCESS')
})

test('a lookup that began before a suspension and ends after it is not believed for longer than a second', async () => {
  const world = createWorld(['a', 'b'])
  await world.recognise('b')
  await settled()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.hold = promise
  const early = world.recognise('a')
  world.suspended.add('a')
  world.timeMs += 400
  world.hold = undefined
  await world.recognise('b')
  await settled()
  resolve()
  assert.equal((await early).status, 'ACTIVE')
  world.timeMs += 100
  assert.equal(await codeOf(() => world.recognise('a')), 'AUTH003')
})

test('whom nobody knows is AUTH001 each time, and what is not well-formed INVALID_API_KEY without a lookup', async () => {
  const world = createWorld(['a'])
  assert.equal(await codeOf(() => world.recognise('stranger')), 'AUTH001')
  assert.equal(await codeOf(() => world.recognise('stranger')), 'AUTH001')
  assert.equal(world.lookups, 2)
  const recogniser = createKeyCheck({
    peppers: [pepper],
    pattern: /^key_/,
    find: () => assert.fail('looked for'),
    findSuspended: () => assert.fail('asked for'),
    idOf: () => assert.fail('found'),
    renew: () => assert.fail('renewed'),
  })
  for (const secret of [undefined, '', 'another', ['key_a']]) {
    assert.equal(await codeOf(() => recogniser(secret)), 'INVALID_API_KEY')
  }
})

let testDatabase: TestDatabase
let database: Database
before(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase(testDatabase.pool, silentLog)
})
after(() => testDatabase.drop())

test('the database notes when a key or a token was suspended, and forgets it when it works again', async () => {
  const key = await issueKey(database, [pepper], 'somebody')
  const token = await issueToken(database, [pepper], 'a service')
  const rows = [
    {
      suspended: () => findSuspendedKeys(database, 60_000, 10),
      set: (status: 'ACTIVE' | 'SUSPENDED') => updateKeyStatus(database, key.keyId, status),
      id: key.keyId,
      age: (text: string) => testDatabase.query(`update api_keys set suspended_at = now() - interval '${text}'`),
    },
    {
      suspended: () => findSuspendedTokens(database, 60_000, 10),
      set: (status: 'ACTIVE' | 'SUSPENDED') => updateTokenStatus(database, token.serviceId, status),
      id: token.serviceId,
      age: (text: string) => testDatabase.query(`update service_tokens set suspended_at = now() - interval '${text}'`),
    },
  ]
  for (const { suspended, set, id, age } of rows) {
    assert.deepEqual(await suspended(), [])
    await set('SUSPENDED')
    assert.deepEqual(await suspended(), [id])
    await age('59 seconds')
    assert.deepEqual(await suspended(), [id])
    await age('61 seconds')
    assert.deepEqual(await suspended(), [])
    await set('SUSPENDED')
    await set('ACTIVE')
    assert.deepEqual(await suspended(), [])
  }
})

test('a secret that is found under an older pepper is hashed under the newest from then on, and suspended all the same', async () => {
  const newer = { version: 2, secret: 'another pepper of sixteen' }
  const key = await issueKey(database, [pepper], 'rotates')
  const token = await issueToken(database, [pepper], 'rotates')
  const recogniseBoth = (...peppers: Peppers) => {
    const customer = createAuthenticate(database, peppers)
    const service = createAuthenticateService(database, peppers)
    return { customer: () => customer(key.apiKey), service: () => service([`Bearer ${token.token}`]) }
  }
  const before = recogniseBoth(pepper)
  const during = recogniseBoth(newer, pepper)
  for (const who of ['customer', 'service'] as const) assert.equal(await codeOf(before[who]), 'SUCCESS')
  for (const who of ['customer', 'service'] as const) assert.equal(await codeOf(during[who]), 'SUCCESS')
  const versions = async () => {
    const keys = await listKeys(database, 100)
    const tokens = await listTokens(database, 100)
    return [
      keys.find(({ keyId }) => keyId === key.keyId)?.secretVersion,
      tokens.find(({ serviceId }) => serviceId === token.serviceId)?.secretVersion,
    ]
  }
  while ((await versions()).some((version) => version !== 2)) await settled()
  const afterwards = recogniseBoth(newer)
  for (const who of ['customer', 'service'] as const) assert.equal(await codeOf(afterwards[who]), 'SUCCESS')
  await updateKeyStatus(database, key.keyId, 'SUSPENDED')
  await updateTokenStatus(database, token.serviceId, 'SUSPENDED')
  const suspendedAt = performance.now()
  // The one that remembers it by its former hash too.
  for (const who of ['customer', 'service'] as const) {
    while ((await codeOf(before[who])) !== 'AUTH003') {
      assert.ok(performance.now() - suspendedAt < 1_500)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
})

test('secrets that are hashed anew are hashed one after the other, and one that fails does not keep the next', async () => {
  const newer = { version: 2, secret: 'newer' }
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const recogniser = createKeyCheck<Key>({
    peppers: [newer, pepper],
    pattern: /^key_/,
    find: async (hashes) =>
      hashes.map(({ keyHash }) => {
        const name = ['a', 'b', 'c'].find((each) => hashOf(each).equals(keyHash))
        return name ? { name, keyHash, status: 'ACTIVE' as const } : null
      }),
    findSuspended: async () => [],
    idOf: ({ name }) => name,
    renew: ({ name }) => {
      begun.push(name)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      return end.promise
    },
  })
  for (const name of ['a', 'b', 'c']) await recogniser(secretOf(name))
  await settled()
  assert.deepEqual(begun, ['a'])
  ends.get('a')?.reject(new Error('away'))
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')?.resolve()
  await settled()
  assert.deepEqual(begun, ['a', 'b', 'c'])
})
