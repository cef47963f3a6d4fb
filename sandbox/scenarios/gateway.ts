// The sandbox as the scenarios use it: over its control endpoints, so that it may be one that runs already.

import type { Fault } from '../faults/faults.ts'
import type { CheckoutResult } from '../payments/payments.ts'
import type { LoggedRequest } from '../protocol/request-log.ts'
import type { GatewayPayment, WebhookDelivery } from './rules.ts'
import { SetupProblem } from './shop.ts'

export type ScenarioGateway = ReturnType<typeof openGateway>

export function openGateway(url: string) {
  async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await fetch(`${url}/sandbox/${path}`, {
      method,
      ...json,
      signal: AbortSignal.timeout(10_000),
    }).catch((error: Error & { cause?: { code?: string } }) => {
      throw new SetupProblem(`No sandbox answers at ${url}: ${error.cause?.code ?? error.message}`)
    })
    if (!response.ok) throw new SetupProblem(`${method} ${url}/sandbox/${path}: ${await response.text()}`)
    return (await response.json()) as Answer
  }

  return {
    url,
    pay: async (checkout: { orderId: string; amount: number; result: CheckoutResult }) =>
      (await call<{ paymentKey: string }>('POST', 'payments', checkout)).paymentKey,
    payments: async () => (await call<{ payments: GatewayPayment[] }>('GET', 'payments')).payments,
    requests: async () => (await call<{ requests: LoggedRequest[] }>('GET', 'requests')).requests,
    deliveries: async () => (await call<{ webhooks: WebhookDelivery[] }>('GET', 'webhooks')).webhooks,
    setFaults: (faults: readonly Fault[]) => call<unknown>('PUT', 'faults', faults),
    webhookUrl: async () => (await call<{ url: string | null }>('GET', 'webhook')).url,
    setWebhookUrl: (to: string | null) => call<unknown>('PUT', 'webhook', { url: to }),
  }
}
