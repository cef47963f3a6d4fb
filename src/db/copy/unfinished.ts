// A database that is being filled from a copy is marked by a table, from before the first row until everything is checked. A
// process that finds the mark neither serves nor changes what may be incomplete books. Seeing it needs no right. Processes that
// connected before the mark could not see it, so their sessions are searched for.
import type pg from 'pg'
import { sleep } from '../../core/clock.ts'
import { applicationName } from '../database.ts'

type Client = Pick<pg.ClientBase, 'query'>

export async function isUnfinished(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_class where oid = to_regclass('unfinished_copy')`)
  return rowCount !== 0
}

export async function requireFinished(client: Client, isEmbedded: boolean, place: string): Promise<void> {
  if (!(await isUnfinished(client))) return
  const anew = isEmbedded ? 'remove that directory' : 'drop it and create it again'
  throw new Error(
    `A restore or a move into the database ${place} is under way, was interrupted, or its audit found a violation. Wait for ` +
      `it, or ${anew} and run the same command once more.`,
  )
}

export async function markUnfinished(client: pg.ClientBase): Promise<void> {
  await client.query('create table unfinished_copy (begun_at timestamptz not null default now())')
}

export async function markFinished(client: pg.ClientBase): Promise<void> {
  await client.query('drop table unfinished_copy')
}

const findSessionsText = `
  select from pg_stat_activity
  where datname = current_database() and application_name = $1 and pid <> pg_backend_pid() limit 1`

/** An ended session is still listed for a moment. */
const endedSessionRetryMs = 2_000
const sessionPollMs = 50

/** Once the mark is committed: later processes find it, and earlier ones have a session. */
export async function requireNoOtherSession(client: pg.ClientBase, place: string): Promise<void> {
  const deadline = Date.now() + endedSessionRetryMs
  while ((await client.query(findSessionsText, [applicationName])).rowCount !== 0) {
    if (Date.now() > deadline) {
      throw new Error(
        `A service or a command is connected to the database ${place}: stop it first. Nothing was loaded.`,
      )
    }
    await sleep(sessionPollMs)
  }
}
