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
import { type LoopWatch, watchForSlowLoop } from '../../src/http/limits/event-loop.ts'
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

/** Short turns and one long one do not count, at least at one of ten attempts: another process may make short turns long. */
async function watchOnAnIdleMachine(): Promise<LoopWatch> {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const pace = watchForSlowLoop()
    await turn(1, 800)
    const afterShortTurns = pace.isSlow()
    blockFor(300)
    await sleep(300)
    if (!afterShortTurns && !pace.isSlow()) return pace
    pace.stop()
  }
  return assert.fail('short turns or one long one count as slow')
}

test('the loop is slow after long turns for half a second, and for seconds afterwards; short turns never count', async (t) => {
  const pace = await watchOnAnIdleMachine()
  t.after(pace.stop)
  await turn(40, 900)
  assert.equal(pace.isSlow(), true)
  await sleep(1_000)
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
  // Again: on a busy machine the pace may have ended meanwhile.
  await turn(40, 900)
  const refused = next()
  refused.write(head('GET /read'))
  const [received] = (await once(refused, 'data')) as [Buffer]
  assert.equal(parseAnswer(received)?.body.code, 'SVC001')
  await holding(1, 'settle')
})
