// The statements of the page of the action log: newest first, of everything or of one subject, filtered by who, what and day.
// There is no index on who and what, so a page filters a stretch of a limited number of actions, and the next page continues
// after the stretch.
import { type Database, statement } from '../../db/database.ts'
import { actionColumns, type ListedAction, quotedEnd } from '../../operators/action-log.sql.ts'

/** Actions that one page reads to filter them. */
export const maxActionsScanned = 20_000

const quotedPlace = `(extract(epoch from b.happened_at) * 1000000)::bigint as "atMicroseconds"`

/** A part of the log: actions before a place, since a time, newest first. */
const quotedBegun = `step = 'BEGUN' and happened_at >= $3::timestamptz
      and (happened_at, action_id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid)
    order by happened_at desc, action_id desc`

// `NAME in the console from ADDRESS`, `NAME as USER` on the command line, `somebody from ADDRESS` for a refused sign-in.
const quotedFilters = `${quotedEnd}
  where ($5::text is null
         or lower(substring(b.actor from '^(.*?)(?: in the console from | as | from |$)')) = lower($5))
    and ($6::text is null or b.command = $6)
  order by b.happened_at desc, b.action_id desc
  limit $4`

const listStatement = statement.global(
  'console.listTrail',
  `select ${actionColumns}, ${quotedPlace}
  from (select * from operator_actions where ${quotedBegun} limit $7) b
  ${quotedFilters}`,
)
const listOfSubjectStatement = statement.global(
  'console.listTrailOfSubject',
  `select ${actionColumns}, ${quotedPlace}
  from (select * from operator_actions where subject = $8 and ${quotedBegun} limit $7) b
  ${quotedFilters}`,
)
const findEndStatement = statement.global(
  'console.findTrailEnd',
  `select ${quotedPlace}, b.action_id as "actionId"
  from (select * from operator_actions where ${quotedBegun} offset $4 limit 1) b`,
)
const findEndOfSubjectStatement = statement.global(
  'console.findTrailEndOfSubject',
  `select ${quotedPlace}, b.action_id as "actionId"
  from (select * from operator_actions where subject = $5 and ${quotedBegun} offset $4 limit 1) b`,
)

export type LoggedAction = ListedAction & { atMicroseconds: number }

export type ActionFilter = {
  subject: string | null
  /** The name of the operator, in upper or lower case. */
  actor: string | null
  command: string | null
  since: Date | null
  /** A cursor of the list, see paging.ts. */
  after: string
  limit: number
}

/** A full page has one action more than the limit. */
export function listLoggedActions(database: Database, filter: ActionFilter): Promise<LoggedAction[]> {
  const { subject, actor, command, limit } = filter
  const scanned = isFiltering(filter) ? maxActionsScanned : limit + 1
  const values = [...placeOf(filter), limit + 1, actor, command, scanned]
  return subject === null
    ? database.run<LoggedAction>(listStatement, values)
    : database.run<LoggedAction>(listOfSubjectStatement, [...values, subject])
}

function isFiltering({ actor, command }: ActionFilter): boolean {
  return actor !== null || command !== null
}

/** The cursor of the last action of the stretch that was filtered; null when there are no more. */
export async function findStretchCursor(database: Database, filter: ActionFilter): Promise<string | null> {
  if (!isFiltering(filter)) return null
  const values = [...placeOf(filter), maxActionsScanned - 1]
  type End = { atMicroseconds: number; actionId: string }
  const [end] = await (filter.subject === null
    ? database.run<End>(findEndStatement, values)
    : database.run<End>(findEndOfSubjectStatement, [...values, filter.subject]))
  return end ? cursorAfter(end) : null
}

export function cursorAfter({ atMicroseconds, actionId }: { atMicroseconds: number; actionId: string }): string {
  return `${atMicroseconds}~${actionId}`
}

function placeOf({ after, since }: ActionFilter): [at: string, actionId: string, since: Date | '-infinity'] {
  const [at = '', actionId = ''] = after.split('~')
  return [at, actionId, since ?? '-infinity']
}
