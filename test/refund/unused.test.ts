// Refund of the unused part: its value goes back, its credits are taken, exactly as quoted, once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { audit } from '../../src/payments/audit/audit.ts'
import { reconcile } from '../../src/payments/books/reconcile.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { resolveDiscrepanciesOfOrder } from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { acceptPartialCancel } from '../../src/payments/refunds/accept.ts'
import { quoteRefund } from '../../src/payments/refunds/quote.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { movements } from '../support/service/orders.ts'
import { operationStates, settleAll } from '../support/service/recovery.ts'
import { type Answer, assertRefused, assertSuccess } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService({ settings: { refundFullPriceMs: 0, refundSmallestAmount: 3_000 } })
})
after(() => service.close())

function dataOf<Data>(answer: Answer<Data>, status = 200): Data {
  assertSuccess(answer, status)
  return answer.body.data
}

function refusalOf(answer: Answer<unknown>): string {
  assertRefused(answer, 'VAL003')
  const { fields } = answer.body.metadata as { fields: { rule: string }[] }
  return fields[0]?.rule ?? assert.fail('no field')
}

async function customerWithOrder(packageType: 'BASIC' | 'STANDARD' | 'PRO' = 'STANDARD') {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder(packageType)
  return { ...customer, orderId, paymentKey }
}

async function spend(customerId: string, credits: number): Promise<void> {
  dataOf(await service.internal.spend(customerId, credits))
}

const lastHour = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 1_000) })

async function discrepanciesOf(orderId: string): Promise<string[]> {
  const rows = await service.database.query<{ text: string }>(
    `select kind || ': ' || coalesce(resolution, 'open') as text from discrepancies where order_id = $1 order by found_at`,
    [orderId],
  )
  return rows.map(({ text }) => text)
}

async function paymentOf(orderId: string) {
  const [payment] = await service.sandbox.paymentsOf(orderId)
  return payment ?? assert.fail('no payment')
}

for (const { spent, amount, credits } of [
  { spent: 0, amount: 20_000, credits: 21 },
  { spent: 1, amount: 19_000, credits: 20 },
  { spent: 17, amount: 3_000, credits: 4 },
]) {
  test(`with ${spent} of 21 credits used, ${amount} won go back for ${credits} credits, as quoted`, async () => {
    const { customerId, orderId } = await customerWithOrder()
    if (spent > 0) await spend(customerId, spent)
    const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
    assert.deepEqual([quote.amount, quote.credits, quote.creditsUsed], [amount, credits, spent])
    const answer = dataOf(await service.internal.refund(customerId, orderId, quote))
    const expected = {
      orderId,
      status: 'REFUNDED',
      refundedAmount: amount,
      creditsTakenBack: credits,
      shortfall: spent,
    }
    assert.deepEqual(answer, expected)
    assert.equal((await paymentOf(orderId)).balanceAmount, 20_000 - amount)
    const { lots } = dataOf(await service.internal.lots(customerId))
    assert.deepEqual(
      lots.map(({ used, unused, takenBack, value, refundedAmount }) => [
        used,
        unused,
        takenBack,
        value,
        refundedAmount,
      ]),
      [[spent, 0, credits, 0, amount]],
    )
    const repeated = await service.internal.refund(customerId, orderId, quote)
    assert.deepEqual(dataOf(repeated), expected)
    assert.equal((await paymentOf(orderId)).cancels?.length, 1)
  })
}

for (const { what, spent, reason } of [
  { what: 'only the bonus credit is left', spent: 20, reason: 'nothing left' },
  { what: 'the value is below the smallest amount', spent: 18, reason: 'below the smallest amount' },
]) {
  test(`when ${what}, quote and refund are refused and nothing changes`, async () => {
    const { customerId, orderId } = await customerWithOrder()
    await spend(customerId, spent)
    for (const answer of [
      await service.internal.refundQuote(customerId, orderId),
      await service.internal.refund(customerId, orderId, { amount: 1_000, credits: 21 - spent }),
    ]) {
      assert.equal(refusalOf(answer), reason)
    }
    assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED'])
  })
}

test('an untouched young order is refunded at its full price, however small', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder('BASIC')
  const settings = { ...service.payments.settings, refundFullPriceMs: 60_000 }
  const quote = await quoteRefund({ ...service.payments, settings }, orderId)
  assert.deepEqual(quote?.unused, { rule: 'full price', amount: 1_000, credits: 1 })
})

test('a spend between quote and refund refuses it, and the message has the new numbers', async () => {
  const { customerId, orderId } = await customerWithOrder()
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  await spend(customerId, 2)
  const refused = await service.internal.refund(customerId, orderId, quote)
  assert.equal(refusalOf(refused), 'changed')
  assert.match(refused.text, /18000 KRW for 19 credits/)
  assert.equal((await paymentOf(orderId)).balanceAmount, 20_000)
})

