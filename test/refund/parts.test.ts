// A part of a payment that was cancelled at the gateway and accepted by a person: it is booked once, its credits are taken, and
// the rest of the order keeps its value, whatever moves at the same time.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { bookCommands } from '../../src/commands/nouns/book-commands.ts'
import { findRequest, findUsedToday } from '../../src/credits/adjustments/adjust.sql.ts'
import { adjust, reject } from '../../src/credits/adjustments/adjust.ts'
import { listOutstandingLots } from '../../src/credits/lots/liability.sql.ts'
import { findLot } from '../../src/credits/lots/lots.sql.ts'
import { isRestrictViolation } from '../../src/db/database.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { reconcile } from '../../src/payments/books/reconcile.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import {
  findDoubtsOfOrder,
  resolveDiscrepancies,
  saveDiscrepancy,
} from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { quotePart } from '../../src/payments/refunds/accept.ts'
import { approvePending } from '../../src/payments/refunds/approve.ts'
import { quoteRefund } from '../../src/payments/refunds/quote.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { acceptPartOf, type TestAcceptance } from '../support/service/parts.ts'
import { operationStates, settleAll } from '../support/service/recovery.ts'
import { type Answer, assertRefused, assertSuccess, testSettings } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService({
    settings: { firstRefundRule: { ...testSettings.firstRefundRule, fullPriceDays: 0 } },
  })
})
afterEach(async () => {
  await recordPlayedActions(service.database)
  assert.deepEqual((await audit(service.payments.database)).violations, [])
})
after(() => service.close())

function dataOf<Data>(answer: Answer<Data>, status = 200): Data {
  assertSuccess(answer, status)
  return answer.body.data
}

type Bought = Awaited<ReturnType<typeof buy>>

async function buy(packageType: 'STANDARD' | 'PRO' = 'STANDARD') {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder(packageType)
  const key = { customerId: customer.customerId, orderId }
  return { ...customer, ...key, key, paymentKey }
}

const accept = ({ key }: Pick<Bought, 'key'>, acceptance?: TestAcceptance) =>
  acceptPartOf(service.payments, key, acceptance)

async function spend({ customerId }: Bought, credits: number): Promise<void> {
  dataOf(await service.internal.spend(customerId, credits))
}

async function balanceAtGateway({ orderId }: Bought): Promise<number> {
  const [payment] = await service.sandbox.paymentsOf(orderId)
  return payment?.balanceAmount ?? assert.fail('no payment')
}

async function lotOf({ customerId, orderId }: Bought): Promise<number[]> {
  const lot = await findLot(service.payments.database, customerId, orderId)
  assert.ok(lot)
  return [lot.used, lot.unused + lot.held, lot.takenBack, lot.value]
}

async function discrepanciesOf({ orderId }: Bought): Promise<string[]> {
  const rows = await service.database.query<{ text: string }>(
    `select kind || ': ' || coalesce(resolution, 'open') as text from discrepancies where order_id = $1 order by found_at`,
    [orderId],
  )
  return rows.map(({ text }) => text)
}

async function discrepancyIdOf({ orderId, key }: Bought): Promise<string> {
  assert.equal(await review(service.payments, key), 'disagrees')
  const [row] = await service.database.query<{ id: string }>(
    'select discrepancy_id as id from discrepancies where order_id = $1 and resolved_at is null',
    [orderId],
  )
  return row?.id ?? assert.fail('no discrepancy')
}

const lastHour = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 1_000) })

