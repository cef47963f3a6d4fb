// The sandbox's page over plain HTTP: what it shows, what its forms do, and that the control endpoints stay JSON.
// test/browser/sandbox.test.ts has it in a browser.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openSandboxes, shop } from '../../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

async function get(path: string, language = 'en') {
  const response = await fetch(`${url}${path}`, { redirect: 'manual', headers: { 'accept-language': language } })
  return { status: response.status, html: await response.text(), headers: response.headers }
}

const textOf = (html: string) => html.replace(/<head>[\s\S]*<\/head>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** Sends a form of the page as a browser does. */
async function send(name: string, form: Record<string, string>, origin = url) {
  const response = await fetch(`${url}/sandbox/page/${name}?lang=en`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin },
    body: new URLSearchParams(form),
  })
  return { status: response.status, location: response.headers.get('location'), text: textOf(await response.text()) }
}

const control = async (path: string) => (await fetch(`${url}/sandbox/${path}`)).json()

describe('the page', () => {
  test('/ leads to it, in the language of the browser unless the address has one', async () => {
    const { status, headers } = await get('/')
    assert.deepEqual([status, headers.get('location')], [302, '/sandbox'])
    assert.match((await get('/sandbox')).html, /<html lang="en">[\s\S]*<h1>Toss sandbox<\/h1>/)
    assert.match((await get('/sandbox', 'ko')).html, /<html lang="ko">[\s\S]*<h1>토스 샌드박스<\/h1>/)
    assert.match((await get('/sandbox?lang=ko')).html, /<html lang="ko">/)
  })

  test('runs no script but its own, sends forms to itself only, and shows what a shop sent as text', async () => {
    const { paymentKey } = await toss.checkout(1000)
    await toss.confirm({ paymentKey, orderId: '<script>alert(1)</script>', amount: 1000 }, '"><img src=x>')
    const { html, headers } = await get(`/sandbox?payment=${paymentKey}`)
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; .*form-action 'self'/)
    assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe|https?:/)
    assert.doesNotMatch(html, /<script>|<img src=x/)
    assert.match(html, /&quot;&gt;&lt;img src=x&gt;/)
  })

  test('shows 50 payments a page, newest first, or the one that the address names', async () => {
    const own = await start({ name: 'pages' })
    const orderIds: string[] = []
    for (let count = 0; count < 51; count += 1) orderIds.push((await shop(own.url).checkout()).orderId)
    const shown = async (query: string) => {
      const html = await (await fetch(`${own.url}/sandbox${query}`)).text()
      return [...html.matchAll(/<span class="id">([^<]+)</g)].map(([, orderId]) => orderId)
    }
    const newestFirst = orderIds.toReversed()
    assert.deepEqual(await shown('?lang=en'), newestFirst.slice(0, 50))
    assert.deepEqual(await shown('?lang=en&page=2'), newestFirst.slice(50))
    const { payments } = (await (await fetch(`${own.url}/sandbox/payments`)).json()) as { payments: Listed[] }
    assert.deepEqual(await shown(`?payment=${payments[7]?.paymentKey}`), [orderIds[7]])
    assert.deepEqual(await shown('?payment=unknown'), [])
  })
})
type Listed = { paymentKey: string; orderId: string }

