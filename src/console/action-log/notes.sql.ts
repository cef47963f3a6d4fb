// The notes of operators on a customer: actions of the log that change nothing else.
import { type Database, statement } from '../../db/database.ts'

export type Note = { at: Date; actor: string; note: string }

const notesShown = 50

const listNotesStatement = statement.global(
  'console.listNotes',
  `select happened_at as "at", actor, reason as "note" from operator_actions
  where subject = $1 and step = 'BEGUN' and command = 'customers note'
  order by happened_at desc
  limit $2`,
)

/** Newest first. */
export function listNotes(database: Database, customerId: string): Promise<Note[]> {
  return database.run<Note>(listNotesStatement, [customerId, notesShown])
}
