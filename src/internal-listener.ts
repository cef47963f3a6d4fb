// The internal listener, for the platform's own machines: is the process alive, can it serve, and the API by which sibling
// services spend credits. The gateway's state is told but not required: balance and status work without it.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Credits } from './credits/credits.ts'
import { spendingRoutes } from './credits/routes.ts'
import type { AuthenticateService } from './customers/service-tokens.ts'
import type { Database } from './db/database.ts'
import { listMigrations, missingMigrations } from './db/migrate.ts'
import type { Gateway } from './gateway/gateway.ts'
import { buildApiListener } from './http/api-listener.ts'
import { valuesOf } from './http/headers.ts'

export type InternalListenerParts = {
  database: Database
  gateway: Gateway
  credits: Credits
  authenticateService: AuthenticateService
  log: FastifyBaseLogger
  bodyLimitBytes: number
}

export function buildInternalListener(parts: InternalListenerParts): FastifyInstance {
  const { database, gateway, credits, authenticateService, ...rest } = parts
  const app = buildApiListener({
    authenticate: (request) => authenticateService(valuesOf(request, 'authorization')),
    ...rest,
  })
  const migrations = listMigrations()

  app.get('/livez', { config: { open: true } }, async () => ({ status: 'alive' }))

  app.get('/readyz', { config: { open: true } }, async (_request, reply) => {
    const missing = await missingMigrations(database, migrations).catch(() => undefined)
    const ready = missing?.length === 0
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not ready',
      database: missing ? 'answering' : 'not answering',
      migrations: missing ? (ready ? 'applied' : `missing: ${missing.join(', ')}`) : 'not known',
      gateway: gateway.state(),
    })
  })

  spendingRoutes(app, { credits, database })
  return app
}
