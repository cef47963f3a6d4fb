// Toss Payments, or the sandbox, which speaks the same protocol: client, circuit breaker and adapter behind one port.
import type { Gateway } from '../gateway.ts'
import { createTossGateway, type GatewayLog } from './adapter.ts'
import { type BreakerLog, type BreakerState, defaultBreakerSettings, withBreaker } from './breaker.ts'
import { createTossClient } from './client.ts'

export type OpenGatewayOptions = {
  apiUrl: string
  secretKey: string
  gatewayConnectTimeoutMs: number
  gatewayTimeoutMs: number
  gatewayLookupTimeoutMs: number
  gatewayListTimeoutMs: number
}

export type OpenGateway = { gateway: Gateway; breakerState(): BreakerState }

export function openGateway(options: OpenGatewayOptions, log: GatewayLog & BreakerLog): OpenGateway {
  const client = createTossClient({
    apiUrl: options.apiUrl,
    secretKey: options.secretKey,
    connectTimeoutMs: options.gatewayConnectTimeoutMs,
    callTimeoutMs: options.gatewayTimeoutMs,
    lookupTimeoutMs: options.gatewayLookupTimeoutMs,
    listTimeoutMs: options.gatewayListTimeoutMs,
    maxConnections: 256,
  })
  const guarded = withBreaker(client, defaultBreakerSettings, log)
  return { gateway: createTossGateway(guarded, log), breakerState: guarded.breakerState }
}
