// Money goes back for credits that were paid for and are not used, once each: never for credits of adjustments, for those that
// another cancel or refund under way takes, or for those that a refunded order has left behind.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Evidence } from '../../proof/model/checks/evidence.ts'
import { readUsedCredits } from '../../proof/model/checks/money/booked.ts'
import { checkReversals } from '../../proof/model/checks/money/reversals.ts'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import type { Outcome } from '../../src/gateway/gateway.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { cancel } from '../../src/payments/cancel.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { bookkeeper, confirmed, newCustomer, spend as spendCredits } from '../support/database/books.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { createOverrides } from '../support/service/recovery.ts'
import { assertSuccess, type TestCustomer, testSettings } from '../support/service/service.ts'
import { atOnce, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: SpendingService
before(async () => {
  service = await startSpendingService({
    wrapGateway,
    settings: { firstRefundRule: { ...testSettings.firstRefundRule, fullPriceDays: 0 } },
  })
})
afterEach(clear)
after(() => service.close())

type Bought = { orderId: string; paymentKey: string }

async function customerWithOrders(count: number): Promise<TestCustomer & { orders: Bought[] }> {
  const customer = await service.newCustomer()
  const orders: Bought[] = []
  for (let bought = 0; bought < count; bought += 1) orders.push(await customer.confirmedOrder('STANDARD'))
  return { ...customer, orders }
}

async function spend(customerId: string, credits: number, reference: string = crypto.randomUUID()): Promise<void> {
  assertSuccess(await service.internal.spend(customerId, credits, reference), 200)
}

const grantGoodwill = (context: Pick<PaymentContext, 'database'>, customerId: string, credits: number) =>
  adjustBy(context, customerId, 'GOODWILL', credits)

function adjustBy(
  { database }: Pick<PaymentContext, 'database'>,
  customerId: string,
  kind: 'GOODWILL' | 'CORRECTION',
  credits: number,
) {
  const adjustment = { customerId, adjustmentId: crypto.randomUUID(), kind, credits, actor: crypto.randomUUID() }
  const limits = { perDay: 1_000, approvalAbove: 1_000 }
  return adjust(database, { ...adjustment, reason: 'slow answers' }, limits)
}

/** Keeps the first cancel at the gateway until the function that it returns is called. */
function keepFirstCancel(outcome?: Outcome): { arrived: Promise<void>; letGo: () => void } {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  overrides.cancel = (intent) => {
    delete overrides.cancel
    arrive()
    return held.then(() => outcome ?? service.payments.gateway.cancel(intent))
  }
  return { arrived, letGo }
}

async function returnedTo({ orders }: { orders: Bought[] }): Promise<number> {
  const payments = await Promise.all(orders.map(({ orderId }) => service.sandbox.paymentsOf(orderId)))
  return payments.flat().reduce((sum, { totalAmount, balanceAmount }) => sum + totalAmount - balanceAmount, 0)
}

type Prepared = TestCustomer & { orders: [Bought, Bought] }

/** Two orders of 21 credits and 20,000 won, 10 credits or more used, and as many given without payment. */
const gifts: Record<string, () => Promise<Prepared>> = {
  goodwill: async () => {
    const customer = (await customerWithOrders(2)) as Prepared
    await spend(customer.customerId, 10)
    await grantGoodwill(service.payments, customer.customerId, 10)
    return customer
  },
  'reversed credits': async () => {
    const customer = (await customerWithOrders(2)) as Prepared
    await spend(customer.customerId, 21, 'work')
    assertSuccess(await service.internal.reverse(customer.customerId, 'work'), 200)
    return customer
  },
}

for (const [gift, prepare] of Object.entries(gifts)) {
  test(`while a cancel is under way, ${gift} do not cover a second one`, async () => {
    const customer = await prepare()
    const [first, second] = customer.orders
    const { arrived, letGo } = keepFirstCancel()
    const cancelling = customer.cancel(first.paymentKey)
    await arrived
    assert.equal((await customer.cancel(second.paymentKey)).body.code, 'PAYMENT_CANCEL_FAILED')
    letGo()
    assertSuccess(await cancelling, 200)
    assert.equal(await returnedTo(customer), 20_000)
  })

  test(`while a cancel is under way, ${gift} do not raise the quote of another order: there is none until the cancel has ended`, async () => {
    const customer = await prepare()
    const [first, second] = customer.orders
    const { arrived, letGo } = keepFirstCancel()
    const cancelling = customer.cancel(first.paymentKey)
    await arrived
    const during = await service.internal.refundQuote(customer.customerId, second.orderId)
    letGo()
    assertSuccess(await cancelling, 200)
    assert.equal(during.body.code, 'SVC001')
    const [value] = await service.database.query<{ left: number }>(
      'select (balance - adjusted)::int as left from accounts where customer_id = $1',
      [customer.customerId],
    )
    const afterwards = await service.internal.refundQuote(customer.customerId, second.orderId)
    assert.equal(afterwards.body.data?.credits ?? 0, value?.left)
  })

  test(`of two cancels at once with ${gift} one is refused`, async () => {
    for (let round = 0; round < 8; round += 1) {
      const customer = await prepare()
      const answers = await atOnce(2, (index) => customer.cancel(customer.orders[index as 0 | 1].paymentKey))
      assert.deepEqual(answers.map(({ body }) => body.code).sort(), ['PAYMENT_CANCEL_FAILED', 'SUCCESS'])
      assert.equal(await returnedTo(customer), 20_000)
    }
  })
}

test('a cancel that is rejected gives its credits back to the orders that they came from', async () => {
  const customer = await gifts.goodwill?.()
  assert.ok(customer)
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  assert.equal((await customer.cancel(customer.orders[0].paymentKey)).body.code, 'PAYMENT_CANCEL_FAILED')
  clear()
  assertSuccess(await customer.cancel(customer.orders[1].paymentKey), 200)
})

test('credits that stay with a refunded order do not cover the cancel of another one', async () => {
  const customer = (await customerWithOrders(2)) as Prepared
  const { customerId, orders } = customer
  const [kept, refunded] = orders
  const hold = await service.internal.hold(customerId, 42)
  await refund(service.payments, { orderId: refunded.orderId, reason: 'the platform decided' })
  assertSuccess(await service.internal.release(customerId, hold.body.data.holdId), 200)
  await spend(customerId, 21)
  const quote = await service.internal.refundQuote(customerId, kept.orderId)
  assert.equal(quote.status, 400)
  assert.equal((await customer.cancel(kept.paymentKey)).body.code, 'PAYMENT_CANCEL_FAILED')
  assert.equal(await returnedTo(customer), 20_000)
})

const ruleOf = (answer: { body: { metadata?: unknown } }) =>
  (answer.body.metadata as { fields?: { rule: string }[] } | null)?.fields?.[0]?.rule

test('credits that were used and refunded in money are not reversed', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  await spend(customerId, 21, 'work')
  await refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' })
  assert.equal(ruleOf(await service.internal.reverse(customerId, 'work')), 'must be at most what is left to reverse, 0')
  assert.equal(await customer.credits(), 0)
})

