// The result of a review, cell by cell: the state of the order, its own or another payment, and what happened to the
// money. Certain cases are repaired; uncertain ones become a discrepancy, and no credits move.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { FetchedPayment, PaymentSnapshot } from '../../src/gateway/gateway.ts'
import { type OrderStatus, orderStatuses } from '../../src/payments/kinds.ts'
import { type Review, review } from '../../src/payments/recovery/review.ts'
import { movements, orderInState } from '../support/service/orders.ts'
import { createOverrides, discrepanciesOf, openKinds, operationStates } from '../support/service/recovery.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(clear)

type Money = PaymentSnapshot['money']
/** The result, the state of the order afterwards, and the open discrepancy. */
type Cell = { result: Review; status?: OrderStatus; open?: string }

const agrees: Cell = { result: 'agrees' }
const disagrees = (open: string): Cell => ({ result: 'disagrees', open })
const repaired = (status: OrderStatus): Cell => ({ result: 'repaired', status })

const closed: Record<Money, Cell> = {
  none: disagrees('NOT_CAPTURED_AT_GATEWAY'),
  kept: disagrees('NOT_CANCELLED_AT_GATEWAY'),
  'partly returned': disagrees('NOT_CANCELLED_AT_GATEWAY'),
  returned: agrees,
}
const ownPayment: Partial<Record<OrderStatus, Record<Money, Cell>>> = {
  CONFIRMED: {
    none: disagrees('NOT_CAPTURED_AT_GATEWAY'),
    kept: agrees,
    'partly returned': disagrees('PARTLY_CANCELLED_AT_GATEWAY'),
    returned: repaired('REFUNDED'),
  },
  CANCELLED: closed,
  REFUNDED: closed,
}
const second: Record<Money, Cell> = {
  none: agrees,
  kept: disagrees('SECOND_PAYMENT'),
  'partly returned': disagrees('SECOND_PAYMENT'),
  returned: agrees,
}
const otherPayment: Record<OrderStatus, Record<Money, Cell>> = {
  PENDING: {
    none: agrees,
    kept: repaired('CONFIRMED'),
    'partly returned': { result: 'disagrees', status: 'CONFIRMED', open: 'PARTLY_CANCELLED_AT_GATEWAY' },
    returned: agrees,
  },
  FAILED: { none: agrees, kept: repaired('FAILED'), 'partly returned': repaired('FAILED'), returned: agrees },
  CONFIRMED: second,
  CANCELLED: second,
  REFUNDED: second,
}

const statusOf: Record<Money, string> = {
  none: 'ABORTED',
  kept: 'DONE',
  'partly returned': 'PARTIAL_CANCELED',
  returned: 'CANCELED',
}

type Subject = { orderId: string; paymentKey: string; amount: number }

function paymentOf(subject: Subject, money: Money, members: Partial<PaymentSnapshot> = {}): PaymentSnapshot {
  const { orderId, paymentKey, amount } = subject
  const balance = { none: 0, kept: amount, 'partly returned': 5_000, returned: 0 }[money]
  const transactionKey = 'transaction_seen'
  return {
    kind: 'payment',
    paymentKey,
    orderId,
    amount,
    currency: 'KRW',
    money,
    status: statusOf[money],
    balance,
    transactionKey,
    ...members,
  }
}

/** Sets the payment that the gateway returns; a cancel of it is approved, and then its money is returned. */
function show(paymentKey: string, fetched: FetchedPayment): { cancels: string[] } {
  const cancels: string[] = []
  overrides.fetchPayment = (requested) => {
    if (requested !== paymentKey) return undefined
    const isReturned = fetched.kind === 'payment' && cancels.length > 0
    return Promise.resolve(isReturned ? { ...fetched, money: 'returned', balance: 0 } : fetched)
  }
  overrides.cancel = async (intent) => {
    cancels.push(`${intent.paymentKey} ${intent.reason}`)
    return { kind: 'approved', transactionKey: 'transaction_returned' }
  }
  return { cancels }
}

async function entriesThen(before: string[], from: OrderStatus, to: OrderStatus): Promise<string[]> {
  if (from === to) return before
  return [...before, to === 'CONFIRMED' ? 'GRANT 21' : 'REFUND -21']
}

/** Reviews an order in that state with that payment at the gateway, and checks the result. */
async function check(
  status: OrderStatus,
  payment: 'own' | 'other',
  cell: Cell,
  fetchedFor: (subject: Subject) => FetchedPayment,
) {
  clear()
  const customer = await service.newCustomer()
  const order = await orderInState(service, customer, status)
  const key = { customerId: customer.customerId, orderId: order.orderId }
  const paymentKey = payment === 'own' ? order.paymentKey : `pay_other_${order.orderId.slice(-8)}`
  const before = await movements(service, customer.customerId)
  const { cancels } = show(paymentKey, fetchedFor({ ...order, paymentKey }))
  assert.equal(await review(service.payments, key, payment === 'own' ? null : paymentKey), cell.result)
  const then = cell.status ?? status
  assert.equal(await customer.status(order.orderId), then)
  assert.deepEqual(await movements(service, customer.customerId), await entriesThen(before, status, then))
  assert.deepEqual(await openKinds(service, order.orderId), cell.open ? [cell.open] : [])
  return { key, order, paymentKey, cancels, customer }
}

