// The page of the action log: all actions of operators, or those of one operator, kind, day or subject.

import { dayStartOf } from '../../core/day-span.ts'
import { leastUuid, orderIdPattern, uuidPattern } from '../../core/ids.ts'
import { dayMs } from '../../core/korean-days.ts'
import { findCustomerNames } from '../../customers/names.sql.ts'
import type { Database } from '../../db/database.ts'
import { findOrderKeys } from '../../payments/orders.sql.ts'
import { findDiscrepancyCustomers } from '../books/discrepancies.sql.ts'
import type { ConsoleContext } from '../context.ts'
import type { Query } from '../contract.ts'
import { cursorOf, limitOf, microsecondCursorPattern, newestCursor, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import {
  type ActionFilter,
  cursorAfter,
  findStretchCursor,
  type LoggedAction,
  listLoggedActions,
} from './action-log.sql.ts'

export function actionLogHandlers({ database }: Pick<ConsoleContext, 'database'>): Handlers<'actionLog'> {
  return {
    async actionLog({ query }) {
      const filter = filterOf(query)
      const rows = await listLoggedActions(database, filter)
      const { page, nextCursor } = pageOf(rows, filter.limit, cursorAfter)
      return {
        actions: await withSubjectNames(database, page),
        nextCursor: nextCursor ?? (await findStretchCursor(database, filter)),
      }
    },
  }
}

function filterOf(query: Query<'actionLog'>): ActionFilter {
  const { subject, actor, command, from, to } = query
  return {
    subject: (subject && uuidPattern.test(subject) ? subject.toLowerCase() : subject) ?? null,
    actor: actor ?? null,
    command: command ?? null,
    since: from === undefined ? null : dayStartOf('from', from),
    after: cursorOf(query, microsecondCursorPattern) ?? startOf(to),
    limit: limitOf(query),
  }
}

/** The first page starts after the last moment of the last day. */
function startOf(to: string | undefined): string {
  if (to === undefined) return newestCursor
  return `${(dayStartOf('to', to).getTime() + dayMs) * 1_000}~${leastUuid}`
}

/** The customer that an action is about, or the customer of its order or discrepancy. */
async function withSubjectNames(database: Database, actions: LoggedAction[]) {
  const subjects = [...new Set(actions.flatMap(({ subject }) => subject ?? []))]
  const uuids = subjects.filter((subject) => uuidPattern.test(subject))
  const orderIds = subjects.filter((subject) => orderIdPattern.test(subject))
  const [orders, discrepancies] = await Promise.all([
    findOrderKeys(database, orderIds),
    findDiscrepancyCustomers(database, uuids),
  ])
  const customerOf = (subject: string) =>
    orders.get(subject)?.customerId ?? discrepancies.get(subject) ?? (uuidPattern.test(subject) ? subject : null)
  const names = await findCustomerNames(database, subjects.map(customerOf))
  return actions.map((action) => ({
    ...action,
    subjectName: (action.subject && names.get(customerOf(action.subject) ?? '')) || null,
  }))
}
