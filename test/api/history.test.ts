// What a customer reads of its own beside the specification: its orders, page by page, each with what went back, and its
// statement. The status of each order and the statement for services have the same, in their own way.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../src/customers/api-keys.ts'
import { updateSuspension } from '../../src/customers/customers.sql.ts'
import { orderStatuses } from '../../src/payments/kinds.ts'
import { expireOrders } from '../../src/payments/recovery/expire.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { orderInState } from '../support/service/orders.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { createOverrides } from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  type TestCustomer,
  testPeppers,
  testSettings,
} from '../support/service/service.ts'
import { runEveryMovement } from '../support/spending/history.ts'
import { assertFieldRefused, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: SpendingService
before(async () => {
  service = await startSpendingService({
    wrapGateway,
    settings: { firstRefundRule: { ...testSettings.firstRefundRule, fullPriceDays: 0 } },
  })
})
afterEach(clear)
after(async () => {
  await recordPlayedActions(service.database)
  await service.close()
})

type Order = Record<string, unknown> & {
  orderId: string
  refundedAmount: number | null
  refunds: { amount: number; refundedAt: string }[]
}
type Orders = { customerId: string; orders: Order[]; nextCursor: string | null }

const read = <Data>({ apiKey }: Pick<TestCustomer, 'apiKey'>, path: string, query: Record<string, string> = {}) =>
  service.call<Data>(`/public/v1/${path}?${new URLSearchParams(query)}`, { key: apiKey })
const listOf = (customer: TestCustomer, query?: Record<string, string>) => read<Orders>(customer, 'orders', query)
const orderOf = (customer: TestCustomer, orderId: string) => read<Order>(customer, `orders/${orderId}`)

test('an order has what its status has, its credits, its card slip, why it failed and what went back, and no payment key', async () => {
  const customer = await service.newCustomer()
  const made: string[] = []
  for (const status of orderStatuses) made.unshift((await orderInState(service, customer, status)).orderId)
  const answer = await listOf(customer)
  assertSuccess(answer, 200)
  const { customerId, orders, nextCursor } = answer.body.data
  assert.deepEqual([customerId, nextCursor], [customer.customerId, null])
  assert.deepEqual(
    orders.map(({ orderId }) => orderId),
    made,
  )
  for (const order of orders) {
    const status = await customer.as<{ confirmedAt: string | null }>(`/${order.orderId}`)
    const paid = status.body.data.confirmedAt !== null
    const back = ['CANCELLED', 'REFUNDED'].includes(`${order.status}`)
    const [refunded, ...more] = order.refunds
    assert.deepEqual(order, {
      ...status.body.data,
      credits: 21,
      receiptUrl: status.headers.get('payment-receipt-url'),
      cardNumber: status.headers.get('payment-card'),
      approvalNumber: status.headers.get('payment-approval-number'),
      paidWith: paid ? { method: 'CARD', provider: null, cardAmount: 20_000, walletAmount: 0, pointsAmount: 0 } : null,
      refusalReason: status.headers.get('refusal-reason'),
      refundedAmount: back ? 20_000 : null,
      refunds: back ? [{ amount: 20_000, refundedAt: refunded?.refundedAt }] : [],
    })
    assert.equal(order.receiptUrl !== null, paid)
    if (refunded) assert.ok(Math.abs(Date.parse(refunded.refundedAt) - Date.now()) < 60_000)
    assert.deepEqual(more, [])
    assert.deepEqual((await orderOf(customer, order.orderId)).body.data, order)
  }
  assert.doesNotMatch(answer.text, /paymentKey|tgen_/)
})

test('an order that was not paid in time says so', async () => {
  const customer = await service.newCustomer()
  const { orderId } = (await customer.purchase()).body.data
  await expireOrders(service.payments.database, 0)
  const { status, refusalReason } = (await orderOf(customer, orderId)).body.data
  assert.deepEqual([status, refusalReason], ['FAILED', 'order-expired'])
})

test('accepted parts, and the refund or the cancel after them, are listed with the time of each; their sum is what went back', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const amountsOf = async (orderId: string) => {
    const { status, refundedAmount, refunds } = (await orderOf(customer, orderId)).body.data
    const times = refunds.map(({ refundedAt }) => refundedAt)
    assert.deepEqual(times, times.toSorted())
    return [status, refundedAmount, refunds.map(({ amount }) => amount)]
  }
  const withPart = async () => {
    const { orderId, paymentKey } = await customer.confirmedOrder('STANDARD')
    await service.sandbox.cancel(paymentKey, 5_000)
    await acceptPartOf(service.payments, { customerId, orderId })
    assert.deepEqual(await amountsOf(orderId), ['CONFIRMED', 5_000, [5_000]])
    return { orderId, paymentKey }
  }
  const cancelled = await withPart()
  assertSuccess(await customer.cancel(cancelled.paymentKey), 200)
  assert.deepEqual(await amountsOf(cancelled.orderId), ['CANCELLED', 20_000, [5_000, 15_000]])

  const refunded = await withPart()
  await refund(service.payments, { orderId: refunded.orderId, reason: 'the platform says so' })
  assert.deepEqual(await amountsOf(refunded.orderId), ['REFUNDED', 20_000, [5_000, 15_000]])

  const { orderId } = await customer.confirmedOrder('STANDARD')
  assertSuccess(await service.internal.spend(customerId, 3), 200)
  const quote = (await service.internal.refundQuote(customerId, orderId)).body.data
  assertSuccess(await service.internal.refund(customerId, orderId, quote), 200)
  assert.deepEqual(await amountsOf(orderId), ['REFUNDED', 17_000, [17_000]])
})

