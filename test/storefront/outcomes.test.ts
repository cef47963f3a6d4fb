// The pages of the example shop for an unknown outcome, for a window that ended without a payment, and for its orders: an
// order is never shown as paid or failed before the service reports it, and every code of the service has a sentence.
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Api } from '../../examples/storefront/api.ts'
import { type Order, openOrders } from '../../examples/storefront/orders.ts'
import { createConfirm } from '../../examples/storefront/outcome.ts'
import { texts } from '../../examples/storefront/texts/texts.ts'
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
    assert.match((await shop.get('/orders')).text, /Standard 21 credits [^₩]*₩20,000 Being checked/)

    assert.ok(Number(/data-after-ms="(\d+)"/.exec(first.html)?.[1]) >= 1_000)
    // Without scripts the browser itself asks again.
    assert.match(first.html, /<noscript><meta http-equiv="refresh" content="1;url=\/success\?/)
    let next = first
    for (let again = retryAddressOf(next); again; again = retryAddressOf(next)) next = await shop.get(again)
    assert.ok(next.text.includes('Payment complete') && next.text.includes('+21 credits'), next.text)
  })

  test('is shown at once while the confirm goes on, and a second request joins it', async () => {
    const confirmed = Promise.withResolvers<void>()
    let confirms = 0
    const slow = createServer((request, response) => {
      if (request.url?.endsWith('/confirm')) confirms += 1
      const send = async () => {
        const chunks = await Array.fromAsync(request)
        const { method = 'GET', headers } = request
        if (request.url?.endsWith('/confirm')) await confirmed.promise
        const key = { 'service-api-key': String(headers['service-api-key']), 'content-type': 'application/json' }
        const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {}
        const answer = await fetch(`${service.url}${request.url}`, { method, headers: key, ...body })
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
      }
      send().catch(() => response.destroy())
    }).listen(0, '127.0.0.1')
    const back = await shop.pay(await shop.buy('BASIC'), 'approve')
    const apiUrl = () => `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
    await shop.restart({ apiUrl, confirmWaitMs: 700 })
    const [one, other] = await Promise.all([shop.get(back), shop.get(back)])
    for (const { text } of [one, other]) assert.ok(text.includes('We are checking your payment'), text)
    const third = shop.get(back)
    confirmed.resolve()
    assert.match((await third).text, /Payment complete \+1 credit/)
    assert.equal(confirms, 1)
    await shop.restart()
    slow.close()
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
    assert.equal(retries, 7)
    const { text } = page
    assert.ok(text.includes('It is taking longer than usual') && text.includes('Check again'), text)
    assertNothingDefinite(text)
    await service.sandbox.clearFaults()
    assert.ok((await shop.get(back)).text.includes('Payment complete'))
  })

  test('the service is unreachable: the shop shows that, loses nothing, and continues when it is back', async () => {
    const [unpaid, orderId] = [await shop.buy('BASIC'), await shop.buy('BASIC')]
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
    // One that closed the window has not paid, and one that has paid is not believed an address.
    const closed = await shop.get(`/fail?code=PAY_PROCESS_CANCELED&orderId=${unpaid}`)
    assert.ok(closed.text.includes('Payment cancelled') && closed.html.includes(`/orders/${unpaid}`), closed.text)
    const claimed = await shop.get(`/fail?code=PAY_PROCESS_CANCELED&orderId=${orderId}`)
    assert.ok(retryAddressOf(claimed)?.startsWith('/success?'), claimed.text)
    assertNothingDefinite(claimed.text)

    await shop.restart()
    assert.ok((await shop.get(`/orders/${orderId}`)).text.includes('We are checking your payment'))
    assert.ok((await shop.get(back)).text.includes('+1 credit '))
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

  test('removes the credits and closes the order, also on its old success page', async () => {
    const { orderId, back } = await confirmed()
    const creditsBefore = await customer.credits()
    const { text } = await shop.cancel(orderId, 'changed my mind')
    assert.ok(text.includes('Order cancelled') && !text.includes('Cancel this order'), text)
    assert.equal(await customer.credits(), creditsBefore - 21)
    assert.ok((await shop.get(back)).text.includes('Order cancelled'))
    assert.match((await shop.get('/orders')).text, /Standard 21 credits [^₩]*₩20,000 Cancelled/)
  })

  test('requires a reason of 1 to 200 characters, which stays in the form', async () => {
    const { orderId } = await confirmed('BASIC')
    for (const reason of ['', '   ', 'r'.repeat(201)]) {
      const { status, text, html } = await shop.get(`/orders/${orderId}/cancel?reason=${reason}`)
      assert.deepEqual([status, text.includes('Give a reason')], [400, true], reason)
      assert.ok(html.includes(`value="${reason.trim()}"`))
    }
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  })

  test('is folded, names what comes back and what is taken, and asks a second time: a form without that changes nothing', async () => {
    const { orderId } = await confirmed()
    const { html, text } = await shop.get(`/orders/${orderId}`)
    assert.ok(html.includes('<details class="panel fold">'), html)
    assert.ok(
      text.includes('₩20,000 goes back to what you paid with. 21 credits are deducted from your balance.'),
      text,
    )
    const question = pathOf(await shop.post(`/orders/${orderId}/cancel`, { reason: 'a & b' }))
    assert.equal(question, `/orders/${orderId}/cancel?reason=a+%26+b`)
    const page = await shop.get(question, { 'accept-language': 'ko' })
    assert.ok(page.text.includes('이 주문을 취소할까요?') && page.text.includes('취소 사유 a & b'), page.text)
    assert.equal(await customer.status(orderId), 'CONFIRMED')
  })

  test('is not offered when the credits are spent, and a refusal is a sentence of the shop in its language', async () => {
    const { orderId } = await confirmed('PRO')
    assert.ok(await spend(service, customer.customerId, await customer.credits()))
    // From a page that was open before they were spent.
    const form = { reason: '<b>why</b>', confirmed: 'yes' }
    await shop.post(`/orders/${orderId}/cancel`, form)
    for (const [language, sentence] of [
      ['ko', texts.ko.cancel.refusals['credits-spent']],
      ['en', texts.en.cancel.refusals['credits-spent']],
    ] as const) {
      const { text, html } = await shop.get(`/orders/${orderId}`, { 'accept-language': language })
      assert.ok(text.includes(sentence), text)
      assert.ok(!html.includes('/cancel"'), html)
      assert.doesNotMatch(text, /spent or set aside/)
    }
    assert.equal(pathOf(await shop.request(`/orders/${orderId}/cancel?reason=why`)), `/orders/${orderId}`)
    assert.equal(await customer.status(orderId), 'CONFIRMED')

    // With new credits it can succeed, and is offered again with the reason.
    await confirmed('PRO')
    assert.ok((await shop.get(`/orders/${orderId}`)).html.includes('value="&lt;b&gt;why&lt;/b&gt;"'))
    assert.ok((await shop.cancel(orderId, 'why')).text.includes('Order cancelled'))
  })

  test('unknown: shows that, keeps the reason, and another request settles it', async () => {
    const { orderId } = await confirmed('BASIC')
    await service.sandbox.setFaults([{ on: 'cancel', kind: 'error-after', times: 1 }])
    const { text, html } = await shop.cancel(orderId, 'too "many"')
    assert.ok(text.includes('We do not know yet whether the cancellation went through'), text)
    assert.ok(html.includes('value="too &quot;many&quot;"'))
    const again = await shop.post(`/orders/${orderId}/cancel`, { reason: 'too "many"', confirmed: 'yes' })
    assert.ok((await shop.get(pathOf(again))).text.includes('Order cancelled'))
  })

  test('unknown long ago, and the order is still there: it is offered again', async () => {
    const { orderId } = await confirmed('BASIC')
    const answer = (minutesAgo: number) => {
      const at = new Date(Date.now() - minutesAgo * 60_000).toISOString()
      const cancelAnswer = { code: 'SVC001', refusalReason: null, reason: 'why', at, balance: null }
      appendFileSync(`${shop.dataDir}/orders.jsonl`, `${JSON.stringify({ orderId, cancelAnswer })}\n`)
      return shop.restart()
    }
    await answer(5)
    assert.ok((await shop.get(`/orders/${orderId}`)).text.includes(texts.en.cancel.unknown))
    await answer(11)
    const { html, text } = await shop.get(`/orders/${orderId}`)
    assert.ok(html.includes('<details class="panel fold">') && html.includes('value="why"'), html)
    assert.doesNotMatch(text, /do not know yet|could not be cancelled/)
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

test('the late refusal of a first payment key does not remove the key with which the order was paid since', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'storefront-orders-'))
  const orders = openOrders(dataDir)
  const purchased = { orderId: 'ord_1', packageType: 'BASIC', amount: 1_000, credits: 1, purchasedAt: '' }
  orders.purchased({ ...purchased, clientKey: '', successUrl: '', failUrl: '' })
  const find = () => orders.find('ord_1') as Order
  const late = Promise.withResolvers<unknown>()
  const confirm = createConfirm(
    {
      confirm: ({ paymentKey }: { paymentKey: string }) =>
        paymentKey === 'first' ? late.promise : { ok: true, data: { creditsAdded: 1, totalCredits: 1, slip: null } },
      // Read before the second payment was confirmed.
      order: () => ({ ok: true, data: { status: 'PENDING', confirmedAt: null, refusalReason: null, refunds: [] } }),
    } as unknown as Api,
    orders,
  )
  const first = confirm(find(), 'first')
  await confirm(find(), 'second')
  late.resolve({ ok: false, code: 'VAL003', reason: 'payment-key-of-another-order' })
  assert.equal((await first).kind, 'mismatch')
  assert.equal(find().paymentKey, 'second')
  rmSync(dataDir, { recursive: true })
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
