// A database that refuses the ends of actions for a while, and nothing else.
import type { TestDatabase } from '../database/database.ts'

/** What the worker writes is accepted. */
export async function refusingEnds(database: Pick<TestDatabase, 'query'>, work: () => Promise<void>): Promise<void> {
  await database.query(`alter table operator_actions add constraint no_end check (step <> 'ENDED') not valid`)
  await work().finally(() => database.query('alter table operator_actions drop constraint no_end'))
}
