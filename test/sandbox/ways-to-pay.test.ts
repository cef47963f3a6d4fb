// How a buyer may pay in the card window of the sandbox: a card, a card in a wallet, with points, a wallet's money. What the
// Payment object has of each, what a receipt shows, and which part of a cancel was points.
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

const parts = (body: Json) => ({
  method: body.method,
  card: (body.card as Json | null)?.amount ?? null,
  easyPay: body.easyPay,
})
const wallet = (amount: number, discountAmount: number, provider = '토스페이') => ({ provider, amount, discountAmount })

describe('a payment of 15,000 won is', () => {
  const ways: [string, Json, Json][] = [
    ['a card alone by default', {}, { method: '카드', card: 15_000, easyPay: null }],
    ['a card alone', { method: 'card', points: null }, { method: '카드', card: 15_000, easyPay: null }],
    ['a card in a wallet', { method: 'easy-card' }, { card: 15_000, easyPay: wallet(0, 0) }],
    ['a card and a third in points', { method: 'easy-points' }, { card: 10_000, easyPay: wallet(0, 5_000) }],
    ['a card and chosen points', { method: 'easy-points', points: 1 }, { card: 14_999, easyPay: wallet(0, 1) }],
    [
      "a wallet's money",
      { method: 'easy-money', provider: '네이버페이' },
      { card: null, easyPay: wallet(15_000, 0, '네이버페이') },
    ],
    [
      "a wallet's money and points",
      { method: 'easy-money', points: 5_000 },
      { card: null, easyPay: wallet(10_000, 5_000) },
    ],
    ['points alone', { method: 'easy-points', points: 15_000 }, { card: null, easyPay: wallet(0, 15_000) }],
  ]
  for (const [what, body, expected] of ways) {
    test(`${what}: ${JSON.stringify(body)}`, async () => {
      const { paymentKey } = await toss.paid(15_000, body)
      const payment = (await toss.lookup(paymentKey)).body
      assert.deepEqual(parts(payment), { method: '간편결제', ...expected })
      assert.deepEqual([payment.totalAmount, payment.isPartialCancelable], [15_000, true])
    })
  }

  test('without its parts until it is confirmed', async () => {
    const { paymentKey } = await toss.checkout(15_000, 'approve', undefined, { method: 'easy-points' })
    assert.deepEqual(parts((await toss.lookup(paymentKey)).body), { method: '간편결제', card: null, easyPay: null })
  })
})

test('points are a third, in hundreds, at least 100 won and never everything', async () => {
  for (const [amount, points] of [
    [20_000, 6_600],
    [1_000, 300],
    [350, 100],
    [101, 100],
    [100, 99],
  ] as const) {
    const { paymentKey } = await toss.paid(amount, { method: 'easy-points' })
    const { card, easyPay } = parts((await toss.lookup(paymentKey)).body)
    assert.deepEqual([card, easyPay], [amount - points, wallet(0, points)], `${amount}`)
  }
})

test('easyPayParts: the parts are 100 won more than the total when set', async () => {
  await toss.behaviour({ easyPayParts: 'differ' })
  const { paymentKey } = await toss.paid(15_000, { method: 'easy-points' })
  const byCard = await toss.paid(15_000)
  await toss.behaviour({ easyPayParts: 'add up' })
  const payment = (await toss.lookup(paymentKey)).body
  assert.deepEqual(parts(payment), { method: '간편결제', card: 10_000, easyPay: wallet(0, 5_100) })
  assert.equal(payment.totalAmount, 15_000)
  assert.deepEqual(parts((await toss.lookup(byCard.paymentKey)).body).card, 15_000)
})

test('isPartialCancelable is as chosen', async () => {
  const { paymentKey } = await toss.paid(15_000, { partialCancelable: false })
  assert.equal((await toss.lookup(paymentKey)).body.isPartialCancelable, false)
})

test('the rows of GET /v1/transactions have the method', async () => {
  const { paymentKey } = await toss.paid(15_000, { method: 'easy-money' })
  const rows = JSON.parse(
    (await call(`${url}/v1/transactions?startDate=2020-01-01&endDate=2099-01-01&limit=5000`, 'GET')).text,
  )
  assert.equal(rows.find((row: Json) => row.paymentKey === paymentKey).method, '간편결제')
})

