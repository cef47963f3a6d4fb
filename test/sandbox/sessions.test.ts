// The sandbox's clock and the sessions that expire by it: 30 minutes for the buyer, then 10 for the shop; and a confirm
// whose answer never arrives.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { paymentObject } from '../../sandbox/payments/payment-object.ts'
import { authenticateCheckout, openCheckout } from '../../sandbox/payments/payments.ts'
import { openState, type Sandbox } from '../../sandbox/state.ts'
import { assertRefused, call, newOrderId, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

const minute = 60_000
let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

describe('the clock', () => {
  test("is the machine's until it is advanced, and only moves forward", async () => {
    const there = shop((await start({ name: 'clock' })).url)
    assert.ok(Math.abs((await there.now()) - Date.now()) < 5000)
    const { body } = await there.advance(3600_000)
    assert.ok(Math.abs(Date.parse(String(body.now)) - Date.now() - 3600_000) < 5000)
    await there.advance(1000)
    assert.ok(Math.abs((await there.now()) - Date.now() - 3601_000) < 5000)
    const { approvedAt } = (await there.confirm(await there.checkout())).body
    assert.ok(Math.abs(Date.parse(String(approvedAt)) - Date.now() - 3601_000) < 5000)
  })

  test('a wrong advance is 400 and names the expected value', async () => {
    for (const advanceMs of [-1, 1.5, '1000', undefined, 1e12]) {
      const reply = await call(`${url}/sandbox/clock`, 'POST', { advanceMs })
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), /^advanceMs: expected an integer from 0 to/)
    }
  })

  test('stays advanced over a restart', async () => {
    const first = await start({ name: 'advanced' })
    await shop(first.url).advance(60 * minute)
    await first.close()
    const second = await start({ name: 'advanced' })
    assert.ok((await shop(second.url).now()) - Date.now() > 59 * minute)
  })
})

describe('the 10 minutes from authentication to confirm', () => {
  test('a confirm within them succeeds', async () => {
    const checkout = await toss.checkout()
    await toss.advance(10 * minute - 20_000)
    assert.equal((await toss.confirm(checkout)).body.status, 'DONE')
  })

  test('afterwards the payment is EXPIRED, and confirm 404 NOT_FOUND_PAYMENT_SESSION, permanently', async () => {
    const checkout = await toss.checkout()
    await toss.advance(10 * minute)
    assertRefused(await toss.confirm(checkout), 404, 'NOT_FOUND_PAYMENT_SESSION')
    const { body } = await toss.lookup(checkout.paymentKey)
    assert.partialDeepStrictEqual(body, { status: 'EXPIRED', approvedAt: null, failure: { code: 'EXPIRED_PAYMENT' } })
    assertRefused(await toss.cancel(checkout.paymentKey, { cancelReason: 'late' }), 403, 'NOT_CANCELABLE_PAYMENT')
    assertRefused(await toss.confirm(checkout), 404, 'NOT_FOUND_PAYMENT_SESSION')
  })

  test('a payment that was confirmed, refused or cancelled before does not change', async () => {
    const paid = await toss.paid()
    const declined = await toss.checkout(1000, 'decline')
    await toss.confirm(declined)
    await toss.advance(60 * minute)
    assert.equal(await toss.statusOf(paid.paymentKey), 'DONE')
    assert.equal(await toss.statusOf(declined.paymentKey), 'ABORTED')
  })

  test('a session that ended while the sandbox was down is EXPIRED after its start', async () => {
    const first = await start({ name: 'down' })
    const checkout = await shop(first.url).checkout()
    await first.close()
    const between = openState({ clientKey: '', secretKey: '', dataDir: join(directory, 'down'), strict: true })
    between.record({ changed: [], clockOffsetMs: 10 * minute })
    between.close()
    const second = await start({ name: 'down' })
    assert.equal(await shop(second.url).statusOf(checkout.paymentKey), 'EXPIRED')
  })
})

