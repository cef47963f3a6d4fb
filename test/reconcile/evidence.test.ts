// The evidence of a run: the list that the gateway returns in this run, matched by order, payment key and amount, and our
// own operations with their own amounts. A row inserted into our copy of the list, a payment key of another customer and
// a payment that was listed twice prove nothing.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { addDays, dayMs, koreanDayOf, startOfKoreanDay } from '../../src/core/korean-days.ts'
import { type Statement, statement } from '../../src/db/database.ts'
import type { Movement, PaymentDetail, PaymentSnapshot } from '../../src/gateway/gateway.ts'
import { isDoubtful, type Reconciliation, reconcile } from '../../src/payments/books/reconcile.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { movements, orderInState } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { createOverrides, discrepanciesOf, openKinds } from '../support/service/recovery.ts'
import { assertSuccess, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
let customer: TestCustomer
// Discrepancies cannot be deleted, so each test has its own books.
beforeEach(async () => {
  service = await startTestService({ wrapGateway })
  customer = await service.newCustomer()
})
afterEach(async () => {
  clear()
  // The books are audited at the end.
  await service.database.queryUnguarded(
    `update payment_operations set payment_key = 'pay_' || order_id where payment_key is not null`,
  )
  await service.database.queryUnguarded(`update payment_operations set opened_at = '2020-01-01'`)
  await service.close()
})

const day = addDays(koreanDayOf(new Date()), -3)
const begins = startOfKoreanDay(day) as Date
const at = (seconds: number) => new Date(begins.getTime() + seconds * 1_000)
const noon = at(12 * 3_600)
const run = (context = service.payments) => reconcile(context, { from: begins, to: at(dayMs / 1_000) })

/** An order that is CONFIRMED here by a gateway that approved it without capturing anything. */
async function forgedGrant(paymentKey: string, openedAt = noon, transactionKey: string | null = 'tx_forged') {
  const { orderId, amount } = await customer.paidOrder()
  overrides.confirm = async () => ({ kind: 'approved', transactionKey })
  assertSuccess(await customer.confirm(orderId, paymentKey, amount), 200)
  delete overrides.confirm
  await openedThen(orderId, openedAt)
  return { orderId, paymentKey, amount }
}

async function confirmedThen(openedAt = noon) {
  const order = await customer.confirmedOrder()
  await openedThen(order.orderId, openedAt)
  return { ...order, transactionKey: await transactionKeyOf(order.orderId) }
}

/** The transaction key that the last approved operation of the order has from the gateway. */
async function transactionKeyOf(orderId: string): Promise<string> {
  const [row] = await service.database.query<{ transactionKey: string }>(
    `select transaction_key as "transactionKey" from payment_operations
     where order_id = $1 and state = 'APPROVED' order by closed_at desc limit 1`,
    [orderId],
  )
  assert.ok(row)
  return row.transactionKey
}

async function openedThen(orderId: string, openedAt: Date): Promise<void> {
  const text = 'update payment_operations set opened_at = $2 where order_id = $1'
  await service.database.queryUnguarded(text, [orderId, openedAt])
}

type Paid = { orderId: string; paymentKey: string; amount: number; transactionKey?: string }

const captureOf = (
  { orderId, paymentKey, amount, transactionKey = `tx_${orderId}` }: Paid,
  members: Partial<Movement> = {},
): Movement => ({
  transactionKey,
  paymentKey,
  orderId,
  direction: 'CAPTURE',
  amount,
  movedAt: noon,
  ...members,
})

/** Sets the movements that the gateway lists for the day. */
function lists(...listed: Movement[]): void {
  overrides.listMovements = async () => ({ kind: 'page', movements: listed, next: null })
}

const plantStatement = statement.global(
  'test.plantMovement',
  `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
  values ($1, $2, $3, $4, $5, $6)`,
)

/** Inserts with the database role of the service. */
async function plant({ transactionKey, paymentKey, orderId, direction, amount, movedAt }: Movement): Promise<void> {
  const values = [transactionKey, paymentKey, orderId, direction, amount, movedAt]
  await service.payments.database.run(plantStatement, values)
}

const sums = ({ captured, bookedCaptured, outsideCaptured, missingCaptured }: Reconciliation) => ({
  captured,
  bookedCaptured,
  outsideCaptured,
  missingCaptured,
})

for (const [whose, forgedKey] of [
  ['with a transaction key of its own', 'tx_forged'],
  ['without a transaction key', null],
] as const) {
  test(`the payment key of another customer proves nothing, because its movement names another order: a grant ${whose} is detected, and counted as missing in the sums`, async () => {
    const real = await confirmedThen()
    lists(captureOf(real))
    assert.deepEqual(sums(await run()), {
      captured: 20_000,
      bookedCaptured: 20_000,
      outsideCaptured: 0,
      missingCaptured: 0,
    })
    customer = await service.newCustomer()
    const forged = await forgedGrant(real.paymentKey, noon, forgedKey)
    const result = await run()
    assert.deepEqual(sums(result), {
      captured: 20_000,
      bookedCaptured: 20_000,
      outsideCaptured: 0,
      missingCaptured: 20_000,
    })
    assert.deepEqual([result.reviewed.disagrees, isDoubtful(result)], [1, true])
    assert.deepEqual(await openKinds(service, forged.orderId), ['PAYMENT_DIFFERS'])
    assert.deepEqual(await openKinds(service, real.orderId), [])
  })
}

/** The order's amount and the gateway's, from the open discrepancy of the order. */
async function amountsFound(orderId: string): Promise<unknown[]> {
  const found = await discrepanciesOf(service, orderId)
  return found.map(({ kind, detail }) => [kind, detail.orderAmount, (detail.gateway as PaymentDetail).amount])
}

for (const captured of [19_000, 21_000]) {
  test(`R4: ${captured.toLocaleString('en-US')} captured for a CONFIRMED order of 20,000: it is not booked, the whole is missing, the discrepancy has both amounts, the credits are unchanged`, async () => {
    const order = await confirmedThen()
    lists(captureOf(order, { amount: captured }))
    const { orderId, paymentKey } = order
    const seen = { kind: 'payment', paymentKey, orderId, amount: captured, currency: 'KRW', money: 'kept' } as const
    overrides.fetchPayment = async (): Promise<PaymentSnapshot> => ({
      ...seen,
      status: 'DONE',
      balance: captured,
      transactionKey: null,
    })
    const result = await run()
    assert.deepEqual(sums(result), {
      captured,
      bookedCaptured: 0,
      outsideCaptured: 0,
      missingCaptured: 20_000,
    })
    assert.deepEqual(await amountsFound(orderId), [['PAYMENT_DIFFERS', 20_000, captured]])
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
    assert.deepEqual([await customer.status(orderId), await customer.credits()], ['CONFIRMED', 21])
  })
}

test('R1: 19,000 captured for a PENDING order of 20,000: the discrepancy has both amounts, and no credits are granted', async () => {
  const { orderId } = await customer.paidOrder()
  const paymentKey = await service.sandbox.pay(orderId, 19_000)
  await service.sandbox.capture(paymentKey, orderId, 19_000)
  lists(captureOf({ orderId, paymentKey, amount: 19_000 }))
  assert.equal((await run()).reviewed.disagrees, 1)
  assert.deepEqual(await amountsFound(orderId), [['PAYMENT_DIFFERS', 20_000, 19_000]])
  assert.deepEqual(await movements(service, customer.customerId), [])
  assert.deepEqual([await customer.status(orderId), await customer.credits()], ['PENDING', 0])
})

test('a capture does not account for a cancel of the same amount, which is looked up at the gateway', async () => {
  const order = await confirmedThen()
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  await openedThen(order.orderId, noon)
  lists(captureOf(order))
  const { bookedCaptured, outsideCancelled, reviewed } = await run()
  assert.deepEqual([bookedCaptured, outsideCancelled, reviewed.agrees], [20_000, 20_000, 1])
})

test('a payment over midnight: its operation is confirmed on the day it was opened, and booked on the day it moved', async () => {
  const midnight = at(dayMs / 1_000)
  const order = await confirmedThen(new Date(midnight.getTime() - 100))
  const moved = captureOf(order, { movedAt: new Date(midnight.getTime() + 1_000) })
  overrides.listMovements = async ({ to }) => ({
    kind: 'page',
    movements: to > midnight ? [moved] : [],
    next: null,
  })
  const first = await run()
  assert.deepEqual(sums(first), { captured: 0, bookedCaptured: 0, outsideCaptured: 20_000, missingCaptured: 0 })
  assert.deepEqual([first.reviewed.agrees, isDoubtful(first)], [1, false])
  const second = await reconcile(service.payments, { from: midnight, to: new Date(midnight.getTime() + dayMs) })
  assert.deepEqual(sums(second), {
    captured: 20_000,
    bookedCaptured: 20_000,
    outsideCaptured: 0,
    missingCaptured: 0,
  })
  assert.equal(second.reviewed.agrees, 0)
})

test('a capture for a FAILED order and its return by us on the next day are each booked on the day they moved', async () => {
  const midnight = at(dayMs / 1_000)
  const { orderId, amount } = await orderInState(service, customer, 'FAILED')
  const paymentKey = await service.sandbox.pay(orderId, amount)
  await service.sandbox.capture(paymentKey, orderId, amount)
  assert.equal(await review(service.payments, { customerId: customer.customerId, orderId }, paymentKey), 'repaired')
  await openedThen(orderId, new Date(midnight.getTime() + 1_000))
  const captured = captureOf({ orderId, paymentKey, amount })
  const returned: Partial<Movement> = { direction: 'CANCEL', transactionKey: await transactionKeyOf(orderId) }
  const listed = [captured, { ...captured, ...returned, movedAt: new Date(midnight.getTime() + 2_000) }]
  overrides.listMovements = async ({ from, to }) => ({
    kind: 'page',
    movements: listed.filter(({ movedAt }) => movedAt >= from && movedAt <= to),
    next: null,
  })
  const first = await run()
  const second = await reconcile(service.payments, { from: midnight, to: new Date(midnight.getTime() + dayMs) })
  assert.deepEqual(
    [first, second].map((each) => [each.captured, each.bookedCaptured, each.cancelled, each.bookedCancelled]),
    [
      [amount, amount, 0, 0],
      [0, 0, amount, amount],
    ],
  )
  assert.deepEqual([...first.lines, ...second.lines], [])
})

test('an operation accounts for one movement: if two captures are listed for one payment, one is not booked', async () => {
  const order = await confirmedThen()
  lists(captureOf(order), captureOf(order, { transactionKey: 'tx_again', movedAt: at(13 * 3_600) }))
  const result = await run()
  assert.deepEqual(sums(result), {
    captured: 40_000,
    bookedCaptured: 20_000,
    outsideCaptured: 0,
    missingCaptured: 0,
  })
  assert.equal(result.reviewed.agrees, 1)
})

const nextDay = { from: at(dayMs / 1_000), to: at((2 * dayMs) / 1_000) }

/** Lists each movement on its day. */
function listsByDay(...listed: Movement[]): void {
  overrides.listMovements = async ({ from, to }) => ({
    kind: 'page',
    movements: listed.filter(({ movedAt }) => movedAt >= from && movedAt <= to),
    next: null,
  })
}

/** As in old books, or after an answer without a key that could be stored. */
async function forgetKey(orderId: string): Promise<void> {
  await service.database.queryUnguarded(
    `update payment_operations set transaction_key = null where order_id = $1 and kind = 'PART'`,
    [orderId],
  )
}

const cancelSums = ({ cancelled, bookedCancelled, reviewed }: Reconciliation) => [
  cancelled,
  bookedCancelled,
  reviewed.disagrees,
]

for (const { what, hasKey } of [
  { what: 'with the transaction key of the first', hasKey: true },
  { what: 'without a transaction key', hasKey: false },
]) {
  test(`a second cancel of the same amount on the next day is not booked by an accepted part ${what}`, async () => {
    const order = await confirmedThen()
    const { customerId } = customer
    const { orderId, paymentKey } = order
    await service.sandbox.cancel(paymentKey, 10_000)
    await acceptPartOf(service.payments, { customerId, orderId })
    const transactionKey = await transactionKeyOf(orderId)
    if (!hasKey) await forgetKey(orderId)
    await openedThen(orderId, noon)
    const first = captureOf(order, { direction: 'CANCEL', amount: 10_000, transactionKey })
    listsByDay(captureOf(order), first)
    assert.deepEqual(cancelSums(await run()), [10_000, 10_000, 0])
    // The same refund once more in the gateway's dashboard; its webhook is lost.
    await service.sandbox.cancel(paymentKey, 10_000)
    // Its key sorts before the first one's.
    const second = { ...first, transactionKey: '0', movedAt: new Date(noon.getTime() + dayMs) }
    listsByDay(captureOf(order), first, second)
    const { bookedCancelled, reviewed } = await reconcile(service.payments, nextDay)
    assert.deepEqual([bookedCancelled, reviewed.repaired], [0, 1])
    // Nothing is left of the payment.
    assert.equal(await customer.status(orderId), 'REFUNDED')
    assert.deepEqual(cancelSums(await run()), [10_000, 10_000, 0])
  })

  test(`two parts on the next day that add up to an accepted part ${what} are not booked by it`, async () => {
    const order = await confirmedThen()
    const { customerId } = customer
    const { orderId, paymentKey } = order
    await service.sandbox.cancel(paymentKey, 10_000)
    await acceptPartOf(service.payments, { customerId, orderId })
    const transactionKey = await transactionKeyOf(orderId)
    if (!hasKey) await forgetKey(orderId)
    await openedThen(orderId, noon)
    const first = captureOf(order, { direction: 'CANCEL', amount: 10_000, transactionKey })
    const [one, two] = ['tx_one', 'tx_two'].map((key) => ({
      ...first,
      transactionKey: key,
      amount: 5_000,
      movedAt: new Date(noon.getTime() + dayMs),
    }))
    assert.ok(one && two)
    for (const { amount } of [one, two]) await service.sandbox.cancel(paymentKey, amount)
    listsByDay(captureOf(order), first, one, two)
    await run()
    const { cancelled, bookedCancelled } = await reconcile(service.payments, nextDay)
    assert.deepEqual([cancelled, bookedCancelled], [10_000, 0])
  })
}

test('an accepted part without a transaction key accounts for a cancel of days before', async () => {
  const order = await confirmedThen()
  const { orderId } = order
  await service.sandbox.cancel(order.paymentKey, 10_000)
  await acceptPartOf(service.payments, { customerId: customer.customerId, orderId })
  const part = captureOf(order, {
    direction: 'CANCEL',
    amount: 10_000,
    transactionKey: await transactionKeyOf(orderId),
  })
  await forgetKey(orderId)
  await openedThen(orderId, new Date(noon.getTime() + 2 * dayMs))
  listsByDay(captureOf(order), part)
  const { bookedCancelled, lines } = await run()
  assert.deepEqual([bookedCancelled, lines], [10_000, []])
})

test('two parts on different days that add up to a refund are not booked by it: of one span they would be', async () => {
  const order = await confirmedThen()
  const { orderId } = order
  await refund(service.payments, { orderId, reason: 'agreed' })
  await openedThen(orderId, noon)
  const part = captureOf(order, { direction: 'CANCEL', transactionKey: 'tx_part', amount: 12_000 })
  const last = { ...part, transactionKey: await transactionKeyOf(orderId), amount: 8_000 }
  const nextNoon = new Date(noon.getTime() + dayMs)
  listsByDay(captureOf(order), part, { ...last, movedAt: nextNoon })
  assert.deepEqual(cancelSums(await run()), [12_000, 0, 0])
  assert.deepEqual(cancelSums(await reconcile(service.payments, nextDay)), [8_000, 0, 0])
  await service.database.query('truncate gateway_movements')
  listsByDay(captureOf(order), part, last)
  assert.deepEqual(cancelSums(await run()), [20_000, 20_000, 0])
})

/** A cancelled order whose operations are of the day, without the key of its cancel. */
async function cancelledThen() {
  const order = await confirmedThen()
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  const cancelKey = await transactionKeyOf(order.orderId)
  await service.database.queryUnguarded(
    `update payment_operations set transaction_key = null where order_id = $1 and kind = 'CANCEL'`,
    [order.orderId],
  )
  await openedThen(order.orderId, noon)
  const first = captureOf(order, { direction: 'CANCEL', transactionKey: cancelKey, movedAt: at(12 * 3_600 + 1) })
  const second = { ...first, transactionKey: 'tx_second', movedAt: new Date(noon.getTime() + dayMs) }
  return { order, first, second }
}

for (const { when, runsBefore, kept } of [
  { when: 'while the first one is not stored yet', runsBefore: false, kept: true },
  { when: 'when the first one was deleted after its time', runsBefore: true, kept: false },
]) {
  test(`a cancel on the next day is not booked by an operation without a transaction key ${when}`, async () => {
    const { order, first, second } = await cancelledThen()
    listsByDay(captureOf(order), first, second)
    if (runsBefore) assert.deepEqual(cancelSums(await run()), [20_000, 20_000, 0])
    const deleted = 'delete from gateway_movements where transaction_key = $1'
    if (!kept) await service.database.query(deleted, [first.transactionKey])
    const { cancelled, bookedCancelled, lines } = await reconcile(service.payments, nextDay)
    assert.deepEqual([cancelled, bookedCancelled, lines.length], [20_000, 0, 1])
    assert.deepEqual(cancelSums(await run()), [20_000, 20_000, 0])
  })
}

test('an operation without a transaction key accounts for the nearest movement from its opening on, also after midnight', async () => {
  const { order, first } = await cancelledThen()
  const midnight = at(dayMs / 1_000)
  const before = { ...first, transactionKey: 'tx_before', movedAt: at(11 * 3_600) }
  listsByDay(captureOf(order), before, first)
  const { bookedCancelled, lines } = await run()
  assert.equal(bookedCancelled, 20_000)
  assert.deepEqual(
    lines.map(({ transactionKey }) => transactionKey),
    ['tx_before'],
  )

  await openedThen(order.orderId, new Date(midnight.getTime() - 1_000))
  listsByDay({ ...first, transactionKey: 'tx_late', movedAt: new Date(midnight.getTime() + 1_000) })
  assert.deepEqual(cancelSums(await reconcile(service.payments, nextDay)), [20_000, 20_000, 0])
})

test('a list with several versions of one transaction key ends the run with one discrepancy of that movement', async () => {
  const order = await confirmedThen()
  const captured = captureOf(order, { transactionKey: order.transactionKey })
  for (const versions of [[], [5_000], [5_000, 6_000], [5_000, 6_000, 7_000]]) {
    lists(captured, captured, ...versions.map((amount) => ({ ...captured, amount })))
    const { movements: listed, captured: sum, bookedCaptured, listedDifferently } = await run()
    assert.deepEqual(
      [listed, sum, bookedCaptured, listedDifferently],
      [
        1 + versions.length,
        versions.reduce((total, amount) => total + amount, 20_000),
        20_000,
        Math.min(1, versions.length),
      ],
    )
  }
  assert.deepEqual(await openKinds(service, order.transactionKey), ['MOVEMENT_DIFFERS'])
})

test('a movement inserted into our copy of the list hides no grant, is not counted, and is reported until it is deleted', async () => {
  const real = await confirmedThen()
  const forged = await forgedGrant('pay_forged')
  await plant(captureOf(forged, { transactionKey: 'tx_planted' }))
  lists(captureOf(real))
  for (const turn of [1, 2]) {
    const result = await run()
    assert.deepEqual(
      sums(result),
      { captured: 20_000, bookedCaptured: 20_000, outsideCaptured: 0, missingCaptured: 20_000 },
      `run ${turn}`,
    )
    assert.deepEqual([result.movements, result.notListed, result.listedDifferently], [1, 1, 0])
    assert.equal(isDoubtful(result), true)
    assert.deepEqual(await openKinds(service, forged.orderId), ['NOT_CAPTURED_AT_GATEWAY'])
    const [planted] = await discrepanciesOf(service, 'tx_planted')
    assert.deepEqual([planted?.kind, planted?.resolution], ['MOVEMENT_NOT_LISTED', null])
    assert.ok(planted)
    assert.equal((planted.detail.stored as Movement).amount, 20_000)
  }
  await service.database.query(`delete from gateway_movements where transaction_key = 'tx_planted'`)
  assert.equal((await run()).notListed, 0)
  assert.deepEqual(await openKinds(service, 'tx_planted'), [])
})

test('a movement inserted into our copy on another day than that of its grant hides no grant', async () => {
  const forged = await forgedGrant('pay_forged')
  await plant(captureOf(forged, { transactionKey: 'tx_forged', movedAt: nextDay.from }))
  lists()
  assert.equal((await run()).missingCaptured, 20_000)
  assert.deepEqual(await openKinds(service, forged.orderId), ['NOT_CAPTURED_AT_GATEWAY'])
})

const alterations: [what: string, members: Partial<Movement>][] = [
  ['amount', { amount: 1_000 }],
  ['order', { orderId: 'shop-2-0001' }],
  ['direction', { direction: 'CANCEL' }],
  ['payment key', { paymentKey: 'pay_other' }],
  ['time', { movedAt: at(13 * 3_600) }],
  ['day', { movedAt: new Date(begins.getTime() - dayMs) }],
]
for (const [what, members] of alterations) {
  test(`a movement that our copy has with another ${what} is reported, and the gateway's version counts`, async () => {
    const order = await confirmedThen()
    const listed = captureOf(order)
    await plant({ ...listed, ...members })
    lists(listed)
    const result = await run()
    assert.deepEqual([result.movements, result.captured, result.cancelled], [1, 20_000, 0])
    assert.deepEqual([result.notListed, result.listedDifferently, isDoubtful(result)], [0, 1, true])
    // The order itself is right: a lookup at the gateway confirms it.
    assert.deepEqual([result.reviewed.disagrees, result.missingCaptured], [0, 0])
    const [found] = await discrepanciesOf(service, listed.transactionKey)
    assert.ok(found)
    const { stored, gateway } = found.detail as { stored: Movement; gateway: Movement }
    const contentsOf = ({ paymentKey, orderId, direction, amount, movedAt }: Movement) => ({
      paymentKey,
      orderId,
      direction,
      amount,
      movedAt: new Date(movedAt).getTime(),
    })
    assert.deepEqual([found?.kind, contentsOf(gateway)], ['MOVEMENT_DIFFERS', contentsOf(listed)])
    assert.deepEqual(contentsOf(stored), contentsOf({ ...listed, ...members }))
    await service.database.query('truncate gateway_movements')
    assert.equal((await run()).listedDifferently, 0)
    assert.deepEqual(await openKinds(service, listed.transactionKey), [])
  })
}

/** Runs each action right before the first run of a statement. */
function contextWhere(actions: Record<string, () => Promise<void>>) {
  const { database } = service.payments
  const left = new Map(Object.entries(actions))
  const calls = new Map<string, number>()
  return {
    ...service.payments,
    database: {
      async run<Row extends object>(next: Statement, values?: unknown[]): Promise<Row[]> {
        const call = (calls.get(next.name) ?? 0) + 1
        calls.set(next.name, call)
        const name = call === 1 ? next.name : `${next.name} ${call}`
        const action = left.get(name)
        left.delete(name)
        await action?.()
        return database.run<Row>(next, values)
      },
    },
  }
}

/** Our copy is read before the list of the gateway, to be compared, and at the end. */
const [whenCompared, whenChecked] = ['payments.listGatewayMovements 2', 'payments.listGatewayMovements 3']

const removeStatement = statement.global(
  'test.removeMovement',
  'delete from gateway_movements where transaction_key = $1',
)

/** Deletes with the database role of the service, which may do that because it deletes old movements. */
async function remove({ transactionKey }: Movement): Promise<void> {
  await service.payments.database.run(removeStatement, [transactionKey])
}

for (const until of ['payments.listApprovedOperations', whenChecked]) {
  test(`a movement that is in our copy during the run, and removed before ${until}, hides no grant`, async () => {
    const forged = await forgedGrant('pay_forged')
    lists()
    const planted = captureOf(forged, { transactionKey: 'tx_forged' })
    const context = contextWhere({
      [whenCompared]: () => plant(planted),
      [until]: () => remove(planted),
    })
    const result = await run(context)
    assert.deepEqual(sums(result), { captured: 0, bookedCaptured: 0, outsideCaptured: 0, missingCaptured: 20_000 })
    assert.deepEqual(await openKinds(service, forged.orderId), ['NOT_CAPTURED_AT_GATEWAY'])
  })
}

test('a listed movement that is missing from our copy during the comparison ends the run without a result', async () => {
  const order = await confirmedThen()
  const moved = captureOf(order)
  const again = captureOf(order, { transactionKey: 'tx_again' })
  lists(moved, again)
  const context = contextWhere({
    [whenCompared]: () => remove(again),
    [whenChecked]: () => plant(again),
  })
  await assert.rejects(run(context), { message: /deleted during the run: it has to be made again\.$/ })
})

for (const name of [whenCompared, 'payments.findMovementsOfPayments']) {
  test(`a movement inserted into our copy before ${name} ends the run without a result`, async () => {
    const forged = await forgedGrant('pay_forged')
    lists()
    const planted = captureOf(forged, { transactionKey: 'tx_planted' })
    const context = contextWhere({ [name]: () => plant(planted) })
    await assert.rejects(run(context), {
      message: 'Movements that the gateway does not list were added during the run: it has to be made again.',
    })
    assert.deepEqual(await openKinds(service, 'tx_planted'), ['MOVEMENT_NOT_LISTED'])
    assert.deepEqual(
      [(await run()).missingCaptured, await openKinds(service, forged.orderId)],
      [20_000, ['NOT_CAPTURED_AT_GATEWAY']],
    )
  })
}

test('a movement that takes the place of another one of our copy during the run ends the run without a result', async () => {
  const forged = await forgedGrant('pay_forged')
  lists()
  const [old, planted] = ['tx_old', 'tx_new'].map((transactionKey) => captureOf(forged, { transactionKey }))
  assert.ok(old && planted)
  await plant(old)
  const context = contextWhere({
    [whenCompared]: async () => {
      await remove(old)
      await plant(planted)
    },
  })
  await assert.rejects(run(context), { message: /added during the run: it has to be made again\.$/ })
  assert.deepEqual(await openKinds(service, planted.transactionKey), ['MOVEMENT_NOT_LISTED'])
})

test('a movement that a concurrent run has added, because the gateway lists it now, does not stop the run', async () => {
  const order = await confirmedThen()
  lists()
  const context = contextWhere({
    [whenCompared]: async () => {
      lists(captureOf(order))
      await plant(captureOf(order))
    },
  })
  const result = await run(context)
  // It was not in the list of this run: the payment was looked up.
  assert.deepEqual([result.notListed, result.bookedCaptured, result.outsideCaptured], [0, 0, 20_000])
})

test('a copy of which the gateway lists almost nothing ends the run: it may be the list of another account', async () => {
  await service.database.query(
    `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
     select 'tx_' || n, 'pay_' || n, 'shop-2-' || n, 'CAPTURE', 1, $1 from generate_series(1, 1001) as n`,
    [noon],
  )
  lists()
  await assert.rejects(run(), /^Error: The gateway does not list more than 1000 movements .* Nothing concluded\.$/)
  const [row] = await service.database.query('select count(*) as count from discrepancies')
  assert.deepEqual(row, { count: 0 })
})

test('operations of one hour without a movement are all reviewed, however many pages they fill', async () => {
  const count = 1_001
  const { orderId, paymentKey } = await forgedGrant('pay_many')
  const [operation] = await service.database.query<Record<string, unknown>>(
    'select * from payment_operations where order_id = $1',
    [orderId],
  )
  const [order] = await service.database.query<Record<string, unknown>>('select * from orders where order_id = $1', [
    orderId,
  ])
  await service.database.queryUnguarded(
    `insert into orders
     select (copy.row).*
     from (
       select jsonb_populate_record(null::orders, $1::jsonb || jsonb_build_object(
                'order_id', $2 || n, 'idempotency_key', null)) as row
       from generate_series(2, $3::int) n
       offset 0
     ) copy`,
    [JSON.stringify(order), `${orderId}_`, count],
  )
  await service.database.queryUnguarded(
    `insert into payment_operations
     select (copy.row).*
     from (
       select jsonb_populate_record(null::payment_operations, $1::jsonb || jsonb_build_object(
                'order_id', $2 || n, 'payment_key', $3 || '_' || n, 'operation_id', gen_random_uuid())) as row
       from generate_series(2, $4::int) n
       offset 0
     ) copy`,
    [JSON.stringify(operation), `${orderId}_`, paymentKey, count],
  )
  lists()
  const seen = { kind: 'payment', amount: 20_000, currency: 'KRW', money: 'kept', status: 'DONE' } as const
  overrides.fetchPayment = async (requestedKey): Promise<PaymentSnapshot> => ({
    ...seen,
    paymentKey: requestedKey,
    orderId: requestedKey.replace(paymentKey, orderId),
    balance: 20_000,
    transactionKey: null,
  })
  const result = await run()
  await service.database.query(`delete from payment_operations where order_id like $1`, [`${orderId}\\_%`])
  await service.database.query(`delete from orders where order_id like $1`, [`${orderId}\\_%`])
  assert.deepEqual([result.reviewed.agrees, result.outsideCaptured], [count, count * 20_000])
})

test('a thousand open discrepancies of unknown orders do not prevent another review of an order', async () => {
  const order = await confirmedThen()
  await service.database.query(
    `insert into discrepancies (subject, kind, detail, found_at)
     select 'pay_' || n, 'UNKNOWN_ORDER', '{}', now() - interval '1 day' from generate_series(1, 1000) as n`,
  )
  await service.database.query(
    `insert into discrepancies (customer_id, order_id, subject, kind, detail)
     values ($1, $2, $2, 'PAYMENT_DIFFERS', '{}')`,
    [customer.customerId, order.orderId],
  )
  lists(captureOf(order))
  await run()
  assert.deepEqual(await openKinds(service, order.orderId), [])
})
