// Both clients against the real service, its database and the sandbox: every method, its data, its refusals by code, and
// lost answers, after which every operation has been executed exactly once.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type CreditsClient,
  createCreditsClient,
  createSpendingClient,
  type Fetch,
  isCreditsError,
  type SpendingClient,
} from '../../client/src/index.ts'
import { packages } from '../../src/payments/packages.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { failureOf } from './every-method.ts'

let service: SpendingService
let credits: CreditsClient
let spending: SpendingClient
let customerId: string
let apiKey: string

before(async () => {
  service = await startSpendingService()
  ;({ customerId, apiKey } = await service.newCustomer())
  credits = createCreditsClient({ baseUrl: `${service.url}/`, apiKey, maxAttempts: 1 })
  spending = createSpendingClient({
    baseUrl: service.internal.url,
    token: service.internal.issued.token,
    maxAttempts: 1,
  })
})
after(() => service.close())

/** An order whose buyer has completed checkout. */
async function paidOrder(packageType: 'BASIC' | 'STANDARD' = 'STANDARD', result = 'approve') {
  const { orderId, amount } = await credits.purchaseCredits({ packageType })
  return { orderId, amount, paymentKey: await service.sandbox.pay(orderId, amount, result) }
}

/** The service executes every request, but its first answers are lost. */
function losing(answers: number): { fetch: Fetch; sent: string[]; firstPauseMs: number } {
  const sent: string[] = []
  const fetchAndLose: Fetch = async (url, init) => {
    const response = await fetch(url, init)
    sent.push(`${init.method} ${new URL(url).pathname}`)
    if (sent.length > answers) return response
    await response.text()
    throw new TypeError('lost on the way')
  }
  return { fetch: fetchAndLose, sent, firstPauseMs: 1 }
}

describe('the six endpoints', () => {
  test('listCreditPackages returns the catalogue', async () => {
    assert.deepEqual(await credits.listCreditPackages(), packages)
  })

  test('a payment from the purchase to its cancellation', async () => {
    const before = await credits.getCreditBalance()
    assert.equal(before.customerId, customerId)
    const purchase = await credits.purchaseCredits({ packageType: 'STANDARD', paymentMethod: 'CARD' })
    assert.deepEqual([purchase.packageType, purchase.amount], ['STANDARD', 20_000])
    const { orderId, amount } = purchase
    const pending = await credits.getPaymentStatus({ orderId })
    assert.deepEqual([pending.status, pending.confirmedAt], ['PENDING', null])
    assert.deepEqual(pending.slip, { receiptUrl: null, cardNumber: null, approvalNumber: null })

    const paymentKey = await service.sandbox.pay(orderId, amount)
    const confirmation = await credits.confirmPayment({ orderId, paymentKey, amount })
    assert.equal(confirmation.creditsAdded, 21)
    assert.match(confirmation.slip.receiptUrl ?? '', new RegExp(`/receipt/${paymentKey}$`))
    assert.match(confirmation.slip.cardNumber ?? '', /^\d{8}\*{4}\d{3}\*$/)
    assert.match(confirmation.slip.approvalNumber ?? '', /^\d{8}$/)
    assert.deepEqual((await credits.getPaymentStatus({ orderId })).slip, confirmation.slip)
    assert.deepEqual(await credits.confirmPayment({ orderId, paymentKey, amount }), confirmation)
    assert.equal((await credits.getCreditBalance()).credits, before.credits + 21)

    assert.match((await credits.cancelPayment({ paymentKey, reason: '마음이 바뀌었어요' })).message, /cancelled/)
    assert.equal((await credits.getPaymentStatus({ orderId })).status, 'CANCELLED')
    assert.deepEqual(await credits.getCreditBalance(), before)
  })

  test('a purchase with the same key returns the same order', async () => {
    const idempotencyKey = crypto.randomUUID()
    const [one, other] = [
      await credits.purchaseCredits({ packageType: 'PRO' }, { idempotencyKey }),
      await credits.purchaseCredits({ packageType: 'PRO' }, { idempotencyKey }),
    ]
    assert.deepEqual(one, other)
    const error = await failureOf(credits.purchaseCredits({ packageType: 'BASIC' }, { idempotencyKey }))
    assert.deepEqual([error.code, error.outcome, error.idempotencyKey], ['VAL003', 'not-done', idempotencyKey])
  })
})

