// POST /v1/payments/{paymentKey}/cancel and the lookups of the sandbox, with two peculiarities of Toss: a payment fully
// cancelled in parts stays PARTIAL_CANCELED, and there are two codes for a balance of zero.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

const day = 24 * 3600_000
let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

describe('cancel', () => {
  test('without an amount the whole balance is cancelled: CANCELED, then 400 ALREADY_CANCELED_PAYMENT', async () => {
    const { paymentKey } = await toss.paid(15000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'changed my mind' })
    assert.equal(reply.status, 200)
    const item = (reply.body.cancels as Json[])[0]
    assert.partialDeepStrictEqual(reply.body, { status: 'CANCELED', totalAmount: 15000, balanceAmount: 0, vat: 0 })
    assert.partialDeepStrictEqual(item, { cancelAmount: 15000, refundableAmount: 0, cancelStatus: 'DONE' })
    assert.equal(item?.transactionKey, reply.body.lastTransactionKey)
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'again' }), 400, 'ALREADY_CANCELED_PAYMENT')
  })

  test('the whole amount given as cancelAmount is a full cancel', async () => {
    const { paymentKey } = await toss.paid(15000)
    const { body } = await toss.cancel(paymentKey, { cancelReason: 'all of it', cancelAmount: 15000 })
    assert.equal(body.status, 'CANCELED')
  })

  test('partial cancels stay PARTIAL_CANCELED down to balance 0, then 403 NOT_CANCELABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(15000)
    const first = await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 5974 })
    assert.partialDeepStrictEqual(first.body, {
      status: 'PARTIAL_CANCELED',
      balanceAmount: 9026,
      suppliedAmount: 8205,
      vat: 821,
    })
    const rest = await toss.cancel(paymentKey, { cancelReason: 'the rest' })
    assert.partialDeepStrictEqual(rest.body, {
      status: 'PARTIAL_CANCELED',
      balanceAmount: 0,
      suppliedAmount: 0,
      vat: 0,
    })
    assert.equal((rest.body.cancels as Json[]).length, 2)
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'more' }), 403, 'NOT_CANCELABLE_AMOUNT')
  })

  test('more than the balance is 403 NOT_CANCELABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(1000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'too much', cancelAmount: 1001 })
    assertRefused(reply, 403, 'NOT_CANCELABLE_AMOUNT')
    assert.equal(await toss.statusOf(paymentKey), 'DONE')
  })

  test('a refundableAmount other than the balance is 400 NOT_MATCHES_REFUNDABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(1000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'guarded', refundableAmount: 999 })
    assertRefused(reply, 400, 'NOT_MATCHES_REFUNDABLE_AMOUNT')
  })

  test('a payment that was never approved is 403 NOT_CANCELABLE_PAYMENT, an unknown one 404 NOT_FOUND_PAYMENT', async () => {
    const { paymentKey } = await toss.checkout()
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'early' }), 403, 'NOT_CANCELABLE_PAYMENT')
    assertRefused(await toss.cancel('nobody_knows_it', { cancelReason: 'lost' }), 404, 'NOT_FOUND_PAYMENT')
  })

  test('the reason is required and has at most 200 characters, the amount is a positive integer', async () => {
    const { paymentKey } = await toss.paid()
    const reason = { cancelReason: 'fine' }
    const bad = [{}, { cancelReason: '' }, { cancelReason: 'x'.repeat(201) }, { ...reason, cancelAmount: 0 }]
    for (const body of [...bad, { ...reason, cancelAmount: 1.5 }]) {
      assertRefused(await toss.cancel(paymentKey, body), 400, 'INVALID_REQUEST')
    }
    assert.equal((await toss.cancel(paymentKey, { cancelReason: 'x'.repeat(200), cancelAmount: null })).status, 200)
  })

  test('a part of a payment that is cancelled as a whole only is 403 NOT_ALLOWED_PARTIAL_REFUND', async () => {
    const { paymentKey } = await toss.paid(1000, { partialCancelable: false })
    for (const cancelAmount of [1, 999]) {
      const reply = await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount })
      assertRefused(reply, 403, 'NOT_ALLOWED_PARTIAL_REFUND')
    }
    assertRefused(
      await toss.cancel(paymentKey, { cancelReason: 'x', cancelAmount: 1001 }),
      403,
      'NOT_CANCELABLE_AMOUNT',
    )
    assert.equal((await toss.cancel(paymentKey, { cancelReason: 'all', cancelAmount: 1000 })).body.status, 'CANCELED')
  })
})

describe('the window of a cancel', () => {
  const windowOf = (cancelWindowDays: unknown) => toss.behaviour({ cancelWindowDays })
  const late = async (paymentKey: string) =>
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'late' }), 403, 'NOT_CANCELABLE_PAYMENT')

  test('closes 365 days after the approval, for what is left of a payment as well', async () => {
    const whole = await toss.paid(1000)
    const partly = await toss.paid(1000)
    await toss.cancel(partly.paymentKey, { cancelReason: 'a part', cancelAmount: 300 })
    await toss.advance(365 * day - 60_000)
    const { body } = await toss.cancel(partly.paymentKey, { cancelReason: 'in time', cancelAmount: 300 })
    assert.equal(body.balanceAmount, 400)
    await toss.advance(60_000)
    for (const { paymentKey } of [whole, partly]) await late(paymentKey)
    assert.equal(await toss.statusOf(whole.paymentKey), 'DONE')
  })

  test('is as many days as cancelWindowDays has, and none with 0', async () => {
    const { paymentKey } = await toss.paid(1000)
    assert.equal((await windowOf(90)).body.cancelWindowDays, 90)
    await toss.advance(90 * day)
    await late(paymentKey)
    await windowOf(91)
    assert.equal((await toss.cancel(paymentKey, { cancelReason: 'in time' })).body.status, 'CANCELED')
    await windowOf(0)
    await late((await toss.paid(1000)).paymentKey)
    await windowOf(365)
  })

  test('is a whole number of days', async () => {
    for (const days of [-1, 1.5, '90', null, 3651]) {
      const reply = await windowOf(days)
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), /^cancelWindowDays: expected an integer from 0 to 3650/)
    }
    assert.equal((await call(`${url}/sandbox/behaviour`, 'GET')).body.cancelWindowDays, 365)
  })
})

describe('lookup', () => {
  test('finds by paymentKey, and by orderId the latest attempt', async () => {
    const first = await toss.paid()
    const second = await toss.checkout(1000, 'approve', first.orderId)
    await toss.cancel(first.paymentKey, { cancelReason: 'does not make it the latest' })
    assert.equal((await toss.lookup(first.paymentKey)).body.paymentKey, first.paymentKey)
    assert.equal((await toss.lookupOrder(first.orderId)).body.paymentKey, second.paymentKey)
  })

  test('an unknown payment is 404 NOT_FOUND_PAYMENT', async () => {
    assertRefused(await toss.lookup('x'.repeat(200)), 404, 'NOT_FOUND_PAYMENT')
    assertRefused(await toss.lookupOrder('no-such-order'), 404, 'NOT_FOUND_PAYMENT')
  })
})
