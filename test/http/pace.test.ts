// Long turns of the event loop are noticed when they go on, and reads then yield to payments: over real HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { head, openSocket, parseAnswer } from '../../harness/raw-http.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { limits } from '../../src/http/limits/admission.ts'
import { watchForSlowLoop } from '../../src/http/limits/event-loop.ts'
import { closeNow } from '../support/closing.ts'

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** Turns of so many milliseconds, for so long. */
async function turn(eachMs: number, forMs: number): Promise<void> {
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    work(eachMs)
    await sleep(1)
  }
}

test('long turns count when they go on for half a second, and for seconds afterwards; short ones never', async (t) => {
  const pace = watchForSlowLoop()
  t.after(pace.stop)
  await turn(1, 800)
  assert.equal(pace.isSlow(), false)
  work(300)
  await sleep(300)
  assert.equal(pace.isSlow(), false, 'one long turn')
  await turn(40, 900)
  assert.equal(pace.isSlow(), true)
  await sleep(1_000)
  assert.equal(pace.isSlow(), true)
})

test('while turns are long and a payment is under way, reads beyond a few are refused and payments are not', async (t) => {
  const held: (() => void)[] = []
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'somebody', keyId: 'theirs' }),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  for (const kind of ['read', 'settle'] as const) {
    app.get(`/${kind}`, { config: { work: kind } }, async () => {
      await new Promise<void>((resolve) => held.push(resolve))
      return success({ did: kind }, null)
    })
  }
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets = await Promise.all(Array.from({ length: limits.read.steady + 3 }, () => openSocket(port)))
  t.after(async () => {
    for (const letGo of held) letGo()
    for (const socket of sockets) socket.destroy()
    await closeNow(app)
  })
  const next = () => sockets.pop() as NonNullable<(typeof sockets)[0]>
  async function holding(count: number, kind: string): Promise<void> {
    for (let each = 0; each < count; each += 1) next().write(head(`GET /${kind}`))
    const before = held.length
    while (held.length < before + count) await sleep(5)
  }
  const halfOf = limits.read.steady / 2
  await holding(halfOf, 'read')
  await turn(40, 900)
  // Nobody pays: there is nothing to yield to.
  await holding(1, 'read')
  await holding(1, 'settle')
  const refused = next()
  refused.write(head('GET /read'))
  const [received] = (await once(refused, 'data')) as [Buffer]
  assert.equal(parseAnswer(received)?.body.code, 'SVC001')
  await holding(1, 'settle')
})
