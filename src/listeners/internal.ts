// The internal listener, for the platform's own machines: is the process alive, can it serve, the API by which sibling
// services spend credits, the reference page of both APIs, and the console of the operators.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { consoleRoutes } from '../console/console.ts'
import type { ConsoleContext } from '../console/context.ts'
import type { Tracing } from '../core/tracing.ts'
import type { Credits } from '../credits/credits.ts'
import { spendingRoutes } from '../credits/routes.ts'
import type { AuthenticateService } from '../customers/service-tokens.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { buildApiListener } from '../http/api-listener.ts'
import { valuesOf } from '../http/headers.ts'
import type { RequestCounts } from '../http/request-counts.ts'
import { referenceRoutes } from '../openapi/page.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { healthRoutes } from './health.ts'
import { metricsRoute } from './metrics-route.ts'

export type InternalRouteParts = {
  database: Database
  gateway: Gateway
  /** Whether a payment moves money, for readiness. */
  money?: string
  credits: Credits
  metrics?: Metrics
  console?: ConsoleContext
}

export type InternalListenerParts = InternalRouteParts & {
  authenticateService: AuthenticateService
  log: FastifyBaseLogger
  bodyLimitBytes: number
  counts?: RequestCounts
  tracing?: Tracing
  /** Names it answers to besides addresses and localhost. */
  hostnames?: readonly string[]
}

export function buildInternalListener(parts: InternalListenerParts): FastifyInstance {
  const { database, gateway, money, credits, authenticateService, metrics, console, ...rest } = parts
  const app = buildApiListener({
    authenticate: (request) => authenticateService(valuesOf(request, 'authorization')),
    callersTraces: 'go on',
    hostnames: [],
    ...rest,
  })
  internalRoutes(app, {
    database,
    gateway,
    credits,
    ...(money && { money }),
    ...(metrics && { metrics }),
    ...(console && { console }),
  })
  return app
}

/** Every route there is: the API document is made of the same. */
export function internalRoutes(app: FastifyInstance, parts: InternalRouteParts): void {
  const { database, gateway, money, credits, metrics, console } = parts
  healthRoutes(app, { database, gateway, ...(money && { money }) })
  if (metrics) metricsRoute(app, metrics)
  spendingRoutes(app, { credits, database })
  referenceRoutes(app)
  if (console) consoleRoutes(app, console)
}
