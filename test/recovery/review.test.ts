// Reviews over time: an open operation is settled first, a leased one is skipped, concurrent reviews have one effect,
// and a discrepancy stays open exactly as long as the gateway and our books do not agree.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { newOperationId } from '../../src/core/ids.ts'
import type { PaymentSnapshot } from '../../src/gateway/gateway.ts'
import { claimReturn, type Operation } from '../../src/payments/operations/begin.sql.ts'
import {
  findDoubtsOfOrder,
  insertDiscrepancyOfOperation,
  listDoubtedOrders,
  resolveDiscrepanciesOfOrder,
  resolveDiscrepancy,
  resolveMovementDiscrepancies,
  saveDiscrepancy,
} from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { needsAttention } from '../../src/payments/recovery/review-order.ts'
import { movements, orderInState } from '../support/service/orders.ts'
import {
  createOverrides,
  discrepanciesOf,
  openContexts,
  openKinds,
  operationStates,
  settleAll,
} from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await settleAll(service)
})

/** An order in that state for which another payment was captured outside this service. */
async function orderWithOtherCapture(status: 'PENDING' | 'FAILED' | 'CONFIRMED') {
  const customer = await service.newCustomer()
  const order = await orderInState(service, customer, status)
  const paymentKey = await service.sandbox.pay(order.orderId, order.amount)
  await service.sandbox.capture(paymentKey, order.orderId, order.amount)
  return { customer, key: { customerId: customer.customerId, orderId: order.orderId }, paymentKey, order }
}

async function statusAtGateway(orderId: string, paymentKey: string): Promise<string | undefined> {
  return (await service.sandbox.paymentsOf(orderId)).find((each) => each.paymentKey === paymentKey)?.status
}

test('a return is opened only for a FAILED order: money of any other order is not returned', async () => {
  const claim = { reason: 'captured for a FAILED order', leaseMs: 1_000 }
  for (const status of ['PENDING', 'CONFIRMED', 'CANCELLED', 'REFUNDED', 'FAILED'] as const) {
    const customer = await service.newCustomer()
    const { orderId, amount } = await orderInState(service, customer, status)
    const before = await operationStates(service, orderId)
    const paymentKey = await service.sandbox.pay(orderId, amount)
    await service.sandbox.capture(paymentKey, orderId, amount)
    const key = { customerId: customer.customerId, orderId, paymentKey, operationId: newOperationId() }
    const opened = await claimReturn(service.payments.database, { ...claim, ...key })
    assert.deepEqual([status, opened], [status, status === 'FAILED'])
    assert.deepEqual(await operationStates(service, orderId), opened ? [...before, 'RETURN OPEN'] : before)
  }
})

test('a discrepancy of an operation is reported only while it is in the state that makes it one', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const [operation] = await service.database.query<Operation>(
    `select customer_id as "customerId", operation_id as "operationId", kind from payment_operations where order_id = $1`,
    [orderId],
  )
  const report = (state: Operation['state']) =>
    insertDiscrepancyOfOperation(service.payments.database, operation as Operation, state, `SEEN_${state}`, {})
  assert.deepEqual([await report('OPEN'), await report('REJECTED'), await report('APPROVED')], [false, false, true])
  assert.deepEqual(await openKinds(service, orderId), ['SEEN_APPROVED'])
})

test('an open confirm is settled first, and then the order is compared', async () => {
  for (const [kind, status, states] of [
    ['reset-after', 'CONFIRMED', ['CONFIRM APPROVED']],
    ['reset-before', 'CONFIRMED', ['CONFIRM APPROVED']],
  ] as const) {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder()
    await service.sandbox.setFaults([{ on: 'confirm', kind, times: 1 }])
    assertRefused(await order.confirm(), 'SVC001')
    const key = { customerId: customer.customerId, orderId: order.orderId }
    assert.equal(await review(service.payments, key), 'repaired')
    assert.equal(await customer.status(order.orderId), status)
    assert.deepEqual(await operationStates(service, order.orderId), states)
    assert.equal(await review(service.payments, key), 'agrees')
  }
})

test('an open operation whose outcome the gateway does not return is unknown, and stays open', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 1 }])
  assert.equal(await review(service.payments, { customerId: customer.customerId, orderId: order.orderId }), 'unknown')
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM OPEN'])
})

