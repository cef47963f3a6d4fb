// What the worker does, as a table.
import { closeDay } from '../payments/close-day.ts'
import type { PaymentContext } from '../payments/context.ts'
import { expireOrders } from '../payments/expire.ts'
import { forgetNotifications, processNotifications } from '../payments/notifications.ts'
import { recover } from '../payments/recover.ts'
import type { Job } from './worker.ts'

export const notificationsJob = 'notifications'

export function paymentJobs(context: PaymentContext): Job[] {
  const { database } = context
  const { pendingOrderLifetimeMs: lifetimeMs } = context.settings
  return [
    { name: 'recover', everyMs: 1_000, run: () => recover(context) },
    { name: notificationsJob, everyMs: 1_000, run: () => processNotifications(context) },
    { name: 'expire', everyMs: Math.min(60_000, lifetimeMs / 4), run: () => expireOrders(database, lifetimeMs) },
    { name: 'close the day', everyMs: 60_000, run: (stopping) => closeDay(context, stopping) },
    { name: 'forget notifications', everyMs: 3_600_000, run: () => forgetNotifications(context) },
  ]
}
