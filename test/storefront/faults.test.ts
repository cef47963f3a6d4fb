// Each way in which the gateway can fail, once during a purchase in the example shop, over plain HTTP: the page shows no
// outcome that is not known, and the credits are right after at most a few more requests. test/browser/faults.test.ts has
// some of them in a browser.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { type Fault, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
import { assertNothingDefinite, openShop, pathOf, retryAddressOf } from './shop.ts'

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
const once = (on: Fault['on'], kind: (typeof kinds)[number]): Fault => ({
  on,
  kind,
  times: 1,
  ...(kind === 'delay' && { delayMs: 300 }),
})

/** Opens the success page, and polls as its script does until the outcome is known. Returns the number of polls. */
async function pollSuccess(path: string): Promise<number> {
  for (let polls = 0; polls < 6; polls += 1) {
    const page = await shop.get(path)
    const next = retryAddressOf(page)
    if (next === undefined) {
      assert.match(page.text, /Payment complete/)
      return polls
    }
    assert.match(page.text, /We are checking your payment/)
    assertNothingDefinite(page.text)
    path = next
  }
  return assert.fail('the outcome stays unknown')
}

for (const kind of kinds) {
  test(`${kind} on the confirm: the page shows no outcome, polls, and the credits arrive once`, async () => {
    const before = await customer.credits()
    const back = await shop.pay(await shop.buy('STANDARD'), 'approve')
    await service.sandbox.setFaults([once('confirm', kind)])
    assert.equal(await pollSuccess(back), kind === 'delay' ? 0 : 1)
    assert.equal(await customer.credits(), before + 21)
    assert.equal((await service.sandbox.payments()).at(-1)?.status, 'DONE')
  })

  test(`${kind} on the lookup after a lost answer: the page keeps polling, and the credits arrive once`, async () => {
    const before = await customer.credits()
    const back = await shop.pay(await shop.buy('BASIC'), 'approve')
    await service.sandbox.setFaults([once('confirm', 'reset-after'), once('lookup', kind)])
    assert.ok((await pollSuccess(back)) >= 1)
    assert.equal(await customer.credits(), before + 1)
  })

  test(`${kind} on a cancel: the page shows no outcome, and another try deducts the credits once`, async () => {
    const before = await customer.credits()
    const orderId = await shop.buy('STANDARD')
    await pollSuccess(await shop.pay(orderId, 'approve'))
    await service.sandbox.setFaults([once('cancel', kind)])
    const cancel = async () => {
      const form = { reason: 'changed my mind', confirmed: 'yes' }
      return (await shop.get(pathOf(await shop.post(`/orders/${orderId}/cancel`, form)))).text
    }
    if (kind !== 'delay') assert.match(await cancel(), /We do not know yet whether the cancellation went through/)
    assert.match(await cancel(), /Order cancelled/)
    assert.equal(await customer.credits(), before)
    const { status, cancels } = (await service.sandbox.payments()).at(-1) ?? {}
    assert.deepEqual([status, cancels?.length], ['CANCELED', 1])
  })
}
