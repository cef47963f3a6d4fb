// Section 1 and rows 1 to 8 of the decisions: every request, however malformed, is answered with the envelope and a code
// of section 7. The helpers check the five fields and the status of every answer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { head, openSocket, sendRaw } from '../../harness/raw-http.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service/service.ts'

let service: TestService
let customer: TestCustomer
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
})
after(() => service.close())

const base = '/public/v1/payments'
const json = { 'content-type': 'application/json' }
const withKey = () => ({ 'service-api-key': customer.apiKey })

async function countOrders(): Promise<number> {
  return (await service.database.query('select from orders')).length
}

test('1: an unknown path, and a known path in another spelling, is 404 NOT000', async () => {
  const paths = [
    '/',
    '//',
    '/public',
    '/public/v1/payments',
    '/public/v2/payments/credits',
    `${base}/`,
    `${base}/credits/`,
    `${base}//credits`,
    `${base}/Credits`,
    `/PUBLIC/v1/payments/credits`,
    `${base}/credits/x`,
    `${base}/packages%2F`,
    `${base}/%zz`,
    `${base}/%`,
    `${base}/%ff`,
    '/%zz',
    `${base}/${'a'.repeat(8_000)}`,
    `${base}/x;y=z`,
    '/livez',
    '/metrics',
    '/favicon.ico',
  ]
  for (const path of paths) {
    const answer = await service.call(path, { key: customer.apiKey })
    assert.deepEqual([answer.status, answer.body.code, answer.body.metadata], [404, 'NOT000', null], path)
    assertRefused(await service.call(path), 'INVALID_API_KEY')
  }
})

