// The daily reconciliation, by the worker: each day that is due is reconciled with the gateway by one process. Mismatches are
// logged and saved as discrepancies.
import type { PaymentContext } from '../context.ts'
import { reconcileDay } from './reconcile.ts'

export async function closeDay(context: PaymentContext, stopping: AbortSignal): Promise<{ more: boolean }> {
  for (let day = await reconcileDay(context, stopping); day; day = await reconcileDay(context, stopping)) {
    if (Object.values(day.reviewed).some((orders) => orders > 0)) context.log.warn(day, 'reconciled')
  }
  return { more: false }
}
