// Every answer of every listener is counted once, with its route, its code and its duration.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendRaw } from '../../harness/raw-http.ts'
import { samplesOf } from '../support/documents/exposition.ts'
import { notificationOf } from '../support/gateway/webhooks.ts'
import { startWholeService } from '../support/service/whole-service.ts'

type ListenerName = 'public' | 'internal' | 'webhook'

const payments = '/public/v1/payments'
const credits = '/internal/v1/credits'

test('after each kind of answer on each listener the counters equal the answers, and the histograms have the same counts', async () => {
  const service = await startWholeService({ after }, { WORKER: 'off' })
  // The webhooks of the sandbox arrive at any time.
  await service.sandbox.setWebhookUrl(null)
  const { apiKey, customerId } = await service.newKey()
  const suspended = await service.newKey()
  await service.database.query(`update api_keys set status = 'SUSPENDED' where key_id = $1`, [suspended.keyId])
  const { token } = await service.newToken()
  const urls = {
    public: service.publicUrl,
    internal: service.internalUrl,
    webhook: new URL(service.webhookUrl).origin,
  }
  const expected = new Map<string, number>()

  function expect(listener: ListenerName, method: string, route: string, code: string): void {
    const key = [listener, method, route, code].join(' ')
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }

  type Sent = { path?: string; body?: unknown; headers?: Record<string, string>; method?: string }
  async function send(listener: ListenerName, method: string, route: string, sent: Sent = {}) {
    const { path = route, body, headers = {} } = sent
    const response = await fetch(`${urls[listener]}${path}`, {
      method: sent.method ?? method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const code = text.startsWith('{"success"') ? JSON.parse(text).code : response.status === 503 ? 'SVC001' : 'SUCCESS'
    expect(listener, method, route, code)
    return { code, data: text.startsWith('{') ? JSON.parse(text).data : text }
  }
  async function sendBytes(listener: ListenerName, bytes: string): Promise<void> {
    const { body } = await sendRaw(Number(new URL(urls[listener]).port), bytes)
    expect(listener, 'any', 'unmatched', body.code)
  }

  const key = { 'service-api-key': apiKey }
  const bearer = { authorization: `Bearer ${token}` }
  const post = (route: string, body: unknown, headers = key) =>
    send('public', 'POST', `${payments}${route}`, { body, headers })

  for (let turn = 0; turn < 3; turn += 1) await send('public', 'GET', `${payments}/credits`, { headers: key })
  await send('public', 'GET', `${payments}/packages`, { headers: key })
  await send('public', 'GET', `${payments}/credits`)
  await send('public', 'GET', `${payments}/packages`)
  await send('public', 'GET', `${payments}/credits`, { headers: { 'service-api-key': apiKey.replace(/.$/, '_') } })
  await send('public', 'GET', `${payments}/credits`, { headers: { 'service-api-key': `cpk_${'a'.repeat(43)}` } })
  await send('public', 'GET', `${payments}/credits`, { headers: { 'service-api-key': suspended.apiKey } })
  await post('/purchase', '{')
  await post('/purchase', {})
  await post('/purchase', { packageType: 'GOLD' })
  await post('/purchase', { packageType: 'x'.repeat(20_000) })
  const order = (await post('/purchase', { packageType: 'STANDARD' })).data
  await send('public', 'GET', `${payments}/:orderId`, { path: `${payments}/${order.orderId}`, headers: key })
  await send('public', 'GET', `${payments}/:orderId`, { path: `${payments}/unknown`, headers: key })
  await send('public', 'any', 'unmatched', { path: `${payments}/a/b`, method: 'GET', headers: key })
  await send('public', 'any', 'unmatched', { path: `${payments}/credits`, method: 'DELETE', headers: key })
  await send('public', 'any', 'unmatched', { path: '/', method: 'GET' })
  const paymentKey = await service.sandbox.pay(order.orderId, order.amount)
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-before', times: 1 }])
  await post('/confirm', { orderId: order.orderId, paymentKey, amount: order.amount })
  await post('/confirm', { orderId: order.orderId, paymentKey, amount: order.amount })
  await send('internal', 'POST', `${credits}/spend`, {
    body: { customerId, credits: 22, reference: 'too-much' },
    headers: bearer,
  })
  await send('internal', 'POST', `${credits}/spend`, {
    body: { customerId, credits: 1, reference: 'one' },
    headers: bearer,
  })
  await post('/cancel', { paymentKey, reason: 'changed my mind' })
  await service.database.query('alter table accounts rename to accounts_away')
  await send('public', 'GET', `${payments}/credits`, { headers: key })
  await service.database.query('alter table accounts_away rename to accounts')
  await send('internal', 'GET', '/livez')
  await send('internal', 'GET', '/readyz')
  await service.database.query(`update schema_migrations set name = name || ' away' where version = 1`)
  await send('internal', 'GET', '/readyz')
  await service.database.query(`update schema_migrations set name = replace(name, ' away', '') where version = 1`)
  await send('internal', 'any', 'unmatched', { path: '/public/v1/payments/credits', method: 'GET', headers: bearer })
  const webhook = '/webhooks/toss/:token'
  const webhookPath = new URL(service.webhookUrl).pathname
  await send('webhook', 'POST', webhook, { path: webhookPath, body: notificationOf({ orderId: order.orderId }) })
  await send('webhook', 'POST', webhook, { path: webhookPath, body: { nothing: 'of ours' } })
  await send('webhook', 'POST', webhook, { path: '/webhooks/toss/guessed', body: notificationOf(order) })
  await send('webhook', 'any', 'unmatched', { path: '/webhooks/toss', method: 'POST', body: {} })

  for (const listener of ['public', 'internal', 'webhook'] as const) {
    await sendBytes(listener, 'this is no request\r\n\r\n')
    await sendBytes(listener, `GET / HTTP/1.1\r\nHost: a\r\nLong: ${'x'.repeat(20_000)}\r\n\r\n`)
    await sendBytes(listener, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await sendBytes(listener, 'POST / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nContent-Length: 2\r\n\r\n{}')
    await sendBytes(listener, 'GET /nothing HTTP/1.1\r\n\r\n')
  }

  const text = await service.scrape()
  const labelsOf = (labels: Record<string, string>) =>
    [labels.listener, labels.method, labels.route, labels.code].filter((label) => label !== undefined).join(' ')
  const counted = samplesOf(text, 'credits_http_requests_total').filter(({ value }) => value !== 0)
  assert.deepEqual(
    Object.fromEntries(counted.map(({ labels, value }) => [labelsOf(labels), value]).toSorted()),
    Object.fromEntries([...expected].toSorted()),
  )
  const seen = new Set(counted.map(({ labels }) => labels.code))
  for (const code of ['SUCCESS', 'INVALID_API_KEY', 'AUTH001', 'AUTH003', 'VAL001', 'VAL002', 'VAL003', 'VAL004'])
    assert.ok(seen.has(code), code)
  for (const code of ['BUS002', 'PAYMENT_CANCEL_FAILED', 'NOT000', 'SVC001', 'INT001']) assert.ok(seen.has(code), code)

  const byRoute = Map.groupBy(samplesOf(text, 'credits_http_requests_total'), ({ labels: { code: _code, ...rest } }) =>
    labelsOf(rest),
  )
  for (const { labels, value } of samplesOf(text, 'credits_http_request_duration_seconds_count')) {
    const answers = byRoute.get(labelsOf(labels)) ?? []
    assert.equal(
      value,
      answers.reduce((sum, each) => sum + each.value, 0),
      labelsOf(labels),
    )
    byRoute.delete(labelsOf(labels))
  }
  assert.deepEqual([...byRoute.keys()], [])
})
