// The newest checkpoint of the transparency log, for its page.
import { type Database, statement } from '../../db/database.ts'

export type LogState = { size: number; root: string; writtenAt: Date }

const findLogStateStatement = statement.global(
  'console.findLogState',
  `select size, encode(root, 'base64') as "root", appended_at as "writtenAt" from log_head where size > 0`,
)

/** Null: no entry is in the log. */
export async function findLogState(database: Database): Promise<LogState | null> {
  return (await database.run<LogState>(findLogStateStatement))[0] ?? null
}
