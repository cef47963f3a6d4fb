// The operator console: registers its API, its CSV exports and its pages on a listener.
import type { FastifyInstance } from 'fastify'
import type { ActionLog } from '../operators/action-log.ts'
import { actionLogHandlers } from './action-log/action-log.ts'
import { adjustmentHandlers } from './adjustments/adjustments.ts'
import { auditHandlers } from './books/audits.ts'
import { bookHandlers } from './books/books.ts'
import { discrepancyHandlers } from './books/discrepancies.ts'
import { newKeyCancelHandlers } from './books/new-key-cancels.ts'
import { paymentHandlers } from './books/payments.ts'
import type { ConsoleContext } from './context.ts'
import { customerHandlers } from './customers/customers.ts'
import { eventHandlers } from './events/events.ts'
import { exportRoutes } from './exports.ts'
import { createGuard, type Guard } from './guard.ts'
import { homeHandlers } from './home/home.ts'
import { orderHandlers } from './orders/orders.ts'
import { pageRoutes } from './pages.ts'
import { apiRoutes } from './routes.ts'
import { searchHandlers } from './search/search.ts'
import { sessionHandlers } from './session/session.ts'
import { serviceHandlers } from './tokens/service-tokens.ts'
import { publicationHandlers } from './transparency/publications.ts'
import { transparencyHandlers } from './transparency/transparency.ts'

export function consoleRoutes(app: FastifyInstance, context: ConsoleContext, actionLog: ActionLog): void {
  consoleApi(app, context, actionLog)
  pageRoutes(app)
}

/** Registers everything except the pages, and returns the guard. */
export function consoleApi(app: FastifyInstance, context: ConsoleContext, actionLog: ActionLog): Guard {
  const guard = createGuard(app, context)
  const handlers = {
    ...sessionHandlers(context, guard, actionLog),
    ...actionLogHandlers(context),
    ...homeHandlers(context),
    ...searchHandlers(context),
    ...orderHandlers(context),
    ...customerHandlers(context),
    ...adjustmentHandlers(context),
    ...bookHandlers(context, actionLog, app),
    ...auditHandlers(context),
    ...newKeyCancelHandlers(context),
    ...paymentHandlers(context),
    ...discrepancyHandlers(context),
    ...eventHandlers(context),
    ...serviceHandlers(context),
    ...transparencyHandlers(context),
    ...publicationHandlers(context),
  }
  apiRoutes(app, { guard, actionLog, handlers })
  exportRoutes(app, { ...context, guard, actionLog })
  return guard
}
