// Each way in which the gateway can fail, once during a purchase in the example shop, over plain HTTP: the page claims
// nothing that is not known, and the credits are right after at most a few more tries. A browser runs through two of them
// in test/browser/faults.test.ts.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
import { openShop, pathOf, retryAddressOf } from './shop.ts'

let service: TestService
let customer: TestCustomer
let shop: Awaited<ReturnType<typeof openShop>>
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
  shop = await openShop({ apiUrl: service.url, apiKey: customer.apiKey, sandboxUrl: service.sandboxUrl })
})
after(() => closeAll(shop, service))
afterEach(() => service.sandbox.clearFaults())

const kinds = ['error-before', 'error-after', 'reset-before', 'reset-after', 'hang-after', 'delay'] as const
type Fault = { on: 'confirm' | 'lookup' | 'cancel'; kind: (typeof kinds)[number]; times: number; delayMs?: number }
const once = (on: Fault['on'], kind: Fault['kind'], delayMs = 300): Fault => ({
  on,
  kind,
  times: 1,
  ...(kind === 'delay' && { delayMs }),
})

/** Comes back from the window, and asks again as long as the page does. Returns how often it had to. */
async function comeBack(path: string): Promise<number> {
  for (let asked = 0; asked < 6; asked += 1) {
    const page = await shop.get(path)
    const again = retryAddressOf(page)
    assert.equal(page.text.includes('Payment complete'), again === undefined, page.text)
    if (again === undefined) return asked
    assert.ok(page.text.includes('We are checking your payment'), page.text)
    path = again
  }
  assert.fail('the outcome stays unknown')
}

for (const kind of kinds) {
  test(`${kind} on the confirm: the page does not guess, asks again, and the credits arrive once`, async () => {
    const before = await customer.credits()
    const back = await shop.pay(await shop.buy('STANDARD'), 'approve')
    await service.sandbox.setFaults([once('confirm', kind)])
    assert.equal(await comeBack(back), kind === 'delay' ? 0 : 1)
    assert.equal(await customer.credits(), before + 21)
    assert.equal((await service.sandbox.payments()).at(-1)?.status, 'DONE')
  })

  test(`${kind} on the lookup after a lost answer: the page goes on asking, and the credits arrive once`, async () => {
    const before = await customer.credits()
    const back = await shop.pay(await shop.buy('BASIC'), 'approve')
    await service.sandbox.setFaults([once('confirm', 'reset-after'), once('lookup', kind)])
    assert.ok((await comeBack(back)) >= 1)
    assert.equal(await customer.credits(), before + 1)
  })

  test(`${kind} on a cancel: the page does not guess, and one more try takes the credits back once`, async () => {
    const before = await customer.credits()
    const orderId = await shop.buy('STANDARD')
    await comeBack(await shop.pay(orderId, 'approve'))
    await service.sandbox.setFaults([once('cancel', kind)])
    const cancel = async () => {
      const response = await shop.post(`/orders/${orderId}/cancel`, { reason: 'changed my mind' })
      return (await shop.get(pathOf(response))).text
    }
    if (kind !== 'delay') assert.match(await cancel(), /We do not know yet whether the cancellation went through/)
    assert.match(await cancel(), /Order cancelled/)
    assert.equal(await customer.credits(), before)
    const { status, cancels } = (await service.sandbox.payments()).at(-1) ?? {}
    assert.deepEqual([status, cancels?.length], ['CANCELED', 1])
  })
}
