// The statement of a customer: the movements of its credits, newest first and page by page, with the balances before and
// after the requested time, and the credits that are held now.
import type { Database } from '../../db/database.ts'
import { type Lot, listLots } from '../lots/lots.sql.ts'
import type { EntryKind } from '../movements.ts'
import { customerNotFound } from '../refusals.ts'
import {
  type Balances,
  findBalances,
  findEntryAt,
  type HeldCredits,
  listEntries,
  readAccount,
  type StatementEntry,
} from './statement.sql.ts'

export type StatementRequest = {
  customerId: string
  from: Date | null
  to: Date | null
  kinds: EntryKind[] | null
  /** The page continues below this entry number. */
  cursor: number | null
  limit: number
}

export type CustomerStatement = {
  customerId: string
  /** Now. Available is the balance less the held credits. */
  balance: Balances
  setAside: HeldCredits[]
  /** Those with credits that are not used, newest first. */
  lots: Lot[]
  /** Before the first requested moment, and after the last. */
  opening: Balances
  closing: Balances
  entries: StatementEntry[]
  nextCursor: string | null
}

const lotsShownAtMost = 100

export type Range = { above: number; upTo: number }

/** Entries that one statement reads to find the requested kinds: a page of a rare kind may be short, or empty. */
export const entriesScannedAtMost = 50_000

/** The entry numbers in a span of time. */
export async function findRange(
  database: Database,
  { customerId, from, to }: Pick<StatementRequest, 'customerId' | 'from' | 'to'>,
  lastEntry: number,
): Promise<Range> {
  const above = from ? await findEntryAt(database, customerId, from, 'before') : 0
  const upTo = to ? await findEntryAt(database, customerId, to, 'before or at') : lastEntry
  // Not past the account that was read: later entries are not in its balance.
  return { above: Math.min(above, upTo, lastEntry), upTo: Math.min(upTo, lastEntry) }
}

export async function readStatement(database: Database, query: StatementRequest): Promise<CustomerStatement> {
  const { customerId, kinds, cursor, limit } = query
  const account = await readAccount(database, customerId)
  if (!account) throw customerNotFound()
  const { above, upTo } = await findRange(database, query, account.lastEntry)
  const top = cursor === null ? upTo : Math.min(upTo, cursor - 1)
  const bottom = Math.max(above, top - entriesScannedAtMost)
  const range = { customerId, above: bottom, upTo: top, kinds, limit: limit + 1 }
  const entries = await listEntries(database, range, 'newest')
  const page = entries.slice(0, limit)
  const last = entries.length > limit ? page.at(-1)?.entryNumber : bottom + 1
  const { balance, held, setAside } = account
  return {
    customerId,
    balance: { balance, held, available: balance - held },
    setAside,
    lots: await listLots(database, customerId, { below: null, limit: lotsShownAtMost, onlyUnspent: true }),
    opening: await findBalances(database, customerId, above),
    closing: await findBalances(database, customerId, upTo),
    entries: page,
    nextCursor: last !== undefined && last > above + 1 ? `${last}` : null,
  }
}

/** The balances at a moment, movements at that moment included; null: now. */
export async function balancesAt(database: Database, customerId: string, moment: Date | null): Promise<Balances> {
  if (moment) {
    return findBalances(database, customerId, await findEntryAt(database, customerId, moment, 'before or at'))
  }
  const { balance, held } = (await readAccount(database, customerId)) ?? { balance: 0, held: 0 }
  return { balance, held, available: balance - held }
}
