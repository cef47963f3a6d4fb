// 2.10 of the failure catalogue: the gateway's list of movements against our books, in both directions. Certain cases are
// repaired, uncertain ones are left to an operator, and the totals are exact to the won.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { newOperationId, newOrderId } from '../../src/core/ids.ts'
import type { PaymentSnapshot } from '../../src/gateway/gateway.ts'
import { type Reconciliation, reconcile } from '../../src/payments/books/reconcile.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { movements, orderInState, spend } from '../support/service/orders.ts'
import {
  createOverrides,
  discrepanciesOf,
  openContexts,
  openKinds,
  operationStates,
  settleAll,
} from '../support/service/recovery.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await service.sandbox.behave({ cancelRowSign: 'positive' })
  await settleAll(service)
})

const hourMs = 3_600_000
const run = (context = service.payments) => {
  const now = Date.now()
  return reconcile(context, { from: new Date(now - hourMs), to: new Date(now + hourMs) })
}

/** The difference of all counts between two runs: the tests of this file share one gateway. */
function growth(before: Reconciliation, after: Reconciliation) {
  const names = ['movements', 'captured', 'cancelled', 'bookedCaptured', 'bookedCancelled', 'foreign'] as const
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]]))
}

const quiet = { repaired: 0, 'under way': 0, unknown: 0 }

test('R1: a capture for a PENDING order without an operation of ours: CONFIRMED, with one grant', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const { reviewed } = await run()
  assert.equal(reviewed.repaired, 1)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  assert.deepEqual(await discrepanciesOf(service, orderId), [])
})

test('a run ends at the present of the database: a process whose clock is slow leaves nothing out', async (t) => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const now = Date.now()
  const span = { from: new Date(now - hourMs), to: new Date(now + hourMs) }
  t.mock.method(Date, 'now', () => now - hourMs / 2)
  const { reviewed, to } = await reconcile(service.payments, span)
  t.mock.restoreAll()
  assert.ok(Date.parse(to) <= Date.now(), to)
  assert.equal(reviewed.repaired, 1)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('R1: a capture with another amount for a PENDING order: a discrepancy, and no grant', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.paidOrder()
  const paymentKey = await service.sandbox.pay(orderId, 15_000)
  await service.sandbox.capture(paymentKey, orderId, 15_000)
  for (const turn of [1, 2]) {
    const { reviewed } = await run()
    assert.ok(reviewed.disagrees >= 1, `run ${turn}`)
    assert.deepEqual(await openKinds(service, orderId), ['PAYMENT_DIFFERS'])
  }
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.deepEqual(await movements(service, customer.customerId), [])
  await service.sandbox.cancel(paymentKey)
  await run()
  assert.deepEqual(await openKinds(service, orderId), [])
})

for (const how of ['refused', 'expired']) {
  test(`R2: a capture for an order that is FAILED, ${how}: the money is returned and the discrepancy resolved`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, how === 'refused' ? 'FAILED' : 'PENDING')
    if (how === 'expired') assert.equal((await expireOrders(service.payments.database, 0)).expired >= 1, true)
    const paymentKey = await service.sandbox.pay(order.orderId, order.amount)
    await service.sandbox.capture(paymentKey, order.orderId, order.amount)
    assert.equal((await run()).reviewed.repaired, 1)
    assert.equal(await customer.status(order.orderId), 'FAILED')
    assert.deepEqual(await movements(service, customer.customerId), [])
    const payments = await service.sandbox.paymentsOf(order.orderId)
    assert.equal(payments.find((each) => each.paymentKey === paymentKey)?.status, 'CANCELED')
    assert.equal((await operationStates(service, order.orderId)).at(-1), 'RETURN APPROVED')
    const found = await discrepanciesOf(service, order.orderId)
    assert.deepEqual(
      found.map(({ kind, resolution }) => [kind, resolution]),
      [['CAPTURED_FOR_FAILED_ORDER', 'the gateway and our books agree']],
    )
    assert.equal((await run()).reviewed.repaired, 0)
  })
}

test('R2: money of a FAILED order that the gateway does not return stays an open discrepancy in every later run', async () => {
  const customer = await service.newCustomer()
  const { orderId, amount } = await orderInState(service, customer, 'FAILED')
  const paymentKey = await service.sandbox.pay(orderId, amount)
  await service.sandbox.capture(paymentKey, orderId, amount)
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  for (const turn of [1, 2]) {
    assert.ok((await run()).reviewed.disagrees >= 1, `run ${turn}`)
    assert.deepEqual(await openKinds(service, orderId), ['CAPTURED_FOR_FAILED_ORDER'])
  }
  clear()
  await run()
  assert.deepEqual(await openKinds(service, orderId), [])
})

test('R3, W11: cancelled in the dashboard without a webhook: REFUNDED, and the remaining credits are removed', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await spend(service, customer.customerId, 20)
  await service.sandbox.cancel(paymentKey)
  assert.equal((await run()).reviewed.repaired, 1)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -20', 'REFUND -1'])
})

