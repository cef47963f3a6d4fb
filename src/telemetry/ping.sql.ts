// Whether the database answers at all, apart from whether it counts the backlog in time.
import { type Database, statement } from '../db/database.ts'

const pingStatement = statement('telemetry.ask', 'select 1')

export async function pingDatabase(database: Database): Promise<void> {
  await database.run(pingStatement)
}
