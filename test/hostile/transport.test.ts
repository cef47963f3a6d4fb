// Broken, ambiguous or too large HTTP as raw bytes: how the parser and the listener answer it before there is a request.
// Unreadable HTTP is answered before the key is checked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../harness/random.ts'
import { message, openSocket, parseAnswers, readToEnd } from '../../harness/raw-http.ts'
import { base, type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'
import { testSettings } from '../support/service/service.ts'

const world = hostileWorld()
const good = '{"packageType":"BASIC"}'
const limitBytes = 16_384
const key = () => world.keyLine()
const purchaseOf = (bytes: number) => good.padEnd(bytes)
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const post = (lines: string[], body = good) => world.post('/purchase', body, { length: null, lines })
const purchased = { code: 'SUCCESS', status: 201, writes: written.purchase } as const

const sizes: HostileRow[] = [
  { what: 'a body of the size limit', request: () => world.post('/purchase', purchaseOf(limitBytes)), ...purchased },
  {
    what: 'a body one byte past the size limit',
    request: () => world.post('/purchase', purchaseOf(limitBytes + 1)),
    code: 'VAL004',
  },
  {
    what: 'a chunked body of the size limit',
    request: () => post(['transfer-encoding: chunked'], `${chunk(purchaseOf(limitBytes))}0\r\n\r\n`),
    ...purchased,
  },
  {
    what: 'a chunked body one byte past the size limit',
    request: () => post(['transfer-encoding: chunked'], `${chunk(purchaseOf(limitBytes + 1))}0\r\n\r\n`),
    code: 'VAL004',
  },
  {
    what: 'a body in chunks of one byte',
    request: () => post(['transfer-encoding: chunked'], `${[...good].map(chunk).join('')}0\r\n\r\n`),
    ...purchased,
  },
  {
    what: '10 GB announced and one byte sent',
    request: () => world.post('/purchase', '{', { length: 10_000_000_000 }),
    code: 'VAL004',
  },
  {
    what: '10 GB announced without a key',
    request: () => world.post('/purchase', '{', { key: null, length: 10_000_000_000 }),
    code: 'INVALID_API_KEY',
  },
  {
    what: 'a length that overflows',
    request: () => world.post('/purchase', '{', { length: null, lines: ['content-length: 99999999999999999999999'] }),
    code: 'VAL001',
    closes: true,
  },
]
hostileTests(world, sizes)

const heads: [what: string, code: Code, lines: () => string[]][] = [
  ['3,000 headers', 'VAL004', () => Array(3_000).fill('a: b')],
  ['1,100 headers', 'VAL004', () => Array(1_100).fill('a: b')],
  ['one header of 17 KB', 'VAL004', () => [`x: ${'y'.repeat(17_408)}`]],
  ['300 headers of 60 bytes', 'VAL004', () => Array(300).fill(`x: ${'y'.repeat(57)}`)],
  ['a header name of 17 KB', 'VAL004', () => [`${'x'.repeat(17_408)}: y`]],
]
hostileTests(world, [
  ...heads.map(([what, code, lines]) => ({
    what,
    code,
    closes: true,
    request: () => world.get('/credits', lines()),
  })),
  {
    what: 'an address of 20 KB',
    request: () => world.get(`/${'x'.repeat(20_000)}`),
    code: 'VAL004',
    closes: true,
  },
])

/** Bodies whose end is ambiguous, as in request smuggling. */
const framing: [what: string, lines: string[], body: string][] = [
  ['a length and chunks', ['content-length: 23', 'transfer-encoding: chunked'], `${chunk(good)}0\r\n\r\n`],
  ['chunks and a length', ['transfer-encoding: chunked', 'content-length: 23'], `${chunk(good)}0\r\n\r\n`],
  ['two lengths', ['content-length: 23', 'content-length: 2'], good],
  ['the same length twice', ['content-length: 23', 'content-length: 23'], good],
  ['two lengths in one line', ['content-length: 23, 23'], good],
  ['a negative length', ['content-length: -23'], good],
  ['a length with a plus', ['content-length: +23'], good],
  ['a length in hexadecimal', ['content-length: 0x17'], good],
  ['a length with a fraction', ['content-length: 23.0'], good],
  ['an empty length', ['content-length:'], good],
  ['a space between content-length and its colon', ['content-length : 23'], good],
  ['an encoding that is nearly chunked', ['transfer-encoding: xchunked'], `${chunk(good)}0\r\n\r\n`],
  ['an encoding after chunked', ['transfer-encoding: chunked, identity'], `${chunk(good)}0\r\n\r\n`],
  ['identity as the only encoding', ['transfer-encoding: identity'], good],
  ['a chunk whose size is not a number', ['transfer-encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
  ['a chunk with a negative size', ['transfer-encoding: chunked'], `-17\r\n${good}\r\n0\r\n\r\n`],
  ['a chunk that is longer than its size', ['transfer-encoding: chunked'], `2\r\n${good}\r\n0\r\n\r\n`],
  ['a chunk size that overflows', ['transfer-encoding: chunked'], `ffffffffffffffffff\r\n${good}\r\n0\r\n\r\n`],
  ['a chunk that ends in a bare LF', ['transfer-encoding: chunked'], `17\n${good}\n0\n\n`],
]
hostileTests(
  world,
  framing.map(([what, lines, body]) => ({ what, request: () => post(lines, body), code: 'VAL001', closes: true })),
)

const bytes = (text: string) => Buffer.from(text, 'latin1')
const unreadable: [what: string, request: () => Buffer][] = [
  ['lines that end in a bare LF', () => bytes(`GET ${base}/credits HTTP/1.1\nhost: x\n${key()}\n\n`)],
  ['lines that end in a bare CR', () => bytes(`GET ${base}/credits HTTP/1.1\rhost: x\r${key()}\r\r`)],
  ['one line that ends in a bare LF', () => bytes(`GET ${base}/credits HTTP/1.1\r\nhost: x\n${key()}\r\n\r\n`)],
  ['a header folded over two lines', () => world.get('/credits', ['x: a\r\n b'])],
  ['a key folded over two lines', () => message(`GET ${base}/credits`, ['host: x', `service-api-key:\r\n ${key()}`])],
  ['a header that begins with a space', () => message(`GET ${base}/credits`, [' host: x', key()])],
  ['a space in a header name', () => world.get('/credits', ['bad name: x'])],
  ['a space after a header name', () => world.get('/credits', ['name : x'])],
  ['a header without a name', () => world.get('/credits', [': x'])],
  ['a header without a colon', () => world.get('/credits', ['header'])],
  ['NUL in a header', () => world.get('/credits', ['x: a\0b'])],
  ['NUL in a header name', () => world.get('/credits', ['x\0: a'])],
  ['NUL in the address', () => world.get('/cred\0its')],
  ['a space in the address', () => world.get('/cred its')],
  ['an unknown Expect header', () => post(['content-length: 23', 'expect: foo'])],
  ['HTTP/0.9', () => bytes(`GET ${base}/credits\r\n\r\n`)],
  ['HTTP/0.9 with headers', () => bytes(`GET ${base}/credits HTTP/0.9\r\nhost: x\r\n${key()}\r\n\r\n`)],
  ['HTTP/2.0 by name', () => bytes(`GET ${base}/credits HTTP/2.0\r\nhost: x\r\n${key()}\r\n\r\n`)],
  ['HTTP/3.0 by name', () => bytes(`GET ${base}/credits HTTP/3.0\r\nhost: x\r\n${key()}\r\n\r\n`)],
  ['HTTP/1.2', () => bytes(`GET ${base}/credits HTTP/1.2\r\nhost: x\r\n${key()}\r\n\r\n`)],
  ['HTTP/2 without TLS', () => bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
  ['a method in lower case', () => bytes(`get ${base}/credits HTTP/1.1\r\nhost: x\r\n${key()}\r\n\r\n`)],
  ['a TLS hello', () => Buffer.from('16030100a5010000a10303', 'hex')],
  ['an SSH banner', () => bytes('SSH-2.0-OpenSSH_9.6\r\n')],
  ['a Redis command', () => bytes('*1\r\n$4\r\nPING\r\n')],
]
hostileTests(
  world,
  unreadable.map(([what, request]) => ({ what, request, code: 'VAL001', closes: true })),
)

const harmless: [what: string, request: () => Buffer][] = [
  ['HTTP/1.0 without Host', () => bytes(`GET ${base}/credits HTTP/1.0\r\n${key()}\r\n\r\n`)],
  ['empty lines before a request', () => Buffer.concat([bytes('\r\n\r\n'), world.get('/credits')])],
  ['Upgrade to a WebSocket', () => world.get('/credits', ['connection: upgrade', 'upgrade: websocket'])],
  [
    'Upgrade to HTTP/2',
    () => world.get('/credits', ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABk']),
  ],
  ['a GET with JSON', () => Buffer.concat([world.get('/credits', ['content-length: 23']), bytes(good)])],
  ['a GET with broken JSON', () => Buffer.concat([world.get('/credits', ['content-length: 3']), bytes('{"a')])],
  [
    'a GET with text',
    () => Buffer.concat([world.get('/credits', ['content-type: x', 'content-length: 3']), bytes('abc')]),
  ],
  ['an absolute address with another host', () => message(`GET http://evil${base}/credits`, ['host: evil', key()])],
  ['another method in a header', () => world.get('/credits', ['x-http-method-override: DELETE', 'x-method: POST'])],
  ['another address in a header', () => world.get('/credits', ['x-original-url: /nowhere', 'x-rewrite-url: /nowhere'])],
  [
    'a forwarded client address in a header',
    () => world.get('/credits', ['x-forwarded-for: 10.0.0.1', 'x-real-ip: ::1']),
  ],
]
hostileTests(
  world,
  harmless.map(([what, request]) => ({ what, request, code: 'SUCCESS' })),
)

hostileTests(world, [
  { what: 'no Host', request: () => message(`GET ${base}/credits`, [key()]), code: 'VAL001' },
  {
    what: 'Expect: 100-continue with its body',
    request: () => world.post('/purchase', good, { lines: ['expect: 100-continue'] }),
    ...purchased,
  },
  {
    what: 'a purchase with another Host and another address',
    request: () =>
      message(
        `POST http://evil${base}/purchase`,
        ['host: evil', 'x-forwarded-host: evil', 'x-forwarded-proto: ftp', 'forwarded: host=evil', key()].concat([
          'content-type: application/json',
          `content-length: ${good.length}`,
        ]),
        good,
      ),
    ...purchased,
    also({ head, text, body }) {
      assert.doesNotMatch(head + text, /evil/)
      assert.equal(body.data.successUrl, testSettings.successUrl)
    },
  },
  {
    what: 'a purchase with a header that overrides the method with GET',
    request: () => world.post('/purchase', good, { lines: ['x-http-method-override: GET'] }),
    ...purchased,
  },
])

test('each of 1,000 connections with random bytes is answered VAL001 or closed, and the service keeps running', async () => {
  const random = createRandom(1)
  const { wrote } = await world.observe(async () => {
    for (let round = 0; round < 50; round += 1) {
      const payloads = Array.from({ length: 20 }, () =>
        Buffer.from(Array.from({ length: random.integer(1, 400) }, () => random.integer(0, 255))),
      )
      await Promise.all(
        payloads.map(async (payload) => {
          const socket = await openSocket(world.service.port)
          const closed = readToEnd(socket)
          socket.end(payload)
          const codes = parseAnswers(await closed).map(({ body }) => body.code)
          assert.ok(codes.length === 0 || codes.join() === 'VAL001', `${payload.toString('hex')}: ${codes}`)
        }),
      )
    }
  })
  assert.deepEqual(wrote, written.nothing)
  await world.assertHealthy()
})