test('after an accepted part of 5000 won, which counts as refunded, the 105 credits that are left are worth 95000 won, and can be refunded', async () => {
  const order = await buy('PRO')
  const { customerId, orderId } = order
  await service.sandbox.cancel(order.paymentKey, 5_000)
  const discrepancyId = await discrepancyIdOf(order)
  const { amount, proposed, most, unused, valueAfter } = await quotePart(service.payments, {
    ...order.key,
    discrepancyId,
  })
  assert.deepEqual([amount, proposed, most, unused, valueAfter], [5_000, 5, 15, 110, 95_000])
  const answer = await accept(order, { discrepancyId })
  const booked = { orderId, discrepancyId, state: 'DONE', requestId: null, amount: 5_000, creditsTaken: 5 }
  assert.deepEqual(answer, { ...booked, creditsLeft: 105, value: 95_000 })
  assert.equal(await order.status(orderId), 'CONFIRMED')
  assert.deepEqual(await discrepanciesOf(order), ['PARTLY_CANCELLED_AT_GATEWAY: agreed'])
  assert.equal(await review(service.payments, order.key), 'agrees')
  await reconcile(service.payments, lastHour())
  assert.equal((await discrepanciesOf(order)).length, 1)
  assert.deepEqual(await lotOf(order), [0, 105, 5, 95_000])
  assert.equal(dataOf(await service.internal.lots(customerId)).lots[0]?.refundedAmount, 5_000)
  const full = await quoteRefund(service.payments, orderId)
  assert.deepEqual([full?.backToTheCard, full?.creditsTakenBack, full?.shortfall], [95_000, 105, 0])
  const owed = await listOutstandingLots(service.payments.database, [customerId], new Date(Date.now() + 1_000))
  assert.deepEqual(
    owed.map(({ unspent, value }) => [unspent, value]),
    [[105, 95_000]],
  )
  await spend(order, 5)
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  assert.deepEqual([quote.amount, quote.credits, quote.creditsUsed], [90_000, 100, 5])
  const refunded = dataOf(await service.internal.refund(customerId, orderId, quote))
  assert.deepEqual([refunded.refundedAmount, refunded.creditsTakenBack, refunded.shortfall], [90_000, 100, 5])
  assert.deepEqual(dataOf(await service.internal.refund(customerId, orderId, quote)), refunded)
  assert.equal(await balanceAtGateway(order), 5_000)
  assert.equal(await order.credits(), 0)
  assert.equal(await review(service.payments, order.key), 'agrees')
  const { lots } = dataOf(await service.internal.lots(customerId))
  assert.deepEqual(
    lots.map(({ used, takenBack, refundedAmount }) => [used, takenBack, refundedAmount]),
    [[5, 105, 95_000]],
  )
})

test('the liability at a moment before a part was accepted does not know it', async () => {
  const order = await buy()
  const [now] = await service.database.query<{ at: Date }>('select clock_timestamp() as at')
  assert.ok(now)
  await service.sandbox.cancel(order.paymentKey, 3_000)
  await accept(order, { credits: 0 })
  const valueAt = async (at: Date) => {
    const [lot] = await listOutstandingLots(service.payments.database, [order.customerId], at)
    return lot?.value
  }
  assert.deepEqual([await valueAt(now.at), await valueAt(new Date(Date.now() + 1_000))], [20_000, 17_000])
})

for (const { what, credits } of [
  { what: 'no credits', credits: 0 },
  { what: '5 credits, which the won stand for,', credits: 5 },
  { what: '6 credits, one of them bonus,', credits: 6 },
]) {
  test(`two parts of 4000 and 1000 won are accepted with ${what} taken, and what is left is worth 15000 won`, async () => {
    const order = await buy()
    await service.sandbox.cancel(order.paymentKey, 4_000)
    await service.sandbox.cancel(order.paymentKey, 1_000)
    const discrepancyId = await discrepancyIdOf(order)
    const answer = await accept(order, { credits, discrepancyId })
    assert.deepEqual([answer.creditsTaken, answer.creditsLeft, answer.value], [credits, 21 - credits, 15_000])
    assert.deepEqual(await accept(order, { credits, discrepancyId, reason: 'again' }), answer)
    await assert.rejects(accept(order, { credits: credits + 1, discrepancyId }), {
      message: `It was accepted before, with ${credits} credits.`,
      metadata: { reason: 'accepted otherwise' },
    })
    assert.equal(await order.credits(), 21 - credits)
    await reconcile(service.payments, lastHour())
    assert.deepEqual(await discrepanciesOf(order), ['PARTLY_CANCELLED_AT_GATEWAY: agreed'])
  })
}

test('the credits of an accepted part are in one event and counted once; where none are taken there is none', async () => {
  for (const [credits, balance] of [
    [5, 16],
    [0, 21],
  ] as const) {
    const order = await buy()
    const { customerId } = order
    await service.sandbox.cancel(order.paymentKey, 5_000)
    const discrepancyId = await discrepancyIdOf(order)
    const { refunded } = service.payments.tallies.credits
    for (let time = 0; time < 2; time += 1) await accept(order, { credits, discrepancyId })
    assert.equal(service.payments.tallies.credits.refunded, refunded + credits)
    const events = await service.database.query(
      `select data from events where customer_id = $1 and type <> 'order.confirmed' order by event_number`,
      [customerId],
    )
    const data = { customerId, kind: 'PART', credits: -credits, balance }
    assert.deepEqual(events, credits === 0 ? [] : [{ data }])
  }
})

