// The end of a day, by the worker: the days that are due are reconciled with the gateway, then the books are audited.
// One process does it for all; what it finds is in the log and among the discrepancies.
import { audit } from './audit.ts'
import type { PaymentContext } from './context.ts'
import { reconcileDay } from './reconcile.ts'

export async function closeDay(context: PaymentContext, stopping: AbortSignal): Promise<{ more: boolean }> {
  let days = 0
  try {
    for (let day = await reconcileDay(context, stopping); day; day = await reconcileDay(context, stopping)) {
      days += 1
      if (Object.values(day.reviewed).some((orders) => orders > 0)) context.log.warn(day, 'reconciled')
    }
  } finally {
    if (days > 0) await auditBooks(context, stopping)
  }
  return { more: false }
}

async function auditBooks({ database, log }: PaymentContext, stopping: AbortSignal): Promise<void> {
  const { ok, violationCount, violations } = await audit(database, { signal: stopping })
  if (ok) return
  const rules = [...new Set(violations.map((violation) => `${violation.invariant}: ${violation.rule}`))]
  log.error({ violationCount, rules }, 'the books break their own rules')
}
