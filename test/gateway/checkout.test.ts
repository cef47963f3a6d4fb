// The payment window of the sandbox over real HTTP, without a browser: the request that opens it, the page in both
// languages, and the redirect of each button. Only the routes run, with a clock that can be advanced.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Fastify from 'fastify'
import { addCheckoutRoutes } from '../../sandbox/checkout/routes.ts'
import { createPayments } from '../../sandbox/payments/payments.ts'
import { closeNow } from '../support/closing.ts'

type Json = Record<string, unknown>

const clientKey = 'test_ck_sandbox'
const payments = createPayments()
let advancedMs = 0
const app = Fastify({ forceCloseConnections: true })
addCheckoutRoutes(app, {
  clientKey,
  payments,
  record: ({ changed }) => {
    for (const payment of changed) payments.put(payment)
  },
  clock: { now: () => new Date(Date.now() + advancedMs) },
})
let url = ''
before(async () => {
  url = await app.listen({ host: '127.0.0.1', port: 0 })
})
after(() => closeNow(app))

let orders = 0
function order(): Json & { orderId: string } {
  return {
    product: 'payment',
    clientKey,
    customerKey: '@@ANONYMOUS',
    method: 'CARD',
    amount: { currency: 'KRW', value: 20_000 },
    orderId: `order-${++orders}-checkout`,
    orderName: 'Standard Plan - 21 Credits',
    successUrl: 'https://shop.example/success?from=gateway',
    failUrl: 'https://shop.example/fail?orderId=mine#top',
  }
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://shop.example' },
    body: JSON.stringify(body),
  })
}

/** Opens a window and returns its address. */
async function open(changes: Json = {}): Promise<string> {
  const response = await post('/checkout/sessions', { ...order(), ...changes })
  assert.equal(response.status, 201)
  const { checkoutUrl } = (await response.json()) as { checkoutUrl: string }
  assert.match(checkoutUrl, new RegExp(`^${url}/checkout/[\\w-]{24}$`))
  return checkoutUrl
}

const getPage = (address: string, language = 'en') => fetch(address, { headers: { 'accept-language': language } })

