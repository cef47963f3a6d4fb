// The webhook listener of a test service over real HTTP, the notifications of the gateway, and their outcomes.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { until } from '../../../harness/until.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import type { Database } from '../../../src/db/database.ts'
import { buildWebhookListener, webhookPath } from '../../../src/listeners/webhook.ts'
import { processNotifications } from '../../../src/payments/recovery/notifications.ts'
import { closeNow } from '../closing.ts'
import { createWatchedLog } from '../leaks.ts'
import { makeDue } from '../service/recovery.ts'
import { type TestService, testSecrets } from '../service/service.ts'

export const webhookToken = 'a-token-of-the-tests'
export type TestWebhooks = Awaited<ReturnType<typeof startTestWebhooks>>

export type NotificationFields = { orderId: string; paymentKey?: string | null; status?: string }

/** A notification as the gateway writes it: the whole payment, with members that we do not use. */
export function notificationOf({ orderId, paymentKey = 'pay_forged', status = 'DONE' }: NotificationFields) {
  const data = {
    version: '2022-11-16',
    orderId,
    paymentKey,
    status,
    totalAmount: 20_000,
    secret: 'ps_secret_of_payment',
  }
  return { eventType: 'PAYMENT_STATUS_CHANGED', createdAt: '2026-01-31T09:00:00.000000', data }
}

let transmissions = 0

export async function startTestWebhooks(
  service: TestService,
  options: { database?: Database; onStored?: () => void } = {},
) {
  const { database = service.payments.database, onStored = () => undefined } = options
  await using opening = new AsyncDisposableStack()
  const { log, assertNoSecret } = createWatchedLog({ ...testSecrets(service.database), WEBHOOK_TOKEN: webhookToken })
  const listener = buildWebhookListener({ database, token: webhookToken, onStored, log, tallies: createTallies() })
  opening.defer(assertNoSecret)
  opening.defer(() => closeNow(listener))
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const base = `http://127.0.0.1:${(listener.server.address() as AddressInfo).port}`
  const url = `${base}${webhookPath(webhookToken)}`

  async function send(address: string, request: RequestInit): Promise<{ status: number; code: string }> {
    const response = await fetch(address, { ...request, signal: AbortSignal.timeout(20_000) })
    const text = await response.text()
    return { status: response.status, code: text ? JSON.parse(text).code : '' }
  }
  const opened = opening.move()
  return {
    base,
    url,
    send,
    /** Posts any body, as JSON or as plain text, with a new transmission id by default. */
    post(body: unknown, headers: Record<string, string> = {}, address = url) {
      transmissions += 1
      const json = { 'content-type': 'application/json', 'tosspayments-webhook-transmission-id': `t_${transmissions}` }
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return send(address, { method: 'POST', headers: { ...json, ...headers }, body: text })
    },
    close: () => opened.disposeAsync(),
  }
}

export type StoredNotification = {
  transmissionId: string
  orderId: string
  paymentKey: string | null
  eventType: string
  status: string | null
  attempts: number
  outcome: string | null
  processInMs: number
}

/** Oldest first; of one order, or of all. */
export function notificationsOf({ database }: TestService, orderId?: string): Promise<StoredNotification[]> {
  return database.query<StoredNotification>(
    `select transmission_id as "transmissionId", order_id as "orderId", payment_key as "paymentKey",
       event_type as "eventType", status, attempts, outcome,
       extract(epoch from process_at - now())::float8 * 1000 as "processInMs"
     from webhook_notifications where $1::text is null or order_id = $1 order by received_at`,
    [orderId ?? null],
  )
}

/** Processes the notifications of an order until each has an outcome, and returns the outcomes. */
export async function outcomesOf(service: TestService, orderId: string): Promise<(string | null)[]> {
  for (let round = 0; round < 10; round += 1) {
    const stored = await notificationsOf(service, orderId)
    if (stored.every(({ outcome }) => outcome !== null)) return stored.map(({ outcome }) => outcome)
    await makeDue(service)
    await processNotifications(service.payments)
  }
  assert.fail(`not processed: ${JSON.stringify(await notificationsOf(service, orderId))}`)
}

/** Waits until this many notifications of an order have arrived. */
export async function arrived(service: TestService, orderId: string, count: number): Promise<void> {
  const what = `${count} notifications of ${orderId}`
  await until(what, async () => (await notificationsOf(service, orderId)).length >= count)
}
