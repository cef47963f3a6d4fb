// The quote that an operator sees before a refund equals its result, and making a quote changes nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { quoteRefund } from '../../src/payments/refunds/quote.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { spend } from '../support/service/orders.ts'
import { operationStates } from '../support/service/recovery.ts'
import { startTestService, type TestService, testSettings } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

const part = (rule: 'full price' | 'unused part', amount: number, credits: number) => ({
  unused: { rule, amount, credits, value: amount, terms: testSettings.firstRefundRule },
  unusedRefusal: null,
})

for (const { what, spent, unused } of [
  { what: 'nothing', spent: 0, unused: part('full price', 20_000, 21) },
  { what: 'some', spent: 15, unused: part('unused part', 5_000, 6) },
  { what: 'all', spent: 21, unused: { unused: null, unusedRefusal: 'nothing left' } },
]) {
  test(`with ${what} of the credits spent, a quote equals the credits and money of the refund`, async () => {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    if (spent > 0) await spend(service, customer.customerId, spent)
    const calls = { ...service.calls }
    const quote = await quoteRefund(service.payments, orderId)
    assert.deepEqual(quote, {
      orderId,
      customerId: customer.customerId,
      packageType: 'STANDARD',
      paid: 20_000,
      backToTheCard: 20_000,
      gatewayCode: null,
      creditsOfTheOrder: 21,
      creditsTakenBack: 21 - spent,
      shortfall: spent,
      ...unused,
    })
    assert.deepEqual({ ...service.calls }, { ...calls, fetchPayment: calls.fetchPayment + 1 })
    assert.deepEqual(await operationStates(service, orderId), ['CONFIRM APPROVED'])
    assert.equal(await customer.credits(), 21 - spent)
    const { creditsTakenBack, shortfall } = await refund(service.payments, { orderId, reason: 'as it was quoted' })
    assert.deepEqual([creditsTakenBack, shortfall], [21 - spent, spent])
    const [payment] = await service.sandbox.paymentsOf(orderId)
    assert.equal(payment?.balanceAmount, 0)
  })
}

test('when the gateway does not answer, or does not know the payment, the quote has its code and no amount', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 10 }])
  const quote = await quoteRefund(service.payments, orderId)
  await service.sandbox.clearFaults()
  assert.equal(quote?.backToTheCard, null)
  assert.match(`${quote?.gatewayCode}`, /^[A-Z][A-Z0-9_]+$/)
  assert.equal(quote?.creditsTakenBack, 21)
  const gateway = { ...service.payments.gateway, fetchPayment: async () => ({ kind: 'absent' }) as const }
  const absent = await quoteRefund({ ...service.payments, gateway }, orderId)
  assert.deepEqual([absent?.backToTheCard, absent?.gatewayCode], [null, 'NOT_FOUND_PAYMENT'])
})

for (const kind of ['other-amount-after', 'other-order-after'] as const) {
  test(`when the gateway returns another payment (${kind}), the quote does not use it, and the unused part is that of the books`, async () => {
    const customer = await service.newCustomer()
    const { orderId } = await customer.confirmedOrder()
    await service.sandbox.setFaults([{ on: 'lookup', kind, times: 1 }])
    const quote = await quoteRefund(service.payments, orderId)
    await service.sandbox.clearFaults()
    assert.deepEqual([quote?.backToTheCard, quote?.gatewayCode], [null, 'PAYMENT_DIFFERS'])
    assert.deepEqual(quote?.unused, part('full price', 20_000, 21).unused)
  })
}

test('there is no quote for an order that is not CONFIRMED, nor for an unknown order', async () => {
  const customer = await service.newCustomer()
  const { orderId } = (await customer.purchase()).body.data
  assert.equal(await quoteRefund(service.payments, orderId), undefined)
  assert.equal(await quoteRefund(service.payments, 'ord_none'), undefined)
})
