// The browser script of the sandbox, loaded by Toss's own loader with a stub of the browser's window, and the path
// through the payment window to a confirmed payment. All on a running sandbox.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runInThisContext } from 'node:vm'
import { loadTossPayments } from '@tosspayments/tosspayments-sdk'
import { type RunningSandbox, startSandbox } from '../../sandbox/server.ts'

type Json = Record<string, unknown>
type Coded = { code: string; message: string }

const clientKey = 'test_ck_sandbox'
const secretKey = 'test_sk_checkout'
const customerKey = '@@ANONYMOUS'
const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-checkout-'))
const visited: string[] = []
const window = {
  location: { assign: (address: string) => visited.push(address) },
} as { location: object; TossPayments?: { ANONYMOUS: string } }
const document = {
  currentScript: null as object | null,
  documentElement: { lang: 'en' },
  querySelector: () => null,
  createElement: () => {
    const listeners = new Map<string, () => void>()
    return { src: '', listeners, addEventListener: (name: string, run: () => void) => listeners.set(name, run) }
  },
  head: { appendChild: runScript },
}
let sandbox: RunningSandbox

before(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clientKey, secretKey, dataDir, strict: true })
  Object.assign(globalThis, { window, document })
})
after(async () => {
  await sandbox.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function runScript(script: { src: string; listeners: Map<string, () => void> }): Promise<void> {
  const response = await fetch(script.src)
  assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8')
  document.currentScript = script
  runInThisContext(await response.text(), { filename: script.src })
  script.listeners.get('load')?.()
}

let orders = 0
function order(changes: Json = {}) {
  return {
    method: 'CARD' as const,
    amount: { currency: 'KRW', value: 20_000 },
    orderId: `order-${++orders}-script`,
    orderName: 'Standard Plan - 21 Credits',
    successUrl: 'https://shop.example/success',
    failUrl: 'https://shop.example/fail',
    ...changes,
  }
}

const load = (key = clientKey) => loadTossPayments(key, { src: `${sandbox.url}/v2/standard` })
const payment = async (key = clientKey) => (await load(key)).payment({ customerKey })
const withCode = (code: string) => (error: Coded) => error.code === code && error.message.length > 0

test('the official loader loads it, and a payment proceeds from the window to a confirm', async () => {
  const request = order()
  await (await payment()).requestPayment(request)
  const checkoutUrl = visited.at(-1) ?? ''
  // The language of the page that opens the window.
  assert.match(checkoutUrl, new RegExp(`^${sandbox.url}/checkout/[\\w-]+\\?lang=en$`))
  assert.equal(window.TossPayments?.ANONYMOUS, customerKey)

  const paid = await fetch(checkoutUrl.replace('?', '/pay?'), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ card: 'approve' }),
  })
  const { searchParams } = new URL(paid.headers.get('location') ?? '')
  const confirm = (amount: number) =>
    fetch(`${sandbox.url}/v1/payments/confirm`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ paymentKey: searchParams.get('paymentKey'), orderId: request.orderId, amount }),
    })
  assert.equal((await confirm(1_000)).ok, false)
  const { orderName } = request
  assert.partialDeepStrictEqual(await (await confirm(20_000)).json(), { status: 'DONE', orderName })
  assert.equal((await fetch(checkoutUrl)).status, 410)
})

test("it rejects with the SDK's codes and does not navigate", async () => {
  const visitedBefore = visited.length
  await assert.rejects((await payment('test_ck_other')).requestPayment(order()), withCode('INVALID_CLIENT_KEY'))
  const rejected: [unknown, string][] = [
    [undefined, 'INVALID_PARAMETERS'],
    [order({ orderId: 'x' }), 'INVALID_PARAMETERS'],
    [order({ method: 'TRANSFER' }), 'NOT_SUPPORTED_METHOD'],
    [order({ amount: { currency: 'KRW', value: 0 } }), 'BELOW_ZERO_AMOUNT'],
    [order({ successUrl: '/success' }), 'INCORRECT_SUCCESS_URL_FORMAT'],
    [order({ failUrl: 'javascript:alert(1)' }), 'INCORRECT_FAIL_URL_FORMAT'],
    [order({ successUrl: null, failUrl: null }), 'NOT_SUPPORTED_PROMISE'],
  ]
  for (const [request, code] of rejected) {
    await assert.rejects((await payment()).requestPayment(request as never), withCode(code))
  }
  assert.equal(visited.length, visitedBefore)
})

test('it throws for a key of the wrong family and for an invalid customerKey', async () => {
  const [both, widget, individual] = [await load(), await load('test_gck_1'), await load('test_ck_1')]
  assert.throws(() => widget.payment({ customerKey }), withCode('NOT_SUPPORTED_WIDGET_KEY'))
  assert.throws(() => individual.widgets({ customerKey }), withCode('NOT_SUPPORTED_API_INDIVIDUAL_KEY'))
  assert.throws(() => both.payment({ customerKey: '' }), withCode('INVALID_CUSTOMER_KEY'))
  assert.throws(() => both.widgets({ customerKey: 'test_sk_secret' }), withCode('INSECURE_KEY_USAGE'))
  assert.ok(widget.widgets({ customerKey }) && both.widgets({ customerKey }) && individual.payment({ customerKey }))
  await assert.rejects(load(''), withCode('INVALID_CLIENT_KEY'))
})

test('widgets require an amount, then a method, before they request a payment', async () => {
  const widgets = (await load()).widgets({ customerKey })
  await assert.rejects(widgets.renderPaymentMethods({ selector: '#methods' }), withCode('NOT_SETUP_AMOUNT'))
  await assert.rejects(widgets.setAmount({ currency: 'USD', value: 1 }), withCode('INVALID_AMOUNT_CURRENCY'))
  await widgets.setAmount({ currency: 'KRW', value: 20_000 })
  await assert.rejects(widgets.requestPayment(order()), withCode('NOT_SELECTED_PAYMENT_METHOD'))
})
