// The list of orders, filtered, sorted and summed up. Days become bounds of order ids.
import { refuseFields } from '../../core/errors.ts'
import { orderIdAt, orderIdPattern } from '../../core/ids.ts'
import { addDays, startOfKoreanDay } from '../../core/korean-days.ts'
import type { Database } from '../../db/database.ts'
import { codesOf, type FailureReason, failureOf, failureReasons } from '../../payments/failure-reasons.ts'
import type { Data, Query } from '../contract.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import { refuseBecause } from '../refusals.ts'
import {
  codeOfExpired,
  type FailureCodes,
  findStretchEnd,
  type ListedOrder,
  listOrders,
  listOrdersByAmount,
  maxOrdersScanned,
  type OrdersFilter,
  sumOrders,
} from './orders.sql.ts'

type Filtered = Omit<Query<'orders'>, 'cursor' | 'limit' | 'sort'>

export function filterOf(query: Filtered): OrdersFilter {
  const { status = null, customerId, packageType = null, failure, open, from, to } = query
  if (from && to && from > to) throw faultOf('to', 'must not be before from')
  return {
    status,
    customerId: customerId?.toLowerCase() ?? null,
    packageType,
    isOpen: open === 'yes',
    failure: failure ? failureCodesOf(failure) : null,
    from: from ? firstIdOf('from', from, 0) : null,
    below: to ? firstIdOf('to', to, 1) : null,
  }
}

function faultOf(field: 'from' | 'to', rule: string) {
  return refuseFields('VAL003', [{ field, rule }])
}

/** An id is generated just before the order is stored: around midnight the two may be of different days. */
function firstIdOf(field: 'from' | 'to', day: string, daysAfter: number): string {
  const start = startOfKoreanDay(day) && startOfKoreanDay(addDays(day, daysAfter))
  if (!start || start.getTime() < 0) throw faultOf(field, 'must be a day such as 2026-01-31')
  return orderIdAt(start.getTime())
}

/** Codes that are in no list are `other`, too. */
function failureCodesOf(reason: FailureReason): FailureCodes {
  const codesFor = (each: FailureReason) => (each === 'order-expired' ? [codeOfExpired] : codesOf(each))
  if (reason !== 'other') return { codes: codesFor(reason), areWanted: true }
  return { codes: failureReasons.filter((each) => each !== 'other').flatMap(codesFor), areWanted: false }
}

export function failureIn(failed: ListedOrder['failed']): Data<'order'>['order']['failure'] {
  return failed && { reason: failureOf(failed), gatewayCode: failed.gatewayCode }
}

const rowOf = ({ failed, ...order }: ListedOrder) => ({ ...order, failure: failureIn(failed) })

export async function readOrders(database: Database, query: Query<'orders'>) {
  const filter = filterOf(query)
  const isByAmount = query.sort === 'highest'
  // Newest first, a stretch begins where the page before has ended.
  const cursor = isByAmount ? null : cursorOf(query, orderIdPattern)
  const wanted = { ...filter, below: cursor ?? filter.below }
  const end = await findStretchEnd(database, wanted)
  const stretch = { ...wanted, from: end ?? filter.from }
  const [sums, { orders, nextCursor }] = await Promise.all([
    query.cursor === undefined ? sumOrders(database, stretch) : null,
    isByAmount ? readByAmount(database, stretch, query, end) : readNewest(database, stretch, query, end),
  ])
  return {
    orders: orders.map(rowOf),
    matched: sums && { ...sums, among: end === null ? null : maxOrdersScanned },
    nextCursor,
  }
}

type Page = { orders: ListedOrder[]; nextCursor: string | null }

async function readNewest(
  database: Database,
  stretch: OrdersFilter,
  query: Query<'orders'>,
  end: string | null,
): Promise<Page> {
  const limit = limitOf(query)
  const { page, nextCursor } = pageOf(await listOrders(database, stretch, limit + 1), limit, ({ orderId }) => orderId)
  return { orders: page, nextCursor: nextCursor ?? end }
}

const amountCursorPattern = /^(\d{1,15})~(ord_[0-9A-HJKMNP-TV-Z]{36})$/

/** Sorts one stretch: of more orders the highest are not known. */
async function readByAmount(
  database: Database,
  stretch: OrdersFilter,
  query: Query<'orders'>,
  end: string | null,
): Promise<Page> {
  if (end !== null) {
    const most = maxOrdersScanned.toLocaleString('en-US')
    throw refuseBecause('VAL003', 'too many to sort', `Fewer than ${most} orders can be sorted by amount: choose days.`)
  }
  const limit = limitOf(query)
  const [, amount, orderId = ''] = amountCursorPattern.exec(cursorOf(query, amountCursorPattern) ?? '') ?? []
  const after = amount === undefined ? null : { amount: Number(amount), orderId }
  const rows = await listOrdersByAmount(database, stretch, after, limit + 1)
  const { page, nextCursor } = pageOf(rows, limit, (row) => `${row.amount}~${row.orderId}`)
  return { orders: page, nextCursor }
}
