// The CSV files of the console, read and written page by page: memory stays small whatever their length.
import type { CsvValue } from '../../core/csv.ts'
import type { DaySpan } from '../../core/day-span.ts'
import { leastUuid } from '../../core/ids.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../../core/korean-days.ts'
import type { PaidWith } from '../../core/paid-with.ts'
import { type PaidColumns, paidColumnsOf } from '../../core/paid-with.ts'
import type { OutstandingLot } from '../../credits/lots/liability.sql.ts'
import { outstandingPages } from '../../credits/lots/liability-csv.ts'
import { type ExportQuery, type StatementLine, statementPages } from '../../credits/statement/statement-csv.ts'
import type { UseOfDay } from '../../credits/use/use.sql.ts'
import { readUse, type UseRequest } from '../../credits/use/use.ts'
import { findCustomerNames, withCustomerNames } from '../../customers/names.sql.ts'
import type { Database } from '../../db/database.ts'
import { operationKinds } from '../../payments/kinds.ts'
import { findOrders } from '../../payments/orders.sql.ts'
import { findRefundActions, listPayments, type PaymentRow } from '../books/books.sql.ts'
import { readDays } from '../books/books.ts'
import {
  type DiscrepancyRow,
  type DiscrepancyState,
  listDiscrepancies,
  withAmountsAndNames,
} from '../books/discrepancies.sql.ts'
import { refunderOf } from '../orders/ended.ts'
import type { Language } from './headings.ts'
import { type CsvColumn, codeColumnsOf, csvTable, fieldsOf, paidColumns, timesOf } from './table.ts'

const pageSize = 5_000

/** Null: for a script. */
export type FileLanguage = Language | null

type DayRow = Awaited<ReturnType<typeof readDays>>[number]

/** Empty for a day that was not compared. */
function moneyColumns(side: 'gateway' | 'books'): CsvColumn<DayRow>[] {
  return [
    { name: `${side}Captured`, value: (row) => row[side]?.captured ?? null },
    { name: `${side}Cancelled`, value: (row) => row[side]?.cancelled ?? null },
    { name: `${side}Net`, value: (row) => row[side]?.net ?? null },
  ]
}

export async function* daysCsv(database: Database, language: FileLanguage, span: DaySpan): AsyncGenerator<string> {
  const today = koreanDayOf(new Date())
  const ifCompared = (row: DayRow, value: CsvValue) => (row.gateway === null ? null : value)
  const { head, linesOf } = csvTable<DayRow>(language, [
    ...fieldsOf<DayRow>('day'),
    ...codeColumnsOf<DayRow>('state', 'dayState'),
    { name: 'movements', value: (row) => ifCompared(row, row.movements) },
    ...moneyColumns('gateway'),
    ...moneyColumns('books'),
    { name: 'difference', value: (row) => ifCompared(row, row.difference) },
    ...timesOf<DayRow>('comparedAt'),
    ...fieldsOf<DayRow>('reconciliationId'),
    { name: 'isOver', value: (row) => (row.day < today ? 'yes' : 'no') },
  ])
  yield head
  yield linesOf(await readDays(database, span))
}

type PaymentLine = Omit<PaymentRow, 'amount' | 'creditsHeld' | 'paidWith'> &
  PaidColumns & {
    time: Date
    day: string
    customerName: string | null
    packageType: string | null
    /** Granted; negative when taken back. */
    credits: number | null
    status: string | null
    operator: string | null
    /** KRW; negative when it went back. It includes VAT. */
    krw: number
    supply: number
    vat: number
  }

export async function* paymentsCsv(
  database: Database,
  language: FileLanguage,
  { from, to }: DaySpan,
): AsyncGenerator<string> {
  const { head, linesOf } = csvTable<PaymentLine>(language, [
    ...timesOf<PaymentLine>('time'),
    ...fieldsOf<PaymentLine>('day', 'orderId', 'customerId', 'customerName', 'packageType', 'credits'),
    ...codeColumnsOf<PaymentLine>('kind', 'operationKind'),
    ...fieldsOf<PaymentLine>('krw', 'supply', 'vat'),
    ...codeColumnsOf<PaymentLine>('status', 'orderStatus'),
    ...fieldsOf<PaymentLine>('operator'),
    ...codeColumnsOf<PaymentLine>('reason', 'reason'),
    ...fieldsOf<PaymentLine>('paymentKey', 'transactionKey'),
    ...paidColumns<PaymentLine>(),
  ])
  yield head
  const before = startOfKoreanDay(addDays(to, 1)) as Date
  let after = { place: (startOfKoreanDay(from) as Date).toISOString(), operationId: leastUuid }
  for (;;) {
    const page = await listPayments(database, before, after, pageSize)
    yield linesOf(await paymentLines(database, page))
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last
  }
}

