// The audit of every Korean day, by the worker: once, by one process of many, whatever came of the reconciliation of the day
// before, which needs a gateway that answers. An attempt that fails, or whose row cannot be written, leaves its claim to run
// out, and any process makes the next one.
import { newOperationId } from '../../core/ids.ts'
import type { PaymentContext } from '../context.ts'
import { recordedAudit } from './audit.ts'
import { claimDailyAudit, type DailyClaim, insertDailyAudit, renewDailyAudit } from './record.sql.ts'

/** Also the pause after an attempt that failed. */
const leaseMs = 600_000
const renewEveryMs = 60_000

/** A worker that has been at work for so long has ended whatever was past its time when it began. */
const settledAfterMs = 15 * 60_000
/** The job comes every minute. When it has not come for so long, or the database has not answered it, nothing was done. */
const longestAbsenceMs = 5 * 60_000

const takenOver = 'another process has taken the audit over'

/**
 * Liveness rules are judged by a process that has been at work for a quarter of an hour without a gap: after a restore, a
 * stop of all services or an outage of the database, rows are past their time because no worker could end them.
 */
export function createDailyAudit(context: PaymentContext, clock: () => number = () => performance.now()) {
  let atWorkSince = clock()
  let lastAtWork = atWorkSince
  return async (stopping: AbortSignal): Promise<{ more: boolean }> => {
    const claim = await claimDailyAudit(context.database, newOperationId(), leaseMs)
    const now = clock()
    if (now - lastAtWork > longestAbsenceMs) atWorkSince = now
    lastAtWork = now
    const liveness = now - atWorkSince >= settledAfterMs ? 'judged' : 'counted'
    try {
      if (claim) await auditBooks(context, claim, { liveness, signal: stopping })
    } finally {
      // An audit may take longer than an absence may: the other jobs were at work meanwhile.
      lastAtWork = clock()
    }
    return { more: false }
  }
}

async function auditBooks(
  { database, log }: PaymentContext,
  claim: DailyClaim,
  options: { liveness: 'judged' | 'counted'; signal: AbortSignal },
): Promise<void> {
  let renewedAt = performance.now()
  async function goOn(): Promise<void> {
    if (performance.now() - renewedAt < renewEveryMs) return
    renewedAt = performance.now()
    if (!(await renewDailyAudit(database, claim, leaseMs))) throw new Error(takenOver)
  }
  const unwritten: unknown[] = []
  const { ok, violationCount, violations, stranded } = await recordedAudit(database, 'DAILY', {
    ...options,
    goOn,
    async insert(_database, record) {
      if (!(await insertDailyAudit(database, claim.day, record))) throw new Error(takenOver)
    },
    onUnwritten: (error) => unwritten.push(error),
  })
  if (!ok) {
    const rules = [...new Set(violations.map((violation) => `${violation.invariant}: ${violation.rule}`))]
    log.error({ violationCount, rules }, 'the books break their own rules')
  }
  if (options.liveness === 'counted' && stranded > 0) {
    log.warn({ stranded }, 'rows are past their time: a worker that has just started has yet to end them')
  }
  // Alerts and the console go by the row: without it the audit of the day before would go on being the last one.
  if (unwritten.length > 0) throw new Error('An audit is not on record.', { cause: unwritten[0] })
}
