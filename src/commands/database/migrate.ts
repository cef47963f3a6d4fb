// `migrate`: applies the migrations before the services of a version start. The owner's URL, which can change everything, is
// then in no process that serves requests.
import { connectTo, reach } from '../../db/open.ts'
import { prepare } from '../../db/prepare.ts'
import { createCommandLog, recordEndedAction } from '../../operators/action-log.ts'
import { actionOf } from '../action-log-entry.ts'
import type { StandaloneCall } from '../command.ts'

export async function applyMigrations(call: StandaloneCall): Promise<object> {
  const options = { ...call.databaseOptions, use: 'command' } as const
  const { places, leave } = await reach(options)
  const applied = await prepare(places).catch(async (error) => {
    await leave()
    throw error
  })
  const { database, place, close } = await connectTo(options, places, leave)
  try {
    // Logged afterwards: one of these migrations may have created the action log.
    if (applied.length > 0)
      await recordEndedAction(createCommandLog(database, call), actionOf({ name: 'migrate' }, call), 'ok')
    return { database: place, applied: applied.map((migration) => ({ migration })) }
  } finally {
    await close()
  }
}
