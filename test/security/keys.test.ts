// Keys and what is stored of them: nothing that could be read back, guessed or told apart by time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newSecretText } from '../../src/core/ids.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { createDatabase } from '../../src/db/database.ts'
import { silentLog } from '../support/database.ts'
import { startTestService, type TestService, testPeppers } from '../support/service.ts'
import { welch } from '../support/statistics.ts'

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
    ...[keyId, row?.last_four ?? '', hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')],
    ...[`cpk_${hash.toString('hex').slice(0, 43)}`, `cpk_${'0'.repeat(39)}${row?.last_four}`],
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
  const last = apiKey.at(-1) === 'a' ? 'b' : 'a'
  const near = () => `${apiKey.slice(0, -1)}${last}`
  const far = () => newSecretText('cpk_')
  const times: Record<'near' | 'far', number[]> = { near: [], far: [] }
  for (let round = 0; round < 2_000; round += 1) {
    for (const which of round % 2 === 0 ? (['near', 'far'] as const) : (['far', 'near'] as const)) {
      const key = which === 'near' ? near() : far()
      const startedAt = process.hrtime.bigint()
      await assert.rejects(async () => authenticate(key), { code: 'AUTH001' })
      if (round >= 200) times[which].push(Number(process.hrtime.bigint() - startedAt))
    }
  }
  const t = Math.abs(welch(times.near, times.far))
  assert.ok(t < 4.5, `t is ${t.toFixed(2)}`)
})