test('what was used beyond a refunded order is reversed, and no more', async () => {
  const customer = await customerWithOrders(2)
  const { customerId, orders } = customer
  await spend(customerId, 42, 'work')
  await refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' })
  assert.equal(
    ruleOf(await service.internal.reverse(customerId, 'work', { credits: 22 })),
    'must be at most what is left to reverse, 21',
  )
  assertSuccess(await service.internal.reverse(customerId, 'work', { credits: 20 }), 200)
  const rest = await service.internal.reverse(customerId, 'work')
  assertSuccess(rest, 200)
  assert.equal(rest.body.data.credits, 1)
  assert.equal(ruleOf(await service.internal.reverse(customerId, 'work')), 'must be at most what is left to reverse, 0')
})

test('what a full refund has paid back is not reversed after other credits were used either; what was used since is', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  await spend(customerId, 21, 'work')
  await refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' })
  await customer.confirmedOrder('STANDARD')
  await spend(customerId, 21, 'later')
  assert.equal(ruleOf(await service.internal.reverse(customerId, 'work')), 'must be at most what is left to reverse, 0')
  assertSuccess(await service.internal.reverse(customerId, 'later'), 200)
  assert.equal(await customer.credits(), 21)
})

test('a hold that a full refund has paid back is not reversed after its capture', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  const hold = await service.internal.hold(customerId, 21, { reference: 'work' })
  await refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' })
  assertSuccess(await service.internal.capture(customerId, hold.body.data.holdId), 200)
  assert.equal(ruleOf(await service.internal.reverse(customerId, 'work')), 'must be at most what is left to reverse, 0')
})

test('used credits that an accepted part has paid back are not reversed', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  const [order] = orders
  assert.ok(order)
  await spend(customerId, 21, 'work')
  await service.sandbox.cancel(order.paymentKey, 19_999)
  await acceptPartOf(service.payments, { customerId, orderId: order.orderId })
  assert.equal(
    ruleOf(await service.internal.reverse(customerId, 'work', { credits: 3 })),
    'must be at most what is left to reverse, 2',
  )
  assertSuccess(await service.internal.reverse(customerId, 'work', { credits: 2 }), 200)
})