async function paymentLines(database: Database, page: PaymentRow[]): Promise<PaymentLine[]> {
  const refunded = page.filter(({ kind }) => kind === 'REFUND' || kind === 'PART')
  const [names, orders, actions] = await Promise.all([
    findCustomerNames(
      database,
      page.map(({ customerId }) => customerId),
    ),
    findOrders(database, page),
    findRefundActions(database, refunded),
  ])
  return page.map((payment, place) => {
    const { amount, creditsHeld, paidWith, ...rest } = payment
    const { kind, closedAt: time, customerId, orderId } = rest
    const order = orders[place]
    return {
      ...rest,
      ...paidColumnsOf(kind === 'CONFIRM' ? paidWith : paidWith && wayOf(paidWith)),
      time,
      day: koreanDayOf(time),
      customerName: names.get(customerId) ?? null,
      packageType: order?.packageType ?? null,
      credits: kind === 'CONFIRM' ? (order?.credits ?? null) : -creditsHeld || 0,
      status: order?.status ?? null,
      operator: refunderOf(payment, actions.get(orderId) ?? [])?.replace(/ in the console from .*$/, '') ?? null,
      ...withVat(operationKinds[kind].netPaidSign, amount),
    }
  })
}

/** Which of the parts went back is not known. */
function wayOf({ method, provider }: PaidWith): PaidWith {
  return { method, provider, cardAmount: null, walletAmount: null, pointsAmount: null }
}

/** VAT is an eleventh of the price, rounded to the won. */
function withVat(sign: number, amount: number): { krw: number; supply: number; vat: number } {
  const vat = Math.round(amount / 11)
  // Not -0.
  const signed = (value: number) => sign * value || 0
  return { krw: signed(amount), supply: signed(amount - vat), vat: signed(vat) }
}

export async function* discrepanciesCsv(
  database: Database,
  language: FileLanguage,
  state: DiscrepancyState,
): AsyncGenerator<string> {
  type Row = DiscrepancyRow & { amount: number | null; customerName: string | null }
  const { head, linesOf } = csvTable<Row>(language, [
    ...fieldsOf<Row>('discrepancyId', 'kind', 'subject', 'customerId', 'customerName', 'orderId', 'amount'),
    ...timesOf<Row>('foundAt', 'lastSeenAt', 'resolvedAt'),
    ...fieldsOf<Row>('resolution'),
    { name: 'detail', value: ({ detail }) => JSON.stringify(detail) },
  ])
  yield head
  for (let after: string | null = null; ; ) {
    const page = await listDiscrepancies(database, state, after, pageSize)
    yield linesOf(await withAmountsAndNames(database, page))
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.discrepancyId
  }
}

export async function* consoleLiabilityCsv(
  database: Database,
  language: FileLanguage,
  before: Date,
): AsyncGenerator<string> {
  type Row = OutstandingLot & { customerName: string | null }
  const { head, linesOf } = csvTable<Row>(language, [
    ...fieldsOf<Row>('customerId', 'customerName', 'orderId', 'packageType'),
    ...codeColumnsOf<Row>('status', 'orderStatus'),
    ...timesOf<Row>('grantedAt'),
    ...fieldsOf<Row>('amount', 'credits', 'used', 'unspent', 'value', 'takenBack'),
  ])
  yield head
  for await (const lots of outstandingPages(database, before)) {
    yield linesOf(await withCustomerNames(database, lots))
  }
}

export async function* consoleStatementCsv(
  database: Database,
  language: FileLanguage,
  query: ExportQuery,
): AsyncGenerator<string> {
  const pages = await statementPages(database, query)
  const { head, linesOf } = csvTable<StatementLine>(language, [
    ...fieldsOf<StatementLine>('entryNumber'),
    ...timesOf<StatementLine>('createdAt'),
    ...codeColumnsOf<StatementLine>('kind', 'entryKind'),
    ...fieldsOf<StatementLine>('delta', 'heldDelta', 'balanceAfter', 'heldAfter', 'availableAfter', 'orderId'),
    ...fieldsOf<StatementLine>('reference', 'holdId', 'service', 'keyId', 'userId', 'label', 'units'),
    ...paidColumns<StatementLine>(),
  ])
  yield head
  for await (const page of pages) yield linesOf(page)
}

/** The column of the values, by what the use is added up by. */
const nameOfValue = { service: 'service', key: 'keyId', user: 'userId', label: 'label' } as const

/** The last line, without a day, is of the values that have no rows. */
export async function* csvOfUse(
  database: Database,
  language: FileLanguage,
  wanted: UseRequest,
): AsyncGenerator<string> {
  type Row = Omit<UseOfDay, 'day'> & { day: string | null }
  const { head, linesOf } = csvTable<Row>(language, [
    ...fieldsOf<Row>('day'),
    { name: nameOfValue[wanted.by], value: (row) => row.value },
    ...fieldsOf<Row>('credits', 'units', 'count'),
  ])
  yield head
  const { rows, others } = await readUse(database, wanted)
  yield linesOf([...rows, ...(others ? [{ day: null, value: null, ...others }] : [])])
}