test('X10: cancelled in part: a discrepancy in every run, and still CONFIRMED', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey, 500)
  for (const turn of [1, 2]) {
    assert.ok((await run()).reviewed.disagrees >= 1, `run ${turn}`)
    const found = await discrepanciesOf(service, orderId)
    assert.deepEqual(
      found.map(({ kind, resolution }) => [kind, resolution]),
      [['PARTLY_CANCELLED_AT_GATEWAY', null]],
    )
  }
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 21)
  await service.sandbox.cancel(paymentKey)
  await run()
  assert.equal(await customer.status(orderId), 'REFUNDED')
})

const strange: [what: string, kind: string, look: Partial<PaymentSnapshot> | null][] = [
  ['no such payment', 'NOT_CAPTURED_AT_GATEWAY', null],
  ['a payment that was never captured', 'NOT_CAPTURED_AT_GATEWAY', { money: 'none', status: 'ABORTED', balance: 0 }],
  ['another amount', 'PAYMENT_DIFFERS', { amount: 1_000, balance: 1_000 }],
]
for (const [what, kind, members] of strange) {
  test(`R4: CONFIRMED, and the gateway has ${what}: ${kind}, and no credits are removed`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey, amount } = await customer.confirmedOrder()
    const { listMovements } = service.payments.gateway
    overrides.fetchPayment = (requested) => {
      if (requested !== paymentKey) return undefined
      const seen = { kind: 'payment', paymentKey, orderId, amount, currency: 'KRW', money: 'kept' } as const
      const rest = { status: 'DONE', balance: amount, transactionKey: null }
      return Promise.resolve(members ? { ...seen, ...rest, ...members } : { kind: 'absent' })
    }
    overrides.listMovements = async (query) => {
      delete overrides.listMovements
      const page = await listMovements(query)
      if (page.kind !== 'page') return page
      return { ...page, movements: page.movements.filter((each) => each.paymentKey !== paymentKey) }
    }
    const { reviewed } = await run()
    assert.ok(reviewed.disagrees >= 1)
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 21)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
    assert.deepEqual(await openKinds(service, orderId), [kind])
    clear()
    await run()
    assert.deepEqual(await openKinds(service, orderId), [])
  })
}

test('R5: an order with a leased operation is skipped, and counted as under way', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const claim = { customerId: customer.customerId, operationId: newOperationId(), orderId, paymentKey, amount }
  await service.payments.batches.claimConfirm({ ...claim, leaseMs: 60_000 })
  await service.sandbox.capture(paymentKey, orderId, amount)
  assert.equal((await run()).reviewed['under way'], 1)
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM OPEN'])
})

test('R6: a repeated or concurrent run has no second effect, and opens each discrepancy once', async () => {
  const customer = await service.newCustomer()
  const [captured, partly, failed] = [
    await customer.paidOrder(),
    await customer.confirmedOrder(),
    await orderInState(service, customer, 'FAILED'),
  ]
  await service.sandbox.capture(captured.paymentKey, captured.orderId, captured.amount)
  await service.sandbox.cancel(partly.paymentKey, 1_000)
  const second = await service.sandbox.pay(failed.orderId, failed.amount)
  await service.sandbox.capture(second, failed.orderId, failed.amount)
  const others = await openContexts(service, 2)
  try {
    await Promise.all(others.contexts.map((context) => run(context)))
  } finally {
    await others.close()
  }
  const state = async () => [
    await movements(service, customer.customerId),
    await discrepanciesOf(service, partly.orderId).then((found) => found.map(({ kind }) => kind)),
    await discrepanciesOf(service, failed.orderId).then((found) => found.map(({ resolution }) => resolution !== null)),
    await operationStates(service, failed.orderId),
  ]
  const entries = ['GRANT 21', 'GRANT 21']
  const expected = [entries, ['PARTLY_CANCELLED_AT_GATEWAY'], [true], ['CONFIRM REJECTED', 'RETURN APPROVED']]
  assert.deepEqual(await state(), expected)
  const { reviewed } = await run()
  assert.deepEqual({ ...reviewed, agrees: 0, disagrees: 0 }, { agrees: 0, disagrees: 0, ...quiet })
  assert.deepEqual(await state(), expected)
})

test('money for an unknown order id in our format is UNKNOWN_ORDER, once; ids in other formats are only counted', async () => {
  const before = await run()
  const ours = newOrderId()
  const [unknown, foreign] = [await service.sandbox.pay(ours, 7_000), await service.sandbox.pay('shop-2-0001', 9_000)]
  await service.sandbox.capture(unknown, ours, 7_000)
  await service.sandbox.capture(foreign, 'shop-2-0001', 9_000)
  for (const turn of [1, 2]) {
    const after = await run()
    assert.deepEqual(
      growth(before, after),
      {
        movements: 2,
        captured: 16_000,
        cancelled: 0,
        bookedCaptured: 0,
        bookedCancelled: 0,
        foreign: 2,
      },
      `run ${turn}`,
    )
    const found = await discrepanciesOf(service, unknown)
    assert.deepEqual(
      found.map(({ kind, detail }) => [kind, detail.orderId, detail.amount]),
      [['UNKNOWN_ORDER', ours, 7_000]],
    )
    assert.deepEqual(await discrepanciesOf(service, foreign), [])
  }
})

