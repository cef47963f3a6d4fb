// The settings of the services under load.
import { randomBytes } from 'node:crypto'
import type { Postgres } from './postgres.ts'

/** Short, so that leases end and orders expire many times within a run. */
export const limits = {
  gatewayTimeoutMs: 1_500,
  gatewayLookupTimeoutMs: 1_000,
  gatewayListTimeoutMs: 3_000,
  operationLeaseMs: 3_000,
  operationWaitMs: 2_000,
  pendingOrderLifetimeMs: 20_000,
  operationRetryMaxMs: 4_000,
  shutdownTimeoutMs: 20_000,
  eventTimeoutMs: 1_000,
  eventFirstPauseMs: 200,
  eventRetryMaxMs: 2_000,
}

/** The name of the transparency log. */
export const logOrigin = 'credits.example/log'

export function serviceEnvironment(
  postgres: Pick<Postgres, 'servingUrlFor' | 'standbys'>,
  gatewayPort: number,
  keys: { clientKey: string; secretKey: string },
  pepper: string,
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: postgres.servingUrlFor('service'),
    DATABASE_STANDBYS: postgres.standbys,
    GATEWAY: 'toss',
    TOSS_API_URL: `http://127.0.0.1:${gatewayPort}`,
    TOSS_CLIENT_KEY: keys.clientKey,
    TOSS_SECRET_KEY: keys.secretKey,
    KEY_PEPPER: pepper,
    LOG_ORIGIN: logOrigin,
    SUCCESS_URL: 'https://shop.example/success',
    FAIL_URL: 'https://shop.example/fail',
    PENDING_ORDERS_PER_CUSTOMER: '0',
  }
}

/** The settings of a run in which much happens. */
export const busySettings: Record<string, string> = {
  RATE_LIMIT_PER_SECOND: '0',
  EVENT_PRIVATE_ADDRESSES: 'allow',
  // `gatewayTimeoutMs` is GATEWAY_TIMEOUT_MS.
  ...Object.fromEntries(
    Object.entries(limits).map(([name, ms]) => [name.replace(/[A-Z]/g, '_$&').toUpperCase(), `${ms}`]),
  ),
}

/** The reason that is stored with refunds of the unused part. */
export const unusedReason = 'unused'

export function newSecret(): string {
  return randomBytes(18).toString('hex')
}
