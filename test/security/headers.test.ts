// The headers that every answer has and those that none has, for every kind of answer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { head, openSocket } from '../../harness/raw-http.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let apiKey: string
before(async () => {
  service = await startTestService()
  apiKey = (await service.newCustomer()).apiKey
})
after(() => service.close())

const credits = 'GET /public/v1/payments/credits'
const own = () => ({ 'service-api-key': apiKey })

const answers: [name: string, status: number, request: () => string][] = [
  ['a success', 200, () => head(credits, own())],
  ['the list of packages', 200, () => head('GET /public/v1/payments/packages', own())],
  ['a request without a key', 401, () => head(credits)],
  ['an unknown route', 404, () => head('GET /nowhere', own())],
  ['a path that cannot be read', 404, () => head('GET /public/v1/payments/%zz', own())],
  [
    'a preflight',
    404,
    () => head('OPTIONS /public/v1/payments/purchase', { ...own(), origin: 'https://evil.example' }),
  ],
  ['a request of a page', 200, () => head(credits, { ...own(), origin: 'https://evil.example', cookie: 'a=b' })],
  ['text that is not HTTP', 400, () => 'nonsense\r\n\r\n'],
  ['a head that is too long', 400, () => head(credits, { x: 'a'.repeat(20_000) })],
  ['CONNECT', 404, () => head('CONNECT service:443', own())],
  ['an unknown expectation', 400, () => head(credits, { ...own(), expect: 'foo' })],
  ['HTTP/2 in the version of an HTTP/1 request', 400, () => head(credits, own()).replace('HTTP/1.1', 'HTTP/2.0')],
]

for (const [name, status, request] of answers) {
  test(`the answer to ${name} has the security headers and reveals nothing of the server`, async () => {
    const socket = await openSocket(service.port)
    socket.write(request())
    const [received] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    const text = received.toString('latin1').split('\r\n\r\n')[0]?.toLowerCase() ?? ''
    assert.match(text, new RegExp(`^http/1.1 ${status} `))
    assert.match(text, /^content-type: application\/json; charset=utf-8$/m)
    assert.match(text, /^cache-control: no-store$/m)
    assert.match(text, /^x-content-type-options: nosniff$/m)
    assert.match(text, /^content-security-policy: default-src 'none'; frame-ancestors 'none'$/m)
    assert.doesNotMatch(text, /^(server|x-powered-by|set-cookie|access-control-[a-z-]+|etag|via):/m)
  })
}
