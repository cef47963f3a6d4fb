// The connection to the gateway fails in every possible way: the port returns `unknown`, never throws, never resends
// by itself, and never waits longer than its limits.
import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { until } from '../../harness/until.ts'
import type { Gateway, Unknown } from '../../src/gateway/gateway.ts'
import { closeAll } from '../support/closing.ts'
import {
  answer,
  answerText,
  drip,
  flood,
  hang,
  intent,
  openPort,
  paymentObject,
  resetAfterReading,
  resetBeforeReading,
  resetInTheMiddle,
  type Script,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/gateway/scripted-gateway.ts'

const verbs = ['confirm', 'cancel', 'findConfirm', 'findCancel'] as const
const limitMs = 1_000

let server: ScriptedGateway
let gateway: Gateway
/** The time limit for calls that get no answer. All others may take as long as a busy machine needs. */
let impatient: Gateway
before(async () => {
  server = await startScriptedGateway()
  gateway = openPort(server.url, { callTimeoutMs: 20_000, lookupTimeoutMs: 20_000 }).gateway
  impatient = openPort(server.url, { callTimeoutMs: limitMs, lookupTimeoutMs: limitMs }).gateway
})
after(() => closeAll(gateway, impatient, server))

const document = JSON.stringify(paymentObject())

const faults: [what: string, script: Script, code: string | RegExp][] = [
  ['a reset before the request is read', resetBeforeReading, 'ECONNRESET'],
  ['a reset after the request is read', resetAfterReading, 'ECONNRESET'],
  ['a reset in the middle of the answer', resetInTheMiddle(document), /^(ECONNRESET|UND_ERR_SOCKET)$/],
  ['no answer within the limit', hang, 'TimeoutError'],
  ['an answer that trickles past the time limit', drip(20), 'TimeoutError'],
  ['an endless answer', flood, 'ANSWER_TOO_LARGE'],
  ['a payment of more than 1 MiB', answer(200, paymentObject({ x: 'x'.repeat(1024 * 1024) })), 'ANSWER_TOO_LARGE'],
  ['500 with HTML', answerText(500, '<html><h1>Internal Server Error</h1></html>'), 'HTTP_500'],
  ['502 with nothing', answerText(502, ''), 'HTTP_502'],
  ['200 with half a document', answerText(200, document.slice(0, document.length / 2)), 'HTTP_200'],
  ['200 with nothing', answerText(200, ''), 'HTTP_200'],
  ['200 with two documents', answerText(200, `${document}${document}`), 'HTTP_200'],
  ['200 with null', answer(200, 'null'), 'HTTP_200'],
  ['200 with a string', answer(200, '"DONE"'), 'HTTP_200'],
  ['200 with an array of payments', answer(200, `[${document}]`), 'HTTP_200'],
  ['400 with null', answer(400, 'null'), 'HTTP_400'],
  ['400 with a code that is not a string', answer(400, { code: 42 }), 'HTTP_400'],
  ['403 with a code in the wrong place', answer(403, { error: { code: 'REJECT_CARD_COMPANY' } }), 'HTTP_403'],
  ['403 with an inherited code', answer(403, '{"__proto__":{"code":"REJECT_CARD_COMPANY"}}'), 'HTTP_403'],
  ['503 with an empty object', answer(503, {}), 'HTTP_503'],
  ['204', answerText(204, ''), 'HTTP_204'],
  ['endless nesting', answerText(200, '['.repeat(500_000)), 'HTTP_200'],
  ['something that is not HTTP', (response) => void response.socket?.end('hello\r\n\r\n'), 'HTTPParserError'],
]

function assertUnknown(outcome: { kind: string }, code: string | RegExp): void {
  const { code: actual, serverError, ...rest } = outcome as Unknown
  assert.deepEqual(rest, { kind: 'unknown' })
  if (serverError !== undefined) assert.match(actual, /^HTTP_5/)
  if (typeof code === 'string') assert.equal(actual, code)
  else assert.match(actual, code)
}

function portFor(code: string | RegExp): Gateway {
  return code === 'TimeoutError' ? impatient : gateway
}

for (const [what, script, code] of faults) {
  test(`${what} is unknown, for every call, and is sent once`, async () => {
    for (const verb of verbs) {
      server.play(script)
      assertUnknown(await portFor(code)[verb](intent), code)
      assert.equal(server.requests.length, 1, verb)
    }
  })
}

test('after every fault the next call is answered', async () => {
  for (const [what, script, code] of faults) {
    server.play(script, answer(200, paymentObject()))
    await portFor(code).confirm(intent)
    assert.deepEqual(await portFor(code).confirm(intent), { kind: 'approved', transactionKey: 'transaction-1' }, what)
  }
})

test('an answer past its size or time limit is not read further: the connection is closed', async () => {
  for (const script of [flood, drip(5), hang]) {
    const port = openPort(server.url, { callTimeoutMs: limitMs })
    const openBefore = server.openConnections()
    server.play(script)
    await port.gateway.confirm(intent)
    while (server.openConnections() > openBefore) await sleep(5)
    await port.gateway.close()
  }
})

test('a redirect is not followed: the other address is never contacted', async () => {
  const redirectTarget = await startScriptedGateway()
  for (const status of [301, 302, 303, 307, 308]) {
    for (const verb of verbs) {
      redirectTarget.play(answer(200, paymentObject()))
      server.play(answerText(status, '', { location: `${redirectTarget.url}/v1/payments/confirm` }))
      assertUnknown(await gateway[verb](intent), /^HTTP_30\d$/)
      assert.equal(server.requests.length, 1)
      assert.deepEqual(redirectTarget.requests, [])
    }
  }
  await redirectTarget.close()
})

test('a refused connection is unknown', async () => {
  const closed = await startScriptedGateway()
  await closed.close()
  const port = openPort(closed.url)
  for (const verb of verbs) assertUnknown(await port.gateway[verb](intent), 'ECONNREFUSED')
  assert.equal(port.gateway.state().state, 'failing')
  await port.gateway.close()
})

test('a name that cannot be resolved is unknown', async () => {
  const port = openPort('http://gateway.invalid')
  assertUnknown(await port.gateway.confirm(intent), /^(ENOTFOUND|EAI_AGAIN|EREFUSED)$/)
  await port.gateway.close()
})

test('an address that is not a URL is unknown', async () => {
  for (const apiUrl of ['', 'not a url', 'ftp://127.0.0.1', 'http://127.0.0.1:99999']) {
    const port = openPort(apiUrl)
    for (const verb of verbs) assert.equal((await port.gateway[verb](intent)).kind, 'unknown', apiUrl)
    await port.gateway.close()
  }
})

test('a call on a closed gateway port is unknown', async () => {
  const port = openPort(server.url)
  await port.gateway.close()
  for (const verb of verbs) assert.equal((await port.gateway[verb](intent)).kind, 'unknown')
})

test('a server that accepts no connection is unknown after the connect timeout, not after the whole call timeout', async () => {
  const busy = await startNonAcceptingServer()
  const port = openPort(`http://127.0.0.1:${busy.port}`, { connectTimeoutMs: 200, callTimeoutMs: 4_000 })
  assertUnknown(await port.gateway.confirm(intent), 'UND_ERR_CONNECT_TIMEOUT')
  await port.gateway.close()
  await busy.close()
})

/** Listens and never accepts: once its backlog is full, new connections get no answer at all. */
async function startNonAcceptingServer() {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`,
    { eval: true },
  )
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const queued: Socket[] = []
  for (let connected = true; connected; ) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    queued.push(socket)
    connected = await Promise.race([
      new Promise<boolean>((done) => socket.once('connect', () => done(true))),
      sleep(150, false),
    ])
  }
  return {
    port,
    async close() {
      for (const socket of queued) socket.destroy()
      await worker.terminate()
    },
  }
}

test('a confirm that was given up while it waited for a connection is not sent afterwards', async () => {
  const port = openPort(server.url, { maxConnections: 1, callTimeoutMs: 200, lookupTimeoutMs: 20_000 })
  let release: () => void = assert.fail
  server.play(
    (response) => {
      release = () => void response.end('{}')
    },
    answer(200, paymentObject()),
  )
  const lookup = port.gateway.findConfirm(intent)
  await until('the lookup has arrived', () => server.requests.length === 1)
  assertUnknown(await port.gateway.confirm(intent), 'TimeoutError')
  release()
  await lookup
  await port.gateway.findCancel(intent)
  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ['GET', 'GET'],
  )
  await port.gateway.close()
})

test('a lookup and a list have their own time limits, not that of a call that moves money', async () => {
  const [shortMs, longMs] = [200, 60_000]
  const query = { from: new Date(0), to: new Date(1), after: null }
  for (const limits of [
    { callTimeoutMs: shortMs, lookupTimeoutMs: longMs, listTimeoutMs: longMs },
    { callTimeoutMs: longMs, lookupTimeoutMs: shortMs, listTimeoutMs: longMs },
    { callTimeoutMs: longMs, lookupTimeoutMs: longMs, listTimeoutMs: shortMs },
  ]) {
    const port = openPort(server.url, limits)
    server.play(hang, hang, hang, hang)
    const calls = [port.gateway.confirm(intent), port.gateway.cancel(intent), port.gateway.findConfirm(intent)]
    const ends = [...calls, port.gateway.listMovements(query)].map((call, place) => call.then(() => place))
    const first = await Promise.race(ends)
    assert.equal(Object.values(limits).indexOf(shortMs), Math.max(0, first - 1))
    await port.gateway.close()
    await Promise.all(ends)
  }
})

test('a server that answers before the request, and one that closes at once, are unknown', async () => {
  for (const onConnection of [
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull'),
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.destroy(),
  ]) {
    const rawServer = createServer((socket) => {
      socket.on('error', () => undefined)
      onConnection(socket.resume())
    })
    await new Promise<void>((resolve) => rawServer.listen(0, '127.0.0.1', resolve))
    const { port: number } = rawServer.address() as { port: number }
    const port = openPort(`http://127.0.0.1:${number}`, { callTimeoutMs: 2_000 })
    assert.equal((await port.gateway.confirm(intent)).kind, 'unknown')
    await port.gateway.close()
    await new Promise((resolve) => rawServer.close(resolve))
  }
})

test('an intent that cannot be encoded as a request is unknown, never an exception', async () => {
  for (const changes of [
    { paymentKey: '\ud800' },
    { paymentKey: '' },
    { paymentKey: 'a\r\nx-injected: 1' },
    { idempotencyKey: 'a\r\nx-injected: 1' },
    { idempotencyKey: '키' },
    { orderId: '\u0000' },
    { reason: '\ud800' },
  ]) {
    for (const verb of verbs) {
      server.play(answer(500, {}), answer(500, {}))
      const outcome = await gateway[verb]({ ...intent, ...changes })
      assert.equal(outcome.kind, 'unknown', `${verb} ${JSON.stringify(changes)}`)
      for (const { headers } of server.requests) assert.equal(headers['x-injected'], undefined)
    }
  }
})