describe('the own orders and the own statement', () => {
  test('page by page, order by order and entry by entry, newest first', async () => {
    const { apiKey } = await service.newCustomer()
    const own = createCreditsClient({ baseUrl: service.url, apiKey })
    const made: string[] = []
    for (let count = 0; count < 3; count += 1) {
      const { orderId, amount } = await own.purchaseCredits({ packageType: 'BASIC' })
      const paymentKey = await service.sandbox.pay(orderId, amount)
      await own.confirmPayment({ orderId, paymentKey, amount })
      made.unshift(orderId)
    }
    const pages = await Array.fromAsync(own.orderPages({ limit: 2 }))
    const orders = await Array.fromAsync(own.orders({ limit: 2 }))
    assert.deepEqual(
      pages.map((page) => page.orders.length),
      [2, 1],
    )
    assert.deepEqual(
      orders.map(({ orderId }) => orderId),
      made,
    )
    assert.deepEqual((await own.listOrders()).orders, orders)
    assert.deepEqual(await own.getOrder({ orderId: made[1] ?? '' }), orders[1])
    assert.deepEqual([orders[1]?.status, orders[1]?.credits, orders[1]?.refunds], ['CONFIRMED', 1, []])

    const entries = await Array.fromAsync(own.ownStatementEntries({ limit: 2, kind: ['GRANT'] }))
    assert.deepEqual(
      entries.map(({ orderId }) => orderId),
      made,
    )
    assert.equal((await Array.fromAsync(own.ownStatementPages({ limit: 2 }))).length, 2)
    assert.deepEqual((await own.getOwnStatement()).entries, entries)
  })
})

describe('refusals', () => {
  test('a declined card: VAL003 that names the state, and the outcome is known', async () => {
    const order = await paidOrder('BASIC', 'decline')
    const error = await failureOf(credits.confirmPayment(order))
    assert.ok(isCreditsError(error, 'confirmPayment') && error.code === 'VAL003')
    assert.deepEqual(error.metadata.fields, [{ field: 'orderId', rule: 'the order is FAILED' }])
    assert.deepEqual([error.status, error.outcome, error.kind, error.name], [400, 'not-done', 'answer', 'CreditsError'])
    assert.deepEqual([error.refusalReason, error.metadata.reason], ['card-declined', 'card-declined'])
    assert.equal((await credits.getPaymentStatus(order)).refusalReason, 'card-declined')
  })

  test('a gateway that does not answer: SVC001 with an unknown outcome; the repeated confirm succeeds once', async () => {
    const order = await paidOrder('BASIC')
    await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
    const error = await failureOf(credits.confirmPayment(order))
    assert.deepEqual([error.code, error.outcome, error.retryAfterMs], ['SVC001', 'unknown', 1_000])
    assert.equal((await credits.getPaymentStatus(order)).status, 'PENDING')
    assert.equal((await credits.confirmPayment(order)).creditsAdded, 1)
  })

  test('a cancel of a cancelled payment: PAYMENT_CANCEL_FAILED with the request in metadata', async () => {
    const order = await paidOrder('BASIC')
    await credits.confirmPayment(order)
    const request = { paymentKey: order.paymentKey, reason: 'twice' }
    await credits.cancelPayment(request)
    const error = await failureOf(credits.cancelPayment(request))
    assert.ok(error.code === 'PAYMENT_CANCEL_FAILED')
    assert.deepEqual([error.metadata, error.outcome], [request, 'not-done'])
    assert.equal(error.refusalReason, 'already-cancelled')
    assert.equal((await credits.getPaymentStatus(order)).refusalReason, null)
  })

  test('an unknown key, no key, and an unknown order', async () => {
    const keyOf = async (options: { apiKey?: string }) =>
      (await failureOf(createCreditsClient({ baseUrl: service.url, ...options }).getCreditBalance())).code
    assert.equal(await keyOf({ apiKey: `cpk_${'x'.repeat(43)}` }), 'AUTH001')
    assert.equal(await keyOf({}), 'INVALID_API_KEY')
    for (const orderId of ['ord_unknown', '../credits', 'a b', '한글', 'x'.repeat(2_000)]) {
      assert.equal((await failureOf(credits.getPaymentStatus({ orderId }))).code, 'NOT000', orderId)
    }
  })

  test('an id that would address another endpoint is refused before it is sent', async () => {
    for (const orderId of ['credits', 'packages', '', '.', '..']) {
      await assert.rejects(credits.getPaymentStatus({ orderId }), TypeError)
    }
    const [hold, order] = [
      { customerId, holdId: '..' },
      { customerId, orderId: '.' },
    ]
    for (const call of [
      () => spending.captureHold(hold),
      () => spending.capturePart({ ...hold, credits: 1, reference: 'part' }),
      () => spending.extendHold({ ...hold, expiresInSeconds: 60 }),
      () => spending.releaseHold(hold),
      () => spending.reverseSpend({ customerId, reversedReference: '..', reference: 'back', reason: 'none' }),
      () => spending.quoteRefund(order),
      () => spending.refundUnused({ ...order, amount: 1, credits: 1, reason: 'none' }),
      () => spending.getOrderReceipt(order),
      () => spending.getReferenceReceipt({ customerId, reference: '' }),
      () => spending.listLots({ customerId: '..' }),
      () => spending.getBudgets({ customerId: '' }),
      () => spending.getUse({ customerId: '..' }),
      () => spending.getStatementReceipt({ customerId: '.', from: 1, to: 2 }),
      () => spending.getStatement({ customerId: '' }),
    ])
      await assert.rejects(call, TypeError, `${call}`)
  })
})