describe('an open payment window', () => {
  let sandbox: Sandbox
  before(() => {
    sandbox = openState({ clientKey: '', secretKey: '', dataDir: join(directory, 'window'), strict: true })
  })
  after(() => sandbox.close())

  function open() {
    const details = { orderName: 'Ten credits', customerKey: 'customer-1', metadata: { campaign: 'spring' } }
    const payment = openCheckout({ orderId: newOrderId(), amount: 1000, ...details }, sandbox.clock.now())
    sandbox.record({ changed: [payment] })
    return payment
  }
  const statusOf = (paymentKey: string) => sandbox.payments.find(paymentKey)?.status

  test('is READY without a method, with the details given by the shop', () => {
    assert.partialDeepStrictEqual(paymentObject(open()), {
      status: 'READY',
      method: null,
      card: null,
      orderName: 'Ten credits',
      metadata: { campaign: 'spring' },
    })
  })

  test('becomes IN_PROGRESS by card when the buyer authenticates, and has 10 minutes from then', () => {
    const opened = open()
    sandbox.advanceClock(29 * minute)
    const authenticated = authenticateCheckout(opened, 'decline', sandbox.clock.now())
    sandbox.record({ changed: [authenticated] })
    assert.partialDeepStrictEqual(paymentObject(authenticated), { status: 'IN_PROGRESS', method: '카드' })
    assert.deepEqual([authenticated.paymentKey, authenticated.result], [opened.paymentKey, 'decline'])
    sandbox.advanceClock(9 * minute)
    assert.equal(statusOf(opened.paymentKey), 'IN_PROGRESS')
    sandbox.advanceClock(1 * minute)
    assert.equal(statusOf(opened.paymentKey), 'EXPIRED')
  })

  test('is EXPIRED after 30 minutes and cannot be authenticated then', () => {
    const { paymentKey } = open()
    sandbox.advanceClock(30 * minute - 10_000)
    assert.equal(statusOf(paymentKey), 'READY')
    sandbox.advanceClock(10_000)
    const payment = sandbox.payments.find(paymentKey)
    assert.ok(payment)
    assert.partialDeepStrictEqual(paymentObject(payment), { status: 'EXPIRED', method: null })
    assert.throws(() => authenticateCheckout(payment, 'approve', sandbox.clock.now()), /EXPIRED cannot be/)
  })

  test('expires without any request', async () => {
    const { paymentKey } = open()
    sandbox.clock.setOffset(sandbox.clock.offsetMs() + 30 * minute)
    await until('the window has expired', () => statusOf(paymentKey) === 'EXPIRED')
  })
})

test('an open window cannot be confirmed or cancelled: 404 NOT_FOUND_PAYMENT_SESSION, 403 NOT_CANCELABLE_PAYMENT', async () => {
  const state = openState({ clientKey: '', secretKey: '', dataDir: join(directory, 'ready'), strict: true })
  const payment = openCheckout({ orderId: newOrderId(), amount: 1000 }, state.clock.now())
  state.record({ changed: [payment] })
  await state.close()
  const there = shop((await start({ name: 'ready' })).url)
  assertRefused(await there.confirm(payment), 404, 'NOT_FOUND_PAYMENT_SESSION')
  assertRefused(await there.cancel(payment.paymentKey, { cancelReason: 'x' }), 403, 'NOT_CANCELABLE_PAYMENT')
  assert.equal(await there.statusOf(payment.paymentKey), 'READY')
})

test('result hang: confirm moves the money and never answers, the same key then replays the success', async () => {
  const checkout = await toss.checkout(1000, 'hang')
  const headers = { authorization: `Basic ${btoa('test_sk_sandboxtests:')}`, 'content-type': 'application/json' }
  const hanging = fetch(`${url}/v1/payments/confirm`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': checkout.orderId },
    body: JSON.stringify(checkout),
    signal: AbortSignal.timeout(300),
  })
  await assert.rejects(hanging, { name: 'TimeoutError' })
  assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
  assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
})
