// Faults of the sandbox on requests: each kind before and after the money moved, and the result of the next request.
import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import {
  assertRefused,
  basic,
  call,
  type Json,
  openSandboxes,
  secretKey,
  shop,
} from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

afterEach(() => call(`${url}/sandbox/faults`, 'DELETE'))

const listed = async () => JSON.parse((await call(`${url}/sandbox/faults`, 'GET')).text)
const lost = { name: 'TypeError', message: 'fetch failed' }
const connectionReset = (error: Error) => (error.cause as NodeJS.ErrnoException).code === 'ECONNRESET'

test('the list shows the remaining times, is replaced as a whole and emptied by DELETE', async () => {
  await toss.faults(
    { on: 'cancel', kind: 'delay', times: 1, delayMs: 5 },
    { on: 'lookup', kind: 'error-before', times: 2 },
  )
  assertRefused(await toss.lookup('any'), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
  assert.deepEqual(await listed(), [
    { on: 'cancel', kind: 'delay', times: 1, delayMs: 5 },
    { on: 'lookup', kind: 'error-before', times: 1 },
  ])
  await toss.faults({ on: 'confirm', kind: 'hang-after', times: 3 })
  assert.deepEqual(await listed(), [{ on: 'confirm', kind: 'hang-after', times: 3 }])
  await call(`${url}/sandbox/faults`, 'DELETE')
  assert.deepEqual(await listed(), [])
})

test('a bad entry is 400, names the accepted values, and replaces nothing', async () => {
  const good = { on: 'lookup', kind: 'error-before', times: 1 }
  await toss.faults(good)
  const bad: [Json, RegExp][] = [
    [{ ...good, on: 'refund' }, /^Fault 1: on: expected one of confirm, cancel, lookup, transactions, webhook/],
    [{ ...good, kind: 'explode' }, /^Fault 1: kind: expected one of error-before, error-after, reset-before/],
    [{ ...good, times: 0 }, /^Fault 1: times: expected an integer of at least 1/],
    [{ ...good, kind: 'delay' }, /^Fault 1: delayMs: expected an integer/],
  ]
  for (const [entry, message] of bad) {
    const reply = await toss.faults(good, entry)
    assertRefused(reply, 400, 'INVALID_REQUEST')
    assert.match(String(reply.body.message), message)
  }
  assertRefused(await call(`${url}/sandbox/faults`, 'PUT', good), 400, 'INVALID_REQUEST')
  assert.deepEqual(await listed(), [good])
})

test('error-before answers 500 and does nothing: the same key then does the work', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'confirm', kind: 'error-before', times: 1 })
  assertRefused(await toss.confirm(checkout, checkout.orderId), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
  assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).status, 200)
})

test('reset-before resets the connection and does nothing', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'confirm', kind: 'reset-before', times: 1 })
  await assert.rejects(toss.confirm(checkout, checkout.orderId), connectionReset)
  assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).status, 200)
})

test('error-after answers 500 after the money moved: the same key replays the success, without a key the payment is already processed', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'confirm', kind: 'error-after', times: 1 })
  assertRefused(await toss.confirm(checkout, checkout.orderId), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
  assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
  assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
})

test('reset-after resets the connection after the money moved, as often as configured, replays included', async () => {
  const { paymentKey } = await toss.paid(1000)
  const cancelOnce = () => toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 400 }, `c-${paymentKey}`)
  await toss.faults({ on: 'cancel', kind: 'reset-after', times: 2 })
  await assert.rejects(cancelOnce(), connectionReset)
  await assert.rejects(cancelOnce(), connectionReset)
  assert.partialDeepStrictEqual((await cancelOnce()).body, { status: 'PARTIAL_CANCELED', balanceAmount: 600 })
})

test('hang-after moves the money and never answers; the same key replays the success', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'confirm', kind: 'hang-after', times: 1 })
  const hanging = fetch(`${url}/v1/payments/confirm`, {
    method: 'POST',
    headers: {
      authorization: basic(`${secretKey}:`),
      'content-type': 'application/json',
      'idempotency-key': checkout.orderId,
    },
    body: JSON.stringify(checkout),
    signal: AbortSignal.timeout(200),
  })
  await assert.rejects(hanging, { name: 'TimeoutError' })
  assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
})

test('delay waits, then continues normally', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'confirm', kind: 'delay', times: 1, delayMs: 120 })
  const startedAt = performance.now()
  assert.equal((await toss.confirm(checkout)).status, 200)
  assert.ok(performance.now() - startedAt >= 110)
})

test('a fault affects its own operation only', async () => {
  await toss.faults({ on: 'lookup', kind: 'reset-before', times: 1 })
  const { paymentKey } = await toss.paid()
  await assert.rejects(toss.lookup(paymentKey), connectionReset)
  assert.equal((await toss.lookup(paymentKey)).status, 200)
})

test('close ends hanging and delayed requests at once', async () => {
  const own = await start({ name: 'closing' })
  const there = shop(own.url)
  const [one, two] = [await there.checkout(), await there.checkout()]
  await there.faults(
    { on: 'confirm', kind: 'hang-after', times: 1 },
    { on: 'confirm', kind: 'delay', times: 1, delayMs: 60_000 },
  )
  const ended = [one, two].map((checkout) => assert.rejects(there.confirm(checkout), lost))
  while ((await call(`${own.url}/sandbox/faults`, 'GET')).text !== '[]');
  const startedAt = performance.now()
  await own.close()
  await Promise.all(ended)
  assert.ok(performance.now() - startedAt < 1000)
})
