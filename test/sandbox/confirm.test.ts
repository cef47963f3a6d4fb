// POST /v1/payments/confirm of the sandbox: approvals, refusals with their codes, and payment keys invented by the
// caller.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { assertRefused, type Json, newOrderId, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

const paymentMembers =
  'version paymentKey type orderId orderName mId currency method totalAmount balanceAmount status requestedAt ' +
  'approvedAt useEscrow lastTransactionKey suppliedAmount vat cultureExpense taxFreeAmount taxExemptionAmount cancels ' +
  'isPartialCancelable card virtualAccount secret mobilePhone giftCertificate transfer metadata receipt checkout ' +
  'easyPay country failure cashReceipt cashReceipts discount'

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

test('a finished checkout becomes DONE, answered with the whole Payment', async () => {
  const checkout = await toss.checkout(15000)
  const reply = await toss.confirm(checkout)
  assert.equal(reply.status, 200)
  assert.partialDeepStrictEqual(reply.body, {
    paymentKey: checkout.paymentKey,
    orderId: checkout.orderId,
    status: 'DONE',
    method: '카드',
    currency: 'KRW',
    totalAmount: 15000,
    balanceAmount: 15000,
    suppliedAmount: 13636,
    vat: 1364,
    cancels: null,
    failure: null,
    virtualAccount: null,
    card: { amount: 15000, cardType: '신용', ownerType: '개인' },
  })
  assert.match(String(reply.body.approvedAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00$/)
  assert.match(String(reply.body.lastTransactionKey), /^[0-9A-F]{32}$/)
  assert.match(String(reply.body.secret), /^ps_[A-Za-z0-9]{28}$/)
  assert.ok(String(reply.body.mId).length <= 14)
  assert.deepEqual(Object.keys(reply.body).sort(), paymentMembers.split(' ').sort())
})

test('approvedAt is the current Korean time', async () => {
  const { body } = await toss.confirm(await toss.checkout())
  assert.ok(Math.abs(Date.parse(String(body.approvedAt)) - Date.now()) < 5000)
})

test('an amount as a numeric string is accepted, as the official sample sends it', async () => {
  const checkout = await toss.checkout(15000)
  assert.equal((await toss.confirm({ ...checkout, amount: '15000' })).status, 200)
})

test('a missing field is 400 INVALID_REQUEST', async () => {
  const checkout = await toss.checkout()
  for (const field of ['paymentKey', 'orderId', 'amount']) {
    assertRefused(await toss.confirm({ ...checkout, [field]: undefined }), 400, 'INVALID_REQUEST')
  }
})

test('an unknown paymentKey is 404 NOT_FOUND_PAYMENT_SESSION, whatever the orderId looks like', async () => {
  const reply = await toss.confirm({ paymentKey: 'nobody_knows_it', orderId: 'x', amount: 1000 })
  assertRefused(reply, 404, 'NOT_FOUND_PAYMENT_SESSION')
})

test('another orderId is 403 FORBIDDEN_REQUEST, another amount 400 INVALID_REQUEST, and neither changes anything', async () => {
  const checkout = await toss.checkout()
  assertRefused(await toss.confirm({ ...checkout, orderId: 'order-of-another' }), 403, 'FORBIDDEN_REQUEST')
  assertRefused(await toss.confirm({ ...checkout, amount: 14999 }), 400, 'INVALID_REQUEST')
  assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
})

test('a second confirm is 400 ALREADY_PROCESSED_PAYMENT, after a cancel too', async () => {
  const checkout = await toss.paid()
  assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
  await toss.cancel(checkout.paymentKey, { cancelReason: 'changed my mind' })
  assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
})

for (const [result, status, code] of [
  ['decline', 403, 'REJECT_CARD_COMPANY'],
  ['insufficient', 403, 'REJECT_CARD_PAYMENT'],
  ['limit', 400, 'EXCEED_MAX_AMOUNT'],
  ['expired-card', 400, 'INVALID_CARD_EXPIRATION'],
] as const) {
  test(`result ${result} is refused with ${status} ${code}, every time, and leaves the payment ABORTED`, async () => {
    const checkout = await toss.checkout(1000, result)
    assertRefused(await toss.confirm(checkout), status, code)
    assertRefused(await toss.confirm(checkout), status, code)
    const { body } = await toss.lookup(checkout.paymentKey)
    assert.partialDeepStrictEqual(body, { status: 'ABORTED', approvedAt: null, card: null, failure: { code } })
  })
}

test('result expire is an EXPIRED payment, 404 NOT_FOUND_PAYMENT_SESSION at confirm', async () => {
  const checkout = await toss.checkout(1000, 'expire')
  assertRefused(await toss.confirm(checkout), 404, 'NOT_FOUND_PAYMENT_SESSION')
  const { body } = await toss.lookup(checkout.paymentKey)
  assert.partialDeepStrictEqual(body, { status: 'EXPIRED', failure: { code: 'EXPIRED_PAYMENT' } })
})

describe('payment keys the sandbox did not issue', () => {
  let there = shop('')
  before(async () => {
    there = shop((await start({ name: 'loose', strict: false })).url)
  })

  test('are treated as a finished checkout for the order and amount of the confirm, once', async () => {
    const request = { paymentKey: 'made_up_by_a_person', orderId: newOrderId(), amount: 1000 }
    assert.partialDeepStrictEqual((await there.confirm(request)).body, { status: 'DONE', totalAmount: 1000 })
    assertRefused(await there.confirm(request), 400, 'ALREADY_PROCESSED_PAYMENT')
    assertRefused(await there.confirm({ ...request, orderId: newOrderId() }), 403, 'FORBIDDEN_REQUEST')
    assert.equal((await there.lookupOrder(request.orderId)).body.paymentKey, request.paymentKey)
  })

  test('are in the journal as IN_PROGRESS, then DONE', async () => {
    await there.confirm({ paymentKey: 'made_up_journal', orderId: newOrderId(), amount: 1000 })
    const lines = readFileSync(join(directory, 'loose', 'journal.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
    const changed: Json[] = lines.flatMap((line) => JSON.parse(line).changed)
    const statuses = changed
      .filter((payment) => payment.paymentKey === 'made_up_journal')
      .map((payment) => payment.status)
    assert.deepEqual(statuses, ['IN_PROGRESS', 'DONE'])
  })

  test('that begin with decline_ are refused by the card company', async () => {
    const reply = await there.confirm({ paymentKey: 'decline_1', orderId: newOrderId(), amount: 1000 })
    assertRefused(reply, 403, 'REJECT_CARD_COMPANY')
    assert.equal(await there.statusOf('decline_1'), 'ABORTED')
  })

  test('beginning missing_ are unknown', async () => {
    const reply = await there.confirm({ paymentKey: 'missing_1', orderId: newOrderId(), amount: 1000 })
    assertRefused(reply, 404, 'NOT_FOUND_PAYMENT_SESSION')
    assertRefused(await there.lookup('missing_1'), 404, 'NOT_FOUND_PAYMENT')
  })

  test('are refused for a checkout that would have been refused', async () => {
    const tooLittle = await there.confirm({ paymentKey: 'made_up_2', orderId: newOrderId(), amount: 99 })
    assertRefused(tooLittle, 400, 'INVALID_REQUEST')
    assertRefused(await there.confirm({ paymentKey: 'made_up_2', orderId: 'x', amount: 1000 }), 400, 'INVALID_REQUEST')
  })
})
