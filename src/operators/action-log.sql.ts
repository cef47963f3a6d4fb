// The statements on the action log of operators. It is append-only: an action has one row for its beginning and one for its
// end.
import { type Database, statement } from '../db/database.ts'

export type NewAction = {
  actionId: string
  actor: string
  command: string
  arguments: string[]
  subject: string | null
  reason: string | null
}

const beginActionStatement = statement(
  'operators.beginAction',
  `insert into operator_actions (action_id, step, actor, command, arguments, subject, reason)
  values ($1, 'BEGUN', $2, $3, $4, $5, $6)
  on conflict do nothing`,
)

export async function beginAction(database: Database, action: NewAction): Promise<void> {
  const { actionId, actor, command, subject, reason } = action
  await database.run(beginActionStatement, [actionId, actor, command, action.arguments, subject, reason])
}

/** `about`: the ids in its result. */
export type Ending = { outcome: string; about: Record<string, string> }

const endActionStatement = statement(
  'operators.endAction',
  `insert into operator_actions (action_id, step, outcome, about)
  values ($1, 'ENDED', $2, $3::jsonb)
  on conflict do nothing`,
)

export async function endAction(database: Database, actionId: string, { outcome, about }: Ending): Promise<void> {
  await database.run(endActionStatement, [actionId, outcome, JSON.stringify(about)])
}

export type ListedAction = NewAction & {
  at: Date
  /** Null: it is in progress, or its process was killed. */
  outcome: string | null
  about: Record<string, string> | null
  endedAt: Date | null
}

/** An action with beginning and end. */
export const actionColumns = `b.action_id as "actionId", b.happened_at as "at", b.actor, b.command, b.arguments, b.subject,
    b.reason, e.outcome, e.about, e.happened_at as "endedAt"`
const fromActions = `from operator_actions b
  left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
  where b.step = 'BEGUN'`

const listActionsStatement = statement(
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
