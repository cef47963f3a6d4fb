// Cancels that were made with a new API key. A key in the wrong hands is used soon after it was issued: this list shows finance
// whether a customer, or an operator who issued the key, gave the money back.

import { microsecondCursorPattern, newestCursor } from '../action-log/action-log.sql.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { ConsoleParts } from '../parts.ts'
import type { Handlers } from '../routes.ts'
import { findLastScanned, listNewKeyCancels } from './new-key-cancels.sql.ts'

type Key = { atMicroseconds: number; operationId: string }

export function newKeyCancelHandlers({ database }: Pick<ConsoleParts, 'database'>): Handlers<'newKeyCancels'> {
  return {
    async newKeyCancels({ query }) {
      const limit = limitOf(query)
      const cursor = cursorOf(query, microsecondCursorPattern) ?? newestCursor
      const [atMicroseconds = '', operationId = ''] = cursor.split('~')
      const behind = { atMicroseconds, operationId }
      const keyOf = (row: Key) => `${row.atMicroseconds}~${row.operationId}`
      const { page, nextCursor } = pageOf(await listNewKeyCancels(database, behind, limit), limit, keyOf)
      if (nextCursor !== null) return { cancels: page, nextCursor }
      const last = await findLastScanned(database, behind)
      return { cancels: page, nextCursor: last ? keyOf(last) : null }
    },
  }
}
