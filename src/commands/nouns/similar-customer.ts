// The customer whose name is nearly that of a new one, and may be meant.
import { areTooManyToRead, maxCustomersRead } from '../../customers/customer-list.sql.ts'
import { listNames, type NamedCustomer } from '../../customers/names.sql.ts'
import type { Database } from '../../db/database.ts'
import { nearest } from '../line/suggest.ts'

/** Names are longer than the words of a command line: one wrong letter in three would be another name. */
const lettersPerFault = 6

/** Without what people write in several ways: case, width, blanks and punctuation. */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{Z}\p{P}]/gu, '')

const digitsOf = (name: string) => name.replaceAll(/\D/g, '')

/** Undefined also where there are too many customers to compare. Names with other digits are numbered, not misspelled. */
export async function findSimilarCustomer(database: Database, name: string): Promise<NamedCustomer | undefined> {
  if (await areTooManyToRead(database)) return undefined
  const typed = folded(name)
  const customers = new Map((await listNames(database, maxCustomersRead)).map((each) => [folded(each.name), each]))
  const comparable = [...customers.keys()].filter((known) => digitsOf(known) === digitsOf(typed))
  const found = nearest(typed, comparable, lettersPerFault)
  return found === undefined ? undefined : customers.get(found)
}
