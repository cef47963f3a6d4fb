// Acts on what the gateway has told us by asking the gateway. A notification about an order of ours leads to a review of
// that order, and only what the review finds moves it: forged, repeated, reordered, early and late ones all end right.
// Orders we do not have, and what our books say already, cost no call to the gateway.
import type { PaymentContext } from '../context.ts'
import type { OrderStatus } from '../order-status.ts'
import { findOrderKeys, type OrderKey } from '../orders.sql.ts'
import {
  claimNotifications,
  closeNotifications,
  type DueNotification,
  deleteNotifications,
} from './notifications.sql.ts'
import { findReviewSubject } from './review.sql.ts'
import { review } from './review.ts'

const batchSize = 50
/** Most of an hour of asking; then reconciliation is the one that finds it. */
const maxAttempts = 20
/** Longer than the gateway repeats a transmission (3 days 19 hours) by far. */
const keptDays = 30
const deletedAtOnce = 1_000

/** The number of notifications taken up; a full batch asks to come again. */
export async function processNotifications(context: PaymentContext): Promise<{ taken: number; more: boolean }> {
  const { settleFirstPauseMs: firstPauseMs, settleLongestPauseMs: longestPauseMs } = context.settings
  const due = await claimNotifications(context.database, { limit: batchSize, firstPauseMs, longestPauseMs })
  if (due.length === 0) return { taken: 0, more: false }
  const orderIds = [...new Set(due.map((each) => each.orderId))]
  const keys = await findOrderKeys(context.database, orderIds)
  // One order after the other where several payments name the same; different orders side by side.
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
  if (await saysNothingNew(context, key, due)) return closeNotifications(context.database, due, 'nothing new')
  const outcome = await reviewSafely(context, key, due)
  if (outcome !== 'under way' && outcome !== 'unknown') return closeNotifications(context.database, due, outcome)
  if (due.attempts >= maxAttempts) await closeNotifications(context.database, due, 'left to reconciliation')
}

/** What a notification may claim and the states of an order that fit it: nothing would move if it were true. */
const knownAlready: ReadonlyMap<string, OrderStatus[]> = new Map<string, OrderStatus[]>([
  ['DONE', ['CONFIRMED']],
  ['CANCELED', ['CANCELLED', 'REFUNDED']],
  ['ABORTED', ['PENDING', 'FAILED']],
  ['EXPIRED', ['PENDING', 'FAILED']],
])

async function saysNothingNew(context: PaymentContext, key: OrderKey, due: DueNotification): Promise<boolean> {
  const subject = await findReviewSubject(context.database, key)
  if (!subject || subject.open) return false
  const { order, paymentKey, discrepancyIds } = subject
  const fits = knownAlready.get(due.status ?? '')?.includes(order.status) ?? false
  return fits && discrepancyIds.length === 0 && (paymentKey === null || paymentKey === due.paymentKey)
}

async function reviewSafely(context: PaymentContext, key: OrderKey, { paymentKey, attempts }: DueNotification) {
  try {
    await context.noticed()
    return await review(context, key, paymentKey)
  } catch (error) {
    context.log.error({ ...key, attempts, err: error }, 'the review after a notification failed')
    return 'unknown'
  }
}

/** Forgets what was dealt with long ago; a full batch asks to come again. */
export async function forgetNotifications(context: PaymentContext): Promise<{ more: boolean }> {
  return { more: (await deleteNotifications(context.database, keptDays, deletedAtOnce)) === deletedAtOnce }
}