test('a further part is a discrepancy of its own, which is accepted without what was accepted before', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 2_500)
  const first = await discrepancyIdOf(order)
  assert.deepEqual((await accept(order, { discrepancyId: first })).creditsTaken, 2)
  await service.sandbox.cancel(order.paymentKey, 4_500)
  const second = await discrepancyIdOf(order)
  // The 500 won of the first part count: together the parts stand for 7 credits.
  const quote = await quotePart(service.payments, { ...order.key, discrepancyId: second })
  assert.deepEqual([quote.amount, quote.proposed, quote.most], [4_500, 5, 6])
  // A repeat of the first acceptance does not resolve the second discrepancy.
  await accept(order, { discrepancyId: first })
  assert.equal((await discrepanciesOf(order)).at(-1), 'PARTLY_CANCELLED_AT_GATEWAY: open')
  await accept(order, { discrepancyId: second, credits: 5 })
  assert.deepEqual(await lotOf(order), [0, 14, 7, 13_000])
  assert.equal(await review(service.payments, order.key), 'agrees')
  assert.deepEqual(await operationStates(service, order.orderId), [
    'CONFIRM APPROVED',
    'PART APPROVED',
    'PART APPROVED',
  ])
})

test('the won that parts leave below a credit count with the next part, also for a reversal', async () => {
  const order = await buy()
  const { paymentKey } = order
  for (let part = 1; part <= 4; part += 1) {
    await service.sandbox.cancel(paymentKey, 1_500)
    assert.equal((await accept(order)).creditsTaken, part % 2 === 0 ? 2 : 1)
  }
  assert.deepEqual(await lotOf(order), [0, 15, 6, 14_000])
  const used = await buy()
  const reference = randomUUID()
  dataOf(await service.internal.spend(used.customerId, 21, reference))
  for (const won of [1_500, 1_500]) {
    await service.sandbox.cancel(used.paymentKey, won)
    assert.equal((await accept(used)).creditsTaken, 0)
  }
  // The parts have paid back three credits of the spend.
  assertRefused(await service.internal.reverse(used.customerId, reference, { credits: 19 }), 'VAL003')
  dataOf(await service.internal.reverse(used.customerId, reference, { credits: 18 }))
})

/** The clock of the server was an hour ahead when the account moved last, and is right again. */
const wasAhead = ({ customerId }: Bought) =>
  service.database.query(`update accounts set moved_at = now() + interval '1 hour' where customer_id = $1`, [
    customerId,
  ])

for (const { what, payBack } of [
  {
    what: 'an accepted part',
    payBack: async (order: Bought) => {
      await service.sandbox.cancel(order.paymentKey, 15_000)
      assert.equal((await accept(order)).creditsTaken, 0)
    },
  },
  {
    what: 'a full refund',
    payBack: async ({ orderId }: Bought) => {
      assert.equal((await refund(service.payments, { orderId, reason: 'agreed' })).shortfall, 21)
    },
  },
]) {
  test(`what ${what} has paid back is not given back as credits too, whatever is used later, also after a clock was set back`, async () => {
    const order = await buy()
    await wasAhead(order)
    const reference = randomUUID()
    dataOf(await service.internal.spend(order.customerId, 21, reference))
    await payBack(order)
    await order.confirmedOrder('STANDARD')
    await spend(order, 21)
    assertRefused(await service.internal.reverse(order.customerId, reference, { credits: 21 }), 'VAL003')
  })
}

test('after a clock was set back the won of parts still count in the order in which they were accepted', async () => {
  for (let number = 0; number < 4; number += 1) {
    const order = await buy()
    await wasAhead(order)
    for (const taken of [1, 2]) {
      await service.sandbox.cancel(order.paymentKey, 1_500)
      assert.equal((await accept(order)).creditsTaken, taken)
    }
  }
})

test('credits are paid back once: by a part or by the refund after it, and not by a part of an order that was cancelled', async () => {
  const [first, second] = [await buy(), await buy()]
  const reference = randomUUID()
  dataOf(await service.internal.spend(first.customerId, 21, reference))
  const newer = await first.confirmedOrder('STANDARD')
  await spend(first, 21)
  const key = { customerId: first.customerId, orderId: newer.orderId }
  await service.sandbox.cancel(newer.paymentKey, 5_000)
  assert.equal((await acceptPartOf(service.payments, key)).creditsTaken, 0)
  await refund(service.payments, { orderId: newer.orderId, reason: 'agreed' })
  dataOf(await service.internal.reverse(first.customerId, reference, { credits: 21 }))
  dataOf(await service.internal.spend(second.customerId, 21, reference))
  await service.sandbox.cancel(second.paymentKey, 5_000)
  assert.equal((await accept(second)).creditsTaken, 0)
  await second.confirmedOrder('STANDARD')
  assertSuccess(await second.cancel(second.paymentKey), 200)
  dataOf(await service.internal.reverse(second.customerId, reference, { credits: 21 }))
})

