// Section 4.6, in three steps like a confirm. Begin holds the credits before the gateway is called, and a rejected cancel
// releases them, so credits cannot be spent and refunded. An open confirm of the payment is resumed first. One request
// returns success for a cancellation: the one that finishes it, or the first that comes after the worker has finished it.
// Every other one is refused, because the order is closed.
import { deadlineIn } from '../core/clock.ts'
import { newOperationId } from '../core/ids.ts'
import { inSpan } from '../core/tracing.ts'
import type { PaymentContext } from './context.ts'
import { newOperation, type RequestRef } from './operations/begin.sql.ts'
import { claimAnswer } from './operations/lease.sql.ts'
import { createPauses } from './operations/pauses.ts'
import { findOrderForCancel, type OrderForCancel } from './operations/read.sql.ts'
import { type BeginResult, type ClosedResult, idsOf, runOrResume } from './operations/run.ts'
import { cancelRefusals, outcomeUnknown } from './refusals.ts'

export type CancelRequest = { paymentKey: string; reason: string }

export async function cancel(
  context: PaymentContext,
  customerId: string,
  request: CancelRequest,
  ref?: RequestRef,
): Promise<void> {
  const pause = createPauses(deadlineIn(context.settings.operationWaitMs))
  for (;;) {
    const begun = await begin(context, customerId, request, ref)
    if (begun.kind === 'cancelled') return
    // A cancel does not capture a payment only to refund it: a confirm that was never sent ends rejected.
    const mode = begun.operation?.kind === 'CONFIRM' ? 'lookupOnly' : 'retry'
    const result = await runOrResume(context, begun, mode, ref)
    if (result?.kind === 'unknown') throw outcomeUnknown()
    if (result?.finished && begun.operation?.kind === 'CANCEL') return answer(result, request)
    // Another holder is working on the order, or the confirm has just been finished: begin again.
    if (!result && !(await pause())) throw outcomeUnknown()
  }
}

type Intent = CancelRequest & { customerId: string; operationId: string; kind: 'CANCEL'; traceParent: string | null }
type CancelBegin = BeginResult | { kind: 'cancelled' }

function begin(
  context: PaymentContext,
  customerId: string,
  request: CancelRequest,
  ref?: RequestRef,
): Promise<CancelBegin> {
  const { tracing, batches, settings, database } = context
  return inSpan<CancelBegin>(
    tracing,
    'payments.begin',
    {},
    async () => {
      const traceParent = tracing.current()
      const intent: Intent = { ...request, customerId, operationId: newOperationId(), kind: 'CANCEL', traceParent }
      const leaseMs = settings.operationLeaseMs
      const claimed = await batches.claimCancel({ ...intent, keyId: ref?.keyId ?? null, leaseMs })
      if (claimed) return { kind: 'begun', operation: newOperation({ ...intent, ...claimed }) }
      const found = await findOrderForCancel(database, intent)
      if (found && (await claimsAnswer(context, found, intent))) return { kind: 'cancelled' }
      return explainFailedClaim(found, intent)
    },
    (begun) => ({ result: begun.kind, ...('operation' in begun && begun.operation && idsOf(begun.operation)) }),
  )
}

/** The worker has finished a cancellation, and this request is the first since: it returns success. */
async function claimsAnswer(context: PaymentContext, found: OrderForCancel, intent: Intent): Promise<boolean> {
  const { order, cancel: done } = found
  if (order.status !== 'CANCELLED' || done?.kind !== 'CANCEL') return false
  return claimAnswer(context.database, done, intent.operationId)
}

/** Cancel is accepted from CONFIRMED alone; a PENDING order with a payment key has an open confirm. */
function explainFailedClaim(found: OrderForCancel | null, intent: Intent): BeginResult {
  if (!found) throw cancelRefusals.paymentNotFound()
  const { order, confirm, cancel: open, cancellable, creditsLeft } = found
  if (order.status === 'PENDING') return { kind: 'existing', operation: confirm }
  if (order.status === 'FAILED') throw cancelRefusals.notCaptured(intent)
  if (order.status === 'CANCELLED') throw cancelRefusals.alreadyCancelled(intent)
  if (order.status === 'REFUNDED') throw cancelRefusals.alreadyRefunded(intent)
  // A claim that was repeated after a lost connection finds its own operation: the first run was committed.
  if (open) return { kind: open.operationId === intent.operationId ? 'begun' : 'existing', operation: open }
  if (cancellable < creditsLeft) throw cancelRefusals.creditsSpentOrHeld(intent)
  return { kind: 'changed', operation: null }
}

function answer({ kind }: ClosedResult, request: CancelRequest): void {
  if (kind === 'rejected') throw cancelRefusals.refusedByGateway(request)
}