function press(address: string, button: 'pay' | 'cancel', card?: string, language = 'en'): Promise<Response> {
  return fetch(`${address}/${button}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'accept-language': language, 'content-type': 'application/x-www-form-urlencoded' },
    body: card === undefined ? '' : `card=${card}`,
  })
}

function redirectOf(response: Response): { place: string; query: Json } {
  assert.equal(response.status, 303)
  const location = new URL(response.headers.get('location') ?? '')
  assert.equal(new Set(location.searchParams.keys()).size, [...location.searchParams.keys()].length)
  return {
    place: location.origin + location.pathname + location.hash,
    query: Object.fromEntries(location.searchParams),
  }
}

const paymentOf = (orderId: unknown) => payments.findLatestOfOrder(String(orderId))

describe('opening a window', () => {
  test('every origin may open one, preflight included; no other route allows cross-origin requests', async () => {
    const preflight = await fetch(`${url}/checkout/sessions`, { method: 'OPTIONS' })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type')
    const refused = await post('/checkout/sessions', {})
    for (const { headers } of [preflight, refused]) assert.equal(headers.get('access-control-allow-origin'), '*')
    const page = await getPage(await open())
    assert.equal(page.headers.get('access-control-allow-origin'), null)
  })

  test('it creates a READY payment for the order', async () => {
    const request = order()
    await open(request)
    assert.partialDeepStrictEqual(paymentOf(request.orderId), {
      status: 'READY',
      amount: 20_000,
      orderName: 'Standard Plan - 21 Credits',
      customerKey: '@@ANONYMOUS',
    })
  })

  const refusals: [string, Json, string][] = [
    ['another client key', { clientKey: 'test_ck_other' }, 'INVALID_CLIENT_KEY'],
    ['a method that is not CARD', { method: 'TRANSFER' }, 'NOT_SUPPORTED_METHOD'],
    ['a short orderId', { orderId: 'short' }, 'INVALID_PARAMETERS'],
    ['an orderId with a space', { orderId: 'order 1234' }, 'INVALID_PARAMETERS'],
    ['an orderName of 101 characters', { orderName: 'n'.repeat(101) }, 'INVALID_PARAMETERS'],
    ['a customerKey with a space', { customerKey: 'a b' }, 'INVALID_CUSTOMER_KEY'],
    ['another currency', { amount: { currency: 'USD', value: 20_000 } }, 'INVALID_AMOUNT_CURRENCY'],
    ['an amount that is a string', { amount: { currency: 'KRW', value: '20000' } }, 'INVALID_AMOUNT_VALUE'],
    ['a fraction', { amount: { currency: 'KRW', value: 100.5 } }, 'INVALID_AMOUNT_VALUE'],
    ['an amount of zero', { amount: { currency: 'KRW', value: 0 } }, 'BELOW_ZERO_AMOUNT'],
    ['an amount below the minimum for cards', { amount: { currency: 'KRW', value: 99 } }, 'BELOW_MINIMUM_AMOUNT'],
    ['no URLs', { successUrl: undefined, failUrl: undefined }, 'NOT_SUPPORTED_PROMISE'],
    ['no successUrl', { successUrl: undefined }, 'INCORRECT_SUCCESS_URL_FORMAT'],
    ['a path for successUrl', { successUrl: '/success' }, 'INCORRECT_SUCCESS_URL_FORMAT'],
    ['a script for successUrl', { successUrl: 'javascript:alert(1)' }, 'INCORRECT_SUCCESS_URL_FORMAT'],
    ['a script for failUrl', { failUrl: 'data:text/html,hello' }, 'INCORRECT_FAIL_URL_FORMAT'],
  ]
  for (const [what, changes, code] of refusals) {
    test(`${what} is ${code}, and no window is opened`, async () => {
      const request = { ...order(), ...changes }
      const response = await post('/checkout/sessions', request)
      const answer = (await response.json()) as Json
      assert.deepEqual([response.status, answer.code, typeof answer.message], [400, code, 'string'])
      assert.equal(paymentOf(request.orderId), undefined)
    })
  }

  test('bodies that are not an object are refused', async () => {
    for (const body of [null, [], 'text', 1]) assert.equal((await post('/checkout/sessions', body)).status, 400)
  })
})

describe('the page', () => {
  test('shows in English and in Korean the item, the price, and that no money moves', async () => {
    const address = await open()
    const sentencesByLanguage = {
      en: ['Standard Plan - 21 Credits', 'shop.example', '₩20,000', 'no money moves', 'Pay ₩20,000', 'Cancel'],
      ko: [
        'Standard Plan - 21 Credits',
        'shop.example',
        '₩20,000',
        '실제로 결제되지 않습니다',
        '₩20,000 결제하기',
        '취소',
      ],
    }
    for (const [language, sentences] of Object.entries(sentencesByLanguage)) {
      const text = await (await getPage(address, language)).text()
      assert.match(text, new RegExp(`<html lang="${language}">`))
      for (const sentence of sentences) assert.ok(text.includes(sentence), `${language}: ${sentence}`)
      assert.equal(text.match(/<input type="radio" name="card"/g)?.length, 7)
    }
  })

  test('the language is the requested one, else the preferred one that is available, else Korean', async () => {
    const address = await open()
    const languageOf = async (query: string, preferred: string) =>
      /<html lang="(..)">/.exec(await (await getPage(address + query, preferred)).text())?.[1]
    assert.equal(await languageOf('?lang=ko', 'en'), 'ko')
    assert.equal(await languageOf('?lang=xx', 'en-GB,ko;q=0.5'), 'en')
    assert.equal(await languageOf('', 'fr, en;q=0.4, ko-KR;q=0.8'), 'ko')
    assert.equal(await languageOf('', 'fr'), 'ko')
  })

  test('loads nothing from other hosts, runs nothing inline, and is neither framed nor cached', async () => {
    const response = await getPage(await open())
    const text = await response.text()
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/)
    assert.deepEqual(text.match(/ (?:on\w+|style)=|(?:src|href)="(?!\/checkout\/assets\/|\?lang=|data:,)[^"]*/g), null)
    for (const [, path] of text.matchAll(/(?:src|href)="(\/checkout\/assets\/[^"]+)"/g)) {
      assert.equal((await fetch(url + path)).status, 200)
    }
  })

  test('hostile text is shown, never executed', async () => {
    const orderName = `"><script>alert('1')</script>&amp;`
    const text = await (await getPage(await open({ orderName }))).text()
    assert.ok(text.includes('&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;'))
    assert.equal(text.match(/<script/g)?.length, 1)
  })

  test('the address of a window that was never opened is 404, for the page and both buttons', async () => {
    const address = `${url}/checkout/${'x'.repeat(24)}`
    for (const response of [
      await getPage(address),
      await press(address, 'pay', 'approve'),
      await press(address, 'cancel'),
    ]) {
      assert.equal(response.status, 404)
      assert.match(await response.text(), /There is no such payment/)
    }
  })
})

