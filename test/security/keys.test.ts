// Keys and what is stored of them: nothing that could be read back, guessed or told apart by time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newSecretText } from '../../src/core/ids.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { createDatabase } from '../../src/db/database.ts'
import { silentLog } from '../support/database/database.ts'
import { startTestService, type TestService, testPeppers } from '../support/service/service.ts'
import { differenceInTime, differs } from '../support/statistics.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

test('of ten thousand keys no two are equal, and every letter and digit comes up at every place', () => {
  const keys = Array.from({ length: 10_000 }, () => newSecretText('cpk_'))
  assert.equal(new Set(keys).size, keys.length)
  for (let place = 4; place < 47; place += 1) assert.equal(new Set(keys.map((key) => key[place])).size, 62)
})

test('nothing that is stored of a key opens anything', async () => {
  const { apiKey, keyId } = await service.newCustomer()
  const [row] = await service.database.query<{ key_hash: Buffer; last_four: string }>(
    `select key_hash, last_four from api_keys where key_id = '${keyId}'`,
  )
  const hash = row?.key_hash as Buffer
  const presented = [
    keyId,
    row?.last_four ?? '',
    hash.toString('hex'),
    hash.toString('base64'),
    hash.toString('base64url'),
    `cpk_${hash.toString('hex').slice(0, 43)}`,
    `cpk_${'0'.repeat(39)}${row?.last_four}`,
  ]
  for (const key of presented) {
    const { status, body } = await service.call('/public/v1/payments/credits', { key })
    assert.equal(status, 401, key)
    assert.match(body.code, /^(INVALID_API_KEY|AUTH001)$/)
  }
  assert.equal((await service.call('/public/v1/payments/credits', { key: apiKey })).status, 200)
})

test('a key that is nearly right is refused in the same time as one that is not', async () => {
  const { apiKey } = await service.newCustomer()
  const authenticate = createAuthenticate(createDatabase(service.database.pool, silentLog), testPeppers)
  await authenticate(apiKey)
  // As many of each, and each as often: what the database has read lately it finds sooner, right or wrong.
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].filter((letter) => letter !== apiKey.at(-1))
  const near = letters.map((letter) => `${apiKey.slice(0, -1)}${letter}`)
  const far = letters.map(() => newSecretText('cpk_'))
  const refusalOf = (keys: string[], code = 'AUTH001') => {
    let turn = 0
    return () => {
      const key = keys[turn++ % keys.length] as string
      return () => assert.rejects(async () => authenticate(key), { code })
    }
  }
  const t = await differenceInTime([refusalOf(near), refusalOf(far)], 2_000)
  assert.ok(t < differs, `t is ${t.toFixed(2)}`)
  // What is not even looked for is told sooner: that a difference of this size is found, by as many, is shown by it.
  const malformed = far.map((key) => key.slice(1))
  assert.ok((await differenceInTime([refusalOf(near), refusalOf(malformed, 'INVALID_API_KEY')], 400)) > differs)
})
