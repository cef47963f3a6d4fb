// An operator's review of one order: its open operation is finished, the order is compared with the gateway's payment, and
// what can be repaired is repaired.
import { findOrderStory, type StoryDiscrepancy } from '../books/order-story.sql.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderStatus } from '../kinds.ts'
import { findOrderKeys } from '../orders.sql.ts'
import { orderNotFound } from '../refusals.ts'
import { type Review, review } from './review.ts'

/** With the discrepancies that are open now. */
export type OrderReview = { orderId: string; result: Review; status: OrderStatus; discrepancies: StoryDiscrepancy[] }

/** The order neither agrees with the gateway nor was repaired. */
export function needsAttention({ result }: Pick<OrderReview, 'result'>): boolean {
  return result !== 'agrees' && result !== 'repaired'
}

export async function reviewOrder(context: PaymentContext, orderId: string): Promise<OrderReview> {
  const key = (await findOrderKeys(context.database, [orderId])).get(orderId)
  const result = key && (await review(context, key))
  const story = key && (await findOrderStory(context.database, orderId))
  if (!result || !story) throw orderNotFound(orderId)
  const discrepancies = story.discrepancies.filter(({ resolvedAt }) => resolvedAt === null)
  return { orderId, result, status: story.status, discrepancies }
}
