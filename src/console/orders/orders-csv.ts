// The orders of a list as a CSV file, newest first, stretch by stretch.
import type { Database } from '../../db/database.ts'
import type { FileLanguage } from '../csv/files.ts'
import { codeColumnsOf, csvTable, fieldsOf, timesOf } from '../csv/table.ts'
import { failureIn } from './list.ts'
import { findStretchEnd, type ListedOrder, listOrders, type OrdersFilter } from './orders.sql.ts'

const pageSize = 5_000

type Line = Omit<ListedOrder, 'failed'> & { failure: string | null; gatewayCode: string | null }

function lineOf({ failed, ...order }: ListedOrder): Line {
  const failure = failureIn(failed)
  return { ...order, failure: failure?.reason ?? null, gatewayCode: failure?.gatewayCode ?? null }
}

export async function* ordersCsv(
  database: Database,
  language: FileLanguage,
  filter: OrdersFilter,
): AsyncGenerator<string> {
  const { head, linesOf } = csvTable<Line>(language, [
    ...fieldsOf<Line>('orderId'),
    ...timesOf<Line>('createdAt'),
    ...fieldsOf<Line>('customerId', 'customerName', 'packageType', 'amount', 'credits'),
    ...codeColumnsOf<Line>('status', 'orderStatus'),
    ...codeColumnsOf<Line>('failure', 'failure'),
    ...fieldsOf<Line>('gatewayCode'),
    ...timesOf<Line>('confirmedAt'),
    ...fieldsOf<Line>('refundedAmount'),
    ...codeColumnsOf<Line>('openOperation', 'operationKind'),
  ])
  yield head
  for (let below = filter.below; ; ) {
    const stretch = { ...filter, below }
    const end = await findStretchEnd(database, stretch)
    const page = await listOrders(database, { ...stretch, from: end ?? filter.from }, pageSize)
    yield linesOf(page.map(lineOf))
    const next = page.length < pageSize ? end : page.at(-1)?.orderId
    if (!next) return
    below = next
  }
}