describe('lost answers', () => {
  const lossy = (answers: number) => {
    const transport = losing(answers)
    return { ...transport, credits: createCreditsClient({ baseUrl: service.url, apiKey, ...transport }) }
  }

  test('of a purchase: one order', async () => {
    const { credits: client, sent } = lossy(2)
    const countOrders = async () =>
      (await service.database.query<{ count: number }>('select count(*)::int as count from orders'))[0]?.count ?? 0
    const before = await countOrders()
    await client.purchaseCredits({ packageType: 'BASIC' })
    assert.deepEqual([sent.length, await countOrders()], [3, before + 1])
  })

  test('of a confirm: one charge, and the credits once', async () => {
    const order = await paidOrder()
    const { credits: before } = await credits.getCreditBalance()
    const { credits: client, sent } = lossy(1)
    assert.equal((await client.confirmPayment(order)).totalCredits, before + 21)
    assert.deepEqual([sent.length, (await credits.getCreditBalance()).credits], [2, before + 21])
  })

  test('of a cancel: it is not reported as refused; the status of the order shows the result', async () => {
    const order = await paidOrder()
    await credits.confirmPayment(order)
    const { credits: client, sent } = lossy(1)
    const request = { paymentKey: order.paymentKey, reason: 'lost' }
    const error = await failureOf(client.cancelPayment(request))
    assert.deepEqual([error.code, error.outcome, sent.length], ['CONNECTION_LOST', 'unknown', 2])
    const another = await failureOf(client.cancelPayment(request))
    assert.deepEqual([another.code, another.outcome], ['PAYMENT_CANCEL_FAILED', 'not-done'], 'for this call only')
    assert.equal((await credits.getPaymentStatus(order)).status, 'CANCELLED')
  })

  test('of a cancel that never arrived: the second attempt returns the success', async () => {
    const order = await paidOrder()
    await credits.confirmPayment(order)
    let attempts = 0
    const lostBefore: Fetch = (url, init) =>
      ++attempts === 1 ? Promise.reject(new TypeError('lost')) : fetch(url, init)
    const client = createCreditsClient({ baseUrl: service.url, apiKey, fetch: lostBefore, firstPauseMs: 1 })
    assert.match((await client.cancelPayment({ paymentKey: order.paymentKey, reason: 'lost' })).message, /cancelled/)
    assert.equal(attempts, 2)
  })

  test('of a spend, a hold and its capture: each once', async () => {
    const { customerId: spender } = await service.customerWith(20)
    const { token } = service.internal.issued
    const clientLosing = () => createSpendingClient({ baseUrl: service.internal.url, token, ...losing(1) })
    const spent = await clientLosing().spendCredits({ customerId: spender, credits: 3, reference: 'analysis-1' })
    assert.equal(spent.balance, 17)
    const hold = await clientLosing().holdCredits({ customerId: spender, credits: 10, reference: 'batch-1' })
    assert.equal(hold.balance, 7)
    const { captured, released, balance } = await clientLosing().captureHold({
      ...hold,
      customerId: spender,
      credits: 4,
    })
    assert.deepEqual([captured, released, balance], [4, 6, 13])
    const { entries } = await spending.getStatement({
      customerId: spender,
      kind: ['SPEND', 'HOLD', 'CAPTURE'],
      limit: 3,
    })
    assert.deepEqual(
      entries.map(({ kind, delta }) => `${kind} ${delta}`),
      ['CAPTURE -4', 'HOLD 0', 'SPEND -3'],
    )
  })
})