test('R5: an order with a leased operation is skipped: under way, without a lookup', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const claim = { customerId: customer.customerId, operationId: newOperationId(), orderId, paymentKey, amount }
  await service.payments.batches.claimConfirm({ ...claim, leaseMs: 60_000 })
  await service.sandbox.capture(paymentKey, orderId, amount)
  const calls = { ...service.calls }
  assert.equal(await review(service.payments, { customerId: customer.customerId, orderId }, paymentKey), 'under way')
  assert.deepEqual(service.calls, calls)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('a captured payment of an order is confirmed, also when its key was refused for another order', async () => {
  const customer = await service.newCustomer()
  const { paymentKey, confirm } = await customer.paidOrder('STANDARD', 'decline')
  assertRefused(await confirm(), 'VAL003')
  const { orderId, amount } = (await customer.purchase()).body.data
  const payment: PaymentSnapshot = {
    kind: 'payment',
    paymentKey,
    orderId,
    amount,
    currency: 'KRW',
    money: 'kept',
    status: 'DONE',
    balance: amount,
    transactionKey: 'transaction_seen',
  }
  overrides.fetchPayment = (requested) => (requested === paymentKey ? Promise.resolve(payment) : undefined)
  const key = { customerId: customer.customerId, orderId }
  assert.equal(await review(service.payments, key, paymentKey), 'repaired')
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('the payment of a refused confirm is looked at by every review: money that it has after all is returned', async () => {
  const customer = await service.newCustomer()
  const order = await orderInState(service, customer, 'FAILED')
  const key = { customerId: customer.customerId, orderId: order.orderId }
  assert.equal(await review(service.payments, key), 'agrees')
  const { orderId, paymentKey, amount } = order
  const payment: PaymentSnapshot = {
    kind: 'payment',
    paymentKey,
    orderId,
    amount,
    currency: 'KRW',
    money: 'kept',
    status: 'DONE',
    balance: amount,
    transactionKey: 'transaction_seen',
  }
  overrides.fetchPayment = (requested) => (requested === paymentKey ? Promise.resolve(payment) : undefined)
  overrides.cancel = async () => {
    clear()
    return { kind: 'approved', transactionKey: 'transaction_returned' }
  }
  assert.equal(await review(service.payments, key), 'repaired')
  assert.deepEqual(await operationStates(service, orderId), ['CONFIRM REJECTED', 'RETURN APPROVED'])
})

test('a review needs attention unless it agrees or has repaired: also while another process is at work', () => {
  const results = ['agrees', 'repaired', 'disagrees', 'under way', 'unknown'] as const
  assert.deepEqual(
    results.filter((result) => needsAttention({ result })),
    ['disagrees', 'under way', 'unknown'],
  )
})

test('an order that does not exist agrees', async () => {
  const { customerId } = await service.newCustomer()
  assert.equal(await review(service.payments, { customerId, orderId: 'ord_none' }, 'pay_none'), 'agrees')
})

test('R6: eight reviews at once, in four processes, repair once', async () => {
  const others = await openContexts(service, 4)
  try {
    for (const [status, then, entries] of [
      ['PENDING', 'CONFIRMED', ['GRANT 21']],
      ['FAILED', 'FAILED', []],
    ] as const) {
      const { customer, key, paymentKey, order } = await orderWithOtherCapture(status)
      const reviews = await Promise.all(
        [...others.contexts, ...others.contexts].map((context) => review(context, key, paymentKey)),
      )
      for (const result of reviews) assert.match(result, /^(agrees|repaired|under way)$/)
      assert.ok(reviews.includes('repaired'), reviews.join())
      assert.equal(await review(service.payments, key, paymentKey), 'agrees')
      assert.equal(await customer.status(order.orderId), then)
      assert.deepEqual(await movements(service, customer.customerId), entries)
      assert.equal(await statusAtGateway(order.orderId, paymentKey), then === 'FAILED' ? 'CANCELED' : 'DONE')
      assert.deepEqual(await openKinds(service, order.orderId), [])
    }
  } finally {
    await others.close()
  }
})

test('E6, R2: a capture for a FAILED order: the money is returned, and the resolved discrepancy remains visible', async () => {
  const { customer, key, paymentKey, order } = await orderWithOtherCapture('FAILED')
  assert.equal(await review(service.payments, key, paymentKey), 'repaired')
  assert.equal(await customer.status(order.orderId), 'FAILED')
  assert.deepEqual(await movements(service, customer.customerId), [])
  assert.equal(await statusAtGateway(order.orderId, paymentKey), 'CANCELED')
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM REJECTED', 'RETURN APPROVED'])
  const [found, ...others] = await discrepanciesOf(service, order.orderId)
  assert.deepEqual(
    [found?.kind, found?.resolution, others],
    ['CAPTURED_FOR_FAILED_ORDER', 'the gateway and our books agree', []],
  )
})

test('R2: a return whose answer was lost is finished by the worker, and the next review resolves it', async () => {
  const { key, paymentKey, order } = await orderWithOtherCapture('FAILED')
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assert.equal(await review(service.payments, key, paymentKey), 'unknown')
  assert.deepEqual(await openKinds(service, order.orderId), ['CAPTURED_FOR_FAILED_ORDER'])
  await settleAll(service)
  assert.equal(await statusAtGateway(order.orderId, paymentKey), 'CANCELED')
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(await openKinds(service, order.orderId), [])
})

test('R2: a return that the gateway refuses stays an open discrepancy in every later review', async () => {
  const { key, paymentKey, order } = await orderWithOtherCapture('FAILED')
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  assert.equal(await review(service.payments, key, paymentKey), 'disagrees')
  for (const named of [null, order.paymentKey, null]) {
    assert.equal(await review(service.payments, key, named), 'disagrees')
    assert.deepEqual(await openKinds(service, order.orderId), ['CAPTURED_FOR_FAILED_ORDER'])
  }
  clear()
  assert.equal(await review(service.payments, key), 'repaired')
  assert.equal(await statusAtGateway(order.orderId, paymentKey), 'CANCELED')
  assert.deepEqual(await openKinds(service, order.orderId), [])
})

test('R4: a payment with another amount stays an open discrepancy in every later review', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.paidOrder()
  const key = { customerId: customer.customerId, orderId }
  const paymentKey = await service.sandbox.pay(orderId, 1_000)
  await service.sandbox.capture(paymentKey, orderId, 1_000)
  assert.equal(await review(service.payments, key, paymentKey), 'disagrees')
  assert.equal(await review(service.payments, key), 'disagrees')
  assert.deepEqual(await openKinds(service, orderId), ['PAYMENT_DIFFERS'])
  assert.equal(await customer.status(orderId), 'PENDING')
  await service.sandbox.cancel(paymentKey)
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(await openKinds(service, orderId), [])
})

test('a second payment of a CONFIRMED order is an open discrepancy until its money is returned', async () => {
  const { key, paymentKey, order, customer } = await orderWithOtherCapture('CONFIRMED')
  assert.equal(await review(service.payments, key, paymentKey), 'disagrees')
  assert.equal(await review(service.payments, key), 'disagrees')
  assert.deepEqual(await openKinds(service, order.orderId), ['SECOND_PAYMENT'])
  assert.equal(await statusAtGateway(order.orderId, paymentKey), 'DONE')
  await service.sandbox.cancel(paymentKey)
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(await openKinds(service, order.orderId), [])
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('each further payment has its own discrepancy: a returned one does not hide one that was not returned', async () => {
  const { key, paymentKey: first, order } = await orderWithOtherCapture('CONFIRMED')
  const other = await service.sandbox.pay(order.orderId, order.amount)
  await service.sandbox.capture(other, order.orderId, order.amount)
  for (const named of [first, other]) assert.equal(await review(service.payments, key, named), 'disagrees')
  assert.deepEqual(await openKinds(service, order.orderId), ['SECOND_PAYMENT', 'SECOND_PAYMENT'])
  await service.sandbox.cancel(other)
  assert.equal(await review(service.payments, key), 'disagrees')
  assert.ok((await openKinds(service, first)).includes('SECOND_PAYMENT'))
  await service.sandbox.cancel(first)
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(await openKinds(service, order.orderId), [])
})

test('a discrepancy that recurs is a new one: the old one stays resolved', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.confirmedOrder()
  const key = { customerId: customer.customerId, orderId }
  const shown: PaymentSnapshot = {
    kind: 'payment',
    paymentKey,
    orderId,
    amount,
    currency: 'KRW',
    money: 'partly returned',
    status: 'PARTIAL_CANCELED',
    balance: 1_000,
    transactionKey: null,
  }
  for (const round of [1, 2]) {
    overrides.fetchPayment = async () => shown
    for (const result of ['disagrees', 'disagrees']) assert.equal(await review(service.payments, key), result)
    assert.equal((await discrepanciesOf(service, orderId)).length, round)
    clear()
    assert.equal(await review(service.payments, key), 'agrees')
    assert.deepEqual(await openKinds(service, orderId), [])
  }
})

test('an open discrepancy that is seen again is not new: it keeps when it was found, and gets the present detail', async () => {
  const { database } = service.payments
  const subject = `pay_${crypto.randomUUID()}`
  const save = (amount: number, kind = 'UNKNOWN_ORDER') =>
    saveDiscrepancy(database, { kind, subject, order: null, detail: { amount } })
  const rows = () =>
    service.database.query<{ foundAt: Date }>(
      `select kind, detail, found_at as "foundAt", last_seen_at > found_at as "isSeenAgain" from discrepancies
       where subject = $1 order by kind desc`,
      [subject],
    )
  assert.equal(await save(1), true)
  const [{ foundAt } = {}] = await rows()
  assert.deepEqual([await save(2), await save(3, 'MOVEMENT_DIFFERS')], [false, true])
  assert.partialDeepStrictEqual(await rows(), [
    { kind: 'UNKNOWN_ORDER', detail: { amount: 2 }, foundAt, isSeenAgain: true },
    { kind: 'MOVEMENT_DIFFERS', detail: { amount: 3 }, isSeenAgain: false },
  ])
})

test('a discrepancy is resolved once: a repetition with the same resolution finds it, another resolution does not', async () => {
  const { database } = service.payments
  const subject = `pay_${crypto.randomUUID()}`
  await saveDiscrepancy(database, { kind: 'UNKNOWN_ORDER', subject, order: null, detail: {} })
  const [row] = await service.database.query<{ id: string }>(
    'select discrepancy_id as id from discrepancies where subject = $1',
    [subject],
  )
  const resolve = (resolution: string) => resolveDiscrepancy(database, row?.id ?? '', resolution)
  assert.deepEqual(
    [await resolve('agreed'), await resolve('agreed'), await resolve('another')],
    ['UNKNOWN_ORDER', 'UNKNOWN_ORDER', undefined],
  )
  assert.deepEqual(await service.database.query('select resolution from discrepancies where subject = $1', [subject]), [
    { resolution: 'agreed' },
  ])
})

test('orders with open discrepancies are reviewed in the order in which they were last looked at, each once', async () => {
  const { database } = service.payments
  const { customerId, ...customer } = await service.newCustomer()
  const order = async () => (await customer.confirmedOrder()).orderId
  const [late, early, both] = [await order(), await order(), await order()]
  const doubted = async (orderId: string, kind: string, seconds: number) => {
    await saveDiscrepancy(database, { kind, subject: orderId, order: { customerId, orderId }, detail: {} })
    await service.database.query(
      `update discrepancies set last_seen_at = now() - $3 * interval '1 s' where subject = $1 and kind = $2`,
      [orderId, kind, seconds],
    )
  }
  await doubted(late, 'PAYMENT_DIFFERS', 10)
  await doubted(early, 'PAYMENT_DIFFERS', 20)
  await doubted(both, 'PAYMENT_DIFFERS', 30)
  await doubted(both, 'OPERATION_STUCK', 5)
  const listed = async () =>
    (await listDoubtedOrders(database, 1_000))
      .filter((each) => each.customerId === customerId)
      .map((each) => each.orderId)
  assert.deepEqual(await listed(), [early, late, both])
  await resolveDiscrepanciesOfOrder(database, { customerId, orderId: both }, 'OPERATION_STUCK', 'agreed')
  assert.deepEqual(await listed(), [both, early, late])
  await resolveDiscrepanciesOfOrder(
    database,
    { customerId: crypto.randomUUID(), orderId: both },
    'PAYMENT_DIFFERS',
    'agreed',
  )
  assert.deepEqual(
    (await findDoubtsOfOrder(database, { customerId, orderId: both })).map(({ kind }) => kind),
    ['PAYMENT_DIFFERS'],
  )
  for (const orderId of [both, early, late]) {
    await resolveDiscrepanciesOfOrder(database, { customerId, orderId }, 'PAYMENT_DIFFERS', 'agreed')
  }
  assert.deepEqual(await listed(), [])
})

test('a discrepancy of a movement is resolved by a list of its time that agrees, and only there', async () => {
  const { database } = service.payments
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))
  const span = { from: at(10), to: at(12) }
  const cases: [subject: string, kind: string, stored: Date | null, listed: Date | null][] = [
    ['first moment', 'MOVEMENT_NOT_LISTED', at(10), null],
    ['listed within', 'MOVEMENT_DIFFERS', at(9), at(11)],
    ['listed afterwards', 'MOVEMENT_DIFFERS', at(11), at(13)],
    ['before', 'MOVEMENT_NOT_LISTED', new Date(at(10).getTime() - 1), null],
    ['end', 'MOVEMENT_NOT_LISTED', at(12), null],
    ['still there', 'MOVEMENT_NOT_LISTED', at(11), null],
    ['of a payment', 'UNKNOWN_ORDER', at(11), null],
  ]
  for (const [subject, kind, stored, listed] of cases) {
    const gateway = listed ? { movedAt: listed } : { status: 'not listed' }
    await saveDiscrepancy(database, { kind, subject, order: null, detail: { stored: { movedAt: stored }, gateway } })
  }
  await resolveMovementDiscrepancies(database, span, ['still there'])
  const open = await service.database.query<{ subject: string }>(
    'select subject from discrepancies where subject = any ($1) and resolved_at is null order by subject',
    [cases.map(([subject]) => subject)],
  )
  assert.deepEqual(
    open.map(({ subject }) => subject),
    ['before', 'end', 'listed afterwards', 'of a payment', 'still there'],
  )
})