test('bad values are 400, name the field and what is expected, and make no payment', async () => {
  const order = { orderId: 'order-of-bad-values', amount: 15_000 }
  const bad: [Json, RegExp][] = [
    [{ method: 'cash' }, /^method: expected one of card, easy-card, easy-points, easy-money\./],
    [{ method: 'toString' }, /^method: expected one of/],
    [{ method: 'easy-card', provider: '' }, /^provider: expected a string of 1 to 50 characters/],
    [{ method: 'easy-card', provider: '페'.repeat(51) }, /^provider: expected a string of 1 to 50 characters/],
    [{ method: 'easy-card', provider: 7 }, /^provider:/],
    [{ method: 'card', provider: '토스페이' }, /^provider: a card alone has no wallet/],
    [{ provider: '토스페이' }, /^provider: a card alone has no wallet/],
    [{ points: 100 }, /^points: a card alone has no wallet/],
    [{ method: 'easy-points', points: 15_001 }, /^points: expected an integer from 0 to 15000/],
    [{ method: 'easy-points', points: -1 }, /^points: expected an integer from 0 to 15000/],
    [{ method: 'easy-points', points: 0.5 }, /^points:/],
    [{ partialCancelable: 'no' }, /^partialCancelable: expected true or false/],
  ]
  for (const [body, message] of bad) {
    const reply = await call(`${url}/sandbox/payments`, 'POST', { ...order, ...body })
    assertRefused(reply, 400, 'INVALID_REQUEST')
    assert.match(String(reply.body.message), message)
  }
  assertRefused(await toss.lookupOrder(order.orderId), 404, 'NOT_FOUND_PAYMENT')
})

test('a cancel takes the points last', async () => {
  const { paymentKey } = await toss.paid(15_000, { method: 'easy-money', points: 5_000 })
  for (const cancelAmount of [8_000, 4_000, 3_000])
    await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount })
  const cancels = (await toss.lookup(paymentKey)).body.cancels as Json[]
  assert.deepEqual(
    cancels.map(({ cancelAmount, easyPayDiscountAmount }) => [cancelAmount, easyPayDiscountAmount]),
    [
      [8_000, 0],
      [4_000, 2_000],
      [3_000, 3_000],
    ],
  )
})

test('a receipt shows how it was paid', async () => {
  const receiptOf = async (body: Json) => {
    const { paymentKey } = await toss.paid(15_000, body)
    const { receipt } = (await toss.lookup(paymentKey)).body
    const page = await fetch(`${(receipt as Json).url}?lang=en`)
    return (await page.text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  }
  const byCard = await receiptOf({})
  assert.match(byCard, /Card 43301234\*\*\*\*123\* Approval number \d{8}/)
  assert.doesNotMatch(byCard, /Wallet|Points/)
  assert.match(
    await receiptOf({ method: 'easy-points', provider: '페이코' }),
    /Wallet 페이코 Points ₩5,000 Card 43301234\*\*\*\*123\* ₩10,000 Approval number \d{8}/,
  )
  const byMoney = await receiptOf({ method: 'easy-money', points: 5_000 })
  assert.match(byMoney, /Wallet 토스페이 Wallet money ₩10,000 Points ₩5,000 Approved at/)
  assert.doesNotMatch(byMoney, /Card|Approval number/)
})

test('a journal of before, without wallets, is read', async () => {
  const before = {
    paymentKey: 'sandb20260101000000oldjournalkey0000000',
    orderId: 'order-of-before',
    amount: 15_000,
    method: '카드',
    result: 'approve',
    status: 'PARTIAL_CANCELED',
    sessionEndsAtMs: null,
    requestedAt: '2026-01-01T00:00:00+09:00',
    approvedAt: '2026-01-01T00:00:01+09:00',
    lastTransactionKey: 'B'.repeat(32),
    secret: 'ps_before',
    cancels: [
      {
        transactionKey: 'B'.repeat(32),
        cancelAmount: 5_000,
        cancelReason: 'a part',
        canceledAt: '2026-01-02T00:00:00+09:00',
        refundableAmount: 10_000,
      },
    ],
    failure: null,
  }
  mkdirSync(join(directory, 'before'))
  appendFileSync(join(directory, 'before', 'journal.jsonl'), `${JSON.stringify({ changed: [before] })}\n`)
  const there = shop((await start({ name: 'before' })).url)
  const payment = (await there.lookup(before.paymentKey)).body
  assert.deepEqual(parts(payment), { method: '카드', card: 15_000, easyPay: null })
  assert.partialDeepStrictEqual(payment, { isPartialCancelable: true, balanceAmount: 10_000 })
  assert.equal((payment.cancels as Json[])[0]?.easyPayDiscountAmount, 0)
})
