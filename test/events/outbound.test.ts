// S37: an address from outside never leads to a private, loopback or link-local one. A canary listens on this machine and
// must see no connection.
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { createOutbound, lookupPublic, oneAtATime, type Resolve } from '../../src/events/outbound.ts'
import { isPublicAddress } from '../../src/events/public-addresses.ts'

let canary: Server
let port = 0
let connections = 0
before(async () => {
  canary = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '::')
  await once(canary, 'listening')
  port = (canary.address() as AddressInfo).port
})
after(() => canary.close())
beforeEach(() => {
  connections = 0
})

/** Resolves any name to these lists, one after the other; the last one repeats. */
function resolvesTo(...lists: string[][]): Resolve {
  let index = 0
  return (_hostname, _options, callback) => {
    const list = lists[Math.min(index++, lists.length - 1)] ?? []
    const addresses: LookupAddress[] = list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    setImmediate(() => callback(null, addresses))
  }
}

async function post(url: string, options: { allowPrivate?: boolean; resolve?: Resolve } = {}) {
  const outbound = createOutbound({ allowPrivate: false, timeoutMs: 1_000, ...options })
  try {
    return await outbound.post(url, { 'content-type': 'application/json' }, '{}')
  } finally {
    await outbound.close()
  }
}

const notPublic = /^(\S+) is not a public address$/
const notHttps = /^the URL does not begin with https:\/\/$/

/** HERE is replaced by the canary's port. */
const refusedUrls: { url: string; expected: RegExp }[] = [
  // Every notation of this machine's address.
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  'localhost',
  'LOCALHOST',
  // Other networks that are not public.
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '198.18.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '168.63.129.16',
  '198.19.255.255',
  '198.51.100.1',
  '240.0.0.1',
  '203.0.113.7',
  '224.0.0.1',
  '255.255.255.255',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fec0::1]',
  '[::ffff:169.254.169.254]',
]
  .map((host) => ({ url: `https://${host}:HERE/`, expected: notPublic }))
  .concat([
    // Not every system resolves it.
    { url: 'https://localhost.:HERE/', expected: /is not a public address$|^ENOTFOUND$|^EAI_AGAIN$/ },
    { url: 'http://127.0.0.1:HERE/', expected: notHttps },
    { url: 'http://hooks.example:HERE/', expected: notHttps },
    { url: 'http://169.254.169.254/latest/meta-data/', expected: notHttps },
    { url: 'https://user@hooks.example:HERE/', expected: /^the URL has a user or a password$/ },
    { url: 'https://user:secret@hooks.example:HERE/', expected: /^the URL has a user or a password$/ },
    { url: 'https://hooks.example@127.0.0.1:HERE/', expected: /^the URL has a user or a password$/ },
    { url: 'https://hooks.example:22/', expected: /^port 22 is neither 443 nor at least 1024$/ },
    { url: 'https://hooks.example:1023/', expected: /^port 1023 / },
  ])

for (const { url, expected } of refusedUrls) {
  test(`nothing is sent to ${url.replace(':HERE', '')}`, async () => {
    const answer = await post(url.replace('HERE', `${port}`))
    assert.match('error' in answer ? answer.error : `${answer.status}`, expected)
    assert.equal(connections, 0)
  })
}

const resolutions: { what: string; lists: string[][] }[] = [
  { what: 'loopback', lists: [['127.0.0.1']] },
  { what: 'loopback of IPv6', lists: [['::1']] },
  { what: 'a mapped loopback', lists: [['::ffff:127.0.0.1']] },
  { what: 'a link-local address with its zone', lists: [['fe80::1%lo']] },
  { what: 'nothing', lists: [[]] },
  { what: 'a public and a private address', lists: [['8.8.8.8', '127.0.0.1']] },
  { what: 'a private and a public address', lists: [['127.0.0.1', '2606:4700::1111']] },
]
for (const { what, lists } of resolutions) {
  test(`nothing is sent to a name that resolves to ${what}`, async () => {
    const answer = await post(`https://hooks.example:${port}/`, { resolve: resolvesTo(...lists) })
    assert.deepEqual(answer, { error: 'hooks.example is not a public address' })
    assert.equal(connections, 0)
  })
}

test('a name is resolved for each connection: one that was public and now resolves to this machine is refused', async () => {
  const resolve = resolvesTo(['8.8.8.8'], ['127.0.0.1'])
  const lookedUp: unknown[] = []
  lookupPublic(resolve)('hooks.example', { all: true }, (...found) => lookedUp.push(found))
  await new Promise(setImmediate)
  assert.deepEqual(lookedUp, [[null, [{ address: '8.8.8.8', family: 4 }]]])
  const answer = await post(`https://hooks.example:${port}/`, { resolve })
  assert.deepEqual(answer, { error: 'hooks.example is not a public address' })
  assert.equal(connections, 0)
})

test('the connection uses the checked addresses: all of them, or the first when one is requested', async () => {
  const lookup = lookupPublic(resolvesTo(['8.8.8.8', '2606:4700::1111']))
  const found: unknown[] = []
  lookup('hooks.example', { all: true }, (...result) => found.push(result[1]))
  lookup('hooks.example', {}, (...result) => found.push(result.slice(1)))
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  const both = [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]
  assert.deepEqual(found, [both, ['8.8.8.8', 4]])
})

test('concurrent requests for a name share one lookup, and a later request makes a new one', async () => {
  const names: string[] = []
  const resolve = oneAtATime((hostname, _options, callback) => {
    names.push(hostname)
    setImmediate(() => callback(null, [{ address: '8.8.8.8', family: 4 }]))
  })
  const lookUp = (hostname: string) =>
    new Promise((done) => resolve(hostname, { all: true }, (_error, addresses) => done(addresses[0]?.address)))
  const wanted = ['one.example', 'one.example', 'other.example', 'one.example']
  assert.deepEqual(await Promise.all(wanted.map(lookUp)), ['8.8.8.8', '8.8.8.8', '8.8.8.8', '8.8.8.8'])
  assert.deepEqual(names, ['one.example', 'other.example'])
  await lookUp('one.example')
  assert.equal(names.length, 3)
})

test('a failed lookup is an error with its code', async () => {
  const resolve: Resolve = (_hostname, _options, callback) =>
    callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), [])
  assert.deepEqual(await post('https://hooks.example/', { resolve }), { error: 'ENOTFOUND' })
})

test('public addresses are public, and their neighbours are not', () => {
  const publicOnes = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.0.0.1']
  publicOnes.push('128.0.0.1', '172.15.255.255', '172.32.0.1', '192.167.0.1', '223.255.255.255')
  publicOnes.push('2606:4700::1111', '2a00:1450::1', '2400:cb00::1', '2001:4860:4860::8888')
  for (const address of publicOnes) assert.equal(isPublicAddress(address), true, address)
  const others = [
    '',
    'localhost',
    '127.1',
    '1.1.1.1 ',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::',
    '4000::1',
  ]
  for (const address of others) assert.equal(isPublicAddress(address), false, address)
})

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) to this machine is not followed, in development either`, async (t) => {
    let requests = 0
    const server = createHttpServer((_request, response) => {
      requests += 1
      response.writeHead(status, { location: `http://127.0.0.1:${port}/latest/meta-data/` }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    assert.deepEqual(await post(url, { allowPrivate: true }), { status, retryAfter: undefined })
    assert.deepEqual([requests, connections], [1, 0])
  })
}

test('the canary works: in development a request reaches it', async () => {
  await post(`http://127.0.0.1:${port}/`, { allowPrivate: true })
  assert.equal(connections, 1)
})