test('nothing is accepted while a cancel or refund of another order of the customer is under way', async () => {
  const older = await buy()
  const newer = await older.confirmedOrder()
  await service.sandbox.cancel(older.paymentKey, 5_000)
  const quote = dataOf(await service.internal.refundQuote(older.customerId, newer.orderId))
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await service.internal.refund(older.customerId, newer.orderId, quote), 'SVC001')
  await service.sandbox.clearFaults()
  await assert.rejects(accept(older), /open at the gateway/)
  await assert.rejects(forgedPart(older, {}), isRestrictViolation)
  await settleAll(service)
  assert.equal((await accept(older)).creditsTaken, 5)
})

test('a cancel after an accepted part returns what is left of the price, for all credits that are left', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 5_000)
  await accept(order)
  assertSuccess(await order.cancel(order.paymentKey), 200)
  assert.equal(await balanceAtGateway(order), 0)
  assert.deepEqual([await order.credits(), await order.status(order.orderId)], [0, 'CANCELLED'])
  assert.equal(await review(service.payments, order.key), 'agrees')
  const used = await buy()
  await service.sandbox.cancel(used.paymentKey, 5_000)
  await accept(used)
  await spend(used, 1)
  assertRefused(await used.cancel(used.paymentKey), 'PAYMENT_CANCEL_FAILED')
})

test('a full refund after an accepted part returns the rest; what the part took is not used, and what was used is not reversed', async () => {
  const order = await buy()
  const { customerId, orderId, paymentKey } = order
  await service.sandbox.cancel(paymentKey, 5_000)
  await accept(order)
  const reference = randomUUID()
  dataOf(await service.internal.spend(customerId, 6, reference))
  const answer = await refund(service.payments, { orderId, reason: 'goodwill' })
  assert.deepEqual([answer.refundedAmount, answer.creditsTakenBack, answer.shortfall], [15_000, 10, 6])
  assert.deepEqual(await refund(service.payments, { orderId, reason: 'again' }), answer)
  assert.deepEqual(await lotOf(order), [6, 0, 15, 0])
  assert.equal(await balanceAtGateway(order), 0)
  assertRefused(await service.internal.reverse(customerId, reference), 'VAL003')
})

test('a full refund after an accepted part takes what the part left of its order, and none of the credits of another one', async () => {
  const order = await buy()
  await order.confirmedOrder('STANDARD')
  await service.sandbox.cancel(order.paymentKey, 5_000)
  await accept(order)
  const answer = await refund(service.payments, { orderId: order.orderId, reason: 'goodwill' })
  assert.deepEqual([answer.refundedAmount, answer.creditsTakenBack, answer.shortfall], [15_000, 16, 0])
  assert.equal(await order.credits(), 21)
})

test('when the rest is cancelled in the dashboard too, the order is REFUNDED with the price', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 5_000)
  await accept(order, { credits: 0 })
  await service.sandbox.cancel(order.paymentKey, 15_000)
  assert.equal(await review(service.payments, order.key), 'repaired')
  assert.equal(await order.status(order.orderId), 'REFUNDED')
  assert.equal(await order.credits(), 0)
})

test('a refund of the unused part whose answer was lost is found behind the accepted part', async () => {
  const order = await buy()
  const { customerId, orderId } = order
  await service.sandbox.cancel(order.paymentKey, 4_000)
  await accept(order)
  await spend(order, 1)
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
  const quote = dataOf(await service.internal.refundQuote(customerId, orderId))
  assert.equal(quote.amount, 15_000)
  assertRefused(await service.internal.refund(customerId, orderId, quote), 'SVC001')
  await service.sandbox.clearFaults()
  await settleAll(service)
  assert.deepEqual(dataOf(await service.internal.refund(customerId, orderId, quote)).refundedAmount, 15_000)
  assert.equal(await balanceAtGateway(order), 1_000)
  assert.equal(await review(service.payments, order.key), 'agrees')
})

test('nothing is accepted that the gateway does not show, nor more credits than the won stand for with the bonus, or are unused; what is left is worth nothing at least', async () => {
  const order = await buy()
  await assert.rejects(accept(order), /does not show a part/)
  await service.sandbox.cancel(order.paymentKey, 3_900)
  await assert.rejects(accept(order, { credits: 5 }), {
    code: 'VAL003',
    metadata: { fields: [{ field: 'credits', rule: 'must be at most 4' }] },
  })
  await spend(order, 19)
  await assert.rejects(accept(order, { credits: 3 }), {
    metadata: { fields: [{ field: 'credits', rule: 'must be at most 2' }] },
  })
  const discrepancyId = await discrepancyIdOf(order)
  assert.equal((await quotePart(service.payments, { ...order.key, discrepancyId })).valueAfter, 0)
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM APPROVED'])
  assert.equal((await accept(order)).creditsTaken, 2)
  await assert.rejects(accept(order), /does not show a part/)
})

