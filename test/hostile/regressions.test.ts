// Regression tests for the findings of the fuzzer (proof/stages/bytes), each with the smallest bytes that reproduced it.
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import {
  answersUntilClosed,
  openSocket,
  parseAnswers,
  type RawAnswer,
  readToEnd,
  sendBeforeReading,
} from '../../harness/raw-http.ts'
import { refuse } from '../../src/core/errors.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { closeNow } from '../support/closing.ts'
import { assertHeaders } from '../support/hostile.ts'

/** `/held` answers when the test releases it. */
async function startListener(t: TestContext) {
  const held = Promise.withResolvers<void>()
  const errors: string[] = []
  const app = buildApiListener({
    authenticate({ headers }) {
      if (headers['service-api-key'] !== 'good') throw refuse('INVALID_API_KEY')
      return { customerId: 'customer', keyId: 'key' }
    },
    log: pino({ level: 'error' }, { write: (line: string) => errors.push(line) }),
    bodyLimitBytes: 1_000,
    limits: { headMs: 400, requestMs: 800 },
  })
  app.get('/held', async () => {
    await held.promise
    return success({ was: 'held' }, null)
  })
  app.post('/write', async () => success({ did: 'it' }, null))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    held.resolve()
    await closeNow(app)
    assert.deepEqual(errors, [])
  })
  return { port: (app.server.address() as AddressInfo).port, release: held.resolve }
}

const key = 'Service-Api-Key: good\r\n'
const heldRequest = `GET /held HTTP/1.1\r\nHost: a\r\n${key}\r\n`
const summary = (answers: RawAnswer[]) =>
  answers.map(({ body, headers }) => `${body.code}${headers.get('connection') === 'close' ? ', close' : ''}`)

/** Writes the pieces one by one, with a pause after each. */
async function sendPieces(socket: Socket, pieces: string[]): Promise<void> {
  for (const piece of pieces) {
    if (!socket.destroyed) socket.write(piece)
    await sleep(5)
  }
}

const refusedThenBroken = {
  'without a key': 'POST /write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n',
  'to an unknown route': `POST /e HTTP/1.1\r\nHost: a\r\n${key}Transfer-Encoding: chunked\r\n\r\n5b \r\n{}\r\n0\r\n\r\n`,
  'of another version': `GET /held HTTP/0.9\r\nHost: a\r\n${key}Transfer-Encoding: chunked\r\n\r\n0\n\n0\r\n\r\n`,
}
for (const [what, broken] of Object.entries(refusedThenBroken)) {
  test(`a request ${what}, refused before its body proves broken, does not suppress the answers before it`, async (t) => {
    const { port, release } = await startListener(t)
    const answers = answersUntilClosed(port, `${heldRequest}${heldRequest}${broken}`)
    await sleep(50)
    release()
    assert.deepEqual(summary(await answers).slice(0, 2), ['SUCCESS', 'SUCCESS'])
  })
}

test('a body that does not arrive is refused in time, and the connection is closed after the refusal', async (t) => {
  const { port } = await startListener(t)
  const head = `POST /write HTTP/1.1\r\nHost: a\r\n${key}Content-Type: application/json\r\nContent-Length: 65\r\n\r\n`
  assert.deepEqual(summary(await answersUntilClosed(port, `${head}{"customerId"`)), ['VAL001, close'])
})

test('rubbish in many pieces after a request in progress is handled once', async (t) => {
  const { port, release } = await startListener(t)
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const socket = await openSocket(port)
  const received = readToEnd(socket)
  await sendPieces(socket, [heldRequest, ...Array.from({ length: 20 }, () => 'rubbish')])
  release()
  assert.deepEqual(summary(parseAnswers(await received)), ['SUCCESS'])
  assert.deepEqual(warnings, [])
})

test('a client that sends rubbish after its request and reads only at the end gets the answer', async (t) => {
  const { port, release } = await startListener(t)
  release()
  const rubbish = Array.from({ length: 64 }, () => Buffer.alloc(16_384, 'x'))
  const answer = await sendBeforeReading(port, `${heldRequest}rubbish`, rubbish)
  assert.deepEqual([answer.body.code, answer.rest], ['SUCCESS', ''])
})

test('a refused Expect header followed by rubbish gets one answer', async (t) => {
  const { port } = await startListener(t)
  assert.deepEqual(summary(await answersUntilClosed(port, 'GET / HTTP/1.1\r\nS:\r\nExpect:\r\n\r\n|')), [
    'VAL001, close',
  ])
})

for (const [what, request] of Object.entries({
  'an answer': heldRequest,
  'a refusal': heldRequest.replace('/held', '/nothing'),
  'a refusal after an answer': `${heldRequest}${heldRequest.replace('/held', '/nothing')}`,
})) {
  test(`a connection whose client has closed its half is closed after ${what}`, async (t) => {
    const { port, release } = await startListener(t)
    const socket = await openSocket(port)
    const received = readToEnd(socket)
    socket.end(request)
    await sleep(50)
    release()
    assert.equal(parseAnswers(await received).length, request.split('GET').length - 1)
  })
}

test('a method that no route can have is refused like any other, and is not reported as a bug', async (t) => {
  const { port } = await startListener(t)
  const cases = {
    'PRI *\r\n\r\n': 'VAL001',
    'PRI * HTTP/2.0\r\n\r\n': 'VAL001',
    'SOURCE /held ICE/1.0\r\nConnection: close\r\n\r\n': 'INVALID_API_KEY',
    [`SOURCE /held ICE/1.0\r\n${key}Connection: close\r\n\r\n`]: 'NOT000',
  }
  for (const [sent, code] of Object.entries(cases)) {
    const [answer, ...others] = await answersUntilClosed(port, sent)
    assert.deepEqual([answer?.body.code, others], [code, []], sent)
    assertHeaders(answer?.headers ?? new Headers())
  }
})

test('the HTTP/2 preface is refused after the request before it, which is answered', async (t) => {
  const { port, release } = await startListener(t)
  const socket = await openSocket(port)
  socket.write(`${heldRequest}PRI *\r\n\r\n`)
  setTimeout(release, 20)
  assert.deepEqual(summary(parseAnswers(await readToEnd(socket))), ['SUCCESS', 'VAL001, close'])
})