describe('pay', () => {
  for (const result of ['approve', 'decline', 'insufficient', 'limit', 'expired-card', 'hang']) {
    test(`with the card ${result} authenticates the payment and redirects to successUrl`, async () => {
      const request = order()
      const { place, query } = redirectOf(await press(await open(request), 'pay', result))
      const payment = paymentOf(request.orderId)
      assert.deepEqual([payment?.status, payment?.result], ['IN_PROGRESS', result])
      assert.equal(place, 'https://shop.example/success')
      const { paymentKey } = payment ?? {}
      assert.deepEqual(query, { from: 'gateway', paymentKey, orderId: request.orderId, amount: '20000' })
    })
  }

  test('from widgets adds paymentType', async () => {
    const request = { ...order(), product: 'widgets', method: undefined }
    assert.equal(redirectOf(await press(await open(request), 'pay', 'approve')).query.paymentType, 'NORMAL')
  })

  test('with the card that is refused in the window redirects to failUrl with REJECT_CARD_COMPANY and the order', async () => {
    const request = order()
    const address = await open(request)
    const { place, query } = redirectOf(await press(address, 'pay', 'refused'))
    assert.equal(place, 'https://shop.example/fail#top')
    const message = 'The card company refused the payment.'
    assert.deepEqual(query, { code: 'REJECT_CARD_COMPANY', message, orderId: request.orderId })
    assert.equal(paymentOf(request.orderId)?.status, 'READY')
    assert.equal((await press(address, 'pay', 'approve')).status, 410)
  })

  test('without a card, or with one that does not exist, shows the page again and leaves the payment READY', async () => {
    const request = order()
    const address = await open(request)
    for (const card of [undefined, 'gold', '__proto__']) {
      const response = await press(address, 'pay', card)
      assert.equal(response.status, 400)
      assert.match(await response.text(), /role="alert"[^>]*>Choose one of the cards/)
    }
    assert.equal(paymentOf(request.orderId)?.status, 'READY')
  })

  test('pressed again, after going back, redirects to the same place with the same payment', async () => {
    const request = order()
    const address = await open(request)
    const first = redirectOf(await press(address, 'pay', 'approve'))
    assert.deepEqual(redirectOf(await press(address, 'pay', 'decline')), first)
    assert.equal(payments.all().filter(({ orderId }) => orderId === request.orderId).length, 1)
    assert.equal(paymentOf(request.orderId)?.result, 'approve')
  })
})

describe('a closed window', () => {
  test('cancelled: redirects to failUrl with PAY_PROCESS_CANCELED and without an orderId of the gateway, every time', async () => {
    const address = await open({ failUrl: 'https://shop.example/fail' })
    const first = redirectOf(await press(address, 'cancel', undefined, 'ko'))
    const message = '구매자가 결제를 취소했습니다.'
    assert.deepEqual(first, { place: 'https://shop.example/fail', query: { code: 'PAY_PROCESS_CANCELED', message } })
    assert.deepEqual(redirectOf(await press(address, 'cancel')), first)
    assert.equal((await press(address, 'pay', 'approve')).status, 410)
  })

  test("cancelled: the order in the shop's own failUrl stays", async () => {
    assert.equal(redirectOf(await press(await open(), 'cancel')).query.orderId, 'mine')
  })

  test('paid: shows that, with a link to continue; it can no longer be cancelled', async () => {
    const address = await open()
    const location = (await press(address, 'pay', 'approve')).headers.get('location') ?? ''
    for (const response of [await getPage(address), await press(address, 'cancel')]) {
      assert.equal(response.status, 410)
      const text = await response.text()
      assert.match(text, /already made here/)
      assert.ok(text.includes(`href="${location.replaceAll('&', '&amp;')}"`))
    }
  })

  test('expired after 30 minutes: shows that, with a link back to the shop', async () => {
    const request = order()
    const address = await open(request)
    advancedMs += 30 * 60_000 - 5_000
    assert.equal((await getPage(address)).status, 200)
    advancedMs += 5_000
    for (const response of [
      await getPage(address),
      await press(address, 'pay', 'approve'),
      await press(address, 'cancel'),
    ]) {
      assert.equal(response.status, 410)
      assert.match(
        await response.text(),
        /has expired[\s\S]*href="https:\/\/shop\.example\/fail\?[^"]*PAY_PROCESS_ABORTED/,
      )
    }
    assert.equal(paymentOf(request.orderId)?.status, 'READY')
  })
})
