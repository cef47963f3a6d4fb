// Hundreds of idle or very slow connections: other callers are served, and the slow connections are closed.
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { head, openSocket, sendRaw } from '../../harness/raw-http.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { success } from '../../src/http/envelope.ts'
import { closeNow } from '../support/closing.ts'

async function startListener(t: TestContext) {
  const app = buildApiListener({
    authenticate: () => ({ customerId: 'a customer', keyId: 'its key' }),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
    limits: { headMs: 400, requestMs: 800 },
  })
  app.get('/read', async () => success({ did: 'it' }, null))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => closeNow(app))
  return (app.server.address() as AddressInfo).port
}

async function open(t: TestContext, port: number, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
  for (const socket of sockets) socket.on('error', () => undefined)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

test('with 500 idle connections and 100 that send a byte now and then, other callers are served', async (t) => {
  const port = await startListener(t)
  await open(t, port, 500)
  const slow = await open(t, port, 100)
  const text = head('GET /read')
  const dripping = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write(text[socket.bytesWritten % 20] ?? 'x')
  }, 50)
  t.after(() => clearInterval(dripping))
  for (let each = 0; each < 200; each += 1) assert.equal((await sendRaw(port, head('GET /read'))).status, 200)
  // The slow connections get a refusal or are closed; none stays open for as long as it sends bytes.
  await sleep(2_500)
  assert.deepEqual(slow.filter((socket) => !socket.readableEnded && !socket.destroyed && !socket.closed).length, 0)
})
