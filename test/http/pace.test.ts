// Continued long turns of the event loop are detected, and reads then yield to payments: over real HTTP.
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

function blockFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** Keeps the event loop in turns of `eachMs` for `forMs`. */
async function turn(eachMs: number, forMs: number): Promise<void> {
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    blockFor(eachMs)
    await sleep(1)
  }
}

test('the loop is slow after long iterations for half a second, and for ten seconds afterwards; short ones never count', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const reading = { iterations: 0, busyMs: 0 }
  const pace = watchForSlowLoop(() => ({ ...reading }))
  t.after(pace.stop)
  /** Samples, one each 100 ms, in which the iterations took so long. */
  const pass = (samples: number, iterationMs: number) => {
    for (let sample = 0; sample < samples; sample += 1) {
      reading.iterations += Math.max(1, Math.floor(100 / iterationMs))
      reading.busyMs += Math.max(100, iterationMs)
      t.mock.timers.tick(100)
    }
    return pace.isSlow()
  }
  assert.equal(pass(50, 1), false)
  assert.equal(pass(1, 300), false, 'one long iteration')
  assert.equal(pass(3, 25), false, 'long ones for less than half a second')
  assert.equal(pass(1, 1), false)
  assert.equal(pass(4, 40), false)
  assert.equal(pass(1, 40), true)
  assert.equal(pass(99, 1), true)
  assert.equal(pass(1, 1), false)
})

test('the readings are those of the event loop of this process', async (t) => {
  const pace = watchForSlowLoop()
  t.after(pace.stop)
  for (let attempt = 0; attempt < 20 && !pace.isSlow(); attempt += 1) await turn(40, 900)
  assert.equal(pace.isSlow(), true)
})

test('while the loop is slow and a payment is in progress, most reads are refused and payments are not', async (t) => {
  const held: (() => void)[] = []
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
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
    for (const release of held) release()
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
  // No payment is in progress, so reads need not yield.
  await holding(1, 'read')
  await holding(1, 'settle')
  // Again: on a busy machine it may have taken ten seconds to get here.
  await turn(40, 900)
  const refused = next()
  refused.write(head('GET /read'))
  const [received] = (await once(refused, 'data')) as [Buffer]
  assert.equal(parseAnswer(received)?.body.code, 'SVC001')
  await holding(1, 'settle')
})
