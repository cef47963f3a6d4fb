// The limits on concurrent requests, over real HTTP, with routes that answer when the test releases them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { head, openSocket, parseAnswer } from '../../harness/raw-http.ts'
import { refuse } from '../../src/core/errors.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { limits } from '../../src/http/limits/admission.ts'
import { closeNow } from '../support/closing.ts'

/** A listener with a path for each kind of work. A request waits until the test releases it. */
async function startHoldingListener(t: TestContext) {
  const waiting: (() => void)[] = []
  const app: FastifyInstance = buildApiListener({
    authenticate: ({ headers }) => ({ customerId: 'customer', keyId: `${headers['x-key'] ?? 'key'}` }),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  for (const work of ['read', 'write', 'settle'] as const) {
    app.get(`/${work}`, { config: { work } }, async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return success({ did: work }, null)
    })
  }
  app.get('/fails', { config: { work: 'read' } }, async () => {
    throw new Error('a bug')
  })
  app.get('/refuses', async () => {
    throw refuse('SVC001')
  })
  app.get('/free', async () => success({ did: 'nothing' }, null))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(async () => {
    for (const release of waiting) release()
    for (const socket of sockets) socket.destroy()
    await closeNow(app)
  })
  async function open(): Promise<Socket> {
    const socket = await openSocket(port)
    sockets.push(socket)
    return socket
  }
  return {
    waiting,
    open,
    /** Sends as many requests as a kind of work may have in progress, each on its own connection. */
    async fill(work: keyof typeof limits): Promise<Socket[]> {
      const opened = await Promise.all(Array.from({ length: limits[work].burst }, open))
      const before = waiting.length
      for (const socket of opened) socket.write(head(`GET /${work}`))
      while (waiting.length < before + limits[work].burst) await sleep(5)
      return opened
    },
  }
}

async function send(socket: Socket, path: string, headers: Record<string, string> = {}) {
  const startedAt = performance.now()
  socket.write(head(`GET ${path}`, headers))
  const [received] = (await once(socket, 'data')) as [Buffer]
  const answer = parseAnswer(received)
  assert.ok(answer)
  return { ...answer, tookMs: performance.now() - startedAt }
}

test('a request above the limit of its kind is refused at once with SVC001 and Retry-After', async (t) => {
  const { fill, open, waiting } = await startHoldingListener(t)
  await fill('read')
  const refused = await Promise.all(Array.from({ length: 6 }, async () => send(await open(), '/read')))
  for (const { status, body, headers } of refused) {
    assert.deepEqual([status, body.code], [503, 'SVC001'])
    assert.match(headers.get('retry-after') ?? '', /^[123]$/)
  }
  const waits = new Set(refused.map(({ headers }) => headers.get('retry-after')))
  assert.equal(waits.size, 3, 'the retries are spread over three seconds')
  assert.equal(waiting.length, limits.read.burst)
})

test('a refusal by admission equals any other refusal, except for Retry-After and the connection headers', async (t) => {
  const { fill, open } = await startHoldingListener(t)
  await fill('write')
  const ordinary = await send(await open(), '/refuses')
  const busy = await send(await open(), '/write')
  const facts = ({ status, headers, body }: typeof busy) => {
    const varying = ['date', 'retry-after', 'connection', 'keep-alive']
    return { status, body, headers: [...headers].filter(([name]) => !varying.includes(name)).toSorted() }
  }
  assert.deepEqual(facts(busy), facts(ordinary))
})

test('after an overload only the steady load is admitted, for a second', async (t) => {
  const { fill, open, waiting } = await startHoldingListener(t)
  const { burst, steady } = limits.read
  await fill('read')
  assert.equal((await send(await open(), '/read')).status, 503)
  const overloadedAt = performance.now()
  for (const release of waiting.splice(0, burst - steady)) release()
  assert.equal((await send(await open(), '/read')).status, 503)
  for (const release of waiting.splice(0, 1)) release()
  await sleep(20)
  const oneMore = await open()
  oneMore.write(head('GET /read'))
  while (waiting.length < steady) await sleep(5)
  assert.ok(performance.now() - overloadedAt < 1_000, 'the machine is too slow for this test')

  await sleep(1_100 - (performance.now() - overloadedAt))
  const later = await open()
  later.write(head('GET /read'))
  while (waiting.length <= steady) await sleep(5)
})

test('kinds of work have separate limits: writes and settling continue while reads are refused', async (t) => {
  const { fill, open, waiting } = await startHoldingListener(t)
  await fill('read')
  assert.equal((await send(await open(), '/read')).status, 503)
  for (const work of ['write', 'settle']) {
    const answered = send(await open(), `/${work}`)
    while (waiting.length === limits.read.burst) await sleep(5)
    waiting.pop()?.()
    assert.equal((await answered).status, 200)
  }
  assert.equal((await send(await open(), '/free')).status, 200)
})

test('a request that fails frees its slot', async (t) => {
  const { open, fill } = await startHoldingListener(t)
  const socket = await open()
  for (let attempt = 0; attempt <= limits.read.burst; attempt += 1)
    assert.equal((await send(socket, '/fails')).body.code, 'INT001')
  await fill('read')
})

test('a refused connection is paused: its next request is read later, and other connections are read meanwhile', async (t) => {
  const { fill, open } = await startHoldingListener(t)
  await fill('read')
  const insistent = await open()
  const first = await send(insistent, '/read')
  const early = send(insistent, '/free')
  const other = await send(await open(), '/free')
  const late = await early
  assert.deepEqual([first.status, late.status, other.status], [503, 200, 200])
  assert.ok(late.tookMs >= 450, `read after ${late.tookMs} ms`)
  assert.equal((await send(insistent, '/free')).status, 200)
})

test('a connection with several keys is not paused: it belongs to a proxy, and its next request may be a payment', async (t) => {
  const { fill, open } = await startHoldingListener(t)
  await fill('read')
  const shared = await open()
  await send(shared, '/free', { 'x-key': 'one' })
  await send(shared, '/free', { 'x-key': 'another' })
  assert.equal((await send(shared, '/read')).status, 503)
  const next = await send(shared, '/free')
  assert.equal(next.status, 200)
  assert.ok(next.tookMs < 400, `read after ${next.tookMs} ms`)
})
