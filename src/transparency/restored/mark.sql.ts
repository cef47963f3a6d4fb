// Marks the log of a restored backup: under the names that have signed it nothing is signed again (restores.sql.ts).
// The mark is written before a service can start on the copy. Only the owner of the tables can write it.
import type pg from 'pg'
import { heldBackText, type Restore } from './restores.sql.ts'

const listOriginsText = `
  select split_part(note, E'\\n', 1) as "origin" from log_head
  union
  select split_part(note, E'\\n', 1) from log_checkpoints
  order by 1`

/** The names under which the log of a database was signed; the database may be of a version without a log. */
export async function listSignedOrigins(client: pg.ClientBase): Promise<string[]> {
  const { rowCount } = await client.query(
    `select where to_regclass('log_head') is not null and to_regclass('log_checkpoints') is not null`,
  )
  if (rowCount === 0) return []
  return (await client.query<{ origin: string }>(listOriginsText)).rows.map(({ origin }) => origin)
}

const markText = `
  insert into log_restores (restore_number, restore_id, origins, size)
  select coalesce(max(restore_number), 0) + 1, gen_random_uuid(), $1::text[],
         coalesce((select size from log_head), 0)
  from log_restores
  returning restore_id as "restoreId", size, restored_at as "restoredAt"`

export type LogNames = {
  /** The name in the settings of this environment. */
  configured: string
  /** Names in the database that is replaced, where it can be read. */
  old: string[]
}

/**
 * Marks the names of the copy, of the database that it replaces, and of the settings: after the backup the log may have been renamed
 * to that, or begun, and an earlier copy of the same backup may have signed it. Returns what the operator has to do.
 */
export async function markRestoredLog(client: pg.ClientBase, { configured, old }: LogNames): Promise<string> {
  const origins = [...new Set([...(await listSignedOrigins(client)), ...old, configured])]
  const { rows } = await client.query<Restore>(markText, [origins])
  const [restore] = rows as [Restore]
  return heldBackText(restore, configured)
}
