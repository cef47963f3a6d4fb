// The key check: which keys are cached, for how long, and when a suspension takes effect, with the test's own clock. Also
// the database triggers that store the time of a suspension.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { hashKey, issueKey, type Peppers } from '../../src/customers/api-keys.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import {
  findSuspendedKeys,
  listKeys,
  renewKeyHash,
  updateKeyStatus,
  updateSuspension,
} from '../../src/customers/customers.sql.ts'
import { type CheckedKey, createKeyCheck } from '../../src/customers/key-check.ts'
import { findSuspendedTokens, listTokens, updateTokenStatus } from '../../src/customers/service-tokens.sql.ts'
import { createAuthenticateService, issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

const pepper = { version: 1, secret: 'a pepper of sixteen' }
const secretOf = (name: string) => `key_${name}`
const hashOf = (name: string) => hashKey(secretOf(name), pepper).keyHash

type Key = CheckedKey & { name: string }

/** A key check over keys in memory, with counts of its lookups. */
function createWorld(names: string[]) {
  const world = {
    timeMs: 0,
    suspended: new Set<string>(),
    lookups: 0,
    suspensionQueries: 0,
    /** How old a suspension may be that is listed. */
    listedMs: 0,
    renewed: [] as [name: string, pepperVersion: number][],
    isUnreachable: false,
    /** Delays the lookups until it resolves. */
    hold: undefined as Promise<void> | undefined,
    checkKey: (_name: string): Key | Promise<Key> => assert.fail('not created yet'),
  }
  const keyCheck = createKeyCheck<Key>({
    peppers: [pepper],
    pattern: /^key_/,
    now: () => world.timeMs,
    find: async (hashes) => {
      world.lookups += hashes.length
      if (world.isUnreachable) throw new Error('unreachable')
      const found = hashes.map(({ keyHash }) => {
        const name = names.find((each) => hashOf(each).equals(keyHash))
        return name
          ? { name, keyHash, status: world.suspended.has(name) ? ('SUSPENDED' as const) : ('ACTIVE' as const) }
          : null
      })
      await world.hold
      return found
    },
    findSuspended: async (withinMs) => {
      world.suspensionQueries += 1
      world.listedMs = withinMs
      if (world.isUnreachable) throw new Error('unreachable')
      return [...world.suspended]
    },
    idOf: ({ name }) => name,
    renew: async ({ name }, hash) => {
      world.renewed.push([name, hash.pepperVersion])
    },
  })
  world.checkKey = (name) => keyCheck(secretOf(name))
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

test('a cached key is looked up once a minute, and one query for suspensions, listed for longer, covers all keys', async () => {
  const world = createWorld(['a', 'b'])
  for (; world.timeMs < 60_000; world.timeMs += 100) {
    await world.checkKey('a')
    await world.checkKey('b')
  }
  assert.equal(world.lookups, 2)
  assert.ok(world.listedMs >= 2 * 60_000, `${world.listedMs} ms`)
  assert.ok(world.suspensionQueries >= 120 && world.suspensionQueries <= 200, `${world.suspensionQueries} queries`)
  world.timeMs += 100
  await world.checkKey('a')
  assert.equal(world.lookups, 3)
})

test('a cached key is returned synchronously', async () => {
  const world = createWorld(['a'])
  await world.checkKey('a')
  await settled()
  assert.equal((world.checkKey('a') as Key).status, 'ACTIVE')
})

test('a suspension takes effect within a second of use, and so does its end', async () => {
  const world = createWorld(['a', 'b'])
  const use = async (name: string) => {
    const code = await codeOf(() => world.checkKey(name))
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

test('a cached key is not used for longer than a second without an answer from the database', async () => {
  const world = createWorld(['a'])
  await world.checkKey('a')
  await settled()
  world.isUnreachable = true
  world.timeMs += 800
  assert.equal(await codeOf(() => world.checkKey('a')), 'SUCCESS')
  await settled()
  world.timeMs += 200
  await assert.rejects(async () => world.checkKey('a'), /unreachable/)
  world.isUnreachable = false
  assert.equal(await codeOf(() => world.checkKey('a')), 'SUCCESS')
})

test('with more suspended keys than one list can have, every key is looked up', async () => {
  const world = createWorld(['a'])
  for (let number = 0; number < 10_000; number += 1) world.suspended.add(`another ${number}`)
  for (let use = 1; use <= 3; use += 1) {
    await world.checkKey('a')
    await settled()
    assert.equal(world.lookups, use)
  }
})

test('the result of a lookup that began before a suspension and ends after it is not used for longer than a second', async () => {
  const world = createWorld(['a', 'b'])
  await world.checkKey('b')
  await settled()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.hold = promise
  const early = world.checkKey('a')
  world.suspended.add('a')
  world.timeMs += 400
  world.hold = undefined
  await world.checkKey('b')
  await settled()
  resolve()
  assert.equal((await early).status, 'ACTIVE')
  world.timeMs += 100
  assert.equal(await codeOf(() => world.checkKey('a')), 'AUTH003')
})

test('an unknown key is AUTH001 each time, and a malformed one INVALID_API_KEY without a lookup', async () => {
  const world = createWorld(['a'])
  assert.equal(await codeOf(() => world.checkKey('unknown')), 'AUTH001')
  assert.equal(await codeOf(() => world.checkKey('unknown')), 'AUTH001')
  assert.equal(world.lookups, 2)
  const keyCheck = createKeyCheck({
    peppers: [pepper],
    pattern: /^key_/,
    find: () => assert.fail('looked up'),
    findSuspended: () => assert.fail('queried for suspensions'),
    idOf: () => assert.fail('found'),
    renew: () => assert.fail('renewed'),
  })
  for (const secret of [undefined, '', 'another', ['key_a']]) {
    assert.equal(await codeOf(() => keyCheck(secret)), 'INVALID_API_KEY')
  }
})

let testDatabase: TestDatabase
let database: Database
before(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase(testDatabase.pool, silentLog)
})
after(() => testDatabase.drop())

test('the database stores when a key or a token was suspended, and clears it on reactivation', async () => {
  const key = await issueKey(database, [pepper], 'customer')
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

test('all keys of a suspended customer are listed; suspended again it keeps the time of the first suspension, and an unknown one is none', async () => {
  const { customerId, keyId } = await issueKey(database, [pepper], 'suspended twice')
  const suspendedAt = async () => {
    const [row] = await testDatabase.query<{ at: Date | null }>(
      'select suspended_at as at from customers where customer_id = $1',
      [customerId],
    )
    return row?.at
  }
  const isListed = async () => (await findSuspendedKeys(database, 60_000, 100)).includes(keyId)
  assert.equal(await updateSuspension(database, customerId, true), true)
  const first = await suspendedAt()
  assert.equal(await updateSuspension(database, customerId, true), true)
  assert.ok(first && (await isListed()))
  assert.deepEqual(await suspendedAt(), first)
  for (let turn = 0; turn < 2; turn += 1) assert.equal(await updateSuspension(database, customerId, false), true)
  assert.deepEqual([await suspendedAt(), await isListed()], [null, false])
  assert.equal(await updateSuspension(database, crypto.randomUUID(), true), false)
})

test('keys and tokens are listed newest first, a key with whether its customer is suspended', async () => {
  const { customerId, keyId } = await issueKey(database, [pepper], 'suspended and listed')
  await updateSuspension(database, customerId, true)
  const later = await issueKey(database, [pepper], 'not suspended')
  assert.deepEqual(
    (await listKeys(database, 2)).map((each) => [each.keyId, each.customerSuspended]),
    [
      [later.keyId, false],
      [keyId, true],
    ],
  )
  const tokens = [await issueToken(database, [pepper], 'older'), await issueToken(database, [pepper], 'newer')]
  assert.deepEqual(
    (await listTokens(database, 2)).map(({ serviceId }) => serviceId),
    tokens.map(({ serviceId }) => serviceId).reverse(),
  )
})

test('a secret found under an older pepper is rehashed under the newest, and can still be suspended', async () => {
  const newer = { version: 2, secret: 'another pepper of sixteen' }
  const key = await issueKey(database, [pepper], 'rotates')
  const token = await issueToken(database, [pepper], 'rotates')
  const checkBoth = (...peppers: Peppers) => {
    const customer = createAuthenticate(database, peppers)
    const service = createAuthenticateService(database, peppers)
    return { customer: () => customer(key.apiKey), service: () => service([`Bearer ${token.token}`]) }
  }
  const before = checkBoth(pepper)
  const during = checkBoth(newer, pepper)
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
  const afterwards = checkBoth(newer)
  for (const who of ['customer', 'service'] as const) assert.equal(await codeOf(afterwards[who]), 'SUCCESS')
  await updateKeyStatus(database, key.keyId, 'SUSPENDED')
  await updateTokenStatus(database, token.serviceId, 'SUSPENDED')
  const suspendedAt = performance.now()
  // Also in the process that has cached it by its former hash.
  for (const who of ['customer', 'service'] as const) {
    while ((await codeOf(before[who])) !== 'AUTH003') {
      assert.ok(performance.now() - suspendedAt < 1_500)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
})

test('a secret is rehashed towards a newer pepper alone, while other processes still have the older one first', async () => {
  const newer = { version: 2, secret: 'another pepper of sixteen' }
  const { keyId, apiKey } = await issueKey(database, [newer, pepper], 'rolls out')
  const renewed: string[] = []
  const counted = wrapDatabase(database, ({ name }, send) => {
    if (name.startsWith('customers.renew')) renewed.push(name)
    return send()
  })
  await createAuthenticate(counted, [pepper, newer])(apiKey)
  await settled()
  await renewKeyHash(database, keyId, hashKey(apiKey, pepper))
  const stored = (await listKeys(database, 100)).find((each) => each.keyId === keyId)
  assert.deepEqual([renewed, stored?.secretVersion], [[], 2])
})

test('secrets are rehashed one after the other, and a failure does not stop the next', async () => {
  const newer = { version: 2, secret: 'newer' }
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const keyCheck = createKeyCheck<Key>({
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
  for (const name of ['a', 'b', 'c']) await keyCheck(secretOf(name))
  await settled()
  assert.deepEqual(begun, ['a'])
  ends.get('a')?.reject(new Error('unreachable'))
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')?.resolve()
  await settled()
  assert.deepEqual(begun, ['a', 'b', 'c'])
})
