// The circuit breaker in front of the gateway: while the gateway is down callers do not wait, and single calls probe
// whether it is back. Over real HTTP to the sandbox.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, mock, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { createTossGateway } from '../../src/gateway/toss/adapter.ts'
import { withBreaker } from '../../src/gateway/toss/breaker.ts'
import { createTossClient } from '../../src/gateway/toss/client.ts'
import { sandboxControl, secretKey, startTestSandbox } from '../support/service/service.ts'

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>
before(async () => {
  sandbox = await startTestSandbox()
})
after(() => sandbox.close())

/** The clocks of the breaker: only a test moves them. */
let nowMs = 0
beforeEach(() => {
  nowMs = Date.now()
  for (const clock of [Date, performance]) mock.method(clock, 'now', () => nowMs)
})
afterEach(() => mock.restoreAll())

const settings = { failureShare: 0.5, windowMs: 1_000, minimumCallsPerSecond: 5, probeAfterMs: 200 }
const limits = {
  connectTimeoutMs: 5_000,
  callTimeoutMs: 20_000,
  lookupTimeoutMs: 20_000,
  listTimeoutMs: 20_000,
  maxConnections: 32,
}
const intent = { orderId: 'order-1', paymentKey: 'unknown-payment', amount: 1000, idempotencyKey: 'key-1' }
const heldBack = { kind: 'unknown', code: 'GATEWAY_HELD_BACK' }

function openGateway(apiUrl = sandbox.url) {
  const client = createTossClient({ apiUrl, secretKey, ...limits })
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

/** The fifth failure within a second opens it. */
async function failUntilOpen({ gateway, sent }: ReturnType<typeof openGateway>): Promise<void> {
  for (let call = 0; call < 5; call += 1) await gateway.findConfirm(intent)
  assert.equal(sent.count, 5)
  assert.deepEqual(await gateway.findConfirm(intent), heldBack)
}

test('while the gateway is down calls are held back: unknown at once, and nothing is sent but one probe after each pause', async () => {
  const opened = openGateway('http://127.0.0.1:1')
  await failUntilOpen(opened)
  for (const probes of [0, 1, 2]) {
    for (const passedMs of [0, settings.probeAfterMs - 1]) {
      nowMs += passedMs
      for (let call = 0; call < 20; call += 1) assert.deepEqual(await opened.gateway.findConfirm(intent), heldBack)
    }
    assert.equal(opened.sent.count, 5 + probes)
    nowMs += 1
    assert.equal((await opened.gateway.findConfirm(intent)).kind, 'unknown')
  }
  assert.equal(opened.gateway.state().state, 'failing')
  await opened.gateway.close()
})

test('while a probe is pending, however long it takes, the other calls do not wait for it', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 5 }])
  const opened = openGateway()
  await failUntilOpen(opened)
  await control.setFaults([{ on: 'lookup', kind: 'hang-after', times: 1 }])
  nowMs += settings.probeAfterMs
  // It hangs until the gateway is closed.
  let isPending = true
  const probe = opened.gateway.findConfirm(intent).finally(() => {
    isPending = false
  })
  for (let call = 0; call < 20; call += 1) assert.deepEqual(await opened.gateway.findConfirm(intent), heldBack)
  assert.deepEqual([opened.sent.count, isPending], [6, true])
  await opened.gateway.close()
  assert.equal((await probe).kind, 'unknown')
  await control.clearFaults()
})

test('once the gateway answers again calls go through', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 5 }])
  const opened = openGateway()
  await failUntilOpen(opened)
  nowMs += settings.probeAfterMs
  for (let call = 0; call < 5; call += 1) assert.equal((await opened.gateway.findConfirm(intent)).kind, 'absent')
  assert.equal(opened.gateway.state().state, 'answering')
  await opened.gateway.close()
})

test('a list is read again after the pause of a probe, also when no other call finds out that the gateway is back', async () => {
  const control = sandboxControl(sandbox.url)
  await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 5 }])
  const opened = openGateway()
  await failUntilOpen(opened)
  const query = { from: new Date(nowMs - 60_000), to: new Date(nowMs), after: null }
  nowMs += settings.probeAfterMs - 1
  assert.deepEqual(await opened.gateway.listMovements(query), heldBack)
  nowMs += 1
  assert.equal((await opened.gateway.listMovements(query)).kind, 'page')
  await opened.gateway.close()
})

test('refusals are answers: they never open the breaker, however many there are', async () => {
  const opened = openGateway()
  for (let call = 0; call < 60; call += 1)
    assert.deepEqual(await opened.gateway.findConfirm(intent), { kind: 'absent' })
  await opened.gateway.close()
})

test('a few failures open nothing: neither among many calls, nor alone, nor over a longer time', async () => {
  const control = sandboxControl(sandbox.url)
  const opened = openGateway()
  for (let call = 0; call < 50; call += 1) {
    if (call === 40) nowMs += 10 * settings.windowMs
    if (call > 40) nowMs += settings.windowMs / 4
    if (call % 5 === 0 || call > 40) await control.setFaults([{ on: 'lookup', kind: 'error-before', times: 1 }])
    await opened.gateway.findConfirm(intent)
    assert.equal(opened.sent.count, call + 1)
  }
  await control.clearFaults()
  await opened.gateway.close()
})