test('what a shop sent is listed with its key, the fault and the answer', async () => {
  const checkout = await toss.checkout(20_000)
  await toss.faults({ on: 'confirm', kind: 'html-after', times: 1 })
  await fetch(`${url}/v1/payments/confirm`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('test_sk_sandboxtests:')}`,
      'content-type': 'application/json',
      'idempotency-key': 'k-1',
    },
    body: JSON.stringify(checkout),
  })
  await toss.confirm(checkout, 'k-1')
  await toss.confirm(checkout)
  await toss.lookupOrder(checkout.orderId)
  type Sent = { operation: string; orderId: string; paymentKey: string | null }
  const { requests } = (await control('requests')) as { requests: Sent[] }
  const sent = requests.filter(({ orderId }) => orderId === checkout.orderId)
  const none = { paymentKey: checkout.paymentKey, fault: null, replay: false, code: null }
  const confirm = { ...none, operation: 'confirm', amount: 20_000 }
  assert.partialDeepStrictEqual(sent, [
    { ...confirm, idempotencyKey: 'k-1', fault: 'html-after', status: 200 },
    { ...confirm, idempotencyKey: 'k-1', replay: true, status: 200 },
    { ...confirm, idempotencyKey: null, status: 400, code: 'ALREADY_PROCESSED_PAYMENT' },
    { operation: 'lookup', paymentKey: null, amount: null, status: 200 },
  ])
  const text = textOf((await get(`/sandbox?payment=${checkout.paymentKey}`)).html)
  assert.match(text, /Confirm ₩20,000 200 html-after k-1 .* Confirm ₩20,000 200 stored answer – k-1 /)
  assert.match(text, /400 ALREADY_PROCESSED_PAYMENT – none .* Lookup 200 – –/)
})

describe('the forms', () => {
  test('set the next faults one after the other, and clear them', async () => {
    assert.deepEqual(await send('faults', { fault: 'confirm reset-after' }), {
      status: 303,
      location: '/sandbox?lang=en#faults',
      text: '',
    })
    await send('faults', { fault: 'webhook delay', times: '2', delayMs: '50' })
    assert.deepEqual(await control('faults'), [
      { on: 'confirm', kind: 'reset-after', times: 1 },
      { on: 'webhook', kind: 'delay', times: 2, delayMs: 50 },
    ])
    assert.match(textOf((await get('/sandbox')).html), /Waiting to happen confirm · reset-after 1× webhook · delay 2×/)
    await send('faults/clear', {})
    assert.deepEqual(await control('faults'), [])
  })

  test('advance the clock and set behaviour and the webhook address', async () => {
    const before = await toss.now()
    await send('clock', { advanceMs: '600000' })
    assert.ok((await toss.now()) - before >= 600_000)
    const form = { replayServerErrors: 'true', webhookReceived: '2xx', cancelWindowDays: '90' }
    await send('behaviour', form)
    const set = { ...form, replayServerErrors: true, cancelWindowDays: 90 }
    assert.partialDeepStrictEqual(await control('behaviour'), set)
    await send('webhook', { url: 'http://127.0.0.1:9/hook' })
    assert.deepEqual(await control('webhook'), { url: 'http://127.0.0.1:9/hook' })
    await send('webhook', { url: '' })
    assert.deepEqual(await control('webhook'), { url: null })
  })

  test('cancel a part of a payment as the dashboard of the gateway does, and send its webhook again', async () => {
    const { paymentKey } = await toss.paid(20_000)
    const cancel = (cancelAmount: string) => send('cancel', { paymentKey, cancelAmount, cancelReason: 'by hand' })
    assert.equal((await cancel('5000')).status, 303)
    assert.partialDeepStrictEqual((await toss.lookup(paymentKey)).body, {
      status: 'PARTIAL_CANCELED',
      balanceAmount: 15_000,
    })
    assert.match((await cancel('20000')).text, /NOT_CANCELABLE_AMOUNT/)
    const resend = () => send('resend', { paymentKey })
    assert.match((await resend()).text, /No webhook URL is registered/)
    await send('webhook', { url: 'http://127.0.0.1:9/hook' })
    assert.equal((await resend()).status, 303)
    await send('webhook', { url: '' })
    const { webhooks } = (await control('webhooks')) as { webhooks: { paymentKey: string }[] }
    assert.equal(webhooks.filter((each) => each.paymentKey === paymentKey).length, 1)
  })

  test('with wrong values change nothing and show what is expected', async () => {
    const wrong: [string, Record<string, string>, RegExp][] = [
      ['faults', { fault: 'confirm explode' }, /kind: expected one of error-before/],
      ['faults', { fault: 'confirm delay', times: '0' }, /times: expected an integer of at least 1/],
      ['clock', { advanceMs: '-1' }, /advanceMs: expected an integer from 0/],
      ['behaviour', { webhookReceived: '418' }, /webhookReceived: expected one of 200, 2xx/],
      ['behaviour', { cancelWindowDays: 'many' }, /cancelWindowDays: expected an integer from 0 to 3650/],
      ['webhook', { url: 'http://example.com/' }, /this machine only/],
      ['cancel', { paymentKey: 'unknown', cancelAmount: '1', cancelReason: 'x' }, /NOT_FOUND_PAYMENT/],
      ['cancel', {}, /INVALID_REQUEST: cancelReason/],
    ]
    for (const [name, form, message] of wrong) {
      const { status, text } = await send(name, form)
      assert.deepEqual([status, message.test(text)], [400, true], `${name}: ${text.slice(0, 200)}`)
    }
    assert.deepEqual(await control('faults'), [])
  })

  test('of another site are refused, and of a control endpoint are no forms', async () => {
    for (const origin of ['https://elsewhere.example', 'null']) {
      assert.equal((await send('faults', { fault: 'confirm reset-after' }, origin)).status, 403)
    }
    assert.deepEqual(await control('faults'), [])
    const body = new URLSearchParams({ advanceMs: '1' })
    const asForm = await fetch(`${url}/sandbox/clock`, { method: 'POST', body })
    assert.equal(asForm.status, 400)
  })
})
