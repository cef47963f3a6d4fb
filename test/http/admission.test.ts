// The places of concurrent requests and the lines before them, over real HTTP, with routes that answer when the test releases them.
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
import { limitWork, longestWaitMs, mostWaiting, placesOf } from '../../src/http/limits/admission.ts'
import { createRequestCounts } from '../../src/http/request-counts.ts'
import { closeNow } from '../support/closing.ts'

/** A listener with a path for each kind of work. A request waits until the test releases it. */
async function startHoldingListener(t: TestContext) {
  const waiting: (() => void)[] = []
  const counts = createRequestCounts()
  const app: FastifyInstance = buildApiListener({
    counts,
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
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
    counts,
    /** Waits until `count` requests of the kind are in line. */
    async inLine(work: keyof typeof placesOf, count: number): Promise<void> {
      while (counts.work.get(work)?.waiting() !== count) await sleep(1)
    },
    /** Sends as many requests as a kind of work may have in progress, each on its own connection. */
    async fill(work: keyof typeof placesOf): Promise<Socket[]> {
      const opened = await Promise.all(Array.from({ length: placesOf[work] }, open))
      const before = waiting.length
      for (const socket of opened) socket.write(head(`GET /${work}`))
      while (waiting.length < before + placesOf[work]) await sleep(5)
      return opened
    },
  }
}

async function send(socket: Socket, path: string) {
  const startedAt = performance.now()
  socket.write(head(`GET ${path}`))
  const [received] = (await once(socket, 'data')) as [Buffer]
  const answer = parseAnswer(received)
  assert.ok(answer)
  return { ...answer, tookMs: performance.now() - startedAt }
}

test('a request beyond the places of its kind waits, and is served in the order of arrival', async (t) => {
  const { fill, open, waiting, inLine } = await startHoldingListener(t)
  await fill('read')
  const order: number[] = []
  const waited = await Promise.all([0, 1].map(open))
  const answers = []
  for (const [index, socket] of waited.entries()) {
    answers.push(send(socket, '/read').then(({ status }) => order.push(index) && status))
    await inLine('read', index + 1)
  }
  assert.equal(waiting.length, placesOf.read, 'neither has begun')
  // The place of the first one goes to the second.
  waiting.shift()?.()
  for (const answer of answers) {
    while (waiting.length < placesOf.read) await sleep(1)
    waiting.pop()?.()
    assert.equal(await answer, 200)
  }
  assert.deepEqual(order, [0, 1])
})

test('a request whose turn does not come in time is refused with SVC001 and Retry-After', async (t) => {
  const { fill, open, waiting } = await startHoldingListener(t)
  await fill('read')
  const refused = await Promise.all(Array.from({ length: 6 }, async () => send(await open(), '/read')))
  for (const { status, body, headers, tookMs } of refused) {
    assert.deepEqual([status, body.code], [503, 'SVC001'])
    assert.match(headers.get('retry-after') ?? '', /^[123]$/)
    assert.ok(tookMs > longestWaitMs - 50, `refused after ${tookMs} ms`)
  }
  const waits = new Set(refused.map(({ headers }) => headers.get('retry-after')))
  assert.equal(waits.size, 3, 'the retries are spread over three seconds')
  assert.equal(waiting.length, placesOf.read, 'none of them has begun')
})

test('a request whose sender has gone while it waited is not worked on', async (t) => {
  const { fill, open, waiting, inLine, counts } = await startHoldingListener(t)
  await fill('write')
  const gone = await open()
  gone.write(head('GET /write'))
  await inLine('write', 1)
  gone.resetAndDestroy()
  await sleep(50)
  const begun = waiting.length
  waiting.shift()?.()
  await inLine('write', 0)
  assert.equal(waiting.length, begun - 1, 'it has not begun')
  assert.equal(counts.work.get('write')?.running(), placesOf.write - 1)
})

test('a request that was answered while it waited, because the rest of it was unreadable, is not answered again', async (t) => {
  const { fill, open, inLine, counts } = await startHoldingListener(t)
  await fill('read')
  const socket = await open()
  socket.write(head('GET /read', { 'transfer-encoding': 'chunked' }))
  await inLine('read', 1)
  socket.write('zz\r\n')
  const [received] = (await once(socket, 'data')) as [Buffer]
  assert.equal(parseAnswer(received)?.body.code, 'VAL001')
  await inLine('read', 0)
  assert.equal(counts.earlyRefusals.crowded, 0)
  assert.equal((await send(await open(), '/free')).status, 200)
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

test('kinds of work have separate places: writes and settling continue while reads wait', async (t) => {
  const { fill, open, waiting } = await startHoldingListener(t)
  await fill('read')
  const late = send(await open(), '/read')
  for (const work of ['write', 'settle']) {
    const answered = send(await open(), `/${work}`)
    while (waiting.length === placesOf.read) await sleep(1)
    waiting.pop()?.()
    assert.equal((await answered).status, 200)
  }
  assert.equal((await send(await open(), '/free')).status, 200)
  assert.equal((await late).status, 503)
})

test('a request that fails frees its place', async (t) => {
  const { open, fill } = await startHoldingListener(t)
  const socket = await open()
  for (let attempt = 0; attempt <= placesOf.read; attempt += 1)
    assert.equal((await send(socket, '/fails')).body.code, 'INT001')
  await fill('read')
})

test('while so many requests wait in a line that it is full, the next one is refused at once, before its body is read', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  type Route = { config: object; handler: () => Promise<unknown>; onRequest?: ((...call: unknown[]) => void)[] }
  const route: Route = { config: { work: 'read', counts: {} }, handler: () => new Promise(() => undefined) }
  const app = { addHook: (_name: string, onRoute: (added: Route) => void) => onRoute(route) }
  const refused: number[] = []
  limitWork(app as never, createRequestCounts(), (_request, _reply, seconds) => refused.push(seconds))
  const request = [{ raw: { socket: { writable: true } } }, { sent: false }]
  let passed = 0
  const arrive = () => route.onRequest?.at(-1)?.(...request, () => (passed += 1))
  const begin = route.handler as (...call: unknown[]) => Promise<unknown>
  for (let count = 1; count < placesOf.read + mostWaiting; count += 1) void begin(...request)
  arrive()
  assert.deepEqual([passed, refused], [1, []])
  void begin(...request)
  arrive()
  assert.deepEqual([passed, refused.length], [1, 1])
})
