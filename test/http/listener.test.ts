// Requests in special states of a connection: late, after a request that closes it, half closed, far too many at once,
// and during a shutdown.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises'
import { pino } from 'pino'
import { head, parseAnswer } from '../../harness/raw-http.ts'
import { until } from '../../harness/until.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { onThisMachine } from '../../src/listeners/listen.ts'

/** `/slow` answers when the test releases it, `/work` at once; both are counted. */
async function start(t: TestContext, requestsPerConnection = 100_000) {
  const held = Promise.withResolvers<void>()
  const handled = { slow: 0, work: 0 }
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'customer', keyId: 'key' }),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
    limits: { headMs: 300, requestMs: 600, requestsPerConnection },
  })
  app.get('/slow', async () => {
    handled.slow += 1
    await held.promise
    return success({ did: 'slow' }, null)
  })
  app.get('/work', async () => {
    handled.work += 1
    return success({ did: 'work' }, null)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const sockets: Socket[] = []
  t.after(async () => {
    held.resolve()
    for (const socket of sockets) socket.destroy()
    await app.close()
  })
  return {
    app,
    handled,
    release: held.resolve,
    async open() {
      // The client keeps sending after the server has closed its half.
      const { port } = app.server.address() as AddressInfo
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      await once(socket, 'connect')
      socket.on('error', () => undefined)
      socket.on('end', () => setTimeout(() => socket.end(), 300))
      const closed = new Promise((resolve) => socket.once('close', resolve))
      sockets.push(socket)
      const received: Buffer[] = []
      socket.on('data', (chunk) => received.push(chunk as Buffer))
      return { socket, closed, codes: () => codesIn(Buffer.concat(received)) }
    },
  }
}

function codesIn(received: Buffer): string[] {
  const answer = received.length > 0 ? parseAnswer(received) : undefined
  return answer ? [answer.body.code, ...codesIn(Buffer.from(answer.rest))] : []
}

const work = head('GET /work')

test('a request whose head arrives too slowly is refused, and is not handled when the rest arrives', async (t) => {
  const { open, handled } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(work.slice(0, 20))
  while (codes().length === 0) await sleep(10)
  socket.write(work.slice(20))
  await closed
  assert.deepEqual(codes(), ['VAL001'])
  assert.equal(handled.work, 0)
})

test('after an unknown Expect header no further request on the connection is handled', async (t) => {
  const { open, handled } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /work', { expect: 'foo' }) + work)
  await closed
  assert.deepEqual(codes(), ['VAL001'])
  assert.equal(handled.work, 0)
})

test('a client that closes its half after its requests gets the answers', async (t) => {
  const { open, release } = await start(t)
  const { socket, closed, codes } = await open()
  socket.end(head('GET /slow') + work)
  await sleep(50)
  release()
  await closed
  assert.deepEqual(codes(), ['SUCCESS', 'SUCCESS'])
})

test('with thousands of pipelined requests on one connection some are served, and then it closes', async (t) => {
  const { open, handled, release } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /slow'))
  while (handled.slow === 0) await sleep(5)
  socket.write(work.repeat(20_000))
  await sleep(200)
  release()
  await closed
  assert.ok(handled.work > 0 && handled.work <= 130, `${handled.work}`)
  assert.equal(codes().length, handled.work + 1)
})

test('pipelined requests that have been answered no longer count against how many may wait on a connection', async (t) => {
  const { open } = await start(t)
  const { socket, codes } = await open()
  for (const answered of [100, 200, 300]) {
    socket.write(work.repeat(100))
    await until(`${answered} are answered`, () => codes().length === answered)
  }
})

test('a connection closes after its last allowed request, also one that is refused, and no sooner', async (t) => {
  const { open, handled, release } = await start(t, 4)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /slow') + head('GET /nowhere') + work + head('GET /nowhere'))
  while (handled.slow === 0) await sleep(5)
  release()
  while (codes().length < 4) await sleep(5)
  socket.end(work)
  await closed
  assert.deepEqual(codes(), ['SUCCESS', 'NOT000', 'SUCCESS', 'NOT000'])
})

for (const [name, sent] of [
  ['sends nothing', ''],
  ['has sent half of a head', work.slice(0, 20)],
  ['has received its answer and sent half of another head', work + work.slice(0, 20)],
] as const) {
  test(`a connection that ${name} does not delay a shutdown`, async (t) => {
    const { app, open } = await start(t)
    const { socket } = await open()
    socket.write(sent)
    await sleep(50)
    const startedAt = performance.now()
    await app.close()
    assert.ok(performance.now() - startedAt < 5_000)
  })
}

/** Blocks the process, as when another process uses the processor. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

for (const [name, pause, blockedMs] of [
  ['a third of a second later', () => sleep(300), 0],
  // The timers run after one turn of the event loop.
  ['while the process is blocked', () => sleep(50).then(() => turnOfLoop()), 1_500],
] as const) {
  test(`a connection that was served before a shutdown and sends a request ${name} is answered, and then closes`, async (t) => {
    const { app, open } = await start(t)
    const { socket, closed, codes } = await open()
    socket.write(work)
    while (codes().length === 0) await sleep(5)
    const stopped = app.close()
    await pause()
    socket.write(work)
    block(blockedMs)
    await Promise.all([stopped, closed])
    assert.deepEqual(codes(), ['SUCCESS', 'SUCCESS'])
  })
}

test('a connection that was opened before a shutdown and not yet accepted is answered', async (t) => {
  const { app, open } = await start(t)
  const opening = open()
  const stopped = app.close()
  const { socket, closed, codes } = await opening
  socket.write(work)
  await Promise.all([stopped, closed])
  assert.deepEqual(codes(), ['SUCCESS'])
})

test('a listener on all addresses is reached at the local one of the same family', () => {
  const reached = ['http://0.0.0.0:80', 'http://[::]:80', 'http://10.0.0.1:80'].map(onThisMachine)
  assert.deepEqual(reached, ['http://127.0.0.1:80', 'http://[::1]:80', 'http://10.0.0.1:80'])
})