test('money for an unknown order is no discrepancy any more when the gateway has returned it, whichever day is reconciled', async () => {
  const orderId = newOrderId()
  const paymentKey = await service.sandbox.pay(orderId, 7_000)
  await service.sandbox.capture(paymentKey, orderId, 7_000)
  await run()
  const text = 'select resolution from discrepancies where subject = $1'
  assert.deepEqual(await service.database.query(text, [paymentKey]), [{ resolution: null }])
  await service.sandbox.cancel(paymentKey)
  for (const turn of [1, 2]) {
    await run()
    const found = await service.database.query(text, [paymentKey])
    assert.deepEqual(found, [{ resolution: 'the gateway has returned the payment' }], `run ${turn}`)
  }
})

for (const cancelRowSign of ['positive', 'negative']) {
  test(`the totals are exact to the won when the rows of cancels are ${cancelRowSign}`, async () => {
    await service.sandbox.behave({ cancelRowSign })
    const before = await run()
    const customer = await service.newCustomer()
    await orderInState(service, customer, 'CONFIRMED', 'BASIC')
    await orderInState(service, customer, 'CANCELLED', 'STANDARD')
    await orderInState(service, customer, 'REFUNDED', 'PRO')
    await orderInState(service, customer, 'FAILED', 'PRO')
    const partly = await orderInState(service, customer, 'CONFIRMED', 'PRO')
    await service.sandbox.cancel(partly.paymentKey, 1)
    const after = await run()
    assert.deepEqual(growth(before, after), {
      movements: 7,
      captured: 221_000,
      cancelled: 120_001,
      foreign: 0,
      bookedCaptured: 221_000,
      bookedCancelled: 120_000,
    })
    assert.equal(after.reviewed.disagrees, before.reviewed.disagrees + 1)
  })
}

test('a payment cancelled in parts is booked by the refund of their sum', async () => {
  const before = await run()
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  for (const amount of [8_000, 12_000]) await service.sandbox.cancel(paymentKey, amount)
  await run()
  assert.equal(await customer.status(orderId), 'REFUNDED')
  const after = await run()
  assert.deepEqual(growth(before, after), {
    movements: 3,
    captured: 20_000,
    cancelled: 20_000,
    foreign: 0,
    bookedCaptured: 20_000,
    bookedCancelled: 20_000,
  })
  assert.equal(after.reviewed.agrees, before.reviewed.agrees)
  assert.deepEqual(await openKinds(service, orderId), [])
})

test('payments of one order are reviewed one after the other, those of several orders at once; a review that fails is unknown and stops no other', async () => {
  const customer = await service.newCustomer()
  const orderOf = new Map<string, string>()
  const [one, other] = [await customer.paidOrder(), await customer.paidOrder()]
  const second = await service.sandbox.pay(one.orderId, one.amount)
  for (const { orderId, paymentKey, amount } of [one, { ...one, paymentKey: second }, other]) {
    await service.sandbox.capture(paymentKey, orderId, amount)
    orderOf.set(paymentKey, orderId)
  }
  const underWay: string[] = []
  let [atOnce, together] = [0, false]
  overrides.fetchPayment = async (paymentKey) => {
    const orderId = orderOf.get(paymentKey)
    if (!orderId) return { kind: 'unknown', code: 'NOT_OF_THIS_TEST' }
    together ||= underWay.includes(orderId)
    underWay.push(orderId)
    await until('both orders are under way', () => underWay.length === 2 || atOnce === 2)
    atOnce = Math.max(atOnce, underWay.length)
    underWay.splice(underWay.indexOf(orderId), 1)
    if (paymentKey === other.paymentKey) throw new Error('a bug')
    return { kind: 'unknown', code: 'ECONNRESET' }
  }
  const { reviewed } = await run()
  assert.deepEqual([atOnce, together], [2, false])
  assert.ok(reviewed.unknown >= 3)
  assert.deepEqual([reviewed.repaired, await openKinds(service, one.orderId)], [0, []])
})

test('orders with open discrepancies are reviewed with every run, and are not counted in it', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const key = { customerId: customer.customerId, orderId }
  await saveDiscrepancy(service.payments.database, { kind: 'SEEN_BEFORE', subject: orderId, order: key, detail: {} })
  const { reviewed } = await reconcile(service.payments, { from: new Date(0), to: new Date(1_000_000) })
  assert.deepEqual(reviewed, { agrees: 0, disagrees: 0, ...quiet })
  assert.deepEqual(await openKinds(service, orderId), [])
})

test('an operation without a movement in the span whose order its review repairs counts as moved outside of the span', async () => {
  overrides.listMovements = async () => ({ kind: 'page', movements: [], next: null })
  const before = await run()
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey)
  const { reviewed, outsideCaptured, missingCaptured, lines } = await run()
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.equal(reviewed.repaired, 1)
  assert.equal(outsideCaptured, before.outsideCaptured + amount)
  assert.equal(missingCaptured, before.missingCaptured)
  assert.ok(!lines.some((line) => line.orderId === orderId))
})
