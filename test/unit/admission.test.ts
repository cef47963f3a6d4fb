// How much is let in at a time: over real HTTP, with routes that answer when the test says so.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { limits } from '../../src/http/admission.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { head, openSocket, parseAnswer } from '../support/raw-http.ts'

/** Every path of the kinds of work; what is asked waits until it is let go. */
async function startHeld(t: TestContext) {
  const waiting: (() => void)[] = []
  const app: FastifyInstance = buildApiListener({
    authenticate: () => ({ customerId: 'somebody' }),
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
  app.get('/free', async () => success({ did: 'nothing' }, null))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(async () => {
    for (const letGo of waiting) letGo()
    for (const socket of sockets) socket.destroy()
    await app.close()
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
      const opened = await Promise.all(Array.from({ length: limits[work] }, open))
      const before = waiting.length
      for (const socket of opened) socket.write(head(`GET /${work}`))
      while (waiting.length < before + limits[work]) await new Promise((resolve) => setTimeout(resolve, 5))
      return opened
    },
  }
}

async function ask(socket: Socket, path: string) {
  const startedAt = performance.now()
  socket.write(head(`GET ${path}`))
  const [received] = (await once(socket, 'data')) as [Buffer]
  const answer = parseAnswer(received)
  assert.ok(answer)
  return { ...answer, tookMs: performance.now() - startedAt }
}

test('past the limit of its kind a request is refused at once with SVC001 and Retry-After', async (t) => {
  const { fill, open, waiting } = await startHeld(t)
  const full = await fill('read')
  const refused = await ask(await open(), '/read')
  assert.deepEqual([refused.status, refused.body.code], [503, 'SVC001'])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(waiting.length, limits.read)

  waiting[0]?.()
  await once(full[0] as Socket, 'data')
  const next = await open()
  next.write(head('GET /read'))
  while (waiting.length === limits.read) await new Promise((resolve) => setTimeout(resolve, 5))
  waiting.at(-1)?.()
  const [received] = (await once(next, 'data')) as [Buffer]
  assert.equal(parseAnswer(received)?.status, 200)
})

test('kinds of work do not take each other’s place: settling goes on while reads are refused', async (t) => {
  const { fill, open, waiting } = await startHeld(t)
  await fill('read')
  assert.equal((await ask(await open(), '/read')).status, 503)
  for (const work of ['write', 'settle']) {
    const answered = ask(await open(), `/${work}`)
    while (waiting.length === limits.read) await new Promise((resolve) => setTimeout(resolve, 5))
    waiting.pop()?.()
    assert.equal((await answered).status, 200)
  }
  assert.equal((await ask(await open(), '/free')).status, 200)
})

test('a request that fails gives its place back', async (t) => {
  const { open, fill } = await startHeld(t)
  const socket = await open()
  for (let turn = 0; turn <= limits.read; turn += 1) assert.equal((await ask(socket, '/fails')).body.code, 'INT001')
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
  assert.ok(late.tookMs >= 400, `read after ${late.tookMs} ms`)
  assert.equal((await ask(insistent, '/free')).status, 200)
})
