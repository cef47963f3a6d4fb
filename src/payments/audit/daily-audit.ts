// The daily audit, by the worker: once a Korean day, by one process, whatever the result of the reconciliation, which needs
// the gateway. After an attempt that fails, or whose row cannot be written, the claim runs out and any process makes the next
// attempt.
import { newOperationId } from '../../core/ids.ts'
import type { Secret } from '../../transparency/note.ts'
import type { PaymentContext } from '../context.ts'
import { type AuditOptions, recordedAudit } from './audit.ts'
import { claimDailyAudit, type DailyClaim, insertDailyAudit, renewDailyAudit } from './record.sql.ts'

/** Also the pause after an attempt that failed. */
const leaseMs = 600_000
const renewEveryMs = 60_000

/** A worker that has run for so long has finished what was overdue when it started. */
const livenessAfterMs = 15 * 60_000
/** The job runs every minute. If it has not run for so long, the process stood still or the database was down. */
const longestGapMs = 5 * 60_000

const takenOver = 'another process has taken the audit over'

/**
 * Liveness rules are evaluated by a process that has run for a quarter of an hour without a gap: after a restore, a stop of all
 * services or an outage of the database, rows are overdue because no worker could finish them.
 */
export function createDailyAudit(
  context: PaymentContext,
  { peppers, clock = () => performance.now() }: { peppers?: readonly Secret[]; clock?: () => number } = {},
) {
  let runningSince = clock()
  let lastRun = runningSince
  return async (stopping: AbortSignal): Promise<{ more: boolean }> => {
    const claim = await claimDailyAudit(context.database, newOperationId(), leaseMs)
    const now = clock()
    if (now - lastRun > longestGapMs) runningSince = now
    lastRun = now
    const liveness = now - runningSince >= livenessAfterMs ? 'checked' : 'counted'
    try {
      if (claim) await auditBooks(context, claim, { liveness, signal: stopping, peppers })
    } finally {
      // An audit may take longer than the longest gap: the other jobs ran meanwhile.
      lastRun = clock()
    }
    return { more: false }
  }
}

async function auditBooks(
  { database, log }: PaymentContext,
  claim: DailyClaim,
  options: Pick<AuditOptions, 'signal' | 'peppers'> & { liveness: 'checked' | 'counted' },
): Promise<void> {
  let renewedAt = performance.now()
  async function renewLease(): Promise<void> {
    if (performance.now() - renewedAt < renewEveryMs) return
    renewedAt = performance.now()
    if (!(await renewDailyAudit(database, claim, leaseMs))) throw new Error(takenOver)
  }
  const unwritten: unknown[] = []
  const { ok, violationCount, violations, stranded } = await recordedAudit(database, 'DAILY', {
    ...options,
    betweenChunks: renewLease,
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
    log.warn({ stranded }, 'rows are overdue: a worker that has just started has yet to finish them')
  }
  // Alerts and the console read the row: without it the audit of the day before would remain the last one.
  if (unwritten.length > 0) throw new Error('An audit is not on record.', { cause: unwritten[0] })
}
