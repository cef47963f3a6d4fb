// The bridge of a reconciliation: for any mix of differences the lines add up to the difference of the two sides, each line names
// its cause, and the amount of a discrepancy is that of its lines.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { forSeeds } from '../../harness/random.ts'
import { newOrderId } from '../../src/core/ids.ts'
import { withDiscrepancies } from '../../src/payments/books/bridge.sql.ts'
import { type BridgeLine, createBridgeLines } from '../../src/payments/books/bridge.ts'
import { findBalanceWith, insertMovements } from '../../src/payments/books/reconcile.sql.ts'
import { isDoubtful, type Reconciliation, reconcile } from '../../src/payments/books/reconcile.ts'
import {
  findDoubtsOfOrder,
  resolveDiscrepancies,
  saveDiscrepancy,
  sumOpenDiscrepancies,
} from '../../src/payments/recovery/discrepancies.sql.ts'
import { amountOf } from '../../src/payments/recovery/discrepancy-amount.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { orderInState } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { createOverrides } from '../support/service/recovery.ts'
import { assertSuccess, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
let customer: TestCustomer
before(async () => {
  service = await startTestService({ wrapGateway })
  customer = await service.newCustomer()
})
after(() => service.close())

const hourMs = 3_600_000
const run = () =>
  reconcile(service.payments, { from: new Date(Date.now() - hourMs), to: new Date(Date.now() + hourMs) })

function differenceOf(result: Reconciliation): number {
  const { captured, cancelled, bookedCaptured, bookedCancelled, missingCaptured, missingCancelled } = result
  return captured - cancelled - (bookedCaptured + missingCaptured) + (bookedCancelled + missingCancelled)
}

async function capture(orderId: string, amount: number): Promise<string> {
  const paymentKey = await service.sandbox.pay(orderId, amount)
  await service.sandbox.capture(paymentKey, orderId, amount)
  return paymentKey
}

/** A difference, and the lines that are expected for its order: kind or result, and amount. */
type Planted = { orderId: string; lines: [cause: string, amount: number][] }

const plants: Record<string, (amount: number) => Promise<Planted>> = {
  async nothing() {
    const { orderId } = await customer.confirmedOrder('BASIC')
    return { orderId, lines: [] }
  },
  async 'a second payment'() {
    const { orderId, amount } = await customer.confirmedOrder()
    await capture(orderId, amount)
    return { orderId, lines: [['SECOND_PAYMENT', amount]] }
  },
  async 'a second payment, returned'() {
    const { orderId, amount } = await customer.confirmedOrder()
    await service.sandbox.cancel(await capture(orderId, amount))
    return {
      orderId,
      lines: [
        ['agrees', amount],
        ['agrees', -amount],
      ],
    }
  },
  async 'an unknown order'(amount) {
    const orderId = newOrderId()
    await capture(orderId, amount)
    return { orderId, lines: [['UNKNOWN_ORDER', amount]] }
  },
  async 'an unknown order, cancelled since'(amount) {
    const orderId = newOrderId()
    await service.sandbox.cancel(await capture(orderId, amount))
    return {
      orderId,
      lines: [
        ['unknown order', amount],
        ['unknown order', -amount],
      ],
    }
  },
  async 'a capture for a FAILED order, returned by us'() {
    const { orderId, amount } = await orderInState(service, customer, 'FAILED')
    const paymentKey = await capture(orderId, amount)
    assert.equal(await review(service.payments, { customerId: customer.customerId, orderId }, paymentKey), 'repaired')
    return { orderId, lines: [] }
  },
  async 'a partial cancellation in parts, accepted as one'(amount) {
    const { orderId, paymentKey } = await customer.confirmedOrder('PRO')
    for (const part of [amount, amount, 500]) await service.sandbox.cancel(paymentKey, part)
    const key = { customerId: customer.customerId, orderId }
    await acceptPartOf(service.payments, key, { credits: 0 })
    return { orderId, lines: [] }
  },
  async 'another service'(amount) {
    const orderId = `shop-2-${crypto.randomUUID()}`
    const paymentKey = await capture(orderId, amount)
    await service.sandbox.cancel(paymentKey, 700)
    return {
      orderId,
      lines: [
        ['other service', amount],
        ['other service', -700],
      ],
    }
  },
  async 'a partial cancellation'(amount) {
    const { orderId, paymentKey } = await customer.confirmedOrder('PRO')
    await service.sandbox.cancel(paymentKey, amount)
    return { orderId, lines: [['PARTLY_CANCELLED_AT_GATEWAY', -amount]] }
  },
  async 'a capture that is repaired'() {
    const { orderId, paymentKey, amount } = await customer.paidOrder()
    await service.sandbox.capture(paymentKey, orderId, amount)
    return { orderId, lines: [['repaired', amount]] }
  },
  async 'a grant that the gateway does not know'() {
    const { orderId, amount } = await customer.paidOrder()
    overrides.confirm = async () => ({ kind: 'approved', transactionKey: null })
    assertSuccess(await customer.confirm(orderId, `pay_${crypto.randomUUID()}`, amount), 200)
    clear()
    return { orderId, lines: [['NOT_CAPTURED_AT_GATEWAY', -amount]] }
  },
}

const isForeign = (result: string) => ['unknown order', 'other service'].includes(result)

type Found = { discrepancyId: string; kind: string; subject: string; detail: object }

test('the lines add up to the difference for any mix of differences, and name their causes', async () => {
  await forSeeds(3, async (random) => {
    const names = Object.keys(plants).flatMap((name) => Array.from({ length: random.integer(0, 2) }, () => name))
    const planted: Planted[] = []
    for (const name of random.shuffled(names)) {
      planted.push((await plants[name]?.(random.integer(1, 9) * 1_000)) ?? assert.fail(name))
    }
    const result = await run()
    const { lines, rest, otherServices, unknownOrders, foreign } = result
    assert.deepEqual(rest, { lines: 0, amount: 0 })
    assert.equal(
      lines.reduce((sum, { amount }) => sum + amount, 0),
      differenceOf(result),
    )
    assert.equal(otherServices + unknownOrders, foreign)
    for (const { orderId, lines: expected } of planted) {
      const found = lines.filter((line) => line.orderId === orderId)
      const shown = found.map(({ kind, result: cause, amount }) => `${kind ?? cause} ${amount}`)
      assert.deepEqual(shown.sort(), expected.map(([cause, amount]) => `${cause} ${amount}`).sort())

      assert.ok(found.every((line) => line.customerId === (isForeign(line.result) ? null : customer.customerId)))
    }
    const discrepancies = await service.database.query<Found>(
      'select discrepancy_id as "discrepancyId", kind, subject, detail from discrepancies where resolved_at is null',
    )
    for (const discrepancy of discrepancies) {
      const ofIt = lines.filter((line) => line.discrepancyId === discrepancy.discrepancyId)
      const sum = ofIt.reduce((total, { amount }) => total + amount, 0)
      assert.equal(amountOf(discrepancy), sum, discrepancy.kind)
    }
  })
})

test('a movement that our copy has with another amount is a line with the amount of the gateway, and names its discrepancy', async () => {
  const { orderId, amount } = await customer.confirmedOrder()
  await run()
  await service.database.query('update gateway_movements set amount = amount - 1 where order_id = $1', [orderId])
  const result = await run()
  const [line] = result.lines.filter((each) => each.orderId === orderId)
  assert.deepEqual([line?.kind, line?.amount], ['MOVEMENT_DIFFERS', amount])
  assert.equal(
    result.lines.reduce((sum, each) => sum + each.amount, 0),
    differenceOf(result),
  )
})

test('the line of a payment that was repaired names no discrepancy of its order that was resolved before', async () => {
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const key = { customerId: customer.customerId, orderId }
  const { database } = service.payments
  await saveDiscrepancy(database, { kind: 'OPERATION_STUCK', subject: orderId, order: key, detail: {} })
  const doubts = await findDoubtsOfOrder(database, key)
  const resolved = await resolveDiscrepancies(
    database,
    doubts.map(({ discrepancyId }) => discrepancyId),
    'looked at',
  )
  assert.deepEqual(resolved, ['OPERATION_STUCK'])
  await service.sandbox.capture(paymentKey, orderId, amount)
  const line = (await run()).lines.find((each) => each.orderId === orderId)
  assert.deepEqual([line?.result, line?.discrepancyId, line?.kind], ['repaired', null, null])
})

test('a run keeps 500 lines, those that need a decision before the others, and the sum of the rest', () => {
  const bridge = createBridgeLines()
  const line = { of: 'movement', customerId: null, paymentKey: 'pay', orderId: 'shop', transactionKey: 'tx' } as const
  for (let place = 0; place < 600; place += 1) {
    bridge.add({ ...line, moved: 10, direction: 'CAPTURE', result: 'other service', at: new Date(place) })
  }
  for (const place of [2, 1]) {
    bridge.add({ ...line, moved: 3, direction: 'CANCEL', result: 'disagrees', at: new Date(place) })
  }
  const kept = bridge.kept()
  assert.equal(kept.length, 500)
  assert.deepEqual(
    kept.slice(0, 3).map(({ result, amount, at }) => [result, amount, at.getTime()]),
    [
      ['disagrees', -3, 1],
      ['disagrees', -3, 2],
      ['other service', 10, 0],
    ],
  )
  assert.deepEqual(bridge.rest(), { lines: 102, amount: 1_020 })
})

test('the amount of a discrepancy is what the gateway has more than our books, or not known', () => {
  const order = { orderStatus: 'REFUNDED', orderAmount: 20_000 }
  const subject = newOrderId()
  const done = (balance: number) => ({ status: 'DONE', balance })
  const cancelled = { status: 'CANCELED', balance: 0 }
  const partly = { status: 'PARTIAL_CANCELED', totalAmount: 20_000, balanceAmount: 12_000 }
  const operationOf = (operationKind: string) => ({ operationKind, operationAmount: 20_000 })
  const captured = { direction: 'CAPTURE', amount: 7 }
  type Case = [kind: string, subject: string, detail: object, amount: number | null]
  /** The gateway's balance of a payment that is not captured is its amount. */
  const absentWith = (amount: number | null) => (status: string | null) => {
    const detail = { ...order, orderStatus: 'CONFIRMED', gateway: { status, balance: 20_000 } }
    return ['NOT_CAPTURED_AT_GATEWAY', subject, detail, amount] satisfies Case
  }
  const cases: Case[] = [
    ['NOT_CANCELLED_AT_GATEWAY', subject, { ...order, orderStatus: 'CANCELLED', gateway: done(20_000) }, 20_000],
    ['REFUNDED_MORE_AT_GATEWAY', subject, { ...order, refundedAmount: 15_000, gateway: cancelled }, -5_000],
    // Recorded by an earlier version, which did not record what was refunded.
    ['REFUNDED_MORE_AT_GATEWAY', subject, { ...order, gateway: cancelled }, null],
    ['PAYMENT_DIFFERS', 'pay_1', { ...order, gateway: done(3_000) }, 3_000],
    ['PAYMENT_DIFFERS', 'pay_1', { ...order, gateway: { ...done(3_000), currency: 'USD' } }, null],
    ['CANCEL_NOT_WHOLE', subject, { operationKind: 'CANCEL', operationAmount: 20_000 }, -20_000],
    ['CANCEL_NOT_WHOLE', subject, { operationKind: 'CANCEL' }, null],
    // Its money is that of the other discrepancies of the order.
    ['OPERATION_STUCK', subject, { operationKind: 'RETURN', operationAmount: 20_000, code: 'X' }, null],
    ...['READY', 'IN_PROGRESS', 'ABORTED', 'EXPIRED', 'no such payment'].map(absentWith(-20_000)),
    ...['WAITING_FOR_DEPOSIT', 'NEW_STATUS', null].map(absentWith(null)),
    ['CONTRADICTING_OUTCOMES', subject, { ...operationOf('CONFIRM'), heard: 'APPROVED' }, 20_000],
    ['CONTRADICTING_OUTCOMES', subject, { ...operationOf('CONFIRM'), heard: 'REJECTED' }, -20_000],
    ['CONTRADICTING_OUTCOMES', subject, { ...operationOf('CANCEL'), heard: 'APPROVED' }, -20_000],
    ['CONTRADICTING_OUTCOMES', subject, { ...operationOf('CANCEL'), heard: 'REJECTED' }, 20_000],
    ['REFUNDED_MORE_AT_GATEWAY', subject, { ...partly, operationKind: 'REFUND', operationAmount: 5_000 }, -3_000],
    ['MOVEMENT_NOT_LISTED', 'tx', { stored: captured, gateway: { status: 'not listed' } }, null],
    ['MOVEMENT_DIFFERS', 'tx', { stored: captured, gateway: { ...captured, amount: 8 } }, null],
    ['UNKNOWN_ORDER', 'pay_1', { direction: 'CANCEL', amount: 7, balance: 3 }, 3],
    // Recorded by an earlier version, which kept the last movement only.
    ['UNKNOWN_ORDER', 'pay_1', { direction: 'CANCEL', amount: 7 }, null],
    ['UNKNOWN_ORDER', 'pay_1', {}, null],
  ]
  for (const [kind, about, detail, amount] of cases) {
    assert.equal(amountOf({ kind, subject: about, detail }), amount, `${kind} ${JSON.stringify(detail)}`)
  }
})

test('the amount of a discrepancy is not known when the gateway has the payment in another currency', () => {
  const paid = (currency?: string) => ({ status: 'DONE', balance: 3_000, ...(currency && { currency }) })
  const amountWith = (currency?: string) =>
    amountOf({ kind: 'PAYMENT_DIFFERS', subject: 'pay_1', detail: { gateway: paid(currency) } })
  assert.deepEqual([undefined, 'KRW', 'USD'].map(amountWith), [3_000, 3_000, null])
})

test('opposite errors do not cancel out in the sum of the open discrepancies, which is known for 1,000 of them and is none for more', async () => {
  const { database } = service.payments
  const saved = async (count: number) => {
    await service.database.query(
      `insert into discrepancies (subject, kind, detail)
       select 'pay_' || gen_random_uuid(), 'UNKNOWN_ORDER', jsonb_build_object('balance', 3 - 6 * (i % 2))
       from generate_series(1, $1) i`,
      [count],
    )
    return sumOpenDiscrepancies(database)
  }
  const [{ count } = assert.fail('no count')] = await service.database.query<{ count: number }>(
    'select count(*)::int as count from discrepancies where resolved_at is null',
  )
  const { amount, withoutAmount } = await sumOpenDiscrepancies(database)
  const more = 1_000 - count
  assert.deepEqual(await saved(more), { amount: (amount ?? 0) + 3 * more, withoutAmount })
  assert.deepEqual(await saved(1), { amount: null, withoutAmount: 0 })
})

/** Saves a discrepancy, and returns its id. */
async function found(kind: string, subject: string, paymentKey: string | null, orderId: string | null) {
  const { customerId } = customer
  const order = orderId === null ? null : { customerId, orderId }
  await saveDiscrepancy(service.payments.database, { kind, subject, order, detail: paymentKey ? { paymentKey } : {} })
  const [row] = await service.database.query<{ id: string }>(
    'select discrepancy_id as id from discrepancies where kind = $1 and subject = $2 and resolved_at is null',
    [kind, subject],
  )
  return row?.id ?? assert.fail(kind)
}

test('a line names the open discrepancy of its movement, else of its payment, else of the order, else what was resolved of its payment', async () => {
  const { database } = service.payments
  const { orderId } = await customer.confirmedOrder()
  const key = (name: string) => `${name}_${orderId}`
  const line = { amount: 1, of: 'movement', direction: 'CAPTURE', result: 'disagrees', at: new Date() } as const
  const lineOf = (paymentKey: string, transactionKey: string | null): BridgeLine => ({
    ...line,
    customerId: customer.customerId,
    orderId,
    paymentKey,
    transactionKey,
  })
  const lines = [
    lineOf(key('pay_1'), key('tx')),
    lineOf(key('pay_1'), null),
    lineOf(key('pay_2'), key('other')),
    lineOf(key('pay_3'), null),
  ]
  const named = async () => (await withDiscrepancies(database, lines)).map(({ discrepancyId }) => discrepancyId)
  // Those of other kinds with the key as subject are of an order, and found by it.
  const ofOtherKind = await found('SECOND_PAYMENT', key('pay_3'), null, null)
  assert.deepEqual(await named(), [null, null, null, null])
  const ofMovement = await found('MOVEMENT_DIFFERS', key('tx'), null, null)
  const ofUnknown = await found('UNKNOWN_ORDER', key('pay_1'), null, null)
  const ofPayment = await found('PAYMENT_DIFFERS', orderId, key('pay_2'), orderId)
  assert.deepEqual(await named(), [ofMovement, ofUnknown, ofPayment, null])
  const ofOperation = await found('OPERATION_STUCK', orderId, null, orderId)
  assert.deepEqual(await named(), [ofMovement, ofUnknown, ofPayment, ofOperation])
  await resolveDiscrepancies(database, [ofMovement, ofPayment], 'looked at')
  assert.deepEqual(await named(), [ofUnknown, ofUnknown, ofOperation, ofOperation])
  await resolveDiscrepancies(database, [ofUnknown, ofOperation, ofOtherKind], 'looked at')
  assert.deepEqual(await named(), [ofMovement, ofUnknown, ofPayment, null])
})

test('the balance of an unknown order is of its payment alone, with this movement as it is listed and without rejected rows', async () => {
  const { database } = service.payments
  const orderId = newOrderId()
  const common = { orderId, paymentKey: `pay_${orderId}`, movedAt: new Date() }
  const moved = (transactionKey: string, direction: 'CAPTURE' | 'CANCEL', amount: number, more: object = {}) => ({
    ...common,
    transactionKey: `${transactionKey}_${orderId}`,
    direction,
    amount,
    ...more,
  })
  const cancel = moved('cancel', 'CANCEL', 300)
  await insertMovements(database, [
    moved('capture', 'CAPTURE', 1_000),
    { ...cancel, amount: 299 },
    moved('earlier', 'CANCEL', 20),
    moved('rejected', 'CANCEL', 4),
    moved('of another order', 'CAPTURE', 50_000, { orderId: newOrderId() }),
    moved('of another payment', 'CAPTURE', 60_000, { paymentKey: 'pay_other' }),
  ])
  assert.equal(await findBalanceWith(database, cancel, [`rejected_${orderId}`]), 680)
  assert.equal(await findBalanceWith(database, moved('new', 'CAPTURE', 5), []), 1_000 - 299 - 20 - 4 + 5)
  await service.database.query('delete from gateway_movements where transaction_key like $1', [`%_${orderId}`])
})

test('a run is doubtful when a payment disagrees or is unknown, or when our copy has a movement that is not listed, or differs', () => {
  const reviewed = { agrees: 1, repaired: 1, disagrees: 0, 'under way': 1, unknown: 0 }
  const run = { reviewed, notListed: 0, listedDifferently: 0, foreign: 1 } as Reconciliation
  assert.equal(isDoubtful(run), false)
  for (const doubt of [{ notListed: 1 }, { listedDifferently: 1 }]) assert.equal(isDoubtful({ ...run, ...doubt }), true)
  for (const doubt of [{ disagrees: 1 }, { unknown: 1 }]) {
    assert.equal(isDoubtful({ ...run, reviewed: { ...reviewed, ...doubt } }), true)
  }
})
