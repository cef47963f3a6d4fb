// A caller that tries thousands of keys: every wrong one is refused, with a delay after the first hundred, and callers with a
// valid key are served meanwhile, from the same address too. The same on the internal listener.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { answersUntilClosed, head, sendRaw } from '../../harness/raw-http.ts'
import { refuse } from '../../src/core/errors.ts'
import { newSecretText } from '../../src/core/ids.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { closeNow } from '../support/closing.ts'
import { startSpendingService } from '../support/spending/spending.ts'

let service: Awaited<ReturnType<typeof startSpendingService>>
let apiKey: string
before(async () => {
  service = await startSpendingService()
  apiKey = (await service.newCustomer()).apiKey
})
after(() => service.close())

const guessers = 400

type Listener = {
  port: () => number
  valid: () => Record<string, string>
  wrong: () => Record<string, string>
  path: () => string
}
const listeners: Record<string, Listener> = {
  'API keys on the public listener': {
    port: () => service.port,
    valid: () => ({ 'service-api-key': apiKey }),
    wrong: () => ({ 'service-api-key': newSecretText('cpk_') }),
    path: () => '/public/v1/payments/credits',
  },
  'tokens on the internal listener': {
    port: () => service.internal.port,
    valid: () => ({ authorization: `Bearer ${service.internal.issued.token}` }),
    wrong: () => ({ authorization: `Bearer ${newSecretText('cst_')}` }),
    path: () => `/internal/v1/customers/${crypto.randomUUID()}/statement`,
  },
}

for (const [name, { port, valid, wrong, path }] of Object.entries(listeners)) {
  test(`${3 * guessers} wrong ${name} are all AUTH001, and a valid one is served meanwhile`, async () => {
    /** Three wrong ones on each connection: the answers to the second and third wait for those before them. */
    async function guess(): Promise<string[]> {
      const last = { ...wrong(), connection: 'close' }
      const three = [wrong(), wrong(), last].map((headers) => head(`GET ${path()}`, headers))
      return (await answersUntilClosed(port(), three.join(''))).map(({ body }) => body.code)
    }
    let isOver = false
    async function validCaller(): Promise<number> {
      let served = 0
      for (; !isOver; served += 1) {
        const { body } = await sendRaw(port(), head(`GET ${path()}`, valid()))
        assert.match(body.code, /^(SUCCESS|NOT000)$/)
      }
      return served
    }
    const served = validCaller()
    const startedAt = performance.now()
    const codes = (await Promise.all(Array.from({ length: guessers }, guess))).flat()
    const tookMs = performance.now() - startedAt
    isOver = true
    assert.deepEqual([codes.length, new Set(codes)], [3 * guessers, new Set(['AUTH001'])])
    // The third answer on a connection is delayed after two delayed ones: pipelining is not faster.
    assert.ok(tookMs > 1_900, `${tookMs} ms`)
    assert.ok((await served) > 10)
  })
}

/** A listener that refuses every key at once, so that only the delay takes time. */
async function refuseAll(t: TestContext): Promise<number> {
  const app = buildApiListener({
    authenticate: async () => Promise.reject(refuse('AUTH001')),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => closeNow(app))
  return (app.server.address() as AddressInfo).port
}

test('wrong keys with different addresses in forwarding headers are delayed nevertheless', async (t) => {
  const port = await refuseAll(t)
  const times = await Promise.all(
    Array.from({ length: 150 }, async (_, place) => {
      const address = `192.0.2.${place}`
      const headers = { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }
      const startedAt = performance.now()
      assert.equal((await sendRaw(port, head('GET /', headers))).body.code, 'AUTH001')
      return performance.now() - startedAt
    }),
  )
  // A hundred are answered at once, and ten more in every second; a slow machine is slow for all of them.
  const late = times.filter((tookMs) => tookMs - Math.min(...times) > 800)
  assert.ok(late.length >= 30, `${times.map(Math.round)}`)
})
