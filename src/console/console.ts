// The operator console: puts its API, its files to save and its pages on a listener.
import type { FastifyInstance } from 'fastify'
import { auditHandlers } from './audits.ts'
import { bookHandlers } from './books.ts'
import { customerHandlers } from './customers.ts'
import { discrepancyHandlers } from './discrepancy.ts'
import { exportRoutes } from './exports.ts'
import { createGuard } from './guard.ts'
import { homeHandlers } from './home.ts'
import { newKeyCancelHandlers } from './new-key-cancels.ts'
import { orderHandlers } from './orders.ts'
import { pageRoutes } from './pages.ts'
import type { ConsoleParts } from './parts.ts'
import { apiRoutes } from './routes.ts'
import { searchHandlers } from './search.ts'
import { sessionHandlers } from './session.ts'

export function consoleRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { database, log } = parts
  const guard = createGuard(app, parts)
  const trail = { database, onUnwritten: (text: string) => log.error({}, text) }
  const handlers = {
    ...sessionHandlers(parts, guard, trail),
    ...homeHandlers(parts),
    ...searchHandlers(parts),
    ...orderHandlers(parts),
    ...customerHandlers(parts),
    ...bookHandlers(parts, trail, app),
    ...auditHandlers(parts),
    ...newKeyCancelHandlers(parts),
    ...discrepancyHandlers(parts),
  }
  apiRoutes(app, { guard, trail, handlers })
  exportRoutes(app, { ...parts, guard, trail })
  pageRoutes(app)
}