test('1: another method on a known path is 404 NOT000', async () => {
  const known = [
    ['/purchase', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/confirm', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/cancel', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/credits', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/packages', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/ord_1', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
  ] as const
  for (const [path, methods] of known) {
    for (const method of methods) {
      assertRefused(await customer.as(path, { method }), 'NOT000')
      assertRefused(await service.call(`${base}${path}`, { method }), 'INVALID_API_KEY')
    }
  }
  for (const method of ['TRACE', 'PROPFIND', 'PURGE', 'QUERY']) {
    assertRefused(await sendRaw(service.port, head(`${method} ${base}/credits`, withKey())), 'NOT000')
  }
})

test('1: HEAD is an unsupported method: 404 with a key, 401 without, with the headers of the answer and no body', async () => {
  for (const [headers, status] of [
    [{}, 401],
    [withKey(), 404],
  ] as const) {
    const response = await fetch(`${service.url}${base}/credits`, { method: 'HEAD', headers })
    assert.equal(response.status, status)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(await response.text(), '')
  }
})

test('7: a body that cannot be parsed as a JSON object is VAL001, and nothing is created', async () => {
  const good = '{"packageType":"BASIC"}'
  const bodies: Record<string, string | Buffer> = {
    empty: '',
    blank: '  ',
    'an array': '[]',
    'an array with the object': `[${good}]`,
    null: 'null',
    'a string': '"x"',
    'a number': '1000',
    true: 'true',
    'half an object': '{"packageType":"BASIC"',
    'two objects': good + good,
    'a trailing comma': '{"packageType":"BASIC",}',
    'single quotes': "{'packageType':'BASIC'}",
    'a comment': `${good}//`,
    'NaN as a value': '{"packageType":NaN}',
    'a raw line break in a string': '{"packageType":"BAS\nIC"}',
    'a form': 'packageType=BASIC',
    'invalid UTF-8': Buffer.from([...Buffer.from('{"packageType":"BASIC","x":"'), 0xff, ...Buffer.from('"}')]),
    'an overlong UTF-8 sequence': Buffer.from([...Buffer.from('{"packageType":"BASIC","x":"'), 0xc0, 0xaf, 0x22, 0x7d]),
    'UTF-16': Buffer.from(good, 'utf16le'),
    __proto__: '{"packageType":"BASIC","__proto__":{"x":1}}',
    '__proto__ further down': '{"packageType":"BASIC","x":{"__proto__":{"x":1}}}',
    '__proto__ in disguise': '{"packageType":"BASIC","\\u005f_proto__":{"x":1}}',
    'constructor.prototype': '{"packageType":"BASIC","constructor":{"prototype":{"x":1}}}',
    'a body nested deeper than the stack allows': `{"packageType":"BASIC","x":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
    'a name twice': '{"packageType":"BASIC","packageType":"PRO"}',
  }
  const orders = await countOrders()
  for (const [title, body] of Object.entries(bodies)) {
    const bytes = Buffer.from(body)
    const headers = { ...withKey(), ...json, 'content-length': bytes.length }
    const request = Buffer.concat([Buffer.from(head(`POST ${base}/purchase`, headers)), bytes])
    const answer = await sendRaw(service.port, request)
    assert.deepEqual([answer.status, answer.body.code, answer.body.metadata], [400, 'VAL001', null], title)
  }
  assert.equal(await countOrders(), orders)
})

test('4: a body of another content type or encoding is VAL001, JSON or not', async () => {
  const body = '{"packageType":"BASIC"}'
  const headers: Record<string, Record<string, string>> = {
    'text/plain': { 'content-type': 'text/plain' },
    'a form': { 'content-type': 'application/x-www-form-urlencoded' },
    'a multipart form': { 'content-type': 'multipart/form-data; boundary=x' },
    'no content type': {},
    'an empty content type': { 'content-type': '' },
    nonsense: { 'content-type': 'nonsense' },
    'another kind of JSON': { 'content-type': 'application/jsonp' },
    'a list of types': { 'content-type': 'text/plain, application/json' },
    gzip: { ...json, 'content-encoding': 'gzip' },
    'an unknown encoding': { ...json, 'content-encoding': 'x' },
  }
  const orders = await countOrders()
  for (const path of ['/purchase', '/confirm', '/cancel']) {
    for (const [title, each] of Object.entries(headers)) {
      const start = head(`POST ${base}${path}`, { ...withKey(), ...each, 'content-length': body.length })
      assert.equal((await sendRaw(service.port, start + body)).body.code, 'VAL001', `${path}: ${title}`)
    }
  }
  assert.equal(await countOrders(), orders)
})

test('7: no body at all is VAL001 too, with or without a Content-Length', async () => {
  for (const path of ['/purchase', '/confirm', '/cancel']) {
    for (const headers of [{}, { 'content-length': 0 }, { ...json, 'content-length': 0 }, json]) {
      const answer = await sendRaw(service.port, head(`POST ${base}${path}`, { ...withKey(), ...headers }))
      assert.equal(answer.body.code, 'VAL001', `${path} ${JSON.stringify(headers)}`)
    }
  }
})

test('4: application/json is accepted in any case and with parameters, and so is a chunked body', async () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;x=y',
  ]) {
    const headers = { 'content-type': type }
    assertSuccess(await customer.as('/purchase', { raw: '{"packageType":"BASIC"}', headers }), 201)
  }
  const start = head(`POST ${base}/purchase`, { ...withKey(), ...json, 'transfer-encoding': 'chunked' })
  const pieces = ['{"packageType":', '"BASIC"}', ''].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`)
  assertSuccess(await sendRaw(service.port, start + pieces.join('')), 201)
})

test('1: an error response has a code, a status and a sentence: no stack, no name of a file or a statement', async () => {
  for (const request of [{ raw: '{' }, { raw: '[]' }, { body: { packageType: 1 } }, { body: {} }]) {
    const answer = await customer.as('/purchase', request)
    assert.doesNotMatch(answer.text, /\.ts|node_modules|at \w+ \(|FST_|ajv|schema|select |insert /i)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }
})

test('1: malformed HTTP is VAL001, and the connection is closed', async () => {
  const key = `service-api-key: ${customer.apiKey}`
  const unreadable = {
    'no HTTP at all': 'hello\r\n\r\n',
    'a TLS hello': Buffer.from('16030100a5010000a1', 'hex'),
    'an unknown method': `FOO ${base}/credits HTTP/1.1\r\nhost: x\r\n${key}\r\n\r\n`,
    'HTTP/2 in the clear': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/3.7': `GET ${base}/credits HTTP/3.7\r\nhost: x\r\n\r\n`,
    'a space in a header name': `GET ${base}/credits HTTP/1.1\r\nhost: x\r\nbad name: x\r\n${key}\r\n\r\n`,
    'a NUL in a header': `GET ${base}/credits HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n${key}\r\n\r\n`,
    'no Host': `GET ${base}/credits HTTP/1.1\r\n${key}\r\n\r\n`,
    'Content-Length twice': `POST ${base}/purchase HTTP/1.1\r\nhost: x\r\n${key}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}`,
    'a negative Content-Length': `POST ${base}/purchase HTTP/1.1\r\nhost: x\r\n${key}\r\ncontent-length: -1\r\n\r\n{}`,
    'Content-Length and chunked': `POST ${base}/purchase HTTP/1.1\r\nhost: x\r\n${key}\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a broken chunk': `${head(`POST ${base}/purchase`, { ...withKey(), ...json, 'transfer-encoding': 'chunked' })}zz\r\n`,
    'Expect: foo': head(`POST ${base}/purchase`, { ...withKey(), ...json, expect: 'foo', 'content-length': 2 }),
  }
  for (const [title, request] of Object.entries(unreadable)) {
    const answer = await sendRaw(service.port, request).catch((error) => assert.fail(`${title}: ${error.message}`))
    assert.deepEqual([answer.status, answer.body.code, answer.rest], [400, 'VAL001', ''], title)
  }
})

test('1: CONNECT, * and the root of another host are unknown routes, reported only to requests with a key', async () => {
  for (const start of ['CONNECT elsewhere:443', `CONNECT ${base}/credits`, 'OPTIONS *', 'GET http://elsewhere/']) {
    const known = await sendRaw(service.port, head(start, withKey())).catch((error) =>
      assert.fail(`${start}: ${error}`),
    )
    assert.equal(known.body.code, 'NOT000', start)
    assertRefused(await sendRaw(service.port, head(start)), 'INVALID_API_KEY')
  }
})

test('1: HTTP/1.0 without Host, an Upgrade, a Cookie and Expect: 100-continue are accepted', async () => {
  const key = `service-api-key: ${customer.apiKey}`
  assertSuccess(await sendRaw(service.port, `GET ${base}/credits HTTP/1.0\r\n${key}\r\n\r\n`), 200)
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', cookie: 'a=b' }
  assertSuccess(await sendRaw(service.port, head(`GET ${base}/credits`, { ...withKey(), ...upgrade })), 200)
  const socket = await openSocket(service.port)
  const body = '{"packageType":"BASIC"}'
  const expecting = { ...withKey(), ...json, expect: '100-continue', 'content-length': body.length }
  socket.write(head(`POST ${base}/purchase`, expecting))
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 Continue/)
  socket.write(body)
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 201 Created/)
  socket.destroy()
})

test('1: pipelined requests on one connection are answered in order', async () => {
  const first = head(`GET ${base}/packages`, withKey())
  const body = '{"packageType":1}'
  const second = head(`POST ${base}/purchase`, { ...withKey(), ...json, 'content-length': body.length }) + body
  const socket = await openSocket(service.port)
  socket.write(first + second + head('GET /nowhere', { ...withKey(), connection: 'close' }))
  let text = ''
  for await (const chunk of socket) text += chunk
  assert.deepEqual(
    [...text.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code),
    ['SUCCESS', 'VAL003', 'NOT000'],
  )
})
