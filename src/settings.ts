// The settings of payments and of deliveries, from those of the process: what the service and the commands have in common.
import type { Config } from './config.ts'
import type { DeliverySettings } from './events/deliver.ts'
import type { OutboundOptions } from './events/outbound.ts'
import type { PaymentSettings } from './payments/context.ts'
import { failUrlOf } from './payments/fail-url.ts'

/** How long a payment may still be confirmed at the gateway after the buyer has authenticated. */
const gatewaySessionMs = 600_000

export function paymentSettings(config: Config): PaymentSettings {
  const { operationLeaseMs, operationWaitMs, pendingOrdersPerCustomer, pendingOrderLifetimeMs } = config
  return {
    operationLeaseMs,
    operationWaitMs,
    pendingOrdersPerCustomer,
    pendingOrderLifetimeMs,
    // A request may be on its way for as long as its time limit, and find a session that is as old as one can be.
    paymentSessionMs: gatewaySessionMs + config.gatewayTimeoutMs,
    settleFirstPauseMs: Math.min(1_000, config.operationRetryMaxMs),
    settleLongestPauseMs: config.operationRetryMaxMs,
    stuckAfterAttempts: config.operationFlagAttempts,
    clientKey: config.gateway.clientKey,
    successUrl: config.successUrl,
    failUrlOf: failUrlOf(config.failUrl),
  }
}

export function deliverySettings(config: Config): DeliverySettings {
  return {
    timeoutMs: config.eventTimeoutMs,
    firstPauseMs: config.eventFirstPauseMs,
    longestPauseMs: config.eventRetryMaxMs,
    deadAfterMs: config.eventDeadAfterMs,
  }
}

export function outboundOptions(config: Config): OutboundOptions {
  return { allowPrivate: config.eventPrivateAddresses, timeoutMs: config.eventTimeoutMs }
}