test('pages cover the orders once, newest first, also while the customer keeps buying', async () => {
  const customer = await service.newCustomer()
  const made: string[] = []
  for (let count = 0; count < 5; count += 1) made.unshift((await customer.purchase('BASIC')).body.data.orderId)
  for (const limit of [1, 2, 5, 1_000]) {
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { orders, nextCursor }: Orders = (await listOf(customer, { limit: `${limit}`, ...(cursor && { cursor }) }))
        .body.data
      pages.push(orders.map(({ orderId }) => orderId))
      cursor = nextCursor
      if (cursor) made.unshift((await customer.purchase('BASIC')).body.data.orderId)
    }
    assert.deepEqual(pages.flat(), made.slice(-pages.flat().length))
    for (const page of pages.slice(0, -1)) assert.equal(page.length, limit)
    assert.ok(pages.flat().length >= 5)
  }
  assert.equal((await listOf(await service.newCustomer())).body.data.orders.length, 0)
})

test('orders of another customer are neither listed nor found, by cursor or by id', async () => {
  const [owner, other] = [await service.newCustomer(), await service.newCustomer()]
  const { orderId } = await owner.confirmedOrder()
  assert.deepEqual((await listOf(other)).body.data.orders, [])
  assert.deepEqual((await listOf(other, { cursor: orderId })).body.data.orders, [])
  const unknown = await orderOf(other, 'ord_unknown')
  assertRefused(unknown, 'NOT000')
  assert.equal((await orderOf(other, orderId)).text, unknown.text)
  const statement = await read<{ entries: unknown[] }>(other, 'statement')
  assert.deepEqual(statement.body.data.entries, [])
})

test('a value that the query does not allow is VAL003 with its field', async () => {
  const customer = await service.newCustomer()
  for (const [path, field, value] of [
    ['orders', 'cursor', '1'],
    ['orders', 'limit', '0'],
    ['orders', 'limit', '1001'],
    ['statement', 'cursor', 'ord_1'],
    ['statement', 'kind', 'GIFT'],
    ['statement', 'from', 'yesterday'],
  ] as const)
    assertFieldRefused(await read(customer, path, { [field]: value }), 'VAL003', field)
})

test('the statement is that of the internal API, byte for byte, for every query', async () => {
  const { id, moments } = await runEveryMovement(service, overrides)
  const { apiKey } = await issueKey(service.payments.database, testPeppers, id)
  const [from, to] = [moments[3]?.at.toISOString() ?? '', moments[8]?.at.toISOString() ?? '']
  const first = await service.internal.statement(id, { limit: '5' })
  const cursor = first.body.data.nextCursor ?? ''
  for (const query of [
    {},
    { limit: '5' },
    { limit: '5', cursor },
    { from, to },
    { kind: 'GRANT,SPEND' },
    { from: to, to: from },
  ]) {
    const expected = await service.internal.statement(id, query)
    const own = await read({ apiKey }, 'statement', query)
    assert.deepEqual([own.status, own.text], [expected.status, expected.text])
  }
})

test('a suspended customer reads nothing of its own; neither does a request without a key', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const paths = ['orders', `orders/${orderId}`, 'statement']
  for (const path of paths) {
    assertSuccess(await read(customer, path), 200)
    assertRefused(await service.call(`/public/v1/${path}`), 'INVALID_API_KEY')
  }
  await updateSuspension(service.payments.database, customer.customerId, true)
  await sleep(1_000)
  for (const path of paths) assertRefused(await read(customer, path), 'AUTH003')
})
