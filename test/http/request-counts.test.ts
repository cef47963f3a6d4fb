// The request counts where handlers, refusals and the framework overlap: one count for each answer.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import Type from 'typebox'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { SuccessOf, success } from '../../src/http/envelope.ts'
import { placesOf } from '../../src/http/limits/admission.ts'
import { createRequestCounts, type RequestCounts } from '../../src/http/request-counts.ts'
import { closeNow } from '../support/closing.ts'

type Codes = { get(path: string): Promise<string> }

function build(t: TestContext, rateLimit: { perSecond: number; burst: number } | null = null) {
  const counts = createRequestCounts()
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
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

/** The histogram has one duration for each request; `unwritten` of them were counted as two answers. */
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

test('an answer that cannot be serialized is INT001; a success that was already counted stays counted', async (t) => {
  const { app, counts, listen } = build(t)
  const schema = { response: { 200: SuccessOf(Type.Integer()) } }
  const unwritable = () => success({ toJSON: () => assert.fail('never written') }, null)
  app.get('/returned', { config: { work: 'read' } }, async () => unwritable())
  app.get('/sent', { config: { work: 'read' }, schema }, async (_request, reply) => reply.send(unwritable() as never))
  app.get('/free', async () => unwritable())
  const codes = await listen()
  const both = { SUCCESS: 1, INT001: 1 }
  // reply.send serializes before the handler returns.
  for (const [path, expected] of Object.entries({ '/returned': both, '/sent': { INT001: 1 }, '/free': both })) {
    assert.equal(await codes.get(path), 'INT001')
    assert.deepEqual(answersOf(counts, path, Object.keys(expected).length - 1), expected, path)
  }
})

test('a request refused by admission is counted by its reason, and with SVC001 on the route', async (t) => {
  const { app, counts, listen } = build(t)
  const waiting: (() => void)[] = []
  app.get('/held', { config: { work: 'read' } }, async () => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return success(null, null)
  })
  const codes = await listen()
  const sent = Array.from({ length: placesOf.read }, () => codes.get('/held'))
  while (waiting.length < placesOf.read) await new Promise(setImmediate)
  assert.equal(counts.work.get('read')?.running(), placesOf.read)
  assert.equal(await codes.get('/held'), 'SVC001')
  for (const release of waiting) release()
  await Promise.all(sent)
  assert.equal(counts.work.get('read')?.running(), 0)
  assert.deepEqual(answersOf(counts, '/held'), { SUCCESS: placesOf.read, SVC001: 1 })
  assert.deepEqual(counts.earlyRefusals, { crowded: 1, 'rate limit': 0 })
})

test('a request above the rate limit of its key is counted as refused for that reason', async (t) => {
  const { app, counts, listen } = build(t, { perSecond: 1, burst: 2 })
  app.get('/read', { config: { work: 'read' } }, async () => success(null, null))
  const codes = await listen()
  const answered = []
  for (let attempt = 0; attempt < 3; attempt += 1) answered.push(await codes.get('/read'))
  assert.deepEqual(answered, ['SUCCESS', 'SUCCESS', 'SVC001'])
  assert.deepEqual(counts.earlyRefusals, { crowded: 0, 'rate limit': 1 })
  assert.deepEqual(answersOf(counts, '/read'), { SUCCESS: 2, SVC001: 1 })
})
