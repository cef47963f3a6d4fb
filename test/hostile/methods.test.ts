// Methods that a path does not support, as raw bytes: NOT000 for a request with a key, with the supported methods.
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import { message, openSocket, type RawAnswer, sendRaw } from '../../harness/raw-http.ts'
import { assertAnswer, assertHeaders, base, type HostileRow, hostileTests, hostileWorld } from '../support/hostile.ts'

const world = hostileWorld()
const order = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789'

/** By the paths of section 4, GET /purchase is the status of an order with the id "purchase". */
const addresses: [path: string, allow: string, methods: string[]][] = [
  ['/purchase', 'GET, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']],
  ['/confirm', 'GET, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'LOCK']],
  ['/cancel', 'GET, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'MKCOL']],
  ['/credits', 'GET', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE']],
  ['/packages', 'GET', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'SEARCH']],
  [`/${order}`, 'GET', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'MOVE']],
]

const request = (method: string, address: string, lines: string[] = []) =>
  message(`${method} ${address}`, ['host: service', ...lines])

function allows(expected: string | null): (answer: RawAnswer) => void {
  return ({ headers }) => assert.equal(headers.get('allow'), expected)
}

const rows = addresses.flatMap(([path, allow, methods]) =>
  methods.flatMap((method): HostileRow[] => [
    {
      what: `${method} ${path}, which supports ${allow}`,
      request: () => request(method, base + path, [world.keyLine()]),
      code: 'NOT000',
      also: allows(allow),
    },
    {
      what: `${method} ${path} without a key, which gets no Allow header`,
      request: () => request(method, base + path),
      code: 'INVALID_API_KEY',
      also: allows(null),
    },
  ]),
)
hostileTests(world, rows)

/** GET succeeds, HEAD has no body and CONNECT has no path; all three are tested below. */
const others = METHODS.filter((method) => !['GET', 'HEAD', 'CONNECT'].includes(method))
for (const [keyState, code] of [
  ['with a key', 'NOT000'],
  ['without a key', 'INVALID_API_KEY'],
] as const) {
  test(`every parseable method except GET is ${code} for the credits ${keyState}`, async () => {
    for (const method of others) {
      const lines = code === 'NOT000' ? [world.keyLine()] : []
      const answer = await sendRaw(world.service.port, request(method, `${base}/credits`, lines))
      assert.equal(answer.body.code, code, method)
      assertAnswer(answer, code)
    }
  })
}

hostileTests(world, [
  {
    what: 'a wrong method with a query',
    request: () => request('DELETE', `${base}/credits?x=/purchase`, [world.keyLine()]),
    code: 'NOT000',
    also: allows('GET'),
  },
  {
    what: 'a wrong method with a body that is not JSON',
    request: () => world.post('/credits', '{'),
    code: 'NOT000',
    also: allows('GET'),
  },
  ...['/', '/nowhere', `${base}/a/b`, `${base}/`].map((address) => ({
    what: `DELETE ${address}, a path without any method`,
    request: () => request('DELETE', address, [world.keyLine()]),
    code: 'NOT000' as const,
    also: allows(null),
  })),
  ...[`/${'o'.repeat(101)}`, '/%zz', '/%ff'].map((path) => ({
    what: `GET ${path.slice(0, 20)}, a malformed path`,
    request: () => world.get(path),
    code: 'NOT000' as const,
    also: allows(null),
  })),
  ...['/purchase', '/confirm', '/cancel'].map((path) => ({
    what: `GET ${path}, an unknown order`,
    request: () => world.get(path),
    code: 'NOT000' as const,
    also: allows(null),
  })),
  {
    what: 'the preflight request of a browser',
    request: () =>
      request('OPTIONS', `${base}/purchase`, [
        'origin: https://evil.example',
        'access-control-request-method: POST',
        world.keyLine(),
      ]),
    code: 'NOT000',
    also: ({ head }) => assert.doesNotMatch(head, /^(access-control-|set-cookie)/im),
  },
  {
    what: 'TRACE, which echoes nothing of the request',
    request: () => request('TRACE', `${base}/credits`, [world.keyLine(), 'x-secret: do-not-echo']),
    code: 'NOT000',
    also: ({ head, text }) => assert.doesNotMatch(head + text, /do-not-echo|service-api-key/i),
  },
  {
    what: 'an unknown method',
    request: () => request('FOO', `${base}/credits`, [world.keyLine()]),
    code: 'VAL001',
    closes: true,
  },
  ...['elsewhere:443', `${base}/credits`].flatMap((target) => [
    {
      what: `CONNECT ${target}`,
      request: () => request('CONNECT', target, [world.keyLine()]),
      code: 'NOT000' as const,
      closes: true,
    },
    {
      what: `CONNECT ${target} without a key`,
      request: () => request('CONNECT', target),
      code: 'INVALID_API_KEY' as const,
      closes: true,
    },
  ]),
])

for (const [path, keyState, status] of [
  ['/credits', 'with a key', 404],
  ['/purchase', 'with a key', 404],
  ['/nowhere/at/all', 'with a key', 404],
  ['/credits', 'without a key', 401],
  ['/nowhere/at/all', 'without a key', 401],
] as const) {
  test(`HEAD ${path} ${keyState} is ${status} with the headers of every answer and no body`, async () => {
    const socket = await openSocket(world.service.port)
    const keyLines = status === 401 ? [] : [world.keyLine()]
    socket.end(request('HEAD', base + path, [...keyLines, 'connection: close']))
    let text = ''
    for await (const piece of socket) text += piece
    const [head = '', body, ...more] = text.split('\r\n\r\n')
    const [statusLine = '', ...lines] = head.split('\r\n')
    assert.match(statusLine, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.deepEqual([body, more], ['', []])
    assertHeaders(
      new Headers(lines.map((line): [string, string] => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1)])),
    )
    await world.assertHealthy()
  })
}
