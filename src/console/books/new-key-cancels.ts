// Cancels made with a new API key. A stolen key is used soon after it was issued: with this list finance can check whether the
// customer or an operator who issued the key cancelled the payment.
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, microsecondCursorPattern, newestCursor, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import { findLastScanned, listNewKeyCancels } from './new-key-cancels.sql.ts'

type Key = { atMicroseconds: number | string; operationId: string }

export function newKeyCancelHandlers({ database }: Pick<ConsoleContext, 'database'>): Handlers<'newKeyCancels'> {
  return {
    async newKeyCancels({ query }) {
      const limit = limitOf(query)
      const cursor = cursorOf(query, microsecondCursorPattern) ?? newestCursor
      const [atMicroseconds = '', operationId = ''] = cursor.split('~')
      const after = { atMicroseconds, operationId }
      const keyOf = (row: Key) => `${row.atMicroseconds}~${row.operationId}`
      const last = await findLastScanned(database, after)
      const { page, nextCursor } = pageOf(await listNewKeyCancels(database, { after, last }, limit), limit, keyOf)
      if (nextCursor !== null) return { cancels: page, nextCursor }
      return { cancels: page, nextCursor: last ? keyOf(last) : null }
    },
  }
}
