// An operator asks about one order: what the gateway says of it now is what counts, and what can be repaired is.
import { findOrderStory, type StoryDiscrepancy } from '../books/order-story.sql.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderStatus } from '../order-status.ts'
import { findOrderKeys } from '../orders.sql.ts'
import { orderNotFound } from '../refusals.ts'
import { type Review, review } from './review.ts'

/** With the discrepancies that are open now. */
export type Settled = { orderId: string; result: Review; status: OrderStatus; discrepancies: StoryDiscrepancy[] }

/** For whoever asked: it neither agrees nor was repaired. */
export function isUnsettled({ result }: Pick<Settled, 'result'>): boolean {
  return result !== 'agrees' && result !== 'repaired'
}

/** Finishes what is open on the order and compares it with the gateway. */
export async function settleOrder(context: PaymentContext, orderId: string): Promise<Settled> {
  const key = (await findOrderKeys(context.database, [orderId])).get(orderId)
  const result = key && (await review(context, key))
  const story = key && (await findOrderStory(context.database, orderId))
  if (!result || !story) throw orderNotFound(orderId)
  const discrepancies = story.discrepancies.filter(({ resolvedAt }) => resolvedAt === null)
  return { orderId, result, status: story.status, discrepancies }
}
