// The list of payments and refunds of a span of days, with its sum: what the figures of Home count, one by one.

import { dayStartOf, spanOf } from '../../core/day-span.ts'
import { addDays } from '../../core/korean-days.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, microsecondCursorPattern, newestCursor, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import { listPaymentsOfSpan, sumPaymentsOfSpan } from './payments.sql.ts'

export function paymentHandlers({ database }: Pick<ConsoleContext, 'database'>): Handlers<'payments'> {
  return {
    async payments({ query }) {
      const { from, to } = spanOf(query)
      const span = { from: dayStartOf('from', from), before: dayStartOf('to', addDays(to, 1)) }
      const filter = { ...span, group: query.group ?? null }
      const limit = limitOf(query)
      const after = (cursorOf(query, microsecondCursorPattern) ?? newestCursor).split('~')
      const [matched, rows] = await Promise.all([
        query.cursor === undefined ? sumPaymentsOfSpan(database, filter) : null,
        listPaymentsOfSpan(database, filter, after, limit + 1),
      ])
      const { page, nextCursor } = pageOf(rows, limit, (row) => `${row.atMicroseconds}~${row.operationId}`)
      return { payments: page, matched, nextCursor }
    },
  }
}
