// One attempt to deliver a webhook: the allowed addresses, the request, and the result. Redirects are not followed, and
// only loopback addresses are accepted: the sandbox must never send requests to another machine.

import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isLoopback } from '../host-names.ts'
import { paymentObject } from '../payments/payment-object.ts'
import { koreanLocalTime, koreanTime } from '../payments/payments.ts'
import type { Attempt, Delivery } from './deliveries.ts'

const noUrl = { protocol: '', hostname: '' }

/** Returns what is wrong with the URL, or null. */
export function webhookUrlProblem(url: unknown): string | null {
  const { protocol, hostname } = typeof url === 'string' && URL.canParse(url) ? new URL(url) : noUrl
  if (protocol !== 'http:' && protocol !== 'https:') return 'The webhook URL: expected an absolute http or https URL.'
  if (isLoopback(url as string)) return null
  return `The webhook URL leads to ${hostname}: a sandbox delivers to this machine only (localhost, 127.0.0.1, [::1]).`
}

/** The connections of both protocols; `destroy` ends the requests that are under way. */
export type WebhookAgents = { http: http.Agent; https: https.Agent; destroy(): void }

export function createAgents(maxSockets: number): WebhookAgents {
  const options = { keepAlive: true, maxSockets, timeout: 4_000 }
  const agents = { http: new http.Agent(options), https: new https.Agent(options) }
  return {
    ...agents,
    destroy() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

export type Transmission = { url: string; transmissionId: string; retriedCount: number; at: Date; timeoutMs: number }

/** Never throws. Only the status counts; the body is dropped. */
export async function postWebhook(
  agents: WebhookAgents,
  { payment, atMs }: Delivery,
  to: Transmission,
): Promise<Attempt> {
  const { transmissionId, retriedCount, at } = to
  const attempt = { transmissionId, retriedCount, atMs: at.getTime() }
  const envelope = {
    eventType: 'PAYMENT_STATUS_CHANGED',
    createdAt: koreanLocalTime(atMs),
    data: paymentObject(payment),
  }
  const signal = AbortSignal.timeout(to.timeoutMs)
  try {
    const isHttps = to.url.startsWith('https:')
    const request = (isHttps ? https : http).request(to.url, {
      agent: isHttps ? agents.https : agents.http,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'tosspayments-webhook-transmission-time': koreanTime(at),
        'tosspayments-webhook-transmission-retried-count': String(retriedCount),
        'tosspayments-webhook-transmission-id': transmissionId,
      },
      signal,
    })
    // The connection may fail after the answer has arrived.
    request.on('error', () => undefined)
    request.end(JSON.stringify(envelope))
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.on('error', () => undefined).resume()
    return { ...attempt, status: response.statusCode ?? null, error: null }
  } catch (error) {
    const { code, name } = (signal.aborted ? signal.reason : error) as { code?: unknown; name: string }
    return { ...attempt, status: null, error: typeof code === 'string' ? code : name }
  }
}