test('a spend between the check of the quote and the claim leaves the order alone, although another has enough credits', async () => {
  const { customerId, orderId, confirmedOrder } = await customerWithOrder()
  await confirmedOrder('STANDARD')
  const claimCancel: typeof service.payments.batches.claimCancel = async (claim) => {
    if (claim.part) await spend(customerId, 1)
    return service.payments.batches.claimCancel(claim)
  }
  const context = { ...service.payments, batches: { ...service.payments.batches, claimCancel } }
  await assert.rejects(
    refund(context, { orderId, reason: 'raced', unused: { amount: 20_000, credits: 21 } }),
    /Not refunded/,
  )
  assert.deepEqual(await movements(service, customerId), ['GRANT 21', 'GRANT 21', 'SPEND -1'])
})

test('held credits are not refunded: it is refused until the hold has ended, unless another order covers the hold', async () => {
  const { customerId, orderId, ...customer } = await customerWithOrder()
  const { holdId } = dataOf(await service.internal.hold(customerId, 5), 201)
  const refused = await service.internal.refundQuote(customerId, orderId)
  assert.equal(refusalOf(refused), 'credits held')
  await customer.confirmedOrder('STANDARD')
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  assert.deepEqual([quote.amount, quote.credits], [20_000, 21])
  dataOf(await service.internal.refund(customerId, orderId, quote))
  dataOf(await service.internal.capture(customerId, holdId))
  const { lots } = dataOf(await service.internal.lots(customerId))
  assert.deepEqual(
    lots.map(({ used, unused, takenBack, value }) => [used, unused, takenBack, value]),
    [
      [5, 16, 0, 15_000],
      [0, 0, 21, 0],
    ],
  )
})

test('while the gateway is called the credits are held, and an outcome that is not known is settled later', async () => {
  for (const kind of ['error-after', 'error-before', 'reset-after'] as const) {
    const { customerId, orderId, ...customer } = await customerWithOrder()
    await spend(customerId, 5)
    await service.sandbox.setFaults([{ on: 'cancel', kind, times: 1 }])
    const quote = { amount: 15_000, credits: 16 }
    assertRefused(await service.internal.refund(customerId, orderId, quote), 'SVC001')
    await service.sandbox.clearFaults()
    assert.equal(await customer.credits(), 0)
    await settleAll(service)
    const answer = dataOf(await service.internal.refund(customerId, orderId, quote))
    assert.equal(answer.refundedAmount, 15_000)
    const payment = await paymentOf(orderId)
    assert.deepEqual([payment.balanceAmount, payment.cancels?.length], [5_000, 1], kind)
  }
})

test('a part that was cancelled at the gateway first: the refund is refused there, and the credits come back', async () => {
  const { customerId, orderId, paymentKey, ...customer } = await customerWithOrder()
  await spend(customerId, 5)
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  await service.sandbox.cancel(paymentKey, 4_000)
  const refused = await service.internal.refund(customerId, orderId, quote)
  assert.equal(refusalOf(refused), 'refused by the gateway')
  assert.equal(await customer.credits(), 16)
  const again = await service.internal.refundQuote(customerId, orderId)
  assert.equal(refusalOf(again), 'cancelled in part at the gateway')
})

test('64 refunds at once return the same answer, and the money goes back once', async () => {
  const { customerId, orderId } = await customerWithOrder('PRO')
  await spend(customerId, 30)
  const quote = { amount: 70_000, credits: 80 }
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => service.internal.refund(customerId, orderId, quote)),
  )
  const done = answers.filter(({ status }) => status === 200)
  for (const answer of done) assert.equal(dataOf(answer).refundedAmount, 70_000)
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 'SVC001')
  assert.ok(done.length > 0)
  const payment = await paymentOf(orderId)
  assert.deepEqual([payment.balanceAmount, payment.cancels?.length], [30_000, 1])
  const other = await service.internal.refund(customerId, orderId, { amount: 60_000, credits: 70 })
  assert.equal(refusalOf(other), 'refunded already')
})

test('afterwards the gateway and the books agree', async () => {
  const { customerId, orderId } = await customerWithOrder()
  await spend(customerId, 5)
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  dataOf(await service.internal.refund(customerId, orderId, quote))
  assert.equal(await review(service.payments, { customerId, orderId }), 'agrees')
  const { missingCancelled } = await reconcile(service.payments, lastHour())
  assert.equal(missingCancelled, 0)
})

