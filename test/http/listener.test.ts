// What becomes of requests at the edges of a connection: late, behind what closes it, half closed, far too many at once,
// and at a stop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises'
import { pino } from 'pino'
import { head, parseAnswer } from '../../harness/raw-http.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'

/** `/slow` answers when it is let go, `/work` at once; both are counted. */
async function start(t: TestContext, requestsPerConnection = 100_000) {
  const held = Promise.withResolvers<void>()
  const handled = { slow: 0, work: 0 }
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'somebody', keyId: 'theirs' }),
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
    letGo: held.resolve,
    async open() {
      // It goes on sending after the other side has closed its half.
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

test('a head that was too slow is refused, and is not carried out when the rest of it comes', async (t) => {
  const { open, handled } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(work.slice(0, 20))
  while (codes().length === 0) await sleep(10)
  socket.write(work.slice(20))
  await closed
  assert.deepEqual(codes(), ['VAL001'])
  assert.equal(handled.work, 0)
})

test('behind an expectation that nobody has nothing is carried out', async (t) => {
  const { open, handled } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /work', { expect: 'foo' }) + work)
  await closed
  assert.deepEqual(codes(), ['VAL001'])
  assert.equal(handled.work, 0)
})

test('whoever closes their half behind the request has the answer', async (t) => {
  const { open, letGo } = await start(t)
  const { socket, closed, codes } = await open()
  socket.end(head('GET /slow') + work)
  await sleep(50)
  letGo()
  await closed
  assert.deepEqual(codes(), ['SUCCESS', 'SUCCESS'])
})

test('of thousands of requests at once on one connection some are served, and then it closes', async (t) => {
  const { open, handled, letGo } = await start(t)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /slow'))
  while (handled.slow === 0) await sleep(5)
  socket.write(work.repeat(20_000))
  await sleep(200)
  letGo()
  await closed
  assert.ok(handled.work > 0 && handled.work <= 130, `${handled.work}`)
  assert.equal(codes().length, handled.work + 1)
})

test('behind the last request that a connection may carry it closes, and no sooner', async (t) => {
  const { open, handled, letGo } = await start(t, 3)
  const { socket, closed, codes } = await open()
  socket.write(head('GET /slow') + head('GET /nowhere') + work)
  while (handled.slow === 0) await sleep(5)
  letGo()
  await closed
  assert.deepEqual(codes(), ['SUCCESS', 'NOT000', 'SUCCESS'])
})

for (const [name, said] of [
  ['says nothing', ''],
  ['has said half of a head', work.slice(0, 20)],
  ['has had its answer and says half of another head', work + work.slice(0, 20)],
] as const) {
  test(`a connection that ${name} does not hold a stop up`, async (t) => {
    const { app, open } = await start(t)
    const { socket } = await open()
    socket.write(said)
    await sleep(50)
    const startedAt = performance.now()
    await app.close()
    assert.ok(performance.now() - startedAt < 5_000)
  })
}

/** What another process does to this one when it takes the processor away. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

for (const [name, pause, stillMs] of [
  ['a third of a second after it', () => sleep(300), 0],
  // Behind a turn of the loop are the timers.
  ['while the process stands still', () => sleep(50).then(() => turnOfLoop()), 1_500],
] as const) {
  test(`whoever has been served before a stop and asks again ${name} is answered, and then it closes`, async (t) => {
    const { app, open } = await start(t)
    const { socket, closed, codes } = await open()
    socket.write(work)
    while (codes().length === 0) await sleep(5)
    const stopped = app.close()
    await pause()
    socket.write(work)
    standStill(stillMs)
    await Promise.all([stopped, closed])
    assert.deepEqual(codes(), ['SUCCESS', 'SUCCESS'])
  })
}

test('whoever has connected before a stop and has not been let in yet is answered', async (t) => {
  const { app, open } = await start(t)
  const opening = open()
  const stopped = app.close()
  const { socket, closed, codes } = await opening
  socket.write(work)
  await Promise.all([stopped, closed])
  assert.deepEqual(codes(), ['SUCCESS'])
})
