// The choice of how to pay in the sandbox's payment window, as its form sends it. test/gateway/checkout.test.ts has the window
// itself, test/browser/sandbox.test.ts the form in a browser.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { call, type Json, newOrderId, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

async function open() {
  const orderId = newOrderId()
  const reply = await call(`${url}/checkout/sessions`, 'POST', {
    product: 'payment',
    clientKey: 'test_ck_sandboxtests',
    method: 'CARD',
    amount: { currency: 'KRW', value: 15_000 },
    orderId,
    orderName: 'Standard',
    successUrl: 'https://shop.example/success',
    failUrl: 'https://shop.example/fail',
  })
  return { orderId, address: String(reply.body.checkoutUrl) }
}

const pay = (address: string, form: Record<string, string>) =>
  fetch(`${address}/pay`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'accept-language': 'en' },
    body: new URLSearchParams(form),
  })

/** Pays, confirms as the shop, and returns the payment. */
async function paidWith(form: Record<string, string>): Promise<Json> {
  const { orderId, address } = await open()
  const response = await pay(address, form)
  assert.equal(response.status, 303)
  const { paymentKey, amount } = Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams)
  return (await toss.confirm({ paymentKey, orderId, amount })).body
}

const wallet = (provider: string, amount: number, discountAmount: number) => ({ provider, amount, discountAmount })

test('the page offers four ways, a card first, and four wallets, in both languages', async () => {
  const { address } = await open()
  for (const [language, ways] of Object.entries({
    en: ['How to pay', 'Wallet: card', 'Wallet', 'Toss Pay', 'PAYCO'],
    ko: ['결제 수단', '간편결제 카드', '간편결제', '토스페이', '페이코'],
  })) {
    const page = await (await fetch(`${address}?lang=${language}`)).text()
    for (const way of ways) assert.ok(page.includes(way), way)
    const choices = [...page.matchAll(/name="method" value="([^"]+)" required( checked)?/g)]
    const offered = choices.map(([, value, checked]) => [value, checked !== undefined])
    const others = ['easy-card', 'easy-points', 'easy-money'].map((value) => [value, false])
    assert.deepEqual(offered, [['card', true], ...others])
    const providers = [...page.matchAll(/<option value="([^"]+)"/g)].map(([, provider]) => provider)
    assert.deepEqual(providers, ['토스페이', '네이버페이', '카카오페이', '페이코'])
  }
})

describe('paying with', () => {
  const ways: [Record<string, string>, unknown, unknown][] = [
    [{ card: 'approve' }, 15_000, null],
    [{ card: 'approve', method: 'card', provider: '페이코' }, 15_000, null],
    [{ card: 'approve', method: 'easy-card', provider: '페이코' }, 15_000, wallet('페이코', 0, 0)],
    [{ card: 'approve', method: 'easy-points' }, 10_000, wallet('토스페이', 0, 5_000)],
    [{ card: 'decline', method: 'easy-money', provider: '네이버페이' }, undefined, wallet('네이버페이', 15_000, 0)],
    [{ method: 'easy-money' }, undefined, wallet('토스페이', 15_000, 0)],
  ]
  for (const [form, card, easyPay] of ways) {
    test(`${JSON.stringify(form)} is that payment`, async () => {
      const payment = await paidWith(form)
      const method = easyPay === null ? '카드' : '간편결제'
      assert.deepEqual([payment.status, payment.method, payment.easyPay], ['DONE', method, easyPay])
      assert.equal((payment.card as Json | null)?.amount, card)
    })
  }

  test('a card in a wallet that is declined is declined', async () => {
    for (const method of ['easy-card', 'easy-points']) {
      assert.equal((await paidWith({ card: 'decline', method })).code, 'REJECT_CARD_COMPANY')
    }
  })

  test('a way or a wallet that is not offered shows the page again and leaves the payment READY', async () => {
    const { address, orderId } = await open()
    for (const form of [
      { card: 'approve', method: 'cash' },
      { card: 'approve', method: '__proto__' },
      { card: 'approve', method: 'easy-card', provider: 'Somebody Pay' },
    ]) {
      const response = await pay(address, form)
      assert.equal(response.status, 400)
      assert.match(await response.text(), /role="alert"[^>]*>Choose one of the ways to pay/)
    }
    assert.equal((await pay(address, { method: 'easy-card' })).status, 400)
    assert.equal((await toss.lookupOrder(orderId)).body.status, 'READY')
  })
})
