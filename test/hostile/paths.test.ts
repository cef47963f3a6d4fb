// Section 4.3 and unknown paths as raw bytes: values sent as an orderId, and alternative spellings of paths. Every path
// that does not exist is NOT000.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { message, openSocket, parseAnswers, readToEnd } from '../../harness/raw-http.ts'
import { base, type Code, hostileTests, hostileWorld } from '../support/hostile.ts'

let orderId: string
const world = hostileWorld({}, async () => {
  orderId = (await world.customer.purchase('BASIC')).body.data.orderId
})

/** Sent as the orderId. */
const segments = [
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e',
  '..',
  '.',
  '%2e',
  'a%00b',
  'a%0d%0ab',
  ';x=1',
  '*',
  '%20',
  '%2a',
  '~',
  '@',
  '%zz',
  '%',
  '%2',
  '%ff',
  '%c0%ae',
  '%e0%80%ae',
  '%ed%a0%80',
  '%u0041',
  '%F0%9F%92%B3',
  'Credits',
  'CREDITS',
  'PACKAGES',
  'Packages',
  'purchase',
  'confirm',
  'cancel',
  'credits%2f',
  '%63redits%00',
  'constructor',
  '__proto__',
  'toString',
  'undefined',
  'null',
  '[object Object]'.replace(' ', '%20'),
  "'or'1'='1",
  '1',
  '-1',
  '0x10',
  '1e3',
  'ord_',
  '$' + '{7*7}',
  '{{7*7}}',
  '<script>',
  'credits;',
  'credits%23x',
  'credits,packages',
]
const lengths = [65, 100, 101, 8_000]

/** Whole paths. */
const addresses: [address: string, code: Code][] = [
  ...[
    '/',
    '//',
    '/public',
    '/public/v1',
    '/public/v1/payments',
    `${base}/`,
    `${base}//`,
    `${base}//credits`,
    `${base}/credits/`,
    `${base}/credits/.`,
    `${base}/credits/..`,
    `${base}/../payments/credits`,
    '/public/v1/../v1/payments/credits',
    '/./public/v1/payments/credits',
    '/public/v1/payments/./credits',
    '/public%2fv1%2fpayments%2fcredits',
    `/x${base}/credits`,
    `/${base}/credits`,
    '/PUBLIC/V1/PAYMENTS/credits',
    '/public/v2/payments/credits',
    '/public/v1/payments/credits/extra',
    '/livez',
    '/readyz',
    '/metrics',
    '/internal/v1/credits',
    '/webhooks/toss/x',
    '/favicon.ico',
    '/.env',
    '/.git/config',
    '*',
    'http://elsewhere/',
    'ftp://elsewhere/public/v1/payments/credits',
  ].map((address): [string, Code] => [address, 'NOT000']),
  [`${base}/credits?x[__proto__]=1`, 'SUCCESS'],
  [`${base}/credits?__proto__=1&constructor.prototype.x=1`, 'SUCCESS'],
  [`${base}/credits?%zz&%00&customerId=other`, 'SUCCESS'],
  [`${base}/credits?`, 'SUCCESS'],
  [`${base}/%63redits`, 'SUCCESS'],
  [`http://elsewhere${base}/credits`, 'SUCCESS'],
]

hostileTests(world, [
  ...segments.map((segment) => ({
    what: `GET of the order ${segment}`,
    request: () => world.get(`/${segment}`),
    code: 'NOT000' as const,
  })),
  ...lengths.map((length) => ({
    what: `GET of an order whose id has ${length} characters`,
    request: () => world.get(`/${'o'.repeat(length)}`),
    code: 'NOT000' as const,
  })),
  ...addresses.map(([address, code]) => ({
    what: `GET of ${address}`,
    request: () => message(`GET ${address}`, ['host: service', world.keyLine()]),
    code,
  })),
])

/** Unknown and malformed paths: without a key the answers do not differ. */
for (const address of [
  '/',
  `${base}/credits`,
  `${base}/%zz`,
  '/nowhere',
  '/livez',
  `${base}/${'o'.repeat(101)}`,
  '*',
]) {
  hostileTests(world, [
    {
      what: `GET of ${address.slice(0, 40)} without a key`,
      request: () => message(`GET ${address}`, ['host: service']),
      code: 'INVALID_API_KEY',
    },
  ])
}

test('an orderId in another spelling is another order: NOT000', async () => {
  const spellings = [
    orderId.toLowerCase(),
    `${orderId}%20`,
    `%20${orderId}`,
    `${orderId}%00`,
    `${orderId}/`,
    `${orderId};`,
  ]
  for (const segment of spellings) {
    await world.check({ what: '', request: () => world.get(`/${segment}`), code: 'NOT000' })
  }
  await world.check({ what: '', request: () => world.get(`/${orderId}`), code: 'SUCCESS' })
})

test('none of 1,000 guesses near an own orderId is an order, and all answers are the same', async () => {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  /** The next ids by counting, and every single-digit change. */
  const guesses = new Set<string>()
  for (let place = orderId.length - 1; place >= 4 && guesses.size < 1_000; place -= 1) {
    for (const digit of digits) guesses.add(orderId.slice(0, place) + digit + orderId.slice(place + 1))
  }
  guesses.delete(orderId)
  const names = [...guesses].slice(0, 1_000)
  assert.equal(names.length, 1_000)
  const bodies = new Set<string>()
  for (let start = 0; start < names.length; start += 50) {
    const socket = await openSocket(world.service.port)
    const closed = readToEnd(socket)
    const some = names.slice(start, start + 50)
    socket.write(
      Buffer.concat(some.map((name, place) => world.get(`/${name}`, place === 49 ? ['connection: close'] : []))),
    )
    const answers = parseAnswers(await closed)
    assert.equal(answers.length, 50)
    for (const { status, text } of answers) {
      assert.equal(status, 404)
      bodies.add(text)
    }
  }
  assert.equal(bodies.size, 1)
  await world.assertHealthy()
})
