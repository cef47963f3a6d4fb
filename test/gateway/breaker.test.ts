// The circuit breaker in front of the gateway: while the gateway is down callers do not wait, and single calls probe
// whether it is back. Over real HTTP to the sandbox.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createTossGateway } from '../../src/gateway/toss/adapter.ts'
import { withBreaker } from '../../src/gateway/toss/breaker.ts'
import { createTossClient } from '../../src/gateway/toss/client.ts'
import { sandboxControl, secretKey, startTestSandbox } from '../support/service/service.ts'

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>
before(async () => {
  sandbox = await startTestSandbox()
})
after(() => sandbox.close())

const settings = { failureShare: 0.5, windowMs: 1_000, minimumCallsPerSecond: 5, probeAfterMs: 200 }
const limits = { connectTimeoutMs: 5_000, callTimeoutMs: 20_000, maxConnections: 32 }
const intent = { orderId: 'order-1', paymentKey: 'unknown-payment', amount: 1000, idempotencyKey: 'key-1' }

function openGateway(apiUrl = sandbox.url, lookupTimeoutMs = 20_000) {
  const client = createTossClient({ apiUrl, secretKey, ...limits, lookupTimeoutMs, listTimeoutMs: 5_000 })
  const sent = { count: 0 }
  const counting = {
    ...client,
    get: (segments: string[]) => {
      sent.count += 1
      return client.get(segments)
    },
  }
  return { gateway: createTossGateway(withBreaker(counting, settings, silentLog), silentLog), sent }
}

async function failUntilOpen({ gateway }: ReturnType<typeof openGateway>): Promise<void> {
  await until('calls are held back', async () => {
    const result = await gateway.findConfirm(intent)
    return result.kind === 'unknown' && result.code === 'GATEWAY_HELD_BACK'
  })
}

test('while the gateway is down calls are held back: unknown at once, and nothing is sent', async () => {
  const opened = openGateway('http://127.0.0.1:1')
  await failUntilOpen(opened)
  const before = opened.sent.count
  for (let call = 0; call < 100; call += 1) {
    assert.deepEqual(await opened.gateway.findConfirm(intent), { kind: 'unknown', code: 'GATEWAY_HELD_BACK' })
  }
  assert.ok(opened.sent.count - before <= 1, 'at most one probe was sent')
  assert.equal(opened.gateway.state().state, 'failing')
  await opened.gateway.close()
})

test('while a probe is pending, however long it takes, the other calls do not wait for it', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'hang-after', times: 1_000 }])
  const opened = openGateway(sandbox.url, 1_000)
  await Promise.all(Array.from({ length: 20 }, () => opened.gateway.findConfirm(intent)))
  await failUntilOpen(opened)
  const before = opened.sent.count
  await until('one call is let through', () => {
    // Not awaited: it hangs until its limit.
    void opened.gateway.findConfirm(intent)
    return opened.sent.count > before
  })
  const sent = opened.sent.count
  for (let call = 0; call < 20; call += 1) {
    assert.deepEqual(await opened.gateway.findConfirm(intent), { kind: 'unknown', code: 'GATEWAY_HELD_BACK' })
  }
  assert.equal(opened.sent.count, sent)
  await control.clearFaults()
  await opened.gateway.close()
})

test('once the gateway answers again calls go through', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 1_000 }])
  const opened = openGateway()
  await failUntilOpen(opened)
  await control.clearFaults()
  await until('the gateway answers a call', async () => (await opened.gateway.findConfirm(intent)).kind === 'absent')
  assert.equal(opened.gateway.state().state, 'answering')
  await opened.gateway.close()
})

test('a list is read again after the pause of a probe, also when no other call finds out that the gateway is back', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 1_000 }])
  const opened = openGateway()
  await failUntilOpen(opened)
  await control.clearFaults()
  const query = { from: new Date(Date.now() - 60_000), to: new Date(), after: null }
  assert.deepEqual(await opened.gateway.listMovements(query), { kind: 'unknown', code: 'GATEWAY_HELD_BACK' })
  await until('the list is read', async () => (await opened.gateway.listMovements(query)).kind === 'page')
  await opened.gateway.close()
})

test('refusals are answers: they never open the breaker, however many there are', async () => {
  const opened = openGateway()
  for (let call = 0; call < 60; call += 1)
    assert.deepEqual(await opened.gateway.findConfirm(intent), { kind: 'absent' })
  await opened.gateway.close()
})

test('an occasional failure does not open the breaker', async () => {
  const control = sandboxControl(sandbox.url)
  const opened = openGateway()
  for (let call = 0; call < 40; call += 1) {
    if (call % 5 === 0) await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 1 }])
    const result = await opened.gateway.findConfirm(intent)
    assert.notEqual('code' in result && result.code, 'GATEWAY_HELD_BACK')
  }
  await opened.gateway.close()
})
