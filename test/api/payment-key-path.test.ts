// Section 4.2: the paymentKey is caller input and becomes part of the gateway's URLs. Whatever characters it has, it is
// one path segment there, or no request is sent.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { startContradictingGateway, tossPayment } from '../support/gateway/contradicting-gateway.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let scripted: TestService
let gateway: Awaited<ReturnType<typeof startContradictingGateway>>
before(async () => {
  gateway = await startContradictingGateway()
  service = await startTestService()
  scripted = await startTestService({ beside: { database: service.database, sandboxUrl: gateway.url } })
})
after(() => closeAll(scripted, gateway, service))

const keys = [
  '../../v1/x',
  '/v1/x',
  'a/b',
  'a/../b',
  'x/cancel',
  'orders/x',
  '..%2f..%2fx',
  '%2e%2e',
  '%2F',
  '%zz',
  '?a=b',
  '#a',
  'a;b',
  'a\\b',
  '@host',
  '//host/x',
  'http://host/x',
  '...',
  '.',
  '..',
]
for (const paymentKey of keys) {
  test(`4.2, 4.6: the paymentKey ${paymentKey} is one segment of the URL in lookup and cancel`, async () => {
    const customer = await scripted.newCustomer()
    const { orderId, amount } = (await customer.purchase()).body.data
    const payment = { paymentKey, orderId, totalAmount: amount }
    gateway.requests.length = 0
    gateway.answerWith(() => ({ status: 500, body: { code: 'COMMON_ERROR' } }))
    const first = await customer.confirm(orderId, paymentKey, amount)
    gateway.answerWith(() => ({ status: 200, body: tossPayment(payment) }))
    const second = await customer.confirm(orderId, paymentKey, amount)
    gateway.answerWith(() => ({ status: 200, body: tossPayment({ ...payment, status: 'CANCELED' }) }))
    const cancelled = await customer.cancel(paymentKey)

    const addresses = gateway.requests.map(({ method, url }) => `${method} ${url}`)
    const codes = [first, second, cancelled].map((answer) => answer.body.code)
    if (paymentKey === '.' || paymentKey === '..') {
      // No URL can carry these as a segment, encoded or not: they must not lead to another path.
      for (const address of addresses) assert.equal(address, 'POST /v1/payments/confirm')
      return
    }
    const segment = encodeURIComponent(paymentKey)
    assert.deepEqual(addresses, [
      'POST /v1/payments/confirm',
      `GET /v1/payments/${segment}`,
      `POST /v1/payments/${segment}/cancel`,
    ])
    assert.deepEqual(codes, ['SVC001', 'SUCCESS', 'SUCCESS'])
  })
}
