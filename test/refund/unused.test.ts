// Refund of the unused part: its value goes back, its credits are taken, exactly as quoted, once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { reconcile } from '../../src/payments/books/reconcile.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { quoteRefund } from '../../src/payments/refunds/quote.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { refusingEnds } from '../support/console/refused-ends.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { movements } from '../support/service/orders.ts'
import { operationStates, settleAll } from '../support/service/recovery.ts'
import { type Answer, assertRefused, assertSuccess, testSettings } from '../support/service/service.ts'
import { type SpendingService, startInternal, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
const logged: string[] = []
before(async () => {
  service = await startSpendingService({
    settings: { firstRefundRule: { ...testSettings.firstRefundRule, fullPriceDays: 0, smallestAmount: 3_000 } },
    onLogged: (line) => logged.push(line),
  })
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

function withinDays(fullPriceDays: number) {
  const { settings } = service.payments
  return {
    ...service.payments,
    settings: { ...settings, firstRefundRule: { ...settings.firstRefundRule, fullPriceDays } },
  }
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
  test(`with ${spent} of 21 credits used, ${amount} won go back for ${credits} credits, as quoted, and are in the event`, async () => {
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
    const events = await service.database.query<{ won: number }>(
      `select (data ->> 'refundedAmount')::int as won from events where customer_id = $1 and type = 'order.refunded'`,
      [customerId],
    )
    assert.deepEqual(events, [{ won: amount }])
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

test('an order that is not CONFIRMED has no quote', async () => {
  const { customerId, purchase } = await service.newCustomer()
  const { orderId } = (await purchase()).body.data
  assert.equal(refusalOf(await service.internal.refundQuote(customerId, orderId)), 'not confirmed')
})

test('an untouched order is refunded at its full price, however small, while it is young; once it is old the smallest amount applies', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder('BASIC')
  const quote = await quoteRefund(withinDays(1), orderId)
  assert.deepEqual([quote?.unused?.rule, quote?.unused?.amount, quote?.unused?.credits], ['full price', 1_000, 1])
  const later = await quoteRefund(withinDays(-1), orderId)
  assert.deepEqual([later?.unused, later?.unusedRefusal], [null, 'below the smallest amount'])
})

test('a young order with used credits has the smallest amount of any other', async () => {
  const { customerId, orderId } = await customerWithOrder()
  await spend(customerId, 18)
  const quote = await quoteRefund(withinDays(1), orderId)
  assert.deepEqual([quote?.unused, quote?.unusedRefusal], [null, 'below the smallest amount'])
})

test('a quote of the right amount and other credits is refused, by the field of the amount', async () => {
  const { customerId, orderId } = await customerWithOrder()
  const refused = await service.internal.refund(customerId, orderId, { amount: 20_000, credits: 20 })
  assert.equal(refusalOf(refused), 'changed')
  assert.match(refused.text, /"field":"amount"/)
  assert.equal((await paymentOf(orderId)).balanceAmount, 20_000)
})

test('after a refund of the unused part the full price, or other credits for the same amount, are refused, and so is a quote', async () => {
  const { customerId, orderId } = await customerWithOrder()
  await spend(customerId, 5)
  dataOf(await service.internal.refund(customerId, orderId, { amount: 15_000, credits: 16 }))
  await assert.rejects(refund(service.payments, { orderId, reason: 'all of it' }), /15000 KRW .* refunded already/)
  const otherwise = await service.internal.refund(customerId, orderId, { amount: 15_000, credits: 15 })
  for (const answer of [otherwise, await service.internal.refundQuote(customerId, orderId)]) {
    assert.equal(refusalOf(answer), 'refunded already')
  }
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

test('while the gateway is called the credits are held, and an outcome that is not known is settled later; a service gets no text for operators', async () => {
  for (const kind of ['error-after', 'error-before', 'reset-after'] as const) {
    const { customerId, orderId, ...customer } = await customerWithOrder()
    await spend(customerId, 5)
    await service.sandbox.setFaults([{ on: 'cancel', kind, times: 1 }])
    const quote = { amount: 15_000, credits: 16 }
    const unknown = await service.internal.refund(customerId, orderId, quote)
    assertRefused(unknown, 'SVC001')
    assert.doesNotMatch(unknown.text, /Not known yet/)
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

test('an internal listener that closes waits until the end of a refund is in the action log', async () => {
  const { customerId, orderId } = await customerWithOrder()
  const steps: string[] = []
  const database = wrapDatabase(service.payments.database, async (statement, send) => {
    if (statement.name !== 'operators.endAction') return send()
    if (steps.length === 0) {
      steps.push('refused')
      throw new Error('the database is away')
    }
    const rows = await send()
    steps.push('written')
    return rows
  })
  const closing = await startInternal({ ...service.payments, database })
  dataOf(await closing.refund(customerId, orderId, { amount: 20_000, credits: 21 }))
  await closing.close()
  steps.push('closed')
  assert.deepEqual(steps, ['refused', 'written', 'closed'])
  const text = `select e.outcome from operator_actions b join operator_actions e using (action_id)
    where b.subject = $1 and e.step = 'ENDED'`
  assert.deepEqual(await service.database.query(text, [orderId]), [{ outcome: 'ok' }])
})

test('a refund with the reason of a cancellation at the gateway names the field that is refused', async () => {
  const { customerId, orderId } = await customerWithOrder()
  const quote = { amount: 20_000, credits: 21 }
  const answer = await service.internal.refund(customerId, orderId, quote, ' cancelled at the gateway')
  assertRefused(answer, 'VAL003')
  assert.match(answer.text, /"field":"reason"/)
})

test('a path with text that is no order id is not found; a refund is in the action log with its service, and its reason without blanks around it', async () => {
  const { customerId, orderId } = await customerWithOrder()
  for (const path of ['ord_1', 'a%00b']) assertRefused(await service.internal.refundQuote(customerId, path), 'NOT000')
  dataOf(await service.internal.refund(customerId, orderId, { amount: 20_000, credits: 21 }, ' asked by phone '))
  const actions = await service.database.query<{ text: string }>(
    `select concat_ws(' ', actor, command, arguments, reason) as text from operator_actions where subject = $1`,
    [orderId],
  )
  const { serviceId } = service.internal.issued
  assert.deepEqual(actions, [{ text: `service ${serviceId} orders refund {${orderId},--unused} asked by phone` }])
})

test('a service logs the end of a refund that is missing in the action log, until the database accepts it', async () => {
  const { customerId, orderId } = await customerWithOrder()
  await refusingEnds(service.database, async () => {
    dataOf(await service.internal.refund(customerId, orderId, { amount: 20_000, credits: 21 }, 'asked by phone'))
  })
  const [action] = await service.database.query<{ id: string }>(
    `select action_id as id from operator_actions where subject = $1 and step = 'BEGUN'`,
    [orderId],
  )
  const missing = logged.filter((line) => line.includes(`The end of action ${action?.id} (ok) is missing`))
  assert.equal(missing.length, 1, logged.join(''))
  await until('the end is written', async () => {
    const ends = await service.database.query(`select from operator_actions where action_id = $1 and step = 'ENDED'`, [
      action?.id,
    ])
    return ends.length === 1
  })
})
