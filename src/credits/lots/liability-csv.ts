// The outstanding liability as CSV: every lot with credits that were unspent at the end of a day, with its value in KRW.
import { leastUuid } from '../../core/ids.ts'
import { csvLine } from '../../core/text/csv.ts'
import type { Database } from '../../db/database.ts'
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
] satisfies (keyof OutstandingLot)[]

const customersPerPage = 500

/** Yields lines with their line ends, the header first. `before` is the first moment that does not count. */
export async function* liabilityCsv(database: Database, before: Date): AsyncGenerator<string> {
  yield csvLine([...names])
  for (let after = leastUuid; ; ) {
    const customerIds = await listAccounts(database, after, customersPerPage)
    const last = customerIds.at(-1)
    if (last === undefined) return
    const lots = await listOutstandingLots(database, customerIds, before)
    yield lots.map((lot) => csvLine(names.map((name) => lot[name]))).join('')
    after = last
  }
}
