// The outstanding liability as CSV: every lot with credits that were unspent at the end of a day, with its value in KRW.

import { csvLine } from '../../core/csv.ts'
import { leastUuid } from '../../core/ids.ts'
import { type Database, isTooSlow } from '../../db/database.ts'
import { listAccounts, listOutstandingLots, type OutstandingLot } from './liability.sql.ts'

const names = [
  'customerId',
  'orderId',
  'packageType',
  'status',
  'grantedAt',
  'amount',
  'credits',
  'used',
  'unspent',
  'value',
  'takenBack',
] satisfies (keyof OutstandingLot)[]

const customersPerPage = 500

/** Some customers have very many orders: when a page takes too long, smaller ones are read. */
async function readPage(database: Database, customerIds: string[], before: Date): Promise<OutstandingLot[]> {
  try {
    return await listOutstandingLots(database, customerIds, before)
  } catch (error) {
    if (!isTooSlow(error) || customerIds.length === 1) throw error
    const middle = Math.ceil(customerIds.length / 2)
    const first = await readPage(database, customerIds.slice(0, middle), before)
    return [...first, ...(await readPage(database, customerIds.slice(middle), before))]
  }
}

/** Yields lines with their line ends, the header first. `before` is the first moment that does not count. */
export async function* liabilityCsv(database: Database, before: Date): AsyncGenerator<string> {
  yield csvLine([...names])
  for await (const lots of outstandingPages(database, before)) {
    yield lots.map((lot) => csvLine(names.map((name) => lot[name]))).join('')
  }
}

/** Page by page, of all customers. */
export async function* outstandingPages(database: Database, before: Date): AsyncGenerator<OutstandingLot[]> {
  for (let after = leastUuid; ; ) {
    const customerIds = await listAccounts(database, after, customersPerPage)
    const last = customerIds.at(-1)
    if (last === undefined) return
    yield await readPage(database, customerIds, before)
    after = last
  }
}
