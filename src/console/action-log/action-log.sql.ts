// The statements of the page of the action log: newest first, of everything or of one subject.
import { type Database, statement } from '../../db/database.ts'
import { actionColumns, fromActions, type ListedAction } from '../../operators/action-log.sql.ts'

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

export type LoggedAction = ListedAction & { atMicroseconds: number }

/** `after`: a cursor of the list, see paging.ts. */
export function listLoggedActions(
  database: Database,
  { subject, after, limit }: { subject: string | undefined; after: string; limit: number },
): Promise<LoggedAction[]> {
  const [at, actionId] = after.split('~')
  return subject === undefined
    ? database.run<LoggedAction>(listAllStatement, [at, actionId, limit])
    : database.run<LoggedAction>(listOfSubjectStatement, [at, actionId, limit, subject])
}
