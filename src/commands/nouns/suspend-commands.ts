// The commands `suspend` and `activate`, which API keys and service tokens share.
import type { KeyStatus } from '../../customers/customers.sql.ts'
import type { Database } from '../../db/database.ts'
import type { Argument, Call, Command, DatabaseCommand } from '../command.ts'

type Suspendable = {
  noun: string
  /** Its name in a sentence. */
  what: string
  idName: 'keyId' | 'serviceId'
  /** For the examples. */
  sampleId: string
  findSubject?: DatabaseCommand['findSubject']
  /** Returns whether the id exists. */
  update: (database: Database, id: string, status: KeyStatus) => Promise<boolean>
}

export function suspendCommands({ noun, what, idName, sampleId, findSubject, update }: Suspendable): Command[] {
  const argument: Argument = {
    name: idName.toUpperCase(),
    description: `the id of the ${what}`,
    listedBy: `${noun} list`,
  }
  const setTo = (status: KeyStatus) =>
    async function run({ database, positionals: [id = ''] }: Call): Promise<object> {
      if (!(await update(database, id, status))) throw new Error(`There is no ${what} ${id}.`)
      return { [idName]: id, status }
    }
  return [
    {
      name: `${noun} suspend`,
      summary: `Suspends a ${what}: every instance refuses it with AUTH003 within a second.`,
      details: [`To undo: ${noun} activate.`],
      arguments: [argument],
      examples: [{ line: `${noun} suspend ${sampleId}`, description: `the ${what} is refused from now on` }],
      changesData: true,
      ...(findSubject && { findSubject }),
      run: setTo('SUSPENDED'),
    },
    {
      name: `${noun} activate`,
      summary: `Makes a suspended ${what} valid again.`,
      arguments: [argument],
      examples: [{ line: `${noun} activate ${sampleId}`, description: `the ${what} is accepted again` }],
      changesData: true,
      ...(findSubject && { findSubject }),
      run: setTo('ACTIVE'),
    },
  ]
}
