// Section 4 as raw bytes: the content type of a body. Only unencoded JSON in UTF-8 is read, and it is always validated
// against the schema.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import {
  type Code,
  type HostileRow,
  hostileTests,
  hostileWorld,
  type RequestParts,
  written,
} from '../support/hostile.ts'

const world = hostileWorld()
const good = '{"packageType":"BASIC"}'

/** The lines sent as the content type, with the codes for a valid and an invalid body. */
const types: [what: string, good: Code, wrong: Code, line: string | null][] = [
  ['no content type', 'VAL001', 'VAL001', null],
  ['an empty content type', 'VAL001', 'VAL001', 'content-type:'],
  ['text/plain', 'VAL001', 'VAL001', 'content-type: text/plain'],
  ['a form', 'VAL001', 'VAL001', 'content-type: application/x-www-form-urlencoded'],
  ['a multipart form', 'VAL001', 'VAL001', 'content-type: multipart/form-data; boundary=x'],
  ['XML', 'VAL001', 'VAL001', 'content-type: application/xml'],
  ['JSON:API', 'VAL001', 'VAL001', 'content-type: application/vnd.api+json'],
  ['text/json', 'VAL001', 'VAL001', 'content-type: text/json'],
  ['application/jsonp', 'VAL001', 'VAL001', 'content-type: application/jsonp'],
  ['a list of types', 'VAL001', 'VAL001', 'content-type: application/json, text/plain'],
  ['a tab and a letter after application/json', 'VAL001', 'VAL001', 'content-type: application/json\ta'],
  ['a space and a letter after application/json', 'VAL001', 'VAL001', 'content-type: application/json a'],
  ['a type in quotes', 'VAL001', 'VAL001', 'content-type: "application/json"'],
  ['another letter case', 'SUCCESS', 'VAL003', 'Content-Type: Application/JSON; Charset=UTF-8'],
  ['spaces before the type', 'SUCCESS', 'VAL003', 'content-type:    application/json'],
  ['a tab before the type', 'SUCCESS', 'VAL003', 'content-type:\tapplication/json'],
  ['a semicolon and no parameter', 'SUCCESS', 'VAL003', 'content-type: application/json;'],
  ['an unknown parameter', 'SUCCESS', 'VAL003', 'content-type: application/json; x=y'],
  ['a charset in quotes', 'SUCCESS', 'VAL003', 'content-type: application/json; charset="utf-8"'],
  ['UTF-8 by its alias', 'SUCCESS', 'VAL003', 'content-type: application/json; charset=utf8'],
  ['UTF-8 by its alias, in capitals and quotes', 'SUCCESS', 'VAL003', 'content-type: application/json;charset="UTF8"'],
  ['a wrong alias', 'VAL001', 'VAL001', 'content-type: application/json; charset=utf88'],
  ['JSON and then another type', 'SUCCESS', 'VAL003', 'content-type: application/json\r\ncontent-type: text/plain'],
  ['another type and then JSON', 'VAL001', 'VAL001', 'content-type: text/plain\r\ncontent-type: application/json'],
  ['UTF-8 called UTF-16', 'VAL001', 'VAL001', 'content-type: application/json; charset=utf-16'],
  ['UTF-8 called ISO-8859-1', 'VAL001', 'VAL001', 'content-type: application/json;charset=ISO-8859-1'],
  ['UTF-8 called UTF-7, in quotes', 'VAL001', 'VAL001', 'content-type: application/json; x=y; charset="utf-7"'],
  ['gzip', 'VAL001', 'VAL001', 'content-type: application/json\r\ncontent-encoding: gzip'],
  ['br', 'VAL001', 'VAL001', 'content-type: application/json\r\ncontent-encoding: br'],
  ['deflate', 'VAL001', 'VAL001', 'content-type: application/json\r\ncontent-encoding: deflate'],
  ['an unknown encoding', 'VAL001', 'VAL001', 'content-type: application/json\r\ncontent-encoding: x'],
]

function rowOf(what: string, code: Code, body: string | Buffer, parts: RequestParts): HostileRow {
  return {
    what,
    code,
    request: () => world.post('/purchase', body, parts),
    ...(code === 'SUCCESS' && { status: 201 as const, writes: written.purchase }),
  }
}
hostileTests(
  world,
  types.flatMap(([what, code, wrongCode, type]) => [
    rowOf(`${what}, with a valid body`, code, good, { type }),
    rowOf(`${what}, with a wrong value in the body`, wrongCode, '{"packageType":"NONE"}', { type }),
  ]),
)

const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024)
const packed: [what: string, code: Code, body: () => Buffer, encoding: string][] = [
  ['a body in gzip', 'VAL001', () => gzipSync(good), 'gzip'],
  ['a body in brotli', 'VAL001', () => brotliCompressSync(good), 'br'],
  ['a body in deflate', 'VAL001', () => deflateSync(good), 'deflate'],
  ['a body in gzip within gzip', 'VAL001', () => gzipSync(gzipSync(good)), 'gzip, gzip'],
  ['10 MB packed into less than the limit', 'VAL001', () => gzipSync(zeros(10)), 'gzip'],
  ['a gigabyte packed twice', 'VAL001', () => gzipSync(Buffer.concat(Array(100).fill(gzipSync(zeros(10))))), 'gzip'],
  ['gzip that is too large while compressed', 'VAL004', () => gzipSync(zeros(20)), 'gzip'],
]
hostileTests(
  world,
  packed.map(([what, code, body, encoding]) => ({
    what,
    code,
    request: () => world.post('/purchase', body(), { lines: [`content-encoding: ${encoding}`] }),
  })),
)

const chunk = (body: Buffer) =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])

hostileTests(world, [
  {
    what: 'a body in gzip by its transfer encoding',
    request: () =>
      world.post('/purchase', chunk(gzipSync(good)), { length: null, lines: ['transfer-encoding: gzip, chunked'] }),
    code: 'VAL001',
    closes: true,
  },
  {
    what: 'UTF-16 with the charset named',
    request: () =>
      world.post('/purchase', Buffer.from(good, 'utf16le'), { type: 'content-type: application/json; charset=utf-16' }),
    code: 'VAL001',
    closes: true,
  },
])
