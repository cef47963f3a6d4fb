// How much is let in at a time: over real HTTP, with routes that answer when the test says so.
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

/** Every path of the kinds of work; what is asked waits until it is let go. */
async function startHeld(t: TestContext) {
  const waiting: (() => void)[] = []
  const app: FastifyInstance = buildApiListener({
    authenticate: ({ headers }) => ({ customerId: 'somebody', keyId: `${headers['x-key'] ?? 'theirs'}` }),
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
    for (const letGo of waiting) letGo()
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
    /** As many requests as a kind of work may have under way, each on a connection of its own. */
    async fill(work: keyof typeof limits): Promise<Socket[]> {
      const opened = await Promise.all(Array.from({ length: limits[work].burst }, open))
      const before = waiting.length
      for (const socket of opened) socket.write(head(`GET /${work}`))
      while (waiting.length < before + limits[work].burst) await sleep(5)
      return opened
    },
  }
}

async function ask(socket: Socket, path: string, headers: Record<string, string> = {}) {
  const startedAt = performance.now()
  socket.write(head(`GET ${path}`, headers))
  const [received] = (await once(socket, 'data')) as [Buffer]
  const answer = parseAnswer(received)
  assert.ok(answer)
  return { ...answer, tookMs: performance.now() - startedAt }
}

test('past the limit of its kind a request is refused at once with SVC001 and Retry-After', async (t) => {
  const { fill, open, waiting } = await startHeld(t)
  await fill('read')
  const refused = await Promise.all(Array.from({ length: 6 }, async () => ask(await open(), '/read')))
  for (const { status, body, headers } of refused) {
    assert.deepEqual([status, body.code], [503, 'SVC001'])
    assert.match(headers.get('retry-after') ?? '', /^[123]$/)
  }
  const waits = new Set(refused.map(({ headers }) => headers.get('retry-after')))
  assert.equal(waits.size, 3, 'not everybody comes back at the same time')
  assert.equal(waiting.length, limits.read.burst)
})

test('a refusal of many is, but for its wait and its connection, what every refusal is', async (t) => {
  const { fill, open } = await startHeld(t)
  await fill('write')
  const ordinary = await ask(await open(), '/refuses')
  const busy = await ask(await open(), '/write')
  const facts = ({ status, headers, body }: typeof busy) => {
    const varying = ['date', 'retry-after', 'connection', 'keep-alive']
    return { status, body, headers: [...headers].filter(([name]) => !varying.includes(name)).toSorted() }
  }
  assert.deepEqual(facts(busy), facts(ordinary))
})

test('after a crowd only the steady load is let in, for a second', async (t) => {
  const { fill, open, waiting } = await startHeld(t)
  const { burst, steady } = limits.read
  await fill('read')
  assert.equal((await ask(await open(), '/read')).status, 503)
  const crowdedAt = performance.now()
  for (const letGo of waiting.splice(0, burst - steady)) letGo()
  assert.equal((await ask(await open(), '/read')).status, 503)
  for (const letGo of waiting.splice(0, 1)) letGo()
  await sleep(20)
  const oneMore = await open()
  oneMore.write(head('GET /read'))
  while (waiting.length < steady) await sleep(5)
  assert.ok(performance.now() - crowdedAt < 1_000, 'too slow a machine to tell anything')

  await sleep(1_100 - (performance.now() - crowdedAt))
  const later = await open()
  later.write(head('GET /read'))
  while (waiting.length <= steady) await sleep(5)
})

test('kinds of work do not take each other’s place: settling goes on while reads are refused', async (t) => {
  const { fill, open, waiting } = await startHeld(t)
  await fill('read')
  assert.equal((await ask(await open(), '/read')).status, 503)
  for (const work of ['write', 'settle']) {
    const answered = ask(await open(), `/${work}`)
    while (waiting.length === limits.read.burst) await sleep(5)
    waiting.pop()?.()
    assert.equal((await answered).status, 200)
  }
  assert.equal((await ask(await open(), '/free')).status, 200)
})

test('a request that fails gives its place back', async (t) => {
  const { open, fill } = await startHeld(t)
  const socket = await open()
  for (let turn = 0; turn <= limits.read.burst; turn += 1)
    assert.equal((await ask(socket, '/fails')).body.code, 'INT001')
  await fill('read')
})

test('a connection that was refused rests: what it sends at once is read later, and others are read meanwhile', async (t) => {
  const { fill, open } = await startHeld(t)
  await fill('read')
  const insistent = await open()
  const first = await ask(insistent, '/read')
  const early = ask(insistent, '/free')
  const other = await ask(await open(), '/free')
  const late = await early
  assert.deepEqual([first.status, late.status, other.status], [503, 200, 200])
  assert.ok(late.tookMs >= 450, `read after ${late.tookMs} ms`)
  assert.equal((await ask(insistent, '/free')).status, 200)
})

test('a connection on which several call does not rest: it is a proxy’s, and the next may be paying', async (t) => {
  const { fill, open } = await startHeld(t)
  await fill('read')
  const shared = await open()
  await ask(shared, '/free', { 'x-key': 'one' })
  await ask(shared, '/free', { 'x-key': 'another' })
  assert.equal((await ask(shared, '/read')).status, 503)
  const next = await ask(shared, '/free')
  assert.equal(next.status, 200)
  assert.ok(next.tookMs < 400, `read after ${next.tookMs} ms`)
})
