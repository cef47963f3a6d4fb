// The statement of a customer as CSV, oldest first. It is written page by page, so memory does not grow with its length.
import { csvLine } from '../../core/csv.ts'
import { type PaidColumns, paidColumnsOf } from '../../core/paid-with.ts'
import type { Database } from '../../db/database.ts'
import type { EntryKind } from '../movements.ts'
import { listEntries, readAccount, type StatementEntry } from './statement.sql.ts'
import { entriesScannedAtMost, findRange } from './statement.ts'

const names = [
  'entryNumber',
  'createdAt',
  'kind',
  'delta',
  'heldDelta',
  'balanceAfter',
  'heldAfter',
  'availableAfter',
  'orderId',
  'reference',
  'holdId',
  'service',
  'keyId',
  'userId',
  'label',
  'units',
  'paidMethod',
  'paidProvider',
  'cardAmount',
  'walletAmount',
  'pointsAmount',
] satisfies (keyof StatementLine)[]

export type StatementLine = Omit<StatementEntry, 'paidWith'> & PaidColumns

function lineOf({ paidWith, ...entry }: StatementEntry): StatementLine {
  return { ...entry, ...paidColumnsOf(paidWith) }
}

const pageSize = 5_000

export type ExportQuery = { customerId: string; from: Date | null; to: Date | null; kinds: EntryKind[] | null }

/** Yields lines with their line ends, the header first. Throws when there is no such customer. */
export async function* statementCsv(database: Database, query: ExportQuery): AsyncGenerator<string> {
  const pages = await statementPages(database, query)
  yield csvLine([...names])
  for await (const page of pages) yield page.map((line) => csvLine(names.map((name) => line[name]))).join('')
}

/** Throws when there is no such customer. */
export async function statementPages(database: Database, query: ExportQuery): Promise<AsyncGenerator<StatementLine[]>> {
  const account = await readAccount(database, query.customerId)
  if (!account) throw new Error(`There is no customer ${query.customerId}.`)
  return readPages(database, query, await findRange(database, query, account.lastEntry))
}

async function* readPages(
  database: Database,
  { customerId, kinds }: ExportQuery,
  { above, upTo }: { above: number; upTo: number },
): AsyncGenerator<StatementLine[]> {
  for (let last = above; last < upTo; ) {
    const end = Math.min(upTo, last + entriesScannedAtMost)
    const page = await listEntries(database, { customerId, above: last, upTo: end, kinds, limit: pageSize }, 'oldest')
    yield page.map(lineOf)
    last = page.length === pageSize ? (page.at(-1)?.entryNumber ?? end) : end
  }
}
