// The audits of the books: the list, one with its findings, and whether the next one is overdue. The worker runs them every
// night; the command `audit` runs one at any time.
import { refuse } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import type { Backlog } from '../../payments/books/backlog.sql.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import { findAudit, listAudits } from './audits.sql.ts'

/** Two nights without an audit, the same threshold as the alert. */
const overdueSeconds = 2 * 86_400

/** As the alert counts: without any audit, from the day on which they were first recorded. */
export function isAuditOverdue({ auditAgeSeconds }: Backlog): boolean {
  return auditAgeSeconds > overdueSeconds
}

export function auditHandlers({ database }: Pick<ConsoleContext, 'database'>): Handlers<'audits' | 'audit'> {
  return {
    async audits({ query }) {
      const limit = limitOf(query)
      const rows = await listAudits(database, cursorOf(query, uuidPattern), limit + 1)
      const { page, nextCursor } = pageOf(rows, limit, (row) => row.auditId)
      return { audits: page, nextCursor }
    },
    async audit({ params }) {
      const audit = await findAudit(database, params.auditId)
      if (!audit) throw refuse('NOT000', { message: 'There is no such audit.' })
      return audit
    },
  }
}
