// What is counted where handlers, refusals and the framework overlap: one answer, one count.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import Type from 'typebox'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { SuccessOf, success } from '../../src/http/envelope.ts'
import { limits } from '../../src/http/limits/admission.ts'
import { createRequestCounts, type RequestCounts } from '../../src/http/request-counts.ts'
import { closeNow } from '../support/closing.ts'

type Codes = { get(path: string): Promise<string> }

function build(t: TestContext, rateLimit: { perSecond: number; burst: number } | null = null) {
  const counts = createRequestCounts()
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'somebody', keyId: 'theirs' }),
    rateLimit,
    counts,
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  t.after(() => closeNow(app))
  async function listen(): Promise<Codes> {
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    return {
      get: async (path) => ((await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as { code: string }).code,
    }
  }
  return { app, counts, listen }
}

/** The histogram has a time for each request; `unwritten` of them have two answers. */
function answersOf(counts: RequestCounts, route: string, unwritten = 0): Record<string, number> {
  const found = counts.routes.find((each) => each.route === route)
  assert.ok(found, route)
  const answered = Object.entries(found.answers).filter(([, count]) => count !== 0)
  const observed = found.durationsMs.counts.reduce((sum, count) => sum + count, 0)
  assert.equal(
    observed,
    answered.reduce((sum, [, count]) => sum + count, -unwritten),
  )
  return Object.fromEntries(answered)
}

test('an answer that cannot be written is INT001; where it was counted as a success that is not taken back', async (t) => {
  const { app, counts, listen } = build(t)
  const schema = { response: { 200: SuccessOf(Type.Integer()) } }
  const unwritable = () => success({ toJSON: () => assert.fail('never written') }, null)
  app.get('/returned', { config: { work: 'read' } }, async () => unwritable())
  app.get('/sent', { config: { work: 'read' }, schema }, async (_request, reply) => reply.send(unwritable() as never))
  app.get('/free', async () => unwritable())
  const codes = await listen()
  const both = { SUCCESS: 1, INT001: 1 }
  // What is sent is written before its handler is done.
  for (const [path, expected] of Object.entries({ '/returned': both, '/sent': { INT001: 1 }, '/free': both })) {
    assert.equal(await codes.get(path), 'INT001')
    assert.deepEqual(answersOf(counts, path, Object.keys(expected).length - 1), expected, path)
  }
})

test('whoever is turned away is counted by the reason, and with SVC001 on the route', async (t) => {
  const { app, counts, listen } = build(t)
  const waiting: (() => void)[] = []
  app.get('/held', { config: { work: 'read' } }, async () => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return success(null, null)
  })
  const codes = await listen()
  const sent = Array.from({ length: limits.read.burst }, () => codes.get('/held'))
  while (waiting.length < limits.read.burst) await new Promise(setImmediate)
  assert.equal(counts.underWay.get('read')?.(), limits.read.burst)
  assert.equal(await codes.get('/held'), 'SVC001')
  for (const letGo of waiting) letGo()
  await Promise.all(sent)
  assert.equal(counts.underWay.get('read')?.(), 0)
  assert.deepEqual(answersOf(counts, '/held'), { SUCCESS: limits.read.burst, SVC001: 1 })
  assert.deepEqual(counts.earlyRefusals, { crowded: 1, yielding: 0, 'rate limit': 0 })
})

test('a key past its rate is counted as turned away for it', async (t) => {
  const { app, counts, listen } = build(t, { perSecond: 1, burst: 2 })
  app.get('/read', { config: { work: 'read' } }, async () => success(null, null))
  const codes = await listen()
  const answered = []
  for (let turn = 0; turn < 3; turn += 1) answered.push(await codes.get('/read'))
  assert.deepEqual(answered, ['SUCCESS', 'SUCCESS', 'SVC001'])
  assert.deepEqual(counts.earlyRefusals, { crowded: 0, yielding: 0, 'rate limit': 1 })
  assert.deepEqual(answersOf(counts, '/read'), { SUCCESS: 2, SVC001: 1 })
})
