// Clients that announce more than they send, or send a byte at a time: cut off at the limits, answered once. The listener
// has short limits here; those of the service are longer, nothing else differs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import Type from 'typebox'
import { message, openSocket, parseAnswers, readToEnd } from '../../harness/raw-http.ts'
import { refuse } from '../../src/core/errors.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { watchForStalls } from '../../src/http/limits/event-loop.ts'
import { closeNow } from '../support/closing.ts'
import { assertHeaders, type Code } from '../support/hostile.ts'

const limits = { headMs: 400, requestMs: 800 }
const bodyLimitBytes = 1_000
let app: FastifyInstance
let port: number
let handled = 0
/** A request that is late because this process was stalled is correctly answered with SVC001. */
const stalls = watchForStalls()

before(async () => {
  app = buildApiListener({
    authenticate({ headers }) {
      if (headers['service-api-key'] !== 'good') throw refuse('INVALID_API_KEY')
      return { customerId: 'customer', keyId: 'key' }
    },
    log: pino({ level: 'silent' }),
    bodyLimitBytes,
    limits,
  })
  async function handle() {
    handled += 1
    return success({ did: 'it' }, null)
  }
  app.get('/read', handle)
  app.get('/takes-its-time', async () => {
    await sleep(3 * limits.requestMs)
    return handle()
  })
  app.post('/write', { schema: { body: Type.Object({}) } }, handle)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
after(async () => {
  stalls.stop()
  await closeNow(app)
})

const withKey = ['host: service', 'service-api-key: good']
const json = [...withKey, 'content-type: application/json']
const read = message('GET /read', withKey)
const write = (lines: string[], body = '{"a"') => message('POST /write', [...json, ...lines], body)

type Send = (socket: Socket) => Promise<unknown> | unknown

function atOnce(...requests: Buffer[]): Send {
  return (socket) => socket.write(Buffer.concat(requests))
}

/** Sends the last of them a byte at a time, too often for an idle timeout. */
function byteByByte(...requests: Buffer[]): Send {
  return async (socket) => {
    socket.write(Buffer.concat(requests.slice(0, -1)))
    for (const byte of requests.at(-1) ?? []) {
      if (socket.destroyed) return
      socket.write(Buffer.from([byte]))
      await sleep(50)
    }
  }
}

/** Sends the rest after the first request was answered, when the connection is idle. */
function afterAnswer(first: Buffer, then: Send): Send {
  return async (socket) => {
    socket.write(first)
    await once(socket, 'data')
    await then(socket)
  }
}

let sentWithoutEnd = 0

/** Sends until the connection is closed. */
function withoutEnd(start: Buffer, piece: Buffer): Send {
  return async (socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(start)
    while (!socket.destroyed) {
      sentWithoutEnd += piece.length
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    }
  }
}

const halfHead = Buffer.from('GET /read HTTP/1.1\r\nhost: se')
const halfBody = write(['content-length: 100'])
const kilobyte = Buffer.from(`400\r\n${'x'.repeat(1024)}\r\n`)

const rows: [what: string, send: Send, codes: Code[]][] = [
  ['nothing at all', () => undefined, ['VAL001']],
  ['half a head', atOnce(halfHead), ['VAL001']],
  ['a head byte by byte', byteByByte(message('GET /read', [...withKey, `x: ${'y'.repeat(200)}`])), ['VAL001']],
  ['less of a body than it announced', atOnce(halfBody), ['VAL001']],
  ['chunks without the last one', atOnce(write(['transfer-encoding: chunked'], '4\r\n{"a"\r\n')), ['VAL001']],
  ['a body byte by byte', byteByByte(write(['content-length: 200'], ''), Buffer.alloc(200, ' ')), ['VAL001']],
  [
    'chunks byte by byte',
    byteByByte(write(['transfer-encoding: chunked'], ''), Buffer.from('1\r\n \r\n'.repeat(60))),
    ['VAL001'],
  ],
  ['nothing of a body that is too large', atOnce(write(['content-length: 5000'], '')), ['VAL004']],
  ['a part of a body that is too large', atOnce(write(['content-length: 5000'])), ['VAL004']],
  [
    'a body that is too large byte by byte',
    byteByByte(write(['content-length: 5000'], ''), Buffer.alloc(200, ' ')),
    ['VAL004'],
  ],
  ['an endless body', withoutEnd(write(['transfer-encoding: chunked'], ''), kilobyte), ['VAL004']],
  [
    'nothing of a body without a key',
    atOnce(message('POST /write', ['host: service', 'content-length: 100'])),
    ['INVALID_API_KEY'],
  ],
  [
    'an endless body without a key',
    withoutEnd(message('POST /write', ['host: service', 'transfer-encoding: chunked']), kilobyte),
    ['INVALID_API_KEY'],
  ],
  ['nothing of a body for an unknown address', atOnce(message('POST /x', [...json, 'content-length: 9'])), ['NOT000']],
  [
    'nothing of a body of an unknown type',
    atOnce(message('POST /write', [...withKey, 'content-type: nonsense', 'content-length: 9'])),
    ['VAL001'],
  ],
  ['nothing of the body of a GET', atOnce(message('GET /read', [...withKey, 'content-length: 100'])), ['SUCCESS']],
  ['half a head after an answer', afterAnswer(read, atOnce(halfHead)), ['SUCCESS', 'VAL001']],
  ['half a body after an answer', afterAnswer(read, atOnce(halfBody)), ['SUCCESS', 'VAL001']],
  ['half a body after a request', atOnce(read, halfBody), ['SUCCESS', 'VAL001']],
]

describe('a client that sends', { concurrency: true }, () => {
  for (const [what, send, codes] of rows) {
    test(`${what} is answered ${codes.join(', ')}, and the connection closes`, async () => {
      const socket = await openSocket(port)
      const closed = readToEnd(socket)
      await send(socket)
      const answers = parseAnswers(await closed)
      for (const { headers } of answers) assertHeaders(headers)
      assert.deepEqual(
        answers.map(({ body }) => (body.code === 'SVC001' && stalls.hasStalledWithin(10_000) ? 'VAL001' : body.code)),
        codes,
      )
    })
  }

  test('a complete request is not cut off, however long its answer takes', async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(message('GET /takes-its-time', [...withKey, 'connection: close']))
    assert.equal(parseAnswers(await closed)[0]?.status, 200)
  })

  test('half a head after a slow request does not suppress its answer', async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(Buffer.concat([message('GET /takes-its-time', withKey), halfHead]))
    assert.deepEqual(
      parseAnswers(await closed).map(({ status }) => status),
      [200],
    )
  })
})

test('only complete requests were handled, and endless bodies were cut off soon', () => {
  const successes = rows.flatMap(([, , codes]) => codes).filter((code) => code === 'SUCCESS').length
  assert.equal(handled, successes + 2)
  // A mebibyte of each is read and dropped; the rest was in the socket buffers.
  assert.ok(sentWithoutEnd < 64 * 1024 * 1024, `${sentWithoutEnd} bytes`)
})

for (const [what, half] of [
  ['half a head', halfHead],
  ['half a body', halfBody],
] as const) {
  test(`${what} that is late because this process was stalled is SVC001 with Retry-After`, async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(half)
    // Lets the listener read it first: the limits start then.
    await sleep(100)
    block(1_500)
    const answers = parseAnswers(await closed)
    assert.deepEqual(
      answers.map(({ status, body, headers }) => [status, body.code, headers.get('retry-after')]),
      [[503, 'SVC001', '1']],
    )
    for (const { headers } of answers) assertHeaders(headers)
  })
}

/** Blocks the event loop, as when the process is stopped: no timers, no sockets. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
