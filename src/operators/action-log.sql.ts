// The statements on the action log of operators. It is append-only: an action has one row for its beginning and one for its
// end. Until then it is open, with a lease: a trigger keeps `open_actions`. The worker ends an action whose lease is over, with a
// row of its own kind (LOST, `unknown`), so that the end that its process may write later is neither refused nor hides the other.
import { leastUuid } from '../core/ids.ts'
import { type Database, statement } from '../db/database.ts'

export type NewAction = {
  actionId: string
  actor: string
  command: string
  arguments: string[]
  subject: string | null
  reason: string | null
}

const beginActionStatement = statement.global(
  'operators.beginAction',
  `insert into operator_actions (action_id, step, actor, command, arguments, subject, reason)
  values ($1, 'BEGUN', $2, $3, $4, $5, $6)
  on conflict do nothing`,
)

export async function beginAction(database: Database, action: NewAction): Promise<void> {
  const { actionId, actor, command, subject, reason } = action
  await database.run(beginActionStatement, [actionId, actor, command, action.arguments, subject, reason])
}

/** `ok`, `failed`, `requested`, `refused`, `unknown`, or the text of an error. `about`: the ids in its result. */
export type Ending = { outcome: string; about: Record<string, string> }

const endActionStatement = statement.global(
  'operators.endAction',
  `insert into operator_actions (action_id, step, outcome, about)
  values ($1, 'ENDED', $2, $3::jsonb)
  on conflict do nothing`,
)

export async function endAction(database: Database, actionId: string, { outcome, about }: Ending): Promise<void> {
  await database.run(endActionStatement, [actionId, outcome, JSON.stringify(about)])
}

// The default of the column is the length of a lease.
const renewActionStatement = statement.global(
  'operators.renewAction',
  'update open_actions set lease_until = default where action_id = $1',
)

export async function renewAction(database: Database, actionId: string): Promise<void> {
  await database.run(renewActionStatement, [actionId])
}

// Rows that another worker ends at the same moment are left to it.
const endLostActionsStatement = statement.global(
  'operators.endLostActions',
  `insert into operator_actions (action_id, step, outcome, about)
  select action_id, 'LOST', 'unknown', '{}'
  from (select action_id from open_actions where lease_until <= now() order by lease_until limit $1
        for update skip locked) lost
  on conflict do nothing
  returning action_id as "actionId"`,
)

/** Ends actions whose processes have not renewed the lease; returns their ids. */
export async function endLostActions(database: Database, limit: number): Promise<string[]> {
  const ended = await database.run<{ actionId: string }>(endLostActionsStatement, [limit])
  return ended.map(({ actionId }) => actionId)
}

export type ListedAction = NewAction & {
  at: Date
  /** Null: it is in progress. `unknown`: its process was killed, or does not reach the database. */
  outcome: string | null
  about: Record<string, string> | null
  /** Null also when the outcome is `unknown`. */
  endedAt: Date | null
}

/** The end of the action `b`, as `e`. ENDED comes before LOST. */
export const quotedEnd = `left join lateral (
    select l.outcome, l.about, case l.step when 'ENDED' then l.happened_at end as ended_at
    from operator_actions l
    where l.action_id = b.action_id and l.step <> 'BEGUN'
    order by l.step
    limit 1) e on true`

/** The subjects of actions that have no end yet. */
export const subjectsInProgress = `array(
      select b.subject from open_actions o
      join operator_actions b on b.action_id = o.action_id and b.step = 'BEGUN'
      where b.subject is not null)`

/** An action with beginning and end. */
export const actionColumns = `b.action_id as "actionId", b.happened_at as "at", b.actor, b.command, b.arguments, b.subject,
    b.reason, e.outcome, e.about, e.ended_at as "endedAt"`
const fromActions = `from operator_actions b
  ${quotedEnd}
  where b.step = 'BEGUN'`

const listActionsStatement = statement.global(
  'operators.listActions',
  `select ${actionColumns}
  ${fromActions}
  order by b.happened_at desc, b.action_id
  limit $1`,
)

/** Newest first. */
export function listActions(database: Database, limit: number): Promise<ListedAction[]> {
  return database.run<ListedAction>(listActionsStatement, [limit])
}

type ActionPlace = { place: string; actionId: string }
const firstPlace: ActionPlace = { place: '-infinity', actionId: leastUuid }
const actionsPerPage = 1_000

const readActionsStatement = statement.global(
  'operators.readActions',
  `select ${actionColumns}, b.happened_at::text as "place"
  ${fromActions} and b.happened_at >= $1::timestamptz and b.happened_at < $2::timestamptz
    and (b.happened_at, b.action_id) > ($3::timestamptz, $4::uuid)
  order by b.happened_at, b.action_id
  limit $5`,
)

/** Oldest first, page by page: actions that began from a time on and before another. */
export async function* readActions(
  database: Database,
  from: Date | null,
  before: Date | null,
): AsyncGenerator<ListedAction[]> {
  for (let after: ActionPlace = firstPlace; ; ) {
    const values = [from ?? '-infinity', before ?? 'infinity', after.place, after.actionId, actionsPerPage]
    const page = await database.run<ListedAction & ActionPlace>(readActionsStatement, values)
    yield page
    const last = page.at(-1)
    if (!last || page.length < actionsPerPage) return
    after = last
  }
}
