// API keys and tokens of services are suspended and made to work again by the same two commands.
import type { KeyStatus } from '../customers/sql.ts'
import type { Database } from '../db/database.ts'
import { type Call, type Command, needsOne } from './command.ts'

type Suspended = {
  noun: string
  /** What it is called in a sentence, and how its id is written. */
  what: string
  idName: 'keyId' | 'serviceId'
  /** Whether there is such a one. */
  update: (database: Database, id: string, status: KeyStatus) => Promise<boolean>
}

export function suspensionCommands({ noun, what, idName, update }: Suspended): Command[] {
  const takes = idName.toUpperCase()
  const check = needsOne(takes, ` (see: ${noun} list)`)
  const setTo = (status: KeyStatus) =>
    async function run({ database, positionals: [id = ''] }: Call): Promise<object> {
      if (!(await update(database, id, status))) throw new Error(`There is no ${what} ${id}.`)
      return { [idName]: id, status }
    }
  return [
    {
      ...{ name: `${noun} suspend`, takes, changes: true, check, run: setTo('SUSPENDED') },
      does: `Suspends a ${what}: AUTH003 within a second on every instance.`,
    },
    {
      ...{ name: `${noun} activate`, takes, changes: true, check, run: setTo('ACTIVE') },
      does: `Makes a suspended ${what} work again.`,
    },
  ]
}