test('credits that an accepted part has paid back beside those that it took are not counted again by a refund of the rest', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  const [order] = orders
  assert.ok(order)
  await spend(customerId, 19)
  await service.sandbox.cancel(order.paymentKey, 6_772)
  await acceptPartOf(service.payments, { customerId, orderId: order.orderId })
  await customer.confirmedOrder('STANDARD')
  await spend(customerId, 21, 'work')
  await refund(service.payments, { orderId: order.orderId, reason: 'the work failed' })
  // 40 were used, and 19 of them were paid back: 2 of the 21 of the order were taken.
  assertSuccess(await service.internal.reverse(customerId, 'work', { credits: 21 }), 200)
  assert.equal(await customer.credits(), 21)
  const usedCredits = await readUsedCredits({ query: (text: string) => service.database.query(text) } as never)
  const checks = checkReversals({ usedCredits, uses: new Map() } as unknown as Evidence)
  assert.deepEqual(
    checks.map(({ id, violations }) => [id, violations]),
    checks.map(({ id }) => [id, []]),
  )
})

test('credits that a correction had taken before a full refund do not keep later uses from being reversed', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  await adjustBy(service.payments, customerId, 'CORRECTION', -21)
  await refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'agreed' })
  await customer.confirmedOrder('STANDARD')
  await spend(customerId, 21, 'later')
  assertSuccess(await service.internal.reverse(customerId, 'later'), 200)
})

test('no unused part is quoted or refunded while the end of another refund decides what is used of it', async () => {
  const customer = await customerWithOrders(2)
  const { customerId, orders } = customer
  const [first, second] = orders
  assert.ok(first && second)
  await spend(customerId, 10)
  const { arrived, letGo } = keepFirstCancel({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  const refunding = refund(service.payments, { orderId: first.orderId, reason: 'agreed' }).catch(() => undefined)
  await arrived
  assert.equal((await service.internal.refundQuote(customerId, second.orderId)).body.code, 'SVC001')
  const shifted = await service.internal.refund(customerId, second.orderId, { amount: 10_000, credits: 11 })
  assert.equal(shifted.body.code, 'SVC001')
  letGo()
  await refunding
  const { amount, credits } = (await service.internal.refundQuote(customerId, second.orderId)).body.data
  assert.deepEqual([amount, credits], [20_000, 21])
})

test('while a full refund is under way, the used credits that it pays back are not reversed', async () => {
  const customer = await customerWithOrders(1)
  const { customerId, orders } = customer
  await spend(customerId, 21, 'work')
  const { arrived, letGo } = keepFirstCancel()
  const refunding = refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' })
  await arrived
  const reversed = await service.internal.reverse(customerId, 'work')
  letGo()
  assert.equal((await refunding).shortfall, 21)
  assert.equal(ruleOf(reversed), 'must be at most what is left to reverse, 0')
  assert.equal(await customer.credits(), 0)
})

test('a reversal and a full refund at once give money or credits, not both', async () => {
  for (let round = 0; round < 8; round += 1) {
    const customer = await customerWithOrders(1)
    const { customerId, orders } = customer
    await spend(customerId, 21, 'work')
    const [, reversed] = await Promise.all([
      refund(service.payments, { orderId: orders[0]?.orderId ?? '', reason: 'the work failed' }),
      service.internal.reverse(customerId, 'work'),
    ])
    const shortfall = await service.database.query('select refund_shortfall from orders where customer_id = $1', [
      customerId,
    ])
    const expected = reversed.body.code === 'SUCCESS' ? 0 : 21
    assert.deepEqual([shortfall, await customer.credits()], [[{ refund_shortfall: expected }], 0])
  }
})

test('the audit finds a cancel that was covered by credits that another one had taken', async () => {
  const database = await createTestDatabase()
  try {
    const context = bookkeeper(database.pool)
    const customerId = await newCustomer(context)
    const orders = [await confirmed(context, customerId, 'stuck'), await confirmed(context, customerId, 'stuck')]
    await spendCredits(context, customerId, 10)
    await grantGoodwill(context, customerId, 10)
    await database.ownerPool.query(`
      create or replace function refundable_credits(customer uuid, own uuid default null) returns bigint
        language sql as 'select 1000';
      alter table payment_operations disable trigger payment_operations_take_credits`)
    for (const { paymentKey } of orders) {
      await assert.rejects(cancel(context, customerId, { paymentKey, reason: 'changed my mind' }))
    }
    await recordPlayedActions(database)
    const { violations } = await audit(context.database)
    assert.deepEqual(
      violations.filter(({ invariant }) => invariant !== 'SCHEMA').map(({ rule }) => rule),
      ['a cancel or a refund of a part took credits that were paid for, and that no other one had taken'],
    )
  } finally {
    await database.drop()
  }
})
