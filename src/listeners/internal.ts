// The internal listener, for the platform's own network: health, metrics, the API with which other services spend credits, the
// reference page of both APIs, the transparency log, the operator console, and a page of links to them.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { consoleRoutes } from '../console/console.ts'
import type { ConsoleContext } from '../console/context.ts'
import { assert } from '../core/assert.ts'
import type { Tracing } from '../core/tracing.ts'
import type { Credits } from '../credits/credits.ts'
import { spendingRoutes } from '../credits/routes.ts'
import type { AuthenticateService } from '../customers/service-tokens.ts'
import type { Standbys } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { buildApiListener } from '../http/api-listener.ts'
import { valuesOf } from '../http/headers.ts'
import type { RequestCounts } from '../http/request-counts.ts'
import { referenceRoutes } from '../openapi/page.ts'
import { actorOfService, createActionLog, recordAction } from '../operators/action-log.ts'
import type { PaymentContext } from '../payments/context.ts'
import { refundRoutes } from '../payments/refunds/routes.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { LogSigner } from '../transparency/note.ts'
import { receiptRoutes } from '../transparency/receipts/routes.ts'
import { logRoutes } from '../transparency/routes.ts'
import { healthRoutes } from './health.ts'
import { metricsRoute } from './metrics-route.ts'
import { startPage } from './start-page.ts'

export type InternalRouteParts = {
  database: Database
  log: FastifyBaseLogger
  gateway: Gateway
  /** Whether a payment moves money; shown by /readyz. */
  money?: string
  /** Whether the transparency log signs; shown by /readyz. */
  logState?: string
  /** Whether /readyz demands a synchronous standby. */
  standbys?: Standbys
  credits: Credits
  /** Undefined: without the refunds of the internal API. */
  payments?: PaymentContext
  metrics?: Metrics
  console?: ConsoleContext
  /** Signs the transparency log; undefined: it is not served. */
  signer?: LogSigner
  /** The API document with the addresses of this service; undefined: with the default ones. */
  document?: () => string
}

export type InternalListenerParts = InternalRouteParts & {
  authenticateService: AuthenticateService
  bodyLimitBytes: number
  counts?: RequestCounts
  tracing?: Tracing
  /** Accepted Host names besides addresses and localhost. */
  hostnames?: readonly string[]
}

export function buildInternalListener(parts: InternalListenerParts): FastifyInstance {
  const { database, gateway, money, standbys, credits, payments, authenticateService, metrics, ...others } = parts
  const { console, document, signer, logState, ...rest } = others
  const app = buildApiListener({
    authenticate: (request) => authenticateService(valuesOf(request, 'authorization')),
    callersTraces: 'continue',
    hostnames: [],
    // A reference of 200 characters, percent-encoded.
    maxParamLength: 600,
    ...rest,
  })
  internalRoutes(app, {
    database,
    log: rest.log,
    gateway,
    credits,
    ...(payments && { payments }),
    ...(money && { money }),
    ...(standbys && { standbys }),
    ...(metrics && { metrics }),
    ...(console && { console }),
    ...(document && { document }),
    ...(signer && { signer }),
    ...(logState && { logState }),
  })
  return app
}

/** All routes; the API document is built from them too. */
export function internalRoutes(app: FastifyInstance, parts: InternalRouteParts): void {
  const { database, log, gateway, money, standbys, credits, payments, metrics, console, document, signer, logState } =
    parts
  // A route without a scope would open to every token.
  app.addHook('onRoute', ({ method, url, config = {} }) => {
    assert(config.open || config.scope, `${method} ${url} needs config.scope, or config.open`)
  })
  healthRoutes(app, {
    database,
    gateway,
    ...(money && { money }),
    ...(logState && { logState }),
    ...(standbys && { standbys }),
  })
  if (metrics) metricsRoute(app, metrics)
  spendingRoutes(app, { credits, database })
  // The framework's own log is off.
  const actionLog = createActionLog(database, log)
  app.addHook('onClose', actionLog.finish)
  if (payments) {
    refundRoutes(app, payments, ({ serviceId, orderId, reason }, refund) => {
      const action = { actor: actorOfService(serviceId), command: 'orders refund', arguments: [orderId, '--unused'] }
      return recordAction(actionLog, { ...action, subject: orderId, reason }, refund)
    })
  }
  if (signer) receiptRoutes(app, { database, signer })
  referenceRoutes(app, document)
  if (signer) logRoutes(app, { database, signer })
  if (console) consoleRoutes(app, console, actionLog)
  startPage(app)
}
