// The statements on the trail of what operators did. It is append-only: an action has a row when it begins and one when it
// has ended.
import { type Database, statement } from '../db/database.ts'

export type NewAction = { actionId: string; actor: string; command: string; arguments: string[] }

const beginActionStatement = statement(
  'commands.beginAction',
  `insert into operator_actions (action_id, step, actor, command, arguments)
  values ($1, 'BEGUN', $2, $3, $4)
  on conflict do nothing`,
)

export async function beginAction(database: Database, action: NewAction): Promise<void> {
  await database.run(beginActionStatement, [action.actionId, action.actor, action.command, action.arguments])
}

/** `about`: the ids of what came of it. */
export type Ending = { outcome: string; about: Record<string, string> }

const endActionStatement = statement(
  'commands.endAction',
  `insert into operator_actions (action_id, step, outcome, about)
  values ($1, 'ENDED', $2, $3::jsonb)
  on conflict do nothing`,
)

export async function endAction(database: Database, actionId: string, { outcome, about }: Ending): Promise<void> {
  await database.run(endActionStatement, [actionId, outcome, JSON.stringify(about)])
}

export type ListedAction = {
  actionId: string
  at: Date
  actor: string
  command: string
  arguments: string[]
  /** Null: it is under way, or was killed. */
  outcome: string | null
  about: Record<string, string> | null
  endedAt: Date | null
}

const listActionsStatement = statement(
  'commands.listActions',
  `select b.action_id as "actionId", b.happened_at as "at", b.actor, b.command, b.arguments, e.outcome, e.about,
    e.happened_at as "endedAt"
  from operator_actions b
  left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
  where b.step = 'BEGUN'
  order by b.happened_at desc, b.action_id
  limit $1`,
)

/** The newest first. */
export function listActions(database: Database, limit: number): Promise<ListedAction[]> {
  return database.run<ListedAction>(listActionsStatement, [limit])
}