for (const [status, cells] of Object.entries(ownPayment) as [OrderStatus, Record<Money, Cell>][]) {
  for (const [money, cell] of Object.entries(cells) as [Money, Cell][]) {
    test(`${status}, its own payment, money ${money}: ${cell.open ?? cell.status ?? 'agrees'}`, async () => {
      const { key, cancels } = await check(status, 'own', cell, (subject) => paymentOf(subject, money))
      assert.deepEqual(cancels, [])
      // A second review has no further effect, and the discrepancy is opened once.
      assert.equal(await review(service.payments, key), cell.open ? 'disagrees' : 'agrees')
      assert.equal((await discrepanciesOf(service, key.orderId)).length, cell.open ? 1 : 0)
    })
  }
}

for (const status of orderStatuses) {
  for (const [money, cell] of Object.entries(otherPayment[status]) as [Money, Cell][]) {
    const end = cell.open ?? (cell.result === 'repaired' ? cell.status : 'agrees')
    test(`${status}, another payment of it given by its key, money ${money}: ${end}`, async () => {
      const { key, paymentKey, cancels } = await check(status, 'other', cell, (subject) => paymentOf(subject, money))
      const returns = status === 'FAILED' && cell.result === 'repaired'
      assert.deepEqual(cancels, returns ? [`${paymentKey} the order had failed`] : [])
      const states = await operationStates(service, key.orderId)
      assert.equal(states.includes('RETURN APPROVED'), returns)
      const again = await review(service.payments, key, paymentKey)
      assert.equal(again, cell.open ? 'disagrees' : 'agrees')
      const found = await discrepanciesOf(service, key.orderId)
      assert.deepEqual(
        found.map(({ kind, resolution }) => `${kind} ${resolution !== null}`),
        cell.open ? [`${cell.open} false`] : returns ? ['CAPTURED_FOR_FAILED_ORDER true'] : [],
      )
      assert.deepEqual(await operationStates(service, key.orderId), states)
    })
  }
}

for (const [money, transactionKey] of [
  ['kept', 'transaction_seen'],
  ['partly returned', null],
] as const) {
  const whose = transactionKey
    ? 'the last transaction of the payment'
    : 'no transaction: the last one is the cancellation'
  test(`a capture that a review adopts, money ${money}, has ${whose}`, async () => {
    const { order } = await check('PENDING', 'other', otherPayment.PENDING[money], (subject) =>
      paymentOf(subject, money),
    )
    const stored = await service.database.query(
      `select transaction_key as "transactionKey" from payment_operations where order_id = $1 and state = 'APPROVED'`,
      [order.orderId],
    )
    assert.deepEqual(stored, [{ transactionKey }])
  })
}

const differences: [what: string, members: Partial<PaymentSnapshot>][] = [
  ['another amount', { amount: 1_000 }],
  ['another currency', { currency: 'USD' }],
]
for (const [what, members] of differences) {
  test(`R4: a payment with ${what} is PAYMENT_DIFFERS, with what differs, whenever money is kept, and no credits move`, async () => {
    for (const status of orderStatuses) {
      for (const money of ['kept', 'partly returned'] as const) {
        const differs = disagrees('PAYMENT_DIFFERS')
        const { cancels, paymentKey } = await check(status, 'other', differs, (subject) =>
          paymentOf(subject, money, members),
        )
        assert.deepEqual(cancels, [])
        const [found] = await discrepanciesOf(service, paymentKey)
        assert.partialDeepStrictEqual(found?.detail, { gateway: members })
      }
      await check(status, 'other', agrees, (subject) => paymentOf(subject, 'none', members))
    }
    for (const status of ['CONFIRMED', 'CANCELLED', 'REFUNDED'] as const) {
      for (const money of ['none', 'kept', 'returned'] as const) {
        const differs = disagrees('PAYMENT_DIFFERS')
        await check(status, 'own', differs, (subject) => paymentOf(subject, money, members))
      }
    }
  })
}

test('a given payment of another order is ignored; as the order’s own payment it is PAYMENT_DIFFERS', async () => {
  const members = { orderId: 'ord_other' }
  for (const status of orderStatuses) {
    await check(status, 'other', agrees, (subject) => paymentOf(subject, 'kept', members))
  }
  await check('CONFIRMED', 'own', disagrees('PAYMENT_DIFFERS'), (subject) => paymentOf(subject, 'kept', members))
})

test('R4: a payment that the gateway does not know is NOT_CAPTURED when it is the order’s own, and is ignored otherwise', async () => {
  for (const status of orderStatuses) await check(status, 'other', agrees, () => ({ kind: 'absent' }))
  for (const status of ['CONFIRMED', 'CANCELLED', 'REFUNDED'] as const) {
    await check(status, 'own', disagrees('NOT_CAPTURED_AT_GATEWAY'), () => ({ kind: 'absent' }))
  }
})

test('when the gateway does not answer, the result is unknown, and no open discrepancy is resolved', async () => {
  const unknown: FetchedPayment = { kind: 'unknown', code: 'ECONNRESET' }
  for (const status of orderStatuses) await check(status, 'other', { result: 'unknown' }, () => unknown)
  const { key, paymentKey, order } = await check(
    'CONFIRMED',
    'own',
    disagrees('PARTLY_CANCELLED_AT_GATEWAY'),
    (subject) => paymentOf(subject, 'partly returned'),
  )
  show(paymentKey, unknown)
  assert.equal(await review(service.payments, key), 'unknown')
  assert.deepEqual(await openKinds(service, order.orderId), ['PARTLY_CANCELLED_AT_GATEWAY'])
})
