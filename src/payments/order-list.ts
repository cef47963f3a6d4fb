// Orders by the time of their creation, newest first, however many there are: page by page, from stretch to stretch.
import { orderIdAt } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { findStretchEnd, type ListedOrder, listOrders, type OrdersFilter } from './order-list.sql.ts'

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