describe('spending', () => {
  test('too few credits: BUS002 with the requested and the available credits', async () => {
    const { customerId: spender } = await service.customerWith(5)
    const error = await failureOf(spending.spendCredits({ customerId: spender, credits: 6, reference: 'a' }))
    assert.ok(isCreditsError(error, 'spendCredits') && error.code === 'BUS002')
    assert.deepEqual([error.metadata, error.status], [{ requested: 6, available: 5 }, 402])
  })

  test('a hold of at most what there is, tried first, extended, captured in parts and in the end', async () => {
    const { customerId: spender } = await service.customerWith(5)
    const request = { customerId: spender, credits: 9, reference: 'job', atMost: true, expiresInSeconds: 60 }
    assert.deepEqual(await spending.dryRunHold(request), { holdId: null, credits: 5, expiresAt: null, balance: 0 })
    const wouldSpend = await spending.dryRunSpend({ customerId: spender, credits: 2, reference: 'job' })
    assert.deepEqual(wouldSpend, { reference: 'job', credits: 2, balance: 3 })
    const { holdId, credits: held, expiresAt } = await spending.holdCredits(request)
    assert.equal(held, 5)
    const extended = await spending.extendHold({ customerId: spender, holdId, expiresInSeconds: 600 })
    assert.ok(extended.expiresAt > expiresAt)
    const part = { customerId: spender, holdId, credits: 2, reference: 'job/1' }
    assert.deepEqual(await spending.capturePart(part), { holdId, captured: 2, remaining: 3, balance: 0 })
    const ended = await spending.captureHold({ customerId: spender, holdId, credits: 1 })
    assert.deepEqual(ended, { holdId, captured: 1, released: 2, balance: 2 })
  })

  test('a hold that is released, with its own expiry', async () => {
    const { customerId: spender } = await service.customerWith(5)
    const request = { customerId: spender, credits: 5, reference: 'batch-2', expiresInSeconds: 60 }
    const { holdId, expiresAt, balance } = await spending.holdCredits(request)
    assert.equal(balance, 0)
    assert.ok(Date.parse(expiresAt) < Date.now() + 70_000)
    const ended = await spending.releaseHold({ customerId: spender, holdId })
    assert.deepEqual([ended.released, ended.balance], [5, 5])
    const error = await failureOf(spending.captureHold({ customerId: spender, holdId }))
    assert.deepEqual([error.code, error.outcome], ['VAL003', 'not-done'])
  })

  test('the statement, page by page and entry by entry', async () => {
    const { customerId: spender } = await service.customerWith(20)
    for (let spent = 1; spent <= 5; spent += 1) {
      await spending.spendCredits({ customerId: spender, credits: 1, reference: `analysis-${spent}` })
    }
    const references: (string | null)[] = []
    for await (const { reference } of spending.statementEntries({ customerId: spender, kind: 'SPEND', limit: 2 })) {
      references.push(reference)
    }
    assert.deepEqual(
      references.slice(0, 5),
      [5, 4, 3, 2, 1].map((each) => `analysis-${each}`),
    )
    const sizes: number[] = []
    for await (const { entries } of spending.statementPages({ customerId: spender, limit: 3 }))
      sizes.push(entries.length)
    assert.deepEqual(sizes.slice(0, 2), [3, 3])

    const from = new Date(Date.now() + 60_000)
    const { entries, opening } = await spending.getStatement({ customerId: spender, from, to: from.toISOString() })
    assert.deepEqual([entries, opening.available], [[], 15])
  })

  test('an iteration that is stopped fetches no more pages', async () => {
    const { customerId: spender } = await service.customerWith(20)
    const transport = losing(0)
    const { token } = service.internal.issued
    const client = createSpendingClient({ baseUrl: service.internal.url, token, ...transport })
    for await (const _ of client.statementEntries({ customerId: spender, limit: 1 })) break
    assert.equal(transport.sent.length, 1)
  })
})
