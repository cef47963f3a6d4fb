// API keys and tokens of services are suspended and made to work again by the same two commands.
import type { KeyStatus } from '../customers/customers.sql.ts'
import type { Database } from '../db/database.ts'
import type { Argument, Call, Command, DatabaseCommand } from './command.ts'

type Suspended = {
  noun: string
  /** What it is called in a sentence, and how its id is written. */
  what: string
  idName: 'keyId' | 'serviceId'
  /** For the examples. */
  sampleId: string
  about?: DatabaseCommand['about']
  /** Whether there is such a one. */
  update: (database: Database, id: string, status: KeyStatus) => Promise<boolean>
}

export function suspensionCommands({ noun, what, idName, sampleId, about, update }: Suspended): Command[] {
  const argument: Argument = { name: idName.toUpperCase(), about: `the id of the ${what}`, listedBy: `${noun} list` }
  const setTo = (status: KeyStatus) =>
    async function run({ database, positionals: [id = ''] }: Call): Promise<object> {
      if (!(await update(database, id, status))) throw new Error(`There is no ${what} ${id}.`)
      return { [idName]: id, status }
    }
  return [
    {
      name: `${noun} suspend`,
      does: `Suspends a ${what}: AUTH003 within a second on every instance.`,
      more: [`It can be taken back: ${noun} activate.`],
      arguments: [argument],
      examples: [{ line: `${noun} suspend ${sampleId}`, does: `the ${what} is refused from now on` }],
      changes: true,
      ...(about && { about }),
      run: setTo('SUSPENDED'),
    },
    {
      name: `${noun} activate`,
      does: `Makes a suspended ${what} work again.`,
      arguments: [argument],
      examples: [{ line: `${noun} activate ${sampleId}`, does: `the ${what} works again` }],
      changes: true,
      ...(about && { about }),
      run: setTo('ACTIVE'),
    },
  ]
}
