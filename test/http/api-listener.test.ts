// The API listener around its routes: during a shutdown, with a body that no route reads, without a route, and what it logs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { head, openSocket, parseAnswer, sendBeforeReading, sendRaw } from '../../harness/raw-http.ts'
import { refuse } from '../../src/core/errors.ts'
import { newOrderId } from '../../src/core/ids.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'

/** `/succeeds` and `/fails` answer when the test releases them. */
async function startListener(t: TestContext) {
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  async function wait(): Promise<void> {
    arrived.resolve()
    await held.promise
  }
  app.get('/succeeds', async () => {
    await wait()
    return success({ did: 'it' }, null)
  })
  app.get('/fails', async () => {
    await wait()
    throw refuse('SVC001')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    held.resolve()
    await app.close()
  })
  return { app, port: (app.server.address() as AddressInfo).port, release: held.resolve, arrived: arrived.promise }
}

for (const path of ['/succeeds', '/fails']) {
  test(`a request in progress at a shutdown is answered, and its connection closes: ${path}`, async (t) => {
    const { app, port, release, arrived } = await startListener(t)
    const socket: Socket = await openSocket(port)
    socket.write(head(`GET ${path}`))
    await arrived
    const closed = app.close()
    // The shutdown has begun: no new connection is accepted.
    while (app.server.listening) await new Promise((resolve) => setTimeout(resolve, 5))
    release()
    const [received] = (await once(socket, 'data')) as [Buffer]
    const answer = parseAnswer(received)
    assert.equal(answer?.status, path === '/fails' ? 503 : 200)
    assert.equal(answer?.headers.get('connection'), 'close')
    await closed
  })
}

test('a GET with a body above every limit is answered', async (t) => {
  const { port, release, arrived } = await startListener(t)
  const pieces = Array.from({ length: 48 }, () => Buffer.alloc(65_536, 'x'))
  const size = pieces.length * 65_536
  const answered = sendBeforeReading(port, head('GET /succeeds', { 'content-length': size }), pieces)
  await arrived
  setTimeout(release, 100)
  assert.equal((await answered).status, 200)
})

test('an open route is open by its path alone: for * a key is needed', async (t) => {
  const authenticate = () => {
    throw refuse('AUTH001')
  }
  const app = buildApiListener({ authenticate, log: pino({ level: 'silent' }), bodyLimitBytes: 1_000 })
  app.get('/', { config: { open: true } }, async () => success(null, null))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const codeOf = async (start: string) => (await sendRaw(port, head(start))).body.code
  assert.deepEqual([await codeOf('GET /'), await codeOf('GET *')], ['SUCCESS', 'AUTH001'])
})

test('of an unexpected error the id of its order is logged, and no other text in its place', async (t) => {
  const lines: string[] = []
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    bodyLimitBytes: 1_000,
  })
  app.get('/:orderId', () => Promise.reject(new Error('a bug')))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const orderId = newOrderId()
  for (const typed of [orderId, '4242424242424242']) await sendRaw(port, head(`GET /${typed}`))
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).orderId),
    [orderId, undefined],
  )
})
