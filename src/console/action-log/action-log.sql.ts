// The statements of the page that shows the trail: newest first, page by page, of everything or of one subject.
import { uuidPattern } from '../../core/ids.ts'
import { type Database, statement } from '../../db/database.ts'
import { actionColumns, fromActions, type ListedAction } from '../../operators/action-log.sql.ts'
import { cursorOf, limitOf, type Paging, pageOf } from '../paging.ts'

const attributes = `${actionColumns}, (extract(epoch from b.happened_at) * 1000000)::bigint as "atMicroseconds"`

const listAllStatement = statement(
  'console.listTrail',
  `select ${attributes}
  ${fromActions}
    and (b.happened_at, b.action_id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid)
  order by b.happened_at desc, b.action_id desc
  limit $3`,
)

const listOfSubjectStatement = statement(
  'console.listTrailOfSubject',
  `select ${attributes}
  ${fromActions}
    and b.subject = $4
    and (b.happened_at, b.action_id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid)
  order by b.happened_at desc, b.action_id desc
  limit $3`,
)

/** Where the first page begins. */
export const newestCursor = '9007199254740991~ffffffff-ffff-ffff-ffff-ffffffffffff'
export const microsecondCursorPattern = /^\d{1,16}~[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export type TrailPage = { actions: ListedAction[]; nextCursor: string | null }

export async function listTrail(database: Database, query: Paging & { subject?: string }): Promise<TrailPage> {
  const subject = query.subject && (uuidPattern.test(query.subject) ? query.subject.toLowerCase() : query.subject)
  const limit = limitOf(query)
  const [at, actionId] = (cursorOf(query, microsecondCursorPattern) ?? newestCursor).split('~')
  const found = await database.run<ListedAction & { atMicroseconds: number }>(
    subject === undefined ? listAllStatement : listOfSubjectStatement,
    [at, actionId, limit + 1, ...(subject === undefined ? [] : [subject])],
  )
  const { page, nextCursor } = pageOf(found, limit, (last) => `${last.atMicroseconds}~${last.actionId}`)
  return { actions: page, nextCursor }
}
