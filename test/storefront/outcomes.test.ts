// The pages of the example shop for an unknown outcome, for a window that ended without a payment, and for its orders: an
// order is never shown as paid or failed before the service reports it, and every code of the service has a sentence.
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { texts } from '../../examples/storefront/texts.ts'
import { catalogue, type ErrorCode } from '../../src/core/errors.ts'
import { closeAll } from '../support/closing.ts'
import { spend } from '../support/service/orders.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
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

describe('an unknown outcome', () => {
  test('is shown as unknown, requested again by the page, and then shown', async () => {
    const orderId = await shop.buy('STANDARD')
    const back = await shop.pay(orderId, 'hang')
    const first = await shop.get(back)
    assert.ok(
      first.text.includes('We are checking your payment') && first.text.includes('do not pay again'),
      first.text,
    )
    assertNothingDefinite(first.text)
    assert.match((await shop.get('/orders')).text, /Standard ₩20,000 [^₩]*Being checked/)

    assert.ok(Number(/data-after-ms="(\d+)"/.exec(first.html)?.[1]) >= 1_000)
    const next = await shop.get(retryAddressOf(first) ?? '')
    assert.ok(next.text.includes('Payment complete') && next.text.includes('21 credits added.'), next.text)
    assert.equal(retryAddressOf(next), undefined)
  })

  test('is not requested forever: after the last attempt the buyer has to check again', async () => {
    const back = await shop.pay(await shop.buy('BASIC'), 'approve')
    await service.sandbox.setFaults([
      { on: 'confirm', kind: 'error-before', times: 20 },
      { on: 'lookup', kind: 'error-before', times: 20 },
    ])
    let page = await shop.get(back)
    let retries = 0
    for (let again = retryAddressOf(page); again; again = retryAddressOf(page)) {
      retries += 1
      assert.ok(retries < 10)
      page = await shop.get(again)
    }
    assert.equal(retries, 6)
    const { text } = page
    assert.ok(text.includes('It takes longer than usual') && text.includes('Check again'), text)
    assertNothingDefinite(text)
    await service.sandbox.clearFaults()
    assert.ok((await shop.get(back)).text.includes('Payment complete'))
  })

  test('the service is unreachable: the shop shows that, loses nothing, and continues when it is back', async () => {
    const orderId = await shop.buy('BASIC')
    const back = await shop.pay(orderId, 'approve')
    await shop.restart({ apiUrl: () => 'http://127.0.0.1:1' })
    const home = await shop.get('/')
    assert.deepEqual([home.status, home.text.includes(texts.en.errors.UNREACHABLE)], [503, true])
    const success = await shop.get(back)
    assert.ok(success.text.includes('We are checking your payment'), success.text)
    assertNothingDefinite(success.text)
    assert.ok((await shop.get('/orders')).text.includes('Being checked'))
    assert.ok((await shop.get(`/orders/${orderId}`)).text.includes('We are checking your payment'))
    const buying = await shop.post('/buy', { packageType: 'BASIC', token: crypto.randomUUID() })
    assert.equal(buying.status, 503)

    await shop.restart()
    assert.ok((await shop.get(`/orders/${orderId}`)).text.includes('We are checking your payment'))
    assert.ok((await shop.get(back)).text.includes('1 credit added.'))
  })
})

describe('the window ended without a payment', () => {
  test('refused in the window: the page shows what to do', async () => {
    const { text } = await shop.get(await shop.pay(await shop.buy('BASIC'), 'refused'))
    assert.ok(text.includes('The card was refused') && text.includes('Try another card'), text)
  })

  test('for an unknown reason: the page quotes it, and escapes hostile text in it', async () => {
    const orderId = await shop.buy('BASIC')
    const query = new URLSearchParams({ orderId, code: '<b>NEW</b>', message: '"><script>alert(1)</script>' })
    const { text, html } = await shop.get(`/fail?${query}`)
    assert.ok(text.includes('The payment did not go through') && text.includes('<script>alert(1)</script>'), text)
    assert.ok(!html.includes('<script>') && !html.includes('<b>'))
  })

  test('orderId twice, no order, or inherited property names: still a page', async () => {
    const orderId = await shop.buy('BASIC')
    const twice = await shop.get(`/fail?orderId=${orderId}&code=REJECT_CARD_COMPANY&message=x&orderId=${orderId}`)
    assert.ok(twice.text.includes('The card was refused'), twice.text)
    assert.ok((await shop.get('/fail?code=PAY_PROCESS_CANCELED')).text.includes('Payment cancelled'))
    for (const code of ['constructor', '__proto__', '']) {
      for (const order of ['', orderId]) {
        const { status, text } = await shop.get(`/fail?code=${code}&orderId=${order}`)
        assert.deepEqual([status, text.includes('The payment did not go through')], [200, true])
      }
    }
  })
})

