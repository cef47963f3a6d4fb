// The end of a day, by the worker: the days that are due are reconciled with the gateway, each by one process of many. What
// does not match is in the log and among the discrepancies.
import type { PaymentContext } from '../context.ts'
import { reconcileDay } from './reconcile.ts'

export async function closeDay(context: PaymentContext, stopping: AbortSignal): Promise<{ more: boolean }> {
  for (let day = await reconcileDay(context, stopping); day; day = await reconcileDay(context, stopping)) {
    if (Object.values(day.reviewed).some((orders) => orders > 0)) context.log.warn(day, 'reconciled')
  }
  return { more: false }
}
