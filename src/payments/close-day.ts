// The end of a day, by the worker: the days that are due are reconciled with the gateway, then the books are audited.
// One process does it for all; what it finds is in the log, among the discrepancies and in the row of the audit.
import { recordedAudit } from './audit.ts'
import type { PaymentContext } from './context.ts'
import { reconcileDay } from './reconcile.ts'

/** An audit that failed or is not on record, because the database was away, is tried again with the next runs of the job. */
const auditAttempts = 5

export function createCloseDay(context: PaymentContext) {
  let attemptsLeft = 0
  return async (stopping: AbortSignal): Promise<{ more: boolean }> => {
    try {
      for (let day = await reconcileDay(context, stopping); day; day = await reconcileDay(context, stopping)) {
        attemptsLeft = auditAttempts
        if (Object.values(day.reviewed).some((orders) => orders > 0)) context.log.warn(day, 'reconciled')
      }
    } finally {
      if (attemptsLeft > 0) {
        attemptsLeft -= 1
        await auditBooks(context, stopping)
        attemptsLeft = 0
      }
    }
    return { more: false }
  }
}

async function auditBooks({ database, log }: PaymentContext, stopping: AbortSignal): Promise<void> {
  const unwritten: unknown[] = []
  const { ok, violationCount, violations } = await recordedAudit(database, 'DAILY', {
    signal: stopping,
    onUnwritten: (error) => unwritten.push(error),
  })
  if (!ok) {
    const rules = [...new Set(violations.map((violation) => `${violation.invariant}: ${violation.rule}`))]
    log.error({ violationCount, rules }, 'the books break their own rules')
  }
  // Alerts and the console go by the row: without it the audit of the day before would go on being the last one.
  if (unwritten.length > 0) throw new Error('An audit is not on record.', { cause: unwritten[0] })
}