test('nothing is accepted while holds leave fewer credits unused than the won stand for', async () => {
  const order = await buy()
  const { customerId } = order
  await service.sandbox.cancel(order.paymentKey, 5_000)
  dataOf(await service.internal.hold(customerId, 16), 201)
  const { holdId } = dataOf(await service.internal.hold(customerId, 1), 201)
  await assert.rejects(accept(order), { metadata: { reason: 'credits held' } })
  dataOf(await service.internal.release(customerId, holdId))
  assert.equal((await accept(order)).creditsTaken, 5)
})

test('only an open discrepancy about the part is ended by accepting it: a second payment of the order stays in the list', async () => {
  const order = await buy('PRO')
  const { orderId, customerId } = order
  await service.sandbox.cancel(order.paymentKey, 10_000)
  const discrepancyId = await discrepancyIdOf(order)
  const { database } = service.payments
  await saveDiscrepancy(database, { kind: 'SECOND_PAYMENT', subject: randomUUID(), order: order.key, detail: {} })
  const second = (await findDoubtsOfOrder(database, order.key)).find(({ kind }) => kind === 'SECOND_PAYMENT')
  const notAPart = { code: 'VAL003', metadata: { reason: 'not a part' } }
  await assert.rejects(accept(order, { discrepancyId: second?.discrepancyId ?? '' }), notAPart)
  await assert.rejects(accept(order, { discrepancyId: randomUUID() }), notAPart)
  await resolveDiscrepancies(database, [discrepancyId], 'looked at')
  await assert.rejects(accept(order, { discrepancyId }), notAPart)
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED'])
  assert.equal((await accept(order)).creditsTaken, 10)
  assert.deepEqual(
    (await findDoubtsOfOrder(database, { customerId, orderId })).map(({ kind }) => kind),
    ['SECOND_PAYMENT'],
  )
})

test('credits of adjustments are not taken for a part', async () => {
  const order = await buy()
  const { customerId } = order
  await spend(order, 21)
  await service.sandbox.cancel(order.paymentKey, 3_000)
  const adjustment = { customerId, adjustmentId: randomUUID(), kind: 'GOODWILL' as const, credits: 10, actor: 'lee' }
  await adjust(service.payments.database, { ...adjustment, reason: 'slow' }, { perDay: 100, approvalAbove: 100 })
  await assert.rejects(accept(order, { credits: 1 }), /At most 0 credits/)
  assert.equal((await accept(order)).creditsTaken, 0)
  assert.equal(await order.credits(), 10)
})

for (const kind of ['other-amount-after', 'other-order-after'] as const) {
  test(`when the gateway returns another payment (${kind}), its part is not accepted`, async () => {
    const order = await buy()
    await service.sandbox.cancel(order.paymentKey, 1_000)
    const discrepancyId = await discrepancyIdOf(order)
    await service.sandbox.setFaults([{ on: 'lookup', kind, times: 1 }])
    await assert.rejects(accept(order, { discrepancyId }), /does not show a part/)
    await service.sandbox.clearFaults()
    assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM APPROVED'])
    assert.equal((await accept(order)).amount, 1_000)
  })
}

test('of several acceptances of one discrepancy at once one is booked, and all get its answer', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 5_000)
  const discrepancyId = await discrepancyIdOf(order)
  const answers = await Promise.all(Array.from({ length: 6 }, () => accept(order, { discrepancyId })))
  assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
  assert.deepEqual(await lotOf(order), [0, 16, 5, 15_000])
})

/** Each runs at once with an acceptance of 5,000 won and 5 credits of an order of 20,000 won and 21 credits. */
const rivals: Record<string, (order: Bought) => Promise<unknown>> = {
  'a cancel': ({ cancel, paymentKey }) => cancel(paymentKey),
  'a full refund': ({ orderId }) => refund(service.payments, { orderId, reason: 'goodwill' }),
  'a refund of the unused part': async ({ customerId, orderId }) => {
    const unused = { amount: 20_000, credits: 21 }
    await service.internal.refund(customerId, orderId, unused)
  },
  'an acceptance for another discrepancy': (order) => accept(order),
  'spends of all credits': ({ customerId }) => service.internal.spend(customerId, 21),
  'a hold of all credits': ({ customerId }) => service.internal.hold(customerId, 21),
}
for (const [what, rival] of Object.entries(rivals)) {
  test(`an acceptance and ${what} at once, ten times: money and credits agree with the gateway and with each other`, async () => {
    for (let time = 0; time < 10; time += 1) {
      const order = await buy()
      await service.sandbox.cancel(order.paymentKey, 5_000)
      await Promise.allSettled([accept(order), rival(order)])
      await settleAll(service)
      await review(service.payments, order.key)
      const lot = await findLot(service.payments.database, order.customerId, order.orderId)
      const parts = await service.database.query('select from payment_operations where order_id = $1 and kind = $2', [
        order.orderId,
        'PART',
      ])
      assert.ok(lot && parts.length <= 1)
      const returned = 20_000 - (await balanceAtGateway(order))
      const isAccepted = parts.length === 1
      const booked = lot.status === 'CANCELLED' ? 20_000 : (lot.refundedAmount ?? 0)
      assert.equal(booked, isAccepted || lot.status !== 'CONFIRMED' ? returned : 0, `${lot.status} ${isAccepted}`)
      assert.equal(lot.used + lot.unused + lot.held + lot.takenBack, 21)
      assert.ok(lot.value <= (lot.unused + lot.held) * 1_000, JSON.stringify(lot))
    }
  })
}

