// The public listener, for callers with an API key: the six endpoints of the specification, and what a customer reads of its own
// beside them. Where PUBLIC_REFERENCE is on, also the reference page of these endpoints, and where PUBLIC_LOG is on, the
// transparency log.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Tracing } from '../core/tracing.ts'
import { ownStatementRoute } from '../credits/routes.ts'
import type { Authenticate } from '../customers/authenticate.ts'
import { buildApiListener } from '../http/api-listener.ts'
import type { RequestCounts } from '../http/request-counts.ts'
import { referenceRoutes } from '../openapi/page.ts'
import type { PaymentContext } from '../payments/context.ts'
import { historyRoutes } from '../payments/history/routes.ts'
import { paymentRoutes } from '../payments/routes.ts'
import { type LogRouteParts, logRoutes } from '../transparency/routes.ts'

export type PublicListenerParts = {
  authenticate: Authenticate
  payments: PaymentContext
  log: FastifyBaseLogger
  bodyLimitBytes: number
  counts?: RequestCounts
  tracing?: Tracing
  /** For each API key; 0: no limit. */
  rateLimitPerSecond: number
  /** The document of the public API, for its reference page; undefined: no page. */
  document?: (() => string) | undefined
  /** Undefined: the transparency log is not served here. */
  logParts?: LogRouteParts | undefined
}

export function buildPublicListener(parts: PublicListenerParts): FastifyInstance {
  const { authenticate, payments, rateLimitPerSecond, document, logParts, ...rest } = parts
  const app = buildApiListener({
    authenticate: ({ headers }) => authenticate(headers['service-api-key']),
    rateLimit: rateLimitPerSecond > 0 ? { perSecond: rateLimitPerSecond, burst: rateLimitPerSecond } : null,
    ...rest,
  })
  publicRoutes(app, payments)
  if (document) referenceRoutes(app, document)
  if (logParts) logRoutes(app, logParts)
  return app
}

/** The routes of the API document. */
export function publicRoutes(app: FastifyInstance, payments: PaymentContext): void {
  paymentRoutes(app, payments)
  historyRoutes(app, payments)
  ownStatementRoute(app, payments.database)
}
