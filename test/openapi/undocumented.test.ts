// That the proxy finds what the document does not say: a listener that lies in every way there is, one after the other.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { startPrism, violationsOf } from '../support/documents/prism.ts'

type Lie = { status?: number; headers?: Record<string, string>; body: object }

const balance = { credits: 1, customerId: '5509d75f-dfe0-4984-9be9-f02d7cdb5de6' }
const truth = { success: true, data: balance, message: 'The credit balance.', code: 'SUCCESS', metadata: null }
const refusal = { success: false, data: null, message: 'No.', code: 'AUTH001', metadata: null }
const busy = { ...refusal, code: 'SVC001' }

const lies: Record<string, Lie> = {
  'a status that is not documented': { status: 429, body: refusal },
  'a code that this endpoint does not have': { status: 404, body: { ...refusal, code: 'NOT000' } },
  'a code under the status of another': { status: 401, body: { ...refusal, code: 'AUTH003' } },
  'a field that is missing': { body: { ...truth, data: { credits: 1 } } },
  'a field that nobody knows': { body: { ...truth, data: { ...balance, secret: 1 } } },
  'a field beside the envelope': { body: { ...truth, requestId: 'x' } },
  'a number as text': { body: { ...truth, data: { ...balance, credits: '1' } } },
  'an id that is none': { body: { ...truth, data: { ...balance, customerId: 'me' } } },
  'a balance below zero': { body: { ...truth, data: { ...balance, credits: -1 } } },
  'a success that says it is none': { body: { ...truth, success: false } },
  'SVC001 without Retry-After': { status: 503, body: busy },
  'an answer that may be kept': { headers: { 'cache-control': 'public' }, body: truth },
}

let lie: Lie = { body: truth }
const liar = createServer((_request, response) => {
  const { status = 200, headers, body } = lie
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  response.end(JSON.stringify(body))
})
let proxy: Awaited<ReturnType<typeof startPrism>>
before(async () => {
  liar.listen(0, '127.0.0.1')
  await once(liar, 'listening')
  proxy = await startPrism(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`)
})
after(() => closeAll(proxy, liar))

async function ask() {
  return violationsOf(await fetch(`${proxy.url}/public/v1/payments/credits`))
}

test('what is documented passes', async () => {
  lie = { body: truth }
  assert.deepEqual(await ask(), [])
  lie = { status: 401, body: refusal }
  assert.deepEqual(await ask(), [])
  lie = { status: 503, headers: { 'retry-after': '1' }, body: busy }
  assert.deepEqual(await ask(), [])
})

for (const [name, told] of Object.entries(lies)) {
  test(`${name} is found`, async () => {
    lie = told
    assert.notDeepEqual(await ask(), [])
  })
}
