// Whether the database answers at all: something else than whether it has counted in time.
import { type Database, statement } from '../db/database.ts'

const askStatement = statement('telemetry.ask', 'select 1')

export async function askDatabase(database: Database): Promise<void> {
  await database.run(askStatement)
}
