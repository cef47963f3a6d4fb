// Finishes operations that were left open because a process died, the gateway did not answer, or a caller gave up. Claims a
// bounded number of due operations of all processes and resumes each with the function that a request uses. An operation
// without an outcome waits longer each time. A run ends with its slowest operation.
import { newOperationId } from '../../core/ids.ts'
import type { PaymentContext } from '../context.ts'
import type { Operation } from '../operations/begin.sql.ts'
import { claimDueOperations } from '../operations/lease.sql.ts'
import { logFieldsOf, reportIfStuck, resume } from '../operations/run.ts'

/** Gateway calls at a time from one process. */
const batchSize = 32

/** `more`: the batch was full, and there may be more. */
export async function recover(context: PaymentContext): Promise<{ taken: number; more: boolean }> {
  const { operationLeaseMs: leaseMs, retryFirstPauseMs, retryLongestPauseMs } = context.settings
  const due = await claimDueOperations(context.database, {
    holderId: newOperationId(),
    limit: batchSize,
    leaseMs,
    firstPauseMs: retryFirstPauseMs,
    longestPauseMs: retryLongestPauseMs,
  })
  await Promise.all(due.map((operation) => resumeSafely(context, operation)))
  return { taken: due.length, more: due.length === batchSize }
}

/** An error, as of a bug that one operation triggers each time, must not keep the others from being finished. */
async function resumeSafely(context: PaymentContext, operation: Operation): Promise<void> {
  const fields = logFieldsOf(operation)
  try {
    const result = await resume(context, operation, 'background')
    if (!result) return
    context.tallies.recoveries[result.kind] += 1
    if (result.kind !== 'unknown') context.log.warn({ ...fields, outcome: result.kind }, 'recovered')
  } catch (error) {
    context.tallies.recoveries.failed += 1
    context.log.error({ ...fields, err: error }, 'settling failed')
    await reportIfStuck(context, operation, (error as Error).message).catch(() => undefined)
  }
}
