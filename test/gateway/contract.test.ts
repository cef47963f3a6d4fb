// The contract of the gateway port, with the adapter over the sandbox: every code of Toss Payments, produced by the
// gateway's own test header (TossPayments-Test-Code), against a payment that waits and one that is done.
import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { errorCodes } from '../../sandbox/protocol/errors.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { type CodeClass, cancelCodes, confirmCodes } from '../../src/gateway/toss/outcomes.ts'
import { closeAll } from '../support/closing.ts'
import { sandboxControl, startTestSandbox, testGateway } from '../support/service/service.ts'

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>
let proxy: Awaited<ReturnType<typeof startProxy>>
let gateway: Gateway
let control: ReturnType<typeof sandboxControl>
before(async () => {
  sandbox = await startTestSandbox()
  proxy = await startProxy(sandbox.url)
  gateway = testGateway(proxy.url)
  control = sandboxControl(sandbox.url)
})
after(() => closeAll(gateway, proxy, sandbox))

/** A proxy between the adapter and the sandbox that requests an error in the next POST; lookups pass unchanged. */
async function startProxy(target: string) {
  let code: string | undefined
  const server = createServer((incoming, outgoing) => {
    const requestsError = incoming.method === 'POST' && code !== undefined
    const headers = { ...incoming.headers, ...(requestsError && { 'tosspayments-test-code': code }) }
    const forwarded = request(`${target}${incoming.url}`, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
    if (requestsError) code = undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failNextPost(wanted: string) {
      code = wanted
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

let orders = 0

/** A payment that waits for its confirm, and our intent for it. */
async function newIntent() {
  orders += 1
  const orderId = `contract-${orders}`
  const paymentKey = await control.pay(orderId, 1000)
  return { orderId, paymentKey, amount: 1000, idempotencyKey: `key-${orders}`, reason: 'contract' }
}

async function statusOf({ orderId }: { orderId: string }): Promise<string | undefined> {
  return (await control.paymentsOf(orderId))[0]?.status
}

/** The outcome of each class of codes while a lookup shows that the call was not executed. */
const undone: Record<CodeClass, 'rejected' | 'unknown'> = {
  refused: 'rejected',
  'refused-unless-done': 'rejected',
  'done-if-found': 'unknown',
  ours: 'unknown',
  later: 'unknown',
}

/** The outcome when an earlier call, whose answer was lost, was executed. */
const done: Record<CodeClass, 'approved' | 'rejected' | 'unknown'> = {
  ...undone,
  'refused-unless-done': 'approved',
  'done-if-found': 'approved',
}

const verbs = [
  { verb: 'confirm', codes: confirmCodes, waiting: 'IN_PROGRESS', finished: 'DONE' },
  { verb: 'cancel', codes: cancelCodes, waiting: 'DONE', finished: 'CANCELED' },
] as const

for (const { verb, codes, waiting, finished } of verbs) {
  test(`${verb}: the sandbox knows every code that the adapter classifies`, () => {
    assert.deepEqual(
      [...codes.keys()].filter((code) => !(code in errorCodes)),
      [],
    )
  })

  for (const code of Object.keys(errorCodes)) {
    const codeClass = codes.get(code) ?? 'later'
    test(`${verb}: ${code} is ${undone[codeClass]} before the call was executed, ${done[codeClass]} after`, async () => {
      const intent = await newIntent()
      if (verb === 'cancel') assert.equal((await gateway.confirm(intent)).kind, 'approved')
      proxy.failNextPost(code)
      assert.equal((await gateway[verb]({ ...intent, idempotencyKey: `${intent.orderId}-1` })).kind, undone[codeClass])
      assert.equal(await statusOf(intent), waiting, 'no money has moved')

      assert.equal((await gateway[verb]({ ...intent, idempotencyKey: `${intent.orderId}-2` })).kind, 'approved')
      proxy.failNextPost(code)
      assert.equal((await gateway[verb]({ ...intent, idempotencyKey: `${intent.orderId}-3` })).kind, done[codeClass])
      assert.equal(await statusOf(intent), finished, 'the money has moved once')
    })
  }
}

test('a call with the same idempotency key gets the same answer and is not executed again', async () => {
  const intent = await newIntent()
  const first = await gateway.confirm(intent)
  assert.equal(first.kind, 'approved')
  assert.deepEqual(await gateway.confirm(intent), first)
  const cancelIntent = { ...intent, idempotencyKey: 'cancel-once' }
  const cancelled = await gateway.cancel(cancelIntent)
  assert.equal(cancelled.kind, 'approved')
  assert.deepEqual(await gateway.cancel(cancelIntent), cancelled)
  assert.equal((await control.paymentsOf(intent.orderId))[0]?.cancels?.length, 1)
})

for (const [result, finding] of [
  ['approve', 'unsent'],
  ['decline', 'unsent'],
  ['expire', 'rejected'],
] as const) {
  test(`the lookup of a payment that was never confirmed (${result}) is ${finding}`, async () => {
    const orderId = `found-${result}`
    const paymentKey = await control.pay(orderId, 1000, result)
    const intent = { orderId, paymentKey, amount: 1000, idempotencyKey: orderId, reason: 'contract' }
    assert.equal((await gateway.findConfirm(intent)).kind, finding)
  })
}
