// How an order was paid: kept with its confirm however that becomes known, and shown by the order, its event, the statement and
// the files. Parts that do not add up to the amount are a discrepancy, and the order counts with the amount.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { makeDue, settleAll } from '../support/service/recovery.ts'
import { assertSuccess, type TestCustomer, type WayToPay } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
})
after(() => service.close())
afterEach(async () => {
  await service.sandbox.clearFaults()
  await service.sandbox.behave({ easyPayParts: 'add up' })
  await settleAll(service)
})

type PaidWith = Record<string, unknown> | null

async function shownBy(customer: TestCustomer, orderId: string): Promise<PaidWith[]> {
  const key = customer.apiKey
  const order = await service.call<{ paidWith: PaidWith }>(`/public/v1/orders/${orderId}`, { key })
  const statement = await service.call<{ entries: { kind: string; orderId: string; paidWith: PaidWith }[] }>(
    '/public/v1/statement',
    { key },
  )
  const grant = statement.body.data.entries.find((entry) => entry.kind === 'GRANT' && entry.orderId === orderId)
  const [event] = await service.database.query<{ data: { paidWith: PaidWith } }>(
    `select data from events where type = 'order.confirmed' and data ->> 'orderId' = $1`,
    [orderId],
  )
  return [order.body.data.paidWith, grant?.paidWith ?? null, event?.data.paidWith ?? null]
}

const easyPay = (cardAmount: number, walletAmount: number, pointsAmount: number, provider = '토스페이') => ({
  method: 'EASY_PAY',
  provider,
  cardAmount,
  walletAmount,
  pointsAmount,
})

/** An order of 20,000 won. */
const ways: [way: WayToPay, paidWith: Exclude<PaidWith, null>][] = [
  [{}, { method: 'CARD', provider: null, cardAmount: 20_000, walletAmount: 0, pointsAmount: 0 }],
  [{ method: 'easy-card', provider: '네이버페이' }, easyPay(20_000, 0, 0, '네이버페이')],
  [{ method: 'easy-points', points: 5_000 }, easyPay(15_000, 0, 5_000)],
  [{ method: 'easy-money', provider: 'A new wallet' }, easyPay(0, 20_000, 0, 'A new wallet')],
  [{ method: 'easy-money', points: 20_000 }, easyPay(0, 0, 20_000)],
]

for (const [way, paidWith] of ways) {
  test(`an order that was paid with ${JSON.stringify(way)} says so, is cancelled, and still says so`, async () => {
    const customer = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD', way)
    assert.deepEqual(await shownBy(customer, orderId), [paidWith, paidWith, paidWith])
    assertSuccess(await customer.cancel(paymentKey), 200)
    assert.deepEqual((await shownBy(customer, orderId))[0], paidWith)
  })
}

test('how it was paid is kept when the answer to the confirm was lost, and when only the gateway knew of the capture', async () => {
  const [customer, other] = [await service.newCustomer(), await service.newCustomer()]
  const lost = await customer.paidOrder('STANDARD', 'approve', { method: 'easy-points', points: 100 })
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  await lost.confirm()
  await makeDue(service)
  await recover(service.payments)
  assert.deepEqual((await shownBy(customer, lost.orderId))[0], easyPay(19_900, 0, 100))
  const unseen = await other.paidOrder('STANDARD', 'approve', { method: 'easy-money' })
  await service.sandbox.capture(unseen.paymentKey, unseen.orderId, unseen.amount)
  await review(service.payments, { customerId: other.customerId, orderId: unseen.orderId }, unseen.paymentKey)
  assert.deepEqual((await shownBy(other, unseen.orderId))[0], easyPay(0, 20_000, 0))
})

async function discrepanciesOf(orderId: string) {
  return service.database.query<{ discrepancyId: string; kind: string; detail: { gateway: object }; isOpen: boolean }>(
    `select discrepancy_id as "discrepancyId", kind, detail, resolved_at is null as "isOpen"
    from discrepancies where order_id = $1 order by found_at`,
    [orderId],
  )
}

test('parts that do not add up are one discrepancy: the order counts with its amount, and a review does not resolve it', async () => {
  const customer = await service.newCustomer()
  await service.sandbox.behave({ easyPayParts: 'differ' })
  const { orderId, paymentKey, credits } = await customer.confirmedOrder('STANDARD', {
    method: 'easy-points',
    points: 5_000,
  })
  const [account] = await service.database.query<{ balance: number }>(
    'select balance from accounts where customer_id = $1',
    [customer.customerId],
  )
  assert.equal(account?.balance, credits)
  const unknownParts = { cardAmount: null, walletAmount: null, pointsAmount: null }
  const kept = { method: 'EASY_PAY', provider: '토스페이', ...unknownParts }
  assert.deepEqual(await shownBy(customer, orderId), [kept, kept, kept])
  const key = { customerId: customer.customerId, orderId }
  // One that is settled meanwhile.
  await saveDiscrepancy(service.payments.database, {
    kind: 'PAYMENT_DIFFERS',
    subject: orderId,
    order: key,
    detail: {},
  })
  assert.equal(await review(service.payments, key), 'disagrees')
  const all = await discrepanciesOf(orderId)
  const [found, ...more] = all.filter(({ isOpen }) => isOpen)
  assert.ok(found)
  assert.equal(all.length, 2)
  assert.deepEqual([found.kind, found.isOpen, more], ['PAYMENT_PARTS_DIFFER', true, []])
  assert.equal(Object.values(found.detail.gateway).length, 4)
  assertSuccess(await customer.cancel(paymentKey), 200)
  assert.equal(await review(service.payments, key), 'agrees')
  assert.deepEqual(
    (await discrepanciesOf(orderId)).map(({ isOpen }) => isOpen),
    [false, false],
  )
})
