// Keys and their stored form: they cannot be read back, guessed, or distinguished by response time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { newSecretText } from '../../src/core/ids.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { createDatabase } from '../../src/db/database.ts'
import { longOnly } from '../support/long.ts'
import { startTestService, type TestService, testPeppers } from '../support/service/service.ts'
import { differenceInTime, differs } from '../support/statistics.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

test('ten thousand keys are all different, and every letter and digit occurs at every position', () => {
  const keys = Array.from({ length: 10_000 }, () => newSecretText('cpk_'))
  assert.equal(new Set(keys).size, keys.length)
  for (let place = 4; place < 47; place += 1) assert.equal(new Set(keys.map((key) => key[place])).size, 62)
})

test('no stored value of a key is accepted as a key', async () => {
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

test('an almost correct key is refused in the same time as a completely wrong one', { skip: longOnly }, async () => {
  const { apiKey } = await service.newCustomer()
  const authenticate = createAuthenticate(createDatabase(service.database.pool, silentLog), testPeppers)
  await authenticate(apiKey)
  // The same number of each, each equally often: the database finds recently read rows faster.
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].filter((letter) => letter !== apiKey.at(-1))
  const near = letters.map((letter) => `${apiKey.slice(0, -1)}${letter}`)
  const far = letters.map(() => newSecretText('cpk_'))
  const refusalOf = (keys: string[], code = 'AUTH001') => {
    let calls = 0
    return () => {
      const key = keys[calls++ % keys.length] as string
      return () => assert.rejects(async () => authenticate(key), { code })
    }
  }
  const t = await differenceInTime([refusalOf(near), refusalOf(far)], 2_000)
  assert.ok(t < differs, `t is ${t.toFixed(2)}`)
  // A malformed key is refused earlier, without a query: this shows that a difference of that size is detected.
  const malformed = far.map((key) => key.slice(1))
  assert.ok((await differenceInTime([refusalOf(near), refusalOf(malformed, 'INVALID_API_KEY')], 400)) > differs)
})
