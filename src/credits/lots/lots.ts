// The lots of a customer, newest first and page by page.
import type { Database } from '../../db/database.ts'
import { customerNotFound } from '../refusals.ts'
import { readAccount } from '../statement/statement.sql.ts'
import { type Lot, listLots } from './lots.sql.ts'

export type LotsRequest = {
  customerId: string
  /** The page continues below this entry number. */
  cursor: number | null
  limit: number
}

export type CustomerLots = {
  customerId: string
  lots: Lot[]
  /** Credits of adjustments that are not used: without value, and used after those of all lots. */
  adjusted: number
  nextCursor: string | null
}

export async function readLots(database: Database, { customerId, cursor, limit }: LotsRequest): Promise<CustomerLots> {
  const account = await readAccount(database, customerId)
  if (!account) throw customerNotFound()
  const lots = await listLots(database, customerId, { below: cursor, limit: limit + 1 })
  const page = lots.slice(0, limit)
  const nextCursor = lots.length > limit ? `${page.at(-1)?.entryNumber}` : null
  return { customerId, lots: page, adjusted: account.adjusted, nextCursor }
}
