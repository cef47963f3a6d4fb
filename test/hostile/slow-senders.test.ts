// Senders who announce more than they send, or send it drop by drop: cut off at the limits, answered once. The listener
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
/** Whoever is late because this process stood still is told SVC001, and rightly. */
const stalls = watchForStalls()

before(async () => {
  app = buildApiListener({
    authenticate({ headers }) {
      if (headers['service-api-key'] !== 'good') throw refuse('INVALID_API_KEY')
      return { customerId: 'somebody', keyId: 'theirs' }
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

/** The last of them a byte at a time, more often than any limit on silence would notice. */
function dropByDrop(...requests: Buffer[]): Send {
  return async (socket) => {
    socket.write(Buffer.concat(requests.slice(0, -1)))
    for (const drop of requests.at(-1) ?? []) {
      if (socket.destroyed) return
      socket.write(Buffer.from([drop]))
      await sleep(50)
    }
  }
}

/** When the first has its answer, and the connection waits for the next. */
function afterAnswer(first: Buffer, then: Send): Send {
  return async (socket) => {
    socket.write(first)
    await once(socket, 'data')
    await then(socket)
  }
}

let sentWithoutEnd = 0

/** Until it is closed on. */
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
  ['a head drop by drop', dropByDrop(message('GET /read', [...withKey, `x: ${'y'.repeat(200)}`])), ['VAL001']],
  ['less of a body than it announced', atOnce(halfBody), ['VAL001']],
  ['chunks without the last', atOnce(write(['transfer-encoding: chunked'], '4\r\n{"a"\r\n')), ['VAL001']],
  ['a body drop by drop', dropByDrop(write(['content-length: 200'], ''), Buffer.alloc(200, ' ')), ['VAL001']],
  [
    'chunks drop by drop',
    dropByDrop(write(['transfer-encoding: chunked'], ''), Buffer.from('1\r\n \r\n'.repeat(60))),
    ['VAL001'],
  ],
  ['nothing of a body that is too large', atOnce(write(['content-length: 5000'], '')), ['VAL004']],
  ['a part of a body that is too large', atOnce(write(['content-length: 5000'])), ['VAL004']],
  [
    'a body that is too large drop by drop',
    dropByDrop(write(['content-length: 5000'], ''), Buffer.alloc(200, ' ')),
    ['VAL004'],
  ],
  ['a body without an end', withoutEnd(write(['transfer-encoding: chunked'], ''), kilobyte), ['VAL004']],
  [
    'nothing of a body that has no key',
    atOnce(message('POST /write', ['host: service', 'content-length: 100'])),
    ['INVALID_API_KEY'],
  ],
  [
    'a body without an end and without a key',
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
  ['half a body behind a request', atOnce(read, halfBody), ['SUCCESS', 'VAL001']],
]

describe('whoever sends', { concurrency: true }, () => {
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

  test('a request that came whole is not cut off, however long its answer takes', async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(message('GET /takes-its-time', [...withKey, 'connection: close']))
    assert.equal(parseAnswers(await closed)[0]?.status, 200)
  })

  test('half a head behind a request that takes its time does not take its answer away', async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(Buffer.concat([message('GET /takes-its-time', withKey), halfHead]))
    assert.deepEqual(
      parseAnswers(await closed).map(({ status }) => status),
      [200],
    )
  })
})

test('of all that was sent only whole requests were handled, and what has no end was cut off soon', () => {
  const successes = rows.flatMap(([, , codes]) => codes).filter((code) => code === 'SUCCESS').length
  assert.equal(handled, successes + 2)
  // A mebibyte of each is read and dropped; what else was sent stood between us.
  assert.ok(sentWithoutEnd < 64 * 1024 * 1024, `${sentWithoutEnd} bytes`)
})

for (const [what, half] of [
  ['half a head', halfHead],
  ['half a body', halfBody],
] as const) {
  test(`${what} that is late because this process stood still is SVC001 with Retry-After`, async () => {
    const socket = await openSocket(port)
    const closed = readToEnd(socket)
    socket.write(half)
    // Until the listener has read it: the limits run from there.
    await sleep(100)
    standStill(1_500)
    const answers = parseAnswers(await closed)
    assert.deepEqual(
      answers.map(({ status, body, headers }) => [status, body.code, headers.get('retry-after')]),
      [[503, 'SVC001', '1']],
    )
    for (const { headers } of answers) assertHeaders(headers)
  })
}

/** As a process that is stopped, or that gets no processor: no timer, no socket, nothing. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