test('an acceptance whose commit was not answered is repeated, and booked once', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 5_000)
  const { payments } = service
  let losesAnswer = true
  const database = {
    ...payments.database,
    async run<Row extends object>(...[statement, values]: Parameters<typeof payments.database.run>): Promise<Row[]> {
      const rows = await payments.database.run<Row>(statement, values)
      if (statement.name !== 'payments.acceptPart' || !losesAnswer) return rows
      losesAnswer = false
      return payments.database.run<Row>(statement, values)
    },
  }
  const answer = await acceptPartOf({ ...payments, database }, order.key)
  assert.deepEqual([answer.creditsTaken, answer.value], [5, 15_000])
  assert.deepEqual(await lotOf(order), [0, 16, 5, 15_000])
})

/** The books in which something happens before a statement. */
function contextBefore(name: string, happen: () => Promise<unknown>): PaymentContext {
  const { payments } = service
  const { database } = payments
  const run: typeof database.run = async (statement, values) => {
    if (statement.name === name) await happen()
    return database.run(statement, values)
  }
  return { ...payments, database: { ...database, run } }
}

test('won that another acceptance has booked meanwhile are not booked again, also where no credits are taken', async () => {
  const order = await buy()
  await service.sandbox.cancel(order.paymentKey, 5_000)
  const discrepancyId = await discrepancyIdOf(order)
  const context = contextBefore('payments.acceptPart', async () => {
    // It is found again, as another one.
    await resolveDiscrepancies(service.payments.database, [discrepancyId], 'looked at')
    await accept(order, { credits: 0 })
  })
  await assert.rejects(acceptPartOf(context, order.key, { credits: 0, discrepancyId }), {
    metadata: { reason: 'changed' },
  })
  assert.deepEqual(await lotOf(order), [0, 21, 0, 15_000])
})

test('nothing is accepted when a hold was opened after the part was computed, although another order has the credits', async () => {
  const order = await buy()
  await order.confirmedOrder('STANDARD')
  await service.sandbox.cancel(order.paymentKey, 5_000)
  const context = contextBefore('payments.acceptPart', async () => {
    dataOf(await service.internal.hold(order.customerId, 18), 201)
  })
  await assert.rejects(acceptPartOf(context, order.key), { metadata: { reason: 'changed' } })
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM APPROVED'])
})

test('nothing is accepted while a request for the part waits that was made after the acceptance looked for one', async () => {
  const order = await buy('PRO')
  await service.sandbox.cancel(order.paymentKey, 50_000)
  const discrepancyId = await discrepancyIdOf(order)
  const request = { credits: 10, limits: { perDay: 60, approvalAbove: 20 }, actor: randomUUID() }
  const context = contextBefore('payments.acceptPart', () => accept(order, { ...request, discrepancyId }))
  await assert.rejects(acceptPartOf(context, order.key, { discrepancyId }), { metadata: { reason: 'changed' } })
  assert.deepEqual(await lotOf(order), [0, 110, 0, 100_000])
})

test('an acceptance and an approval that were booked by another request after they were looked for get its answer', async () => {
  const { database } = service.payments
  const after = (happen: () => Promise<unknown>) => contextBefore('payments.findReviewSubject', happen)
  const [accepted, approved] = [await buy('PRO'), await buy('PRO')]
  for (const order of [accepted, approved]) await service.sandbox.cancel(order.paymentKey, 50_000)
  const acceptance = { discrepancyId: await discrepancyIdOf(accepted) }
  const late = await acceptPartOf(
    after(() => accept(accepted, acceptance)),
    accepted.key,
    acceptance,
  )
  assert.deepEqual([late.state, late.creditsTaken], ['DONE', 50])
  const request = {
    credits: 10,
    discrepancyId: await discrepancyIdOf(approved),
    limits: { perDay: 60, approvalAbove: 20 },
  }
  const { requestId } = await accept(approved, { ...request, actor: randomUUID() })
  const approve = (context = service.payments) => approvePending(context, requestId ?? '', approver, 60)
  const approver = randomUUID()
  assert.deepEqual(await approve(after(() => approve())), await approve())
  assert.equal(await findUsedToday(database, approver), 40)
})

