// The proxy detects answers that are not documented: a test listener sends every kind of wrong answer, one after the
// other.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { startPrism, violationsOf } from '../support/documents/prism.ts'

type ScriptedAnswer = { status?: number; headers?: Record<string, string>; body: object }

const balance = { credits: 1, customerId: '5509d75f-dfe0-4984-9be9-f02d7cdb5de6' }
const documented = { success: true, data: balance, message: 'The credit balance.', code: 'SUCCESS', metadata: null }
const refusal = { success: false, data: null, message: 'No.', code: 'AUTH001', metadata: null }
const busy = { ...refusal, code: 'SVC001' }

const wrongAnswers: Record<string, ScriptedAnswer> = {
  'a status that is not documented': { status: 429, body: refusal },
  'a code that this endpoint does not have': { status: 404, body: { ...refusal, code: 'NOT000' } },
  'a code under the status of another': { status: 401, body: { ...refusal, code: 'AUTH003' } },
  'a field that is missing': { body: { ...documented, data: { credits: 1 } } },
  'an unknown field': { body: { ...documented, data: { ...balance, secret: 1 } } },
  'an extra field in the envelope': { body: { ...documented, requestId: 'x' } },
  'a number as a string': { body: { ...documented, data: { ...balance, credits: '1' } } },
  'a malformed id': { body: { ...documented, data: { ...balance, customerId: 'me' } } },
  'a balance below zero': { body: { ...documented, data: { ...balance, credits: -1 } } },
  'a success with success: false': { body: { ...documented, success: false } },
  'SVC001 without Retry-After': { status: 503, body: busy },
  'an answer that may be cached': { headers: { 'cache-control': 'public' }, body: documented },
}

let scripted: ScriptedAnswer = { body: documented }
const listener = createServer((_request, response) => {
  const { status = 200, headers, body } = scripted
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  response.end(JSON.stringify(body))
})
let proxy: Awaited<ReturnType<typeof startPrism>>
before(async () => {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  proxy = await startPrism(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`)
})
after(() => closeAll(proxy, listener))

async function fetchViolations() {
  return violationsOf(await fetch(`${proxy.url}/public/v1/payments/credits`))
}

test('documented answers pass', async () => {
  scripted = { body: documented }
  assert.deepEqual(await fetchViolations(), [])
  scripted = { status: 401, body: refusal }
  assert.deepEqual(await fetchViolations(), [])
  scripted = { status: 503, headers: { 'retry-after': '1' }, body: busy }
  assert.deepEqual(await fetchViolations(), [])
})

for (const [name, wrongAnswer] of Object.entries(wrongAnswers)) {
  test(`${name} is detected`, async () => {
    scripted = wrongAnswer
    assert.notDeepEqual(await fetchViolations(), [])
  })
}
