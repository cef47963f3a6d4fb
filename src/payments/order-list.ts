// Orders by the time of their creation, newest first, however many there are: page by page, from stretch to stretch. And those of
// a payment, as it is named on the card slip or by the gateway.
import { orderIdAt } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { findStretchEnd, type ListedOrder, listOrders, type OrdersFilter } from './order-list.sql.ts'
import {
  approvalNumberForm,
  type FoundOrder,
  findOrdersByApproval,
  findOrdersOfPayment,
  type PaidOrder,
  paymentKeyForm,
} from './order-search.sql.ts'

/** More orders of one approval number are not looked up. */
const maxFound = 100

/** An id is generated just before the order is stored, by another clock. */
const idSlackMs = 600_000

type CreationBounds = Pick<OrdersFilter, 'since' | 'before' | 'from' | 'below'>

/** From a time on, and before another one; null: no bound. */
export function createdBetween(since: Date | null, before: Date | null): CreationBounds {
  return {
    since,
    before,
    from: since && orderIdAt(since.getTime() - idSlackMs),
    below: before && orderIdAt(before.getTime() + idSlackMs),
  }
}

/** The filter, of one order alone. */
export function ofOneOrder(filter: OrdersFilter, { customerId, orderId }: FoundOrder): OrdersFilter {
  // All ids have one length: nothing lies between this one and its continuation.
  return { ...filter, customerId, from: orderId, below: `${orderId}0` }
}

/** A page may be empty where few orders match. */
export async function* readOrderPages(
  database: Database,
  filter: OrdersFilter,
  pageSize: number,
): AsyncGenerator<ListedOrder[]> {
  for (let below = filter.below; ; ) {
    const stretch = { ...filter, below }
    const end = await findStretchEnd(database, stretch)
    const page = await listOrders(database, { ...stretch, from: end ?? filter.from }, pageSize)
    yield page
    const next = page.length < pageSize ? end : page.at(-1)?.orderId
    if (!next) return
    below = next
  }
}

/** By a payment key or an approval number, newest first. An order that only the gateway knows is left out. */
export async function findPaidOrders(database: Database, payment: string): Promise<FoundOrder[]> {
  const found: PaidOrder[] = [
    ...(paymentKeyForm.test(payment) ? await findOrdersOfPayment(database, payment, maxFound) : []),
    ...(approvalNumberForm.test(payment) ? await findOrdersByApproval(database, payment, maxFound) : []),
  ]
  const known = new Map(found.filter((order) => order.customerId !== null).map((order) => [order.orderId, order]))
  return [...known.values()].sort((one, other) => (one.orderId < other.orderId ? 1 : -1))
}