test('taking less than the won stand for needs a second person above the limit, not at it, who approves it once and is charged for it', async () => {
  const order = await buy('PRO')
  const { database } = service.payments
  const limits = { perDay: 60, approvalAbove: 20 }
  const [requester, approver] = [randomUUID(), randomUUID()]
  await service.sandbox.cancel(order.paymentKey, 50_000)
  const discrepancyId = await discrepancyIdOf(order)
  const asked = await accept(order, { credits: 10, discrepancyId, limits, actor: requester })
  assert.deepEqual([asked.state, asked.amount, asked.creditsTaken, asked.creditsLeft], ['PENDING', 50_000, 10, 110])
  const requestId = asked.requestId ?? assert.fail('no request')
  assert.equal(await findUsedToday(database, requester), 0)
  const other = await buy('PRO')
  await service.sandbox.cancel(other.paymentKey, 50_000)
  assert.equal((await accept(other, { credits: 30, limits, actor: randomUUID() })).state, 'DONE')
  await assert.rejects(approvePending(service.payments, requestId, requester, 60), /another person/i)
  await assert.rejects(approvePending(service.payments, requestId, approver, 39), /limit of 39/)
  const [done, again] = await Promise.all([
    approvePending(service.payments, requestId, approver, 60),
    approvePending(service.payments, requestId, approver, 60),
  ])
  assert.deepEqual([done, again], [done, done])
  assert.deepEqual([await findUsedToday(database, requester), await findUsedToday(database, approver)], [0, 40])
  assert.deepEqual([done.kind, done.credits, done.state, done.available], ['PART', 10, 'DONE', 100])
  assert.deepEqual(await lotOf(order), [0, 100, 10, 50_000])
  assert.deepEqual(await discrepanciesOf(order), ['PARTLY_CANCELLED_AT_GATEWAY: agreed'])
  assert.equal((await findRequest(database, requestId))?.state, 'APPROVED')
  await assert.rejects(reject(database, requestId, approver), /already APPROVED/)
})

test('while the request of a part waits, a repeat finds it, and one with another number of credits is refused', async () => {
  const order = await buy('PRO')
  await service.sandbox.cancel(order.paymentKey, 50_000)
  const discrepancyId = await discrepancyIdOf(order)
  const limits = { perDay: 60, approvalAbove: 20 }
  const request = (credits: number) => accept(order, { credits, discrepancyId, limits, actor: randomUUID() })
  const { state, requestId } = await request(10)
  assert.equal(state, 'PENDING')
  assert.equal((await request(10)).requestId, requestId)
  await assert.rejects(request(9), {
    message: 'Not requested: a request with 10 credits waits for a second person already.',
    metadata: { reason: 'requested already' },
  })
})

test('the command asks whether to store a request when it takes more than the limit beside the won, whether more or less', async () => {
  const order = await buy('PRO')
  await service.sandbox.cancel(order.paymentKey, 50_000)
  const discrepancyId = await discrepancyIdOf(order)
  const accepting = bookCommands.find(({ name }) => name === 'discrepancies accept')
  const call = {
    database: service.payments.database,
    payments: async () => service.payments,
    adjustments: { limits: { viewer: 0, support: 0, finance: 0, admin: 60 }, approvalAbove: 5 },
    positionals: [discrepancyId],
  }
  const { most, proposed } = await quotePart(service.payments, { ...order.key, discrepancyId })
  assert.ok(most > proposed + 5)
  for (const [credits, question] of [
    [proposed - 6, /^Store this as a request\?/],
    [proposed - 5, /^Accept this/],
    [proposed + 5, /^Accept this/],
    [proposed + 6, /^Store this as a request\?/],
  ] as const) {
    const asked = await accepting?.confirm?.({ ...call, values: { credits: `${credits}` } } as never)
    assert.match(asked?.question ?? '', question, `${credits}`)
  }
  const { accepts } = accepting?.options?.credits ?? {}
  assert.deepEqual(
    ['0', '5', '05', '-1'].map((text) => accepts?.(text)),
    [true, true, false, false],
  )
})

