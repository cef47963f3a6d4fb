// The migrations as a step of their own, before the services of a version start: then the URL of the owner, who can change
// everything, is in no process that serves.
import { connectTo, reach } from '../db/open.ts'
import { prepare } from '../db/prepare.ts'
import { recordEndedAction } from '../operators/action-log.ts'
import { actionOf } from './action.ts'
import type { BareCall, Command } from './command.ts'

const name = 'migrate'

async function applyMigrations(call: BareCall): Promise<object> {
  const options = { ...call.place, use: 'command' } as const
  const { places, leave } = await reach(options)
  const applied = await prepare(places).catch(async (error) => {
    await leave()
    throw error
  })
  const { database, place, close } = await connectTo(options, places, leave)
  try {
    const onUnwritten = (text: string) => process.stderr.write(`${text}\n`)
    // The trail may be younger than what was applied: it is written when it is there for certain.
    if (applied.length > 0) await recordEndedAction({ database, onUnwritten }, actionOf({ name }, call), 'ok')
    return { database: place, applied: applied.map((migration) => ({ migration })) }
  } finally {
    await close()
  }
}

export const migrateCommand: Command = {
  name,
  does: 'Applies the migrations of this version and gives the role that serves its rights, as the owner of the tables.',
  more: [
    'MIGRATION_DATABASE_URL is the URL of the owner, DATABASE_URL that of the role that serves. Services that start ' +
      'afterwards need the second alone. Services of the version before go on meanwhile.',
    'Any number may run at once, and again: what is applied already is only read.',
  ],
  examples: [{ line: 'migrate', does: 'which migrations were applied' }],
  interrupted: 'A migration is applied as a whole or not at all. Call it again.',
  changes: true,
  alone: applyMigrations,
}
