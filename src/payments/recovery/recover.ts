// Finishes what somebody left open: a process that died, a gateway that did not answer, a caller that gave up. Takes a
// bounded number of operations whose turn it is, whoever opened them, and settles each with the functions a request
// uses. One that cannot be settled waits longer each time and does not hold up the others.
import { newOperationId } from '../../core/ids.ts'
import type { PaymentContext } from '../context.ts'
import type { Operation } from '../operations/begin.sql.ts'
import { claimDueOperations } from '../operations/lease.sql.ts'
import { fieldsOf, reportIfStuck, settle } from '../operations/run.ts'

/** As many calls to the gateway at a time, from one process. */
const batchSize = 32

/** The number of operations taken up; a full batch asks to come again. */
export async function recover(context: PaymentContext): Promise<{ taken: number; more: boolean }> {
  const { operationLeaseMs: leaseMs, settleFirstPauseMs, settleLongestPauseMs } = context.settings
  const due = await claimDueOperations(context.database, {
    holderId: newOperationId(),
    limit: batchSize,
    leaseMs,
    firstPauseMs: settleFirstPauseMs,
    longestPauseMs: settleLongestPauseMs,
  })
  await Promise.all(due.map((operation) => settleSafely(context, operation)))
  return { taken: due.length, more: due.length === batchSize }
}

/** A bug that strikes one operation each time must not keep the others from being settled. */
async function settleSafely(context: PaymentContext, operation: Operation): Promise<void> {
  const fields = fieldsOf(operation)
  try {
    const conclusion = await settle(context, operation, 'in the background')
    if (conclusion) context.tallies.recoveries[conclusion.kind] += 1
    if (conclusion && conclusion.kind !== 'unknown')
      context.log.warn({ ...fields, outcome: conclusion.kind }, 'recovered')
  } catch (error) {
    context.tallies.recoveries.failed += 1
    context.log.error({ ...fields, err: error }, 'settling failed')
    await reportIfStuck(context, operation, (error as Error).message).catch(() => undefined)
  }
}