for (const { what, credits } of [
  { what: 'none of its credits', credits: 0 },
  { what: '6 of its credits', credits: 6 },
]) {
  test(`a part cancelled at the gateway, accepted with ${what} taken back, is closed for good`, async () => {
    const { customerId, orderId, paymentKey, ...customer } = await customerWithOrder()
    await service.sandbox.cancel(paymentKey, 4_000)
    await service.sandbox.cancel(paymentKey, 1_000)
    const key = { customerId, orderId }
    assert.equal(await review(service.payments, key), 'disagrees')
    const answer = await acceptPartialCancel(service.payments, key, { credits, reason: 'agreed with the buyer' })
    const expected = {
      orderId,
      status: 'REFUNDED',
      refundedAmount: 5_000,
      creditsTakenBack: credits,
      shortfall: 21 - credits,
    }
    assert.deepEqual(answer, expected)
    assert.deepEqual(await acceptPartialCancel(service.payments, key, { credits, reason: 'again' }), expected)
    assert.equal(await customer.credits(), 21 - credits)
    assert.equal(await review(service.payments, key), 'agrees')
    assert.deepEqual(await discrepanciesOf(orderId), ['PARTLY_CANCELLED_AT_GATEWAY: agreed with the buyer'])
    await reconcile(service.payments, lastHour())
    assert.equal((await discrepanciesOf(orderId)).length, 1)
    // What the customer keeps has no value any more: the money is settled.
    const { lots } = dataOf(await service.internal.lots(customerId))
    assert.deepEqual(
      lots.map(({ unused, takenBack, value }) => [unused, takenBack, value]),
      [[21 - credits, credits, 0]],
    )
    await service.sandbox.cancel(paymentKey, 1_000)
    assert.equal(await review(service.payments, key), 'disagrees')
    assert.deepEqual((await discrepanciesOf(orderId)).at(-1), 'REFUNDED_MORE_AT_GATEWAY: open')
    await resolveDiscrepanciesOfOrder(service.payments.database, key, 'REFUNDED_MORE_AT_GATEWAY', 'seen')
  })
}

test('nothing is accepted that the gateway does not show, nor credits that the order does not have', async () => {
  const { customerId, orderId, paymentKey } = await customerWithOrder()
  const accept = (credits: number) =>
    acceptPartialCancel(service.payments, { customerId, orderId }, { credits, reason: 'by mistake' })
  await assert.rejects(accept(0), /does not show a part/)
  await service.sandbox.cancel(paymentKey, 1_000)
  await assert.rejects(accept(22), {
    code: 'VAL003',
    metadata: { fields: [{ field: 'credits', rule: 'must be at most the credits of the order, 21' }] },
  })
  await spend(customerId, 20)
  await assert.rejects(accept(2), /not available/)
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED'])
})

test('an acceptance whose claim was committed and whose answer was lost is finished, by the request or by the worker', async () => {
  const { payments } = service
  const afterCommit = (next: () => Promise<null>): PaymentContext => ({
    ...payments,
    batches: {
      ...payments.batches,
      async claimCancel(claim) {
        await payments.batches.claimCancel(claim)
        return next()
      },
    },
  })
  for (const [context, isAnswered] of [
    [afterCommit(async () => null), true],
    [afterCommit(() => Promise.reject(new Error('the process ended'))), false],
  ] as const) {
    const { customerId, orderId, paymentKey, ...customer } = await customerWithOrder()
    await service.sandbox.cancel(paymentKey, 5_000)
    const accepted = acceptPartialCancel(context, { customerId, orderId }, { credits: 5, reason: 'agreed' })
    if (isAnswered) assert.equal((await accepted).refundedAmount, 5_000)
    else await assert.rejects(accepted, /the process ended/)
    assert.deepEqual((await audit(payments.database)).violations, [])
    await settleAll(service)
    assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED', 'REFUND APPROVED'])
    assert.equal(await customer.credits(), 16)
    assert.deepEqual((await audit(payments.database)).violations, [])
  }
})

test('a path with text that is no order id is not found, and a refund is in the action log with its service', async () => {
  const { customerId, orderId } = await customerWithOrder()
  for (const path of ['ord_1', 'a%00b']) assertRefused(await service.internal.refundQuote(customerId, path), 'NOT000')
  dataOf(await service.internal.refund(customerId, orderId, { amount: 20_000, credits: 21 }, 'asked by phone'))
  const logged = await service.database.query<{ text: string }>(
    `select concat_ws(' ', actor, command, arguments, reason) as text from operator_actions where subject = $1`,
    [orderId],
  )
  const { serviceId } = service.internal.issued
  assert.deepEqual(logged, [{ text: `service ${serviceId} orders refund {${orderId},--unused} asked by phone` }])
})
