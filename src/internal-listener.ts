// The internal listener, for the platform's own machines: is the process alive, can it serve. The gateway's state is
// told but not required: balance and status work without it.
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { refuse } from './core/errors.ts'
import type { Database } from './db/database.ts'
import { listMigrations, missingMigrations } from './db/migrate.ts'
import type { Gateway } from './gateway/gateway.ts'
import { answerError } from './http/error-handler.ts'
import { closeConnectionsWhenStopping } from './http/stopping.ts'

export type InternalListenerParts = { database: Database; gateway: Gateway; log: FastifyBaseLogger }

export function buildInternalListener({ database, gateway, log }: InternalListenerParts): FastifyInstance {
  const migrations = listMigrations()
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 16 * 1024,
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
  })
  closeConnectionsWhenStopping(app)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(async () => {
    throw refuse('NOT000')
  })

  app.get('/livez', async () => ({ status: 'alive' }))

  app.get('/readyz', async (_request, reply) => {
    const missing = await missingMigrations(database, migrations).catch(() => undefined)
    const ready = missing?.length === 0
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not ready',
      database: missing ? 'answering' : 'not answering',
      migrations: missing ? (ready ? 'applied' : `missing: ${missing.join(', ')}`) : 'not known',
      gateway: gateway.state(),
    })
  })
  return app
}
