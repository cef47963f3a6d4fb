// The TLS versions that we offer to a server: 1.2 and 1.3, whatever the machine would allow. They are read from the first
// message of a connection, which is never answered.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { createOutbound } from '../../src/events/outbound.ts'
import { createTossClient } from '../../src/gateway/toss/client.ts'

const usual = { minimum: tls.DEFAULT_MIN_VERSION, ciphers: tls.DEFAULT_CIPHERS }
/** A machine that allows all versions and ciphers. */
before(() => {
  tls.DEFAULT_MIN_VERSION = 'TLSv1'
  tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0'
})
after(() => {
  tls.DEFAULT_MIN_VERSION = usual.minimum
  tls.DEFAULT_CIPHERS = usual.ciphers
})

/** The versions that the client offers. */
async function offeredTo(t: TestContext, connect: (url: string) => Promise<unknown>): Promise<string[]> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const connected = once(server, 'connection')
  const over = connect(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = await connected
  const [hello] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  await over
  return versionsIn(hello)
}

/** Reads the extension supported_versions: its number, its length, the length of the list, and two bytes for each version. */
function versionsIn(hello: Buffer): string[] {
  const start = hello.findIndex(
    (_, place) =>
      hello.readUInt16BE(Math.min(place, hello.length - 2)) === 0x002b &&
      hello[place + 3] === (hello[place + 4] ?? 0) + 1,
  )
  const count = (hello[start + 4] ?? 0) / 2
  const names: Record<number, string> = { 772: '1.3', 771: '1.2', 770: '1.1', 769: '1.0' }
  return Array.from({ length: count }, (_, index) => hello.readUInt16BE(start + 5 + 2 * index)).map(
    (version) => names[version] ?? `${version}`,
  )
}

test('the gateway is offered TLS 1.2 and 1.3 and nothing older', async (t) => {
  const limits = { connectTimeoutMs: 2_000, callTimeoutMs: 2_000, lookupTimeoutMs: 2_000, listTimeoutMs: 2_000 }
  const offered = await offeredTo(t, async (apiUrl) => {
    const client = createTossClient({ apiUrl, secretKey: 'test_sk_of_the_tests', maxConnections: 1, ...limits })
    assert.equal((await client.get(['a-payment'])).kind, 'none')
    await client.close()
  })
  assert.deepEqual(offered.toSorted(), ['1.2', '1.3'])
})

test('a consumer of events is offered TLS 1.2 and 1.3 and nothing older', async (t) => {
  const outbound = createOutbound({ allowPrivate: true, timeoutMs: 2_000 })
  t.after(() => outbound.close())
  const offered = await offeredTo(t, (url) => outbound.post(`${url}/events`, {}, '{}'))
  assert.deepEqual(offered.toSorted(), ['1.2', '1.3'])
})

test('an older version in an offer would be detected', async (t) => {
  const offered = await offeredTo(t, async (url) => {
    const socket = tls.connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    await once(socket, 'error')
  })
  assert.deepEqual(offered.toSorted(), ['1.0', '1.1', '1.2', '1.3'])
})
