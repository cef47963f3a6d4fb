// One attempt to deliver a webhook: the allowed addresses, the request, and the result. Redirects are not followed, and
// only loopback addresses are accepted: the sandbox must never send requests to another machine.

import { type Dispatcher, request } from 'undici'
import { paymentObject } from '../payments/payment-object.ts'
import { koreanLocalTime, koreanTime } from '../payments/payments.ts'
import type { Attempt, Delivery } from './deliveries.ts'

/** Returns what is wrong with the URL, or null. */
export function webhookUrlProblem(url: unknown): string | null {
  const { protocol = '', hostname = '' } = (typeof url === 'string' && URL.parse(url)) || {}
  if (protocol !== 'http:' && protocol !== 'https:') return 'The webhook URL: expected an absolute http or https URL.'
  if (/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)) return null
  return `The webhook URL leads to ${hostname}: a sandbox delivers to this machine only (localhost, 127.0.0.1, [::1]).`
}

export type Transmission = { url: string; transmissionId: string; retriedCount: number; at: Date; timeoutMs: number }

/** Never throws. Only the status counts; the body is dropped. */
export async function postWebhook(agent: Dispatcher, { payment, atMs }: Delivery, to: Transmission): Promise<Attempt> {
  const { transmissionId, retriedCount, at } = to
  const attempt = { transmissionId, retriedCount, atMs: at.getTime() }
  const envelope = {
    eventType: 'PAYMENT_STATUS_CHANGED',
    createdAt: koreanLocalTime(atMs),
    data: paymentObject(payment),
  }
  try {
    const { statusCode, body } = await request(to.url, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'tosspayments-webhook-transmission-time': koreanTime(at),
        'tosspayments-webhook-transmission-retried-count': String(retriedCount),
        'tosspayments-webhook-transmission-id': transmissionId,
      },
      body: JSON.stringify(envelope),
      signal: AbortSignal.timeout(to.timeoutMs),
    })
    body.dump().catch(() => undefined)
    return { ...attempt, status: statusCode, error: null }
  } catch (error) {
    const { code, name } = error as { code?: unknown; name: string }
    return { ...attempt, status: null, error: typeof code === 'string' ? code : name }
  }
}
