// The orders of a list as a CSV file, newest first, stretch by stretch.
import { type PaidColumns, paidColumnsOf } from '../../core/paid-with.ts'
import type { Database } from '../../db/database.ts'
import type { ListedOrder, OrdersFilter } from '../../payments/order-list.sql.ts'
import { readOrderPages } from '../../payments/order-list.ts'
import type { FileLanguage } from '../csv/files.ts'
import { codeColumnsOf, csvTable, fieldsOf, paidColumns, timesOf } from '../csv/table.ts'
import { failureIn } from './list.ts'

const pageSize = 5_000

type Line = Omit<ListedOrder, 'failed' | 'paidWith'> &
  PaidColumns & { failure: string | null; gatewayCode: string | null }

function lineOf({ failed, paidWith, ...order }: ListedOrder): Line {
  const failure = failureIn(failed)
  return {
    ...order,
    ...paidColumnsOf(paidWith),
    failure: failure?.reason ?? null,
    gatewayCode: failure?.gatewayCode ?? null,
  }
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
    ...paidColumns<Line>(),
  ])
  yield head
  for await (const page of readOrderPages(database, filter, pageSize)) yield linesOf(page.map(lineOf))
}
