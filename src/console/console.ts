// The operator console: puts its API, its files to save and its pages on a listener.
import type { FastifyInstance } from 'fastify'
import { auditHandlers } from './books/audits.ts'
import { bookHandlers } from './books/books.ts'
import { discrepancyHandlers } from './books/discrepancy.ts'
import { newKeyCancelHandlers } from './books/new-key-cancels.ts'
import { customerHandlers } from './customers/customers.ts'
import { exportRoutes } from './exports.ts'
import { createGuard } from './guard.ts'
import { homeHandlers } from './home/home.ts'
import { orderHandlers } from './orders/orders.ts'
import { pageRoutes } from './pages.ts'
import type { ConsoleParts } from './parts.ts'
import { apiRoutes } from './routes.ts'
import { searchHandlers } from './search/search.ts'
import { sessionHandlers } from './session/session.ts'

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
