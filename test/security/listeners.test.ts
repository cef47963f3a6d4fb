// The three listeners as the service builds them: the limits that each of their servers really has, and that the credential
// of one listener is not valid at another.
import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { buildInternalListener, type InternalListenerParts } from '../../src/listeners/internal.ts'
import { buildPublicListener, type PublicListenerParts } from '../../src/listeners/public.ts'
import { buildWebhookListener, type WebhookListenerParts } from '../../src/listeners/webhook.ts'
import { closeAll, closeNow } from '../support/closing.ts'
import { notificationsOf, startTestWebhooks, webhookToken } from '../support/gateway/webhooks.ts'
import { startSpendingService } from '../support/spending/spending.ts'

const common = { log: pino({ level: 'silent' }), bodyLimitBytes: 16_384, rateLimitPerSecond: 0 }
/** Without real parts: no request is sent to them. */
const listeners = {
  public: () => buildPublicListener({ ...common, payments: {} } as unknown as PublicListenerParts),
  internal: () => buildInternalListener({ ...common } as unknown as InternalListenerParts),
  webhook: () => buildWebhookListener({ ...common, token: webhookToken } as unknown as WebhookListenerParts),
}
/** The gateway waits ten seconds for the answer, and everything has to be done by then. */
const requestTimeout = { public: 10_000, internal: 10_000, webhook: 8_000 }

for (const [name, build] of Object.entries(listeners)) {
  test(`the ${name} listener limits heads, requests, idle and silent connections`, async (t) => {
    const app = build()
    t.after(() => closeNow(app))
    await app.ready()
    const server = app.server as Server & { maxHeaderSize?: number }
    assert.deepEqual(
      {
        headersTimeout: server.headersTimeout,
        requestTimeout: server.requestTimeout,
        keepAliveTimeout: server.keepAliveTimeout,
        timeout: server.timeout,
        maxHeaderSize: server.maxHeaderSize,
      },
      {
        headersTimeout: 5_000,
        requestTimeout: requestTimeout[name as keyof typeof requestTimeout],
        keepAliveTimeout: 72_000,
        timeout: 120_000,
        maxHeaderSize: 16_384,
      },
    )
  })
}

let service: Awaited<ReturnType<typeof startSpendingService>>
let webhooks: Awaited<ReturnType<typeof startTestWebhooks>>
let credentials: Record<'API key' | 'service token' | 'webhook token', string>
before(async () => {
  service = await startSpendingService()
  webhooks = await startTestWebhooks(service)
  const { apiKey } = await service.newCustomer()
  credentials = { 'API key': apiKey, 'service token': service.internal.issued.token, 'webhook token': webhookToken }
})
after(() => closeAll(webhooks, service))

type Credential = keyof typeof credentials
const notification = {
  eventType: 'PAYMENT_STATUS_CHANGED',
  data: { orderId: 'ord_1', paymentKey: 'k', status: 'DONE' },
}

/** Every credential at every address of the listeners it is not for. */
const attempts: [listener: string, address: () => string, credential: Credential, codes: string[]][] = [
  ...(['service token', 'webhook token'] as const).flatMap((credential): typeof attempts => [
    ['public', () => `${service.url}/public/v1/payments/credits`, credential, ['INVALID_API_KEY']],
    ['public', () => `${service.url}/webhooks/toss/${credentials[credential]}`, credential, ['INVALID_API_KEY']],
  ]),
  ...(['API key', 'webhook token'] as const).flatMap((credential): typeof attempts => [
    ['internal', () => `${service.internal.url}/internal/v1/credits/spend`, credential, ['INVALID_API_KEY']],
    [
      'internal',
      () => `${service.internal.url}/webhooks/toss/${credentials[credential]}`,
      credential,
      ['INVALID_API_KEY'],
    ],
  ]),
  ...(['API key', 'service token'] as const).flatMap((credential): typeof attempts => [
    ['webhook', () => `${webhooks.base}/webhooks/toss/${credentials[credential]}`, credential, ['NOT000']],
    ['webhook', () => `${webhooks.base}/public/v1/payments/credits`, credential, ['NOT000']],
    ['webhook', () => `${webhooks.base}/internal/v1/credits/spend`, credential, ['NOT000']],
  ]),
]

for (const [listener, address, credential, codes] of attempts) {
  const place = () => new URL(address()).pathname.replace(credentials[credential], 'IT')
  test(`a ${credential} is refused by the ${listener} listener, in any header and at any address`, async () => {
    const secret = credentials[credential]
    const sent = [
      { 'service-api-key': secret },
      { authorization: `Bearer ${secret}` },
      { authorization: `Basic ${btoa(`${secret}:`)}` },
      { cookie: `token=${secret}` },
    ]
    for (const headers of sent) {
      const response = await fetch(address(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(notification),
      })
      const { code } = (await response.json()) as { code: string }
      assert.ok(codes.includes(code), `${place()}: ${code}`)
    }
    assert.deepEqual(await notificationsOf(service), [])
  })
}

test('each credential is accepted by its own listener', async () => {
  const { 'API key': apiKey } = credentials
  assert.equal((await service.call('/public/v1/payments/credits', { key: apiKey })).status, 200)
  assert.equal((await service.internal.spend(crypto.randomUUID(), 1)).body.code, 'NOT000')
  assert.deepEqual(await webhooks.post(notification), { status: 200, code: 'SUCCESS' })
})
