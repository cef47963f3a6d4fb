// Adding operators and resetting their passwords. Only the command line does this: a person who can run it has access to the
// database anyway, and no operator can create another one in the console.
import { randomLettersAndDigits } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { insertOperator, resetPassword } from './operators.sql.ts'
import { createPasswords, newFirstPassword } from './passwords.ts'
import type { Role } from './permissions.ts'

/** The schema has the same rule as a constraint. */
export const operatorNamePattern = /^[a-z0-9][a-z0-9._-]{1,39}$/

export type AddedOperator = { operatorId: string; name: string; role: Role; firstPassword: string }

/** Undefined: the name is taken. */
export async function addOperator(database: Database, name: string, role: Role): Promise<AddedOperator | undefined> {
  const firstPassword = newFirstPassword()
  const operatorId = `opr_${randomLettersAndDigits(20)}`
  const passwordHash = await createPasswords().hash(firstPassword)
  const isAdded = await insertOperator(database, { operatorId, name, role, passwordHash })
  return isAdded ? { operatorId, name, role, firstPassword } : undefined
}

/** Undefined: there is no operator of that name. */
export async function resetOperator(database: Database, name: string) {
  const firstPassword = newFirstPassword()
  const known = await resetPassword(database, name, await createPasswords().hash(firstPassword))
  return known && { operatorId: known.operatorId, name, firstPassword }
}
