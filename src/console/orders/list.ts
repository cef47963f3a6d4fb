// The list of orders, filtered, sorted and summed up. Days become bounds of times and of order ids.
import { dayStartOf } from '../../core/day-span.ts'
import { refuseFields } from '../../core/errors.ts'
import { orderIdPattern } from '../../core/ids.ts'
import { dayMs } from '../../core/korean-days.ts'
import type { Database } from '../../db/database.ts'
import { codesOf, type FailureReason, failureOf, failureReasons } from '../../payments/failure-reasons.ts'
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
} from '../../payments/order-list.sql.ts'
import { createdBetween } from '../../payments/order-list.ts'
import type { Data, Query } from '../contract.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import { refuseBecause } from '../refusals.ts'

type Filtered = Omit<Query<'orders'>, 'cursor' | 'limit' | 'sort'>

export function filterOf(query: Filtered): OrdersFilter {
  const { status = null, customerId, packageType = null, failure, open, from, to } = query
  if (from && to && from > to) throw refuseFields('VAL003', [{ field: 'to', rule: 'must not be before from' }])
  const since = from ? dayStartOf('from', from) : null
  const before = to ? new Date(dayStartOf('to', to).getTime() + dayMs) : null
  return {
    status,
    customerId: customerId?.toLowerCase() ?? null,
    packageType,
    isOpen: open === 'yes',
    failure: failure ? failureCodesOf(failure) : null,
    ...createdBetween(since, before),
  }
}

const codesFor = (reason: FailureReason) => (reason === 'order-expired' ? [codeOfExpired] : codesOf(reason))
const expiredCodes = [...codesFor('order-expired'), ...codesFor('payment-expired')]

/** Codes that are in no list are `other`, and so `declined`. */
function failureCodesOf(wanted: NonNullable<Filtered['failure']>): FailureCodes {
  switch (wanted) {
    case 'expired':
      return { codes: expiredCodes, areWanted: true }
    case 'declined':
      return { codes: expiredCodes, areWanted: false }
    case 'other':
      return { codes: failureReasons.filter((each) => each !== 'other').flatMap(codesFor), areWanted: false }
    default:
      return { codes: codesFor(wanted), areWanted: true }
  }
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
