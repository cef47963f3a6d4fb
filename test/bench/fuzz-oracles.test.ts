// The fuzzer (proof/stages/bytes) can find something: each of its oracles reports the fault it is for, and correct answers pass
// them all.
import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { newDirectory } from '../../harness/processes.ts'
import { type Answer, readAnswers } from '../../harness/raw-http.ts'
import { minimizeBytes } from '../../proof/shrink.ts'
import type { ListenerName } from '../../proof/stages/bytes/cases/routes.ts'
import { frame } from '../../proof/stages/bytes/trial/framing.ts'
import * as oracles from '../../proof/stages/bytes/trial/oracles.ts'
import { watchService } from '../../proof/stages/bytes/watch.ts'
import { rawFailure, securityHeaders } from '../../src/http/envelope.ts'

const secrets = { 'the pepper': 'salt-and-pepper' }
const good = { success: true, data: { credits: 1 }, message: null, code: 'SUCCESS', metadata: null }
const refused = { success: false, data: null, message: 'Not found.', code: 'NOT000', metadata: null }

function answerOf(status: number, body: object | string, headers: Record<string, string> = {}): Answer {
  const all = { 'content-type': 'application/json; charset=utf-8', ...securityHeaders, ...headers }
  const values = Object.entries(all).map(([name, value]): [string, string[]] => [name, [value]])
  return {
    status,
    head: '',
    headers: new Map(values),
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

const breachesOf = (answer: Answer, listener: ListenerName = 'public') =>
  oracles.checkAnswer({ answer, listener, secrets }).map(({ oracle }) => oracle)

describe('answers', () => {
  const withoutHeader = answerOf(200, good)
  withoutHeader.headers.delete('cache-control')
  /** For each oracle, answers that it has to report. */
  const bad: Record<string, Answer[]> = {
    'the content type is application/json; charset=utf-8': [
      answerOf(200, good, { 'content-type': 'application/json' }),
      answerOf(404, refused, { 'content-type': 'text/html' }),
    ],
    'every security header is there, once': [withoutHeader, answerOf(200, good, { 'x-content-type-options': 'none' })],
    'the body has exactly the five fields of the envelope': [
      ...['', 'null', '[]', '{', '"text"', '\xff'].map((text) => answerOf(200, text)),
      ...[
        { ...good, more: 1 },
        { ...good, metadata: undefined },
      ].map((body) => answerOf(200, body)),
      answerOf(200, { status: 'alive' }),
    ],
    'success and failure each have their form': [
      answerOf(200, { ...good, metadata: {} }),
      answerOf(404, { ...refused, data: {} }),
      answerOf(404, { ...refused, message: null }),
      answerOf(200, { ...good, success: 'true' }),
    ],
    'the code is one of the catalogue, with its status': [
      answerOf(400, refused),
      answerOf(204, good),
      answerOf(404, { ...refused, code: 'NOT404' }),
      answerOf(404, { ...refused, code: 'constructor' }),
      answerOf(200, { ...good, code: 'VAL001' }),
    ],
    'no answer is INT001': [answerOf(500, { ...refused, code: 'INT001' })],
    'a refusal has no internal details': [
      'Cannot read properties of undefined',
      'x\n    at handle (/home/me/src/a.ts:1:2)',
      'duplicate key value violates unique constraint',
      'select * from orders where order_id = $1',
      'Unexpected token in JSON at position 1',
      'FST_ERR_NOT_FOUND',
    ].map((message) => answerOf(404, { ...refused, message })),
    'no answer has a secret': [
      answerOf(404, { ...refused, metadata: { key: 'a salt-and-pepper b' } }),
      answerOf(200, good, { 'x-key': 'salt-and-pepper' }),
    ],
    'a 503 has Retry-After': [answerOf(503, { ...refused, code: 'SVC001' })],
  }

  test('every oracle has a bad example', () => {
    assert.deepEqual(Object.keys(bad), Object.keys(oracles.answerOracles))
  })
  for (const [oracle, answers] of Object.entries(bad)) {
    test(`a violation is found: ${oracle}`, () => {
      for (const answer of answers) assert.ok(breachesOf(answer).includes(oracle), answer.body?.toString())
    })
  }

  test('nothing is found in correct examples', () => {
    const right = [
      answerOf(201, good),
      answerOf(200, { ...good, data: null }),
      answerOf(404, refused),
      answerOf(503, { ...refused, code: 'SVC001' }, { 'retry-after': '1' }),
      // The refusal repeats the caller's own text.
      answerOf(400, { ...refused, code: 'PAYMENT_CANCEL_FAILED', metadata: { reason: 'select 1 from x where y' } }),
      { ...answerOf(404, ''), body: null },
    ]
    for (const answer of right) assert.deepEqual(breachesOf(answer), [])
    assert.deepEqual(breachesOf(answerOf(200, { status: 'alive' }), 'internal'), [])
    const health = {
      status: 'not ready',
      database: 'answering',
      writes: 'accepted',
      migrations: 'missing',
      gateway: 'closed',
      money: 'moves',
      log: 'signs',
    }
    assert.deepEqual(breachesOf(answerOf(503, health), 'internal'), [])
  })
})

const request = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const answerText = (code: 'NOT000' | 'VAL001', closing = false) =>
  rawFailure(code).replace('Connection: close', `Connection: ${closing ? 'close' : 'keep-alive'}`)

describe('exchanges', () => {
  function exchanged(sent: string, received: string, more: Partial<oracles.Exchanged> = {}): string[] {
    const framed = frame(Buffer.from(sent, 'latin1'))
    const reading = readAnswers(Buffer.from(received, 'latin1'), { isHead: () => false, mayContinue: false })
    const usual = { ended: 'closed', sentBytes: sent.length } as const
    const whole: oracles.Exchanged = { framed, reading, fits: [], ...usual, ...more }
    return oracles.checkExchange(whole).map(({ oracle }) => oracle)
  }
  const one = answerText('NOT000')
  const last = answerText('NOT000', true)
  const bad: Record<string, string[][]> = {
    'every answer is well-formed HTTP/1.1': [
      'HTTP/1.0 200 OK\r\n\r\n',
      'rubbish',
      `${one}rubbish`,
      'HTTP/1.1 100 Continue\r\n\r\n',
      `${one}\r\n`,
      one.replace(/Content-Length.*\r\n/, ''),
      one.replace('Content-Length: 84', 'Content-Length: 8a'),
      one.replace('Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length'),
      one.replace('cache-control', 'cache\x00control'),
      one.replace('no-store', 'no\nstore'),
    ].map((received) => exchanged(request, received)),
    'a connection is answered or closed within the limits': [exchanged(request, '', { ended: 'hung' })],
    'an answer that has begun is finished': [
      exchanged(request, one.slice(0, -1)),
      exchanged(request, one.slice(0, 30)),
    ],
    'no answer is missing': [
      exchanged(request, ''),
      exchanged(`${request}${request}`, one),
      exchanged(`${request}${request}rubbish`, one),
      exchanged(request, '', { ended: 'reset' }),
    ],
    'no answer is surplus': [
      exchanged(request, `${one}${one}`),
      exchanged('rubbish', `${one}${one}`),
      exchanged(`${request.slice(0, -2)}Content-Length: 5\r\n\r\nabc`, `${one}${one}`),
    ],
    'nothing follows an answer that closes': [exchanged(`${request}${request}`, `${last}${one}`)],
    'only an unreadable request closes the connection before the last answer': [
      exchanged(`${request}${request}`, last),
    ],
    'answers come in the order of their requests': [exchanged(request, one, { fits: [() => false] })],
  }

  test('every oracle has a bad example', () => {
    assert.deepEqual(Object.keys(bad), Object.keys(oracles.exchangeOracles))
  })
  for (const [oracle, found] of Object.entries(bad)) {
    test(`a violation is found: ${oracle}`, () => {
      for (const [place, each] of found.entries()) assert.ok(each.includes(oracle), `number ${place}: ${each}`)
    })
  }

  test('nothing is found in correct examples', () => {
    assert.deepEqual(exchanged(request, one, { fits: [() => true] }), [])
    assert.deepEqual(exchanged(`${request}${request}`, `${one}${one}`), [])
    assert.deepEqual(exchanged(`${request}rubbish`, `${one}${last}`), [])
    assert.deepEqual(exchanged(`${request}rubbish`, one), [])
    assert.deepEqual(exchanged(`${request}${request}`, answerText('VAL001', true)), [])
    assert.deepEqual(exchanged('rubbish', ''), [])
  })
})

describe('the log, the process and its end', () => {
  const badLines: Record<string, string> = {
    'a line of the log is a JSON object': 'Error: something',
    'nothing unexpected is logged': '{"level":50,"msg":"unexpected error"}',
    'no secret is logged': '{"level":40,"msg":"a","key":"salt-and-pepper"}',
    'no card number is logged': '{"level":40,"msg":"a","detail":"4242424242424242"}',
  }
  const fine = { megabytesBefore: 100, megabytesAfter: 149, sockets: 3, mostSockets: 3 }
  const nothing = { round: undefined, audit: undefined, stop: undefined }
  const badEnds: Record<string, Partial<oracles.AtEnd>> = {
    'memory does not grow': { megabytesAfter: 150 },
    'no connection is left behind': { sockets: 4 },
    'a purchase, its confirm and its cancel work afterwards': { round: 'SVC001' },
    'the audit finds no rule broken': { audit: 'exit code 1' },
    'the process stops cleanly': { stop: 'code 1' },
  }

  test('every oracle of a log line and of the end finds its violation, and nothing else', () => {
    assert.deepEqual(Object.keys(badLines), Object.keys(oracles.logOracles))
    assert.deepEqual(Object.keys(badEnds), Object.keys(oracles.endOracles))
    for (const [oracle, line] of Object.entries(badLines)) {
      assert.deepEqual(
        oracles.checkLine({ line, secrets }).map((breach) => breach.oracle),
        [oracle],
      )
    }
    for (const [oracle, end] of Object.entries(badEnds)) {
      assert.deepEqual(
        oracles.checkEnd({ ...fine, ...nothing, ...end }).map((breach) => breach.oracle),
        [oracle],
      )
    }
    assert.deepEqual(oracles.checkLine({ line: '{"level":40,"msg":"a commit is in doubt"}', secrets }), [])
    assert.deepEqual(oracles.checkEnd({ ...fine, ...nothing }), [])
    assert.deepEqual(oracles.checkEnd({ ...fine, ...nothing, megabytesBefore: null }), [])
  })

  test('output of the process besides its log is found, and its end', (t) => {
    const found: string[] = []
    const [logFile, errorFile] = ['log', 'errors'].map((name) => join(newDirectory(t), name)) as [string, string]
    writeFileSync(logFile, '{"level":30,"msg":"ready"}\n{"level":60')
    writeFileSync(errorFile, '')
    const service = { pid: () => process.pid, logFile, errorFile, endedByItself: [] as string[] }
    const watch = watchService(service, secrets, ({ oracle }) => found.push(oracle))
    appendFileSync(logFile, ',"msg":"a bug outside of any request"}\n')
    appendFileSync(errorFile, '(node:1) MaxListenersExceededWarning')
    service.endedByItself.push('service a ended with code 7')
    watch.stop()
    assert.deepEqual(found, ['nothing is printed besides the log', 'nothing unexpected is logged', 'the process lives'])
    assert.deepEqual(Object.fromEntries(watch.lines.byMessage), { '30 ready': 1, '60 a bug outside of any request': 1 })
  })
})

test('framing counts the requests that are certain, and bounds the number in the uncertain rest', () => {
  const chunked = (body: string) => `POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`
  const post = (length: string, body: string) =>
    `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`
  const cases: Record<string, [requests: number, rest: string, heads: number]> = {
    '': [0, 'none', 0],
    [request]: [1, 'none', 0],
    [`${request}${request}`]: [2, 'none', 0],
    [`${request}x`]: [1, 'uncertain', 0],
    [`${request}${request.replace('HTTP/1.1', 'HTTP/1.0')}`]: [1, 'uncertain', 1],
    [request.replace('Host', 'Expect')]: [0, 'uncertain', 1],
    [post('2', '{}')]: [1, 'none', 0],
    [post('3', '{}')]: [0, 'incomplete', 1],
    [post('1', '{}')]: [1, 'uncertain', 0],
    [post('+2', '{}')]: [0, 'uncertain', 1],
    [post('2\r\nContent-Length: 2', '{}')]: [0, 'uncertain', 1],
    [chunked('2\r\n{}\r\n0\r\n\r\n')]: [1, 'none', 0],
    [chunked('2\r\n{}\r\n')]: [0, 'incomplete', 1],
    [chunked('2;a\r\n{}\r\n0\r\n\r\n')]: [0, 'uncertain', 2],
  }
  for (const [sent, expected] of Object.entries(cases)) {
    const { requests, rest, headsInRest } = frame(Buffer.from(sent, 'latin1'))
    assert.deepEqual([requests.length, rest, headsInRest], expected, JSON.stringify(sent))
  }
})

test('a finding is shrunk, and not shrunk when it cannot be repeated', async () => {
  const bytes = Buffer.from(`${'a'.repeat(500)}X${'b'.repeat(300)}Y${'c'.repeat(100)}`)
  const shows = async (candidate: Buffer) => candidate.includes('X') && candidate.includes('Y')
  assert.equal((await minimizeBytes(bytes, shows))?.toString(), 'XY')
  assert.equal(await minimizeBytes(bytes, async () => false), null)
})
