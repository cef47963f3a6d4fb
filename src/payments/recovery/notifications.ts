// Processes notifications of the gateway by looking the payment up. A notification about one of our orders starts a review of
// that order, and only the result of the review changes it: forged, repeated, reordered, early and late notifications do no
// harm. A notification about an unknown order, or about what our books have already, causes no call to the gateway.
import type { PaymentContext } from '../context.ts'
import type { OrderStatus } from '../kinds.ts'
import { findOrderForReview } from '../operations/read.sql.ts'
import { findOrderKeys, type OrderKey } from '../orders.sql.ts'
import {
  claimNotifications,
  closeNotifications,
  type DueNotification,
  deleteNotifications,
} from './notifications.sql.ts'
import { type Review, review } from './review.ts'

const batchSize = 50
/** Most of an hour of tries; after that reconciliation finds it. */
const maxAttempts = 20
/** Longer than the gateway repeats a transmission (3 days 19 hours) by far. */
const keptDays = 30
const deletedAtOnce = 1_000

/** `more`: the batch was full, and there may be more. */
export async function processNotifications(context: PaymentContext): Promise<{ taken: number; more: boolean }> {
  const { retryFirstPauseMs: firstPauseMs, retryLongestPauseMs: longestPauseMs } = context.settings
  const due = await claimNotifications(context.database, { limit: batchSize, firstPauseMs, longestPauseMs })
  if (due.length === 0) return { taken: 0, more: false }
  const orderIds = [...new Set(due.map((each) => each.orderId))]
  const keys = await findOrderKeys(context.database, orderIds)
  // Notifications of one order one after the other, different orders in parallel.
  await Promise.all(
    orderIds.map(async (orderId) => {
      for (const each of due.filter((one) => one.orderId === orderId))
        await processOne(context, each, keys.get(orderId))
    }),
  )
  const taken = due.reduce((sum, each) => sum + each.count, 0)
  return { taken, more: taken === batchSize }
}

async function processOne(context: PaymentContext, due: DueNotification, key: OrderKey | undefined): Promise<void> {
  if (!key) return closeNotifications(context.database, due, 'no such order')
  if (await isNothingNew(context, key, due)) return closeNotifications(context.database, due, 'nothing new')
  const outcome = await reviewSafely(context, key, due)
  if (outcome !== 'under way' && outcome !== 'unknown') return closeNotifications(context.database, due, outcome)
  if (due.attempts >= maxAttempts) await closeNotifications(context.database, due, 'left to reconciliation')
}

/** The states of an order that agree with the claimed status: a true claim would change nothing. */
const agreeingStatuses: ReadonlyMap<string, OrderStatus[]> = new Map<string, OrderStatus[]>([
  ['DONE', ['CONFIRMED']],
  ['CANCELED', ['CANCELLED', 'REFUNDED']],
  ['ABORTED', ['PENDING', 'FAILED']],
  ['EXPIRED', ['PENDING', 'FAILED']],
])

async function isNothingNew(context: PaymentContext, key: OrderKey, due: DueNotification): Promise<boolean> {
  const found = await findOrderForReview(context.database, key)
  if (!found || found.openOperation) return false
  const { order, paymentKey, doubts } = found
  const agrees = agreeingStatuses.get(due.status ?? '')?.includes(order.status) ?? false
  return agrees && doubts.length === 0 && (paymentKey === null || paymentKey === due.paymentKey)
}

/** Uses only the payment key of the notification. */
export async function reviewSafely(
  context: PaymentContext,
  key: OrderKey,
  { paymentKey, attempts }: DueNotification,
): Promise<Review> {
  try {
    await context.waitForLookupSlot()
    return await review(context, key, paymentKey)
  } catch (error) {
    context.log.error({ ...key, attempts, err: error }, 'the review after a notification failed')
    return 'unknown'
  }
}

/** Deletes notifications that were processed long ago. `more`: the batch was full, and there may be more. */
export async function purgeNotifications(context: PaymentContext): Promise<{ more: boolean }> {
  return { more: (await deleteNotifications(context.database, keptDays, deletedAtOnce)) === deletedAtOnce }
}
