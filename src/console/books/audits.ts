// The audits of the books: whether one is overdue, the list, and one with what it found. They are made by the worker and by command.
import { refuse } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import type { Backlog } from '../../payments/books/backlog.sql.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { ConsoleParts } from '../parts.ts'
import type { Handlers } from '../routes.ts'
import { findAudit, listAudits } from './audits.sql.ts'

/** The worker audits every night: with this age two nights have passed without. The alert waits as long. */
const overdueSeconds = 2 * 86_400

/** As the alert counts: where there has been none, from the day on that they are on record. */
export function isAuditOverdue({ auditAgeSeconds }: Backlog): boolean {
  return auditAgeSeconds > overdueSeconds
}

export function auditHandlers({ database }: Pick<ConsoleParts, 'database'>): Handlers<'audits' | 'audit'> {
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