test('a request is refused when more was cancelled meanwhile; after it was rejected another can be made', async () => {
  const order = await buy('PRO')
  const limits = { perDay: 1_000, approvalAbove: 5 }
  await service.sandbox.cancel(order.paymentKey, 10_000)
  const discrepancyId = await discrepancyIdOf(order)
  const request = async () => {
    const { requestId } = await accept(order, { credits: 0, discrepancyId, limits })
    return requestId ?? assert.fail('no request')
  }
  const first = await request()
  await service.sandbox.cancel(order.paymentKey, 1_000)
  await assert.rejects(approvePending(service.payments, first, 'lee', 1_000), /have changed/)
  assert.deepEqual(await lotOf(order), [0, 110, 0, 100_000])
  assert.equal((await reject(service.payments.database, first, 'lee')).state, 'REJECTED')
  const second = await request()
  assert.notEqual(second, first)
  await approvePending(service.payments, second, 'lee', 1_000)
  assert.deepEqual(await lotOf(order), [0, 110, 0, 89_000])
})

test('a difference beyond what is left of the day becomes a request; who has no limit is refused; nothing is booked', async () => {
  const [order, other, third] = [await buy(), await buy(), await buy()]
  for (const { paymentKey } of [order, other, third]) await service.sandbox.cancel(paymentKey, 10_000)
  const limits = { perDay: 5, approvalAbove: 100 }
  const actor = randomUUID()
  assert.equal((await accept(order, { credits: 7, limits, actor })).state, 'DONE')
  const none = accept(other, { credits: 7, limits: { ...limits, perDay: 0 }, actor: randomUUID() })
  await assert.rejects(none, /limit is 0 credits a day/)
  const atOnce = await Promise.all([other, third].map((each) => accept(each, { credits: 8, limits, actor })))
  assert.deepEqual(atOnce.map(({ state }) => state).toSorted(), ['DONE', 'PENDING'])
  assert.equal(await findUsedToday(service.payments.database, actor), 5)
  const waiting = atOnce[0]?.state === 'PENDING' ? other : third
  assert.deepEqual(await operationStates(service, waiting.orderId), ['CONFIRM APPROVED'])
  const requestId = atOnce.find(({ state }) => state === 'PENDING')?.requestId ?? assert.fail('no request')
  const approver = randomUUID()
  const approve = (perDay: number) => approvePending(service.payments, requestId, approver, perDay)
  await assert.rejects(approve(1), /^Refusal: Not approved: .* limit of 1 credits/)
  assert.equal((await approve(2)).state, 'DONE')
})

type ForgedPart = { credits?: number; amount?: number; openedAt?: string; closedAt?: string }

/** As the serving role can write one, without an entry; its time, unless another is given, is that of the account. */
const forgedPart = (
  order: Bought,
  { credits = 0, amount = 5_000, openedAt = 'moved_at', closedAt = openedAt }: ForgedPart,
) =>
  service.database.queryOf(
    order.customerId,
    `with account as (
      update accounts set moved_at = greatest(moved_at, clock_timestamp()) where customer_id = $1 returning moved_at
    )
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, state, payment_key, amount, reason, credits_held, opened_at, closed_at,
       closed_by, holder_id, lease_until, accepted)
    select $1, $2, $3, 'PART', 'APPROVED', $4, $6, 'agreed', $5, ${openedAt}, ${closedAt}, $2, $2, now(), true from account`,
    [order.customerId, randomUUID(), order.orderId, order.paymentKey, credits, amount],
  )

test('the schema refuses a part with another time than that of its account, which the audit looks for its action by', async () => {
  const order = await buy()
  for (const time of [
    { openedAt: `now() - interval '5 s'` },
    { openedAt: `'infinity'` },
    { openedAt: `'290000-01-01'` },
    { closedAt: 'now()' },
  ]) {
    await assert.rejects(forgedPart(order, time), isRestrictViolation, JSON.stringify(time))
  }
  for (const ahead of ['infinity', '290000-01-01']) {
    await service.database.query('update accounts set moved_at = $2 where customer_id = $1', [order.customerId, ahead])
    await assert.rejects(forgedPart(order, {}), isRestrictViolation, ahead)
    await service.database.query('update accounts set moved_at = now() where customer_id = $1', [order.customerId])
  }
})

test('the schema refuses a part that takes credits of a newer order, or that returns the whole price', async () => {
  const order = await buy()
  await spend(order, 20)
  await order.confirmedOrder('STANDARD')
  const part = (credits: number, amount: number) => forgedPart(order, { credits, amount })
  for (const [credits, amount] of [
    [2, 2_000],
    [0, 20_000],
    [0, 0],
  ] as const) {
    await assert.rejects(part(credits, amount), isRestrictViolation, `${credits} for ${amount}`)
  }
})