describe('cancelling', () => {
  async function confirmed(packageType = 'STANDARD') {
    const orderId = await shop.buy(packageType)
    const back = await shop.pay(orderId, 'approve')
    assert.ok((await shop.get(back)).text.includes('Payment complete'))
    return { orderId, back }
  }
  const cancel = async (orderId: string, reason: string) => {
    const path = pathOf(await shop.post(`/orders/${orderId}/cancel`, { reason }))
    return shop.get(path)
  }

  test('removes the credits and closes the order, also on its old success page', async () => {
    const { orderId, back } = await confirmed()
    const creditsBefore = await customer.credits()
    const { text } = await cancel(orderId, 'changed my mind')
    assert.ok(text.includes('Order cancelled') && !text.includes('Cancel this order'), text)
    assert.equal(await customer.credits(), creditsBefore - 21)
    assert.ok((await shop.get(back)).text.includes('Order cancelled'))
    assert.match((await shop.get('/orders')).text, /Standard ₩20,000 [^₩]*Cancelled/)
  })

  test('requires a reason of 1 to 200 characters', async () => {
    const { orderId } = await confirmed('BASIC')
    for (const reason of ['', '   ', 'r'.repeat(201)]) {
      assert.ok((await cancel(orderId, reason)).text.includes('Give a reason'), reason)
    }
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  })

  test('refused: shows the message of the service, and the order stays', async () => {
    const { orderId } = await confirmed('PRO')
    assert.ok(await spend(service, customer.customerId, await customer.credits()))
    const { text } = await cancel(orderId, '<b>why</b>')
    assert.ok(text.includes('could not be cancelled. The credits of this payment are spent or set aside.'), text)
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  })

  test('unknown: shows that, keeps the reason, and another request settles it', async () => {
    const { orderId } = await confirmed('BASIC')
    await service.sandbox.setFaults([{ on: 'cancel', kind: 'error-after', times: 1 }])
    const { text, html } = await cancel(orderId, 'too "many"')
    assert.ok(text.includes('We do not know yet whether the cancellation went through'), text)
    assert.ok(html.includes('value="too &quot;many&quot;"'))
    assert.ok((await cancel(orderId, 'too many')).text.includes('Order cancelled'))
  })
})

test('the list of orders survives a restart and a crash in the middle of writing a line', async () => {
  const orderId = await shop.buy('BASIC')
  appendFileSync(`${shop.dataDir}/orders.jsonl`, '{"orderId":"ord_half')
  await shop.restart()
  const [next, orders] = [await shop.buy('BASIC'), (await shop.get('/orders')).html]
  await shop.restart()
  assert.ok(orders.includes(orderId) && (await shop.get('/orders')).html.includes(next))
})

test('every code of the service has a sentence, in both languages', async () => {
  let code: ErrorCode = 'INT001'
  const scripted = createServer((_request, response) => {
    const body = { success: false, data: null, message: 'text', code, metadata: null }
    response.writeHead(catalogue[code].status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  const orderId = await shop.buy('BASIC')
  const back = await shop.pay(orderId, 'approve')
  await shop.restart({ apiUrl: () => `http://127.0.0.1:${(scripted.address() as AddressInfo).port}` })
  for (code of Object.keys(catalogue) as ErrorCode[]) {
    for (const language of ['ko', 'en'] as const) {
      const { status, text } = await shop.get('/', { 'accept-language': language })
      assert.deepEqual([status, text.includes(texts[language].errors[code])], [503, true], code)
    }
    const expected = code === 'NOT000' ? 'The order is not known any more' : 'We are checking your payment'
    const success = await shop.get(back)
    assert.ok(success.text.includes(expected), `${code}: ${success.text}`)
    assertNothingDefinite(success.text)
    const buying = await shop.post('/buy', { packageType: 'BASIC', token: crypto.randomUUID() })
    assert.equal(buying.status, code === 'VAL003' ? 400 : 503, code)
  }
  await shop.restart()
  scripted.close()
})
