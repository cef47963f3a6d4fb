// Too many requests with one key, and too many wrong keys. Each request has its own connection.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { head, sendRaw } from '../../harness/raw-http.ts'
import { newSecretText } from '../../src/core/ids.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService({ rateLimitPerSecond: 20 })
})
after(() => service.close())

function get(path: string, key: string) {
  return sendRaw(service.port, head(`GET /public/v1/${path}`, { 'service-api-key': key }))
}

const credits = (key: string) => get('payments/credits', key)

/** Sends requests until one is refused; many at once, because the bucket refills meanwhile. */
async function exhaust(key: string) {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => credits(key)))
    const refused = answers.find(({ status }) => status !== 200)
    if (refused) return refused
  }
}

test('a request above the rate limit of its key is 503 SVC001 with Retry-After: 1, and other keys are not limited', async () => {
  const greedy = await service.newCustomer()
  const modest = await service.newCustomer()
  const { status, body, headers } = await exhaust(greedy.apiKey)
  assert.deepEqual([status, body.code], [503, 'SVC001'])
  assert.equal(headers.get('retry-after'), '1')
  assert.equal((await credits(modest.apiKey)).status, 200)
})

test('a customer whose reads are rate limited can still confirm a payment', async () => {
  const { apiKey } = await service.newCustomer()
  await exhaust(apiKey)
  const body = JSON.stringify({ orderId: 'ord_unknown', paymentKey: 'none', amount: 1_000 })
  const fields = { 'service-api-key': apiKey, 'content-type': 'application/json', 'content-length': body.length }
  const answer = await sendRaw(service.port, head('POST /public/v1/payments/confirm', fields) + body)
  assert.equal(answer.body.code, 'NOT000')
})

test('the rate limit is checked before the route: too many requests for unknown routes are SVC001 too', async () => {
  const { apiKey } = await service.newCustomer()
  const answers = await Promise.all(Array.from({ length: 40 }, () => get('nowhere', apiKey)))
  const codes = new Set(answers.map(({ body }) => body.code))
  assert.deepEqual(codes, new Set(['NOT000', 'SVC001']))
})

test('after very many wrong keys the answer to a wrong key is delayed, and a valid key is served at once', async () => {
  const guess = () => credits(newSecretText('cpk_'))
  const wrong = await Promise.all(Array.from({ length: 150 }, guess))
  assert.ok(wrong.every(({ body }) => body.code === 'AUTH001'))
  const { apiKey } = await service.newCustomer()
  const startedAt = performance.now()
  // Some of them may be answered at once: a few wrong keys are allowed every second.
  const late = Promise.all(Array.from({ length: 40 }, guess)).then(() => performance.now() - startedAt)
  const served = await credits(apiKey)
  const servedMs = performance.now() - startedAt
  assert.equal(served.status, 200)
  const lateMs = await late
  assert.ok(lateMs >= 950, `answered after ${lateMs} ms`)
  assert.ok(servedMs < lateMs, `valid key served after ${servedMs} ms, wrong keys answered after ${lateMs} ms`)
})
