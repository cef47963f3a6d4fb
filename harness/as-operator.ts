// What a campaign does in the place of an operator, with the action that the console or a command records before it.
import type { Database } from '../src/db/database.ts'
import { type Action, argumentOf, recordAction } from '../src/operators/action-log.ts'

/** `credits` of an adjustment, in the form in which a command and the console record them. */
type OperatorAction = Pick<Action, 'command' | 'subject'> & {
  actor?: string
  ids?: string[]
  credits?: number | undefined
}

export function asOperator<Result extends object>(
  database: Database,
  { actor = 'campaign', ids = [], credits, ...action }: OperatorAction,
  work: () => Promise<Result>,
): Promise<Result> {
  const log = { database, onUnwritten: () => undefined }
  const named = credits === undefined ? [] : argumentOf('credits', `${credits}`)
  return recordAction(log, { ...action, actor, arguments: [...ids, ...named], reason: 'campaign' }, work)
}
