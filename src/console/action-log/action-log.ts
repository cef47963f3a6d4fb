// The page of the action log: all actions of operators, or those about one order, customer, run or discrepancy.
import { uuidPattern } from '../../core/ids.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, microsecondCursorPattern, newestCursor, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import { listLoggedActions } from './action-log.sql.ts'

export function actionLogHandlers({ database }: Pick<ConsoleContext, 'database'>): Handlers<'actionLog'> {
  return {
    async actionLog({ query }) {
      const limit = limitOf(query)
      const { subject } = query
      const rows = await listLoggedActions(database, {
        subject: subject && uuidPattern.test(subject) ? subject.toLowerCase() : subject,
        after: cursorOf(query, microsecondCursorPattern) ?? newestCursor,
        limit: limit + 1,
      })
      const { page, nextCursor } = pageOf(rows, limit, (last) => `${last.atMicroseconds}~${last.actionId}`)
      return { actions: page, nextCursor }
    },
  }
}
