// Section 4.6, in three acts. The credits are set aside before the gateway is asked and given back if it refuses, so
// nobody can spend them and be refunded. A payment whose confirm has no known outcome is settled first. One request is
// told of a cancellation: the one that finishes it, or the first that comes after the background has finished it. Every
// other is told that the order is closed.
import { deadlineIn } from '../core/clock.ts'
import { newOperationId } from '../core/ids.ts'
import { inSpan } from '../core/tracing.ts'
import type { PaymentContext } from './context.ts'
import { type Asked, type CancelSubject, findCancelSubject } from './operations/begin.sql.ts'
import { claimAnswer } from './operations/lease.sql.ts'
import { createPauses } from './operations/pauses.ts'
import { type Concluded, idsOf, type Opening, openedOperation, proceed } from './operations/run.ts'
import { cancelRefusals, outcomeUnknown } from './refusals.ts'

export type CancelRequest = { paymentKey: string; reason: string }

export async function cancel(
  context: PaymentContext,
  customerId: string,
  request: CancelRequest,
  asked?: Asked,
): Promise<void> {
  const pause = createPauses(deadlineIn(context.settings.operationWaitMs))
  for (;;) {
    const met = await begin(context, customerId, request, asked)
    if (met.kind === 'cancelled') return
    // A cancel does not capture what it would have to give back: a confirm that never arrived ends refused.
    const errand = met.operation?.kind === 'CONFIRM' ? 'only look' : 'send again'
    const conclusion = await proceed(context, met, errand, asked)
    if (conclusion?.kind === 'unknown') throw outcomeUnknown()
    if (conclusion?.finished && met.operation?.kind === 'CANCEL') return answer(conclusion, request)
    // Somebody else is at work, or the confirm has just been settled: look again.
    if (!conclusion && !(await pause())) throw outcomeUnknown()
  }
}

type Intent = CancelRequest & { customerId: string; operationId: string; kind: 'CANCEL'; traceParent: string | null }
type By = { keyId: string | null; traceParent: string | null }
type Met = Opening | { kind: 'cancelled' }

function begin(context: PaymentContext, customerId: string, request: CancelRequest, asked?: Asked): Promise<Met> {
  return inSpan(
    context.tracing,
    'payments.begin',
    { parent: asked?.traceParent ?? null },
    (traceParent) => claim(context, customerId, request, { keyId: asked?.keyId ?? null, traceParent }),
    (met) => ({ met: met.kind, ...('operation' in met && met.operation && idsOf(met.operation)) }),
  )
}

async function claim(
  context: PaymentContext,
  customerId: string,
  request: CancelRequest,
  { keyId, traceParent }: By,
): Promise<Met> {
  const leaseMs = context.settings.operationLeaseMs
  const intent: Intent = { ...request, customerId, operationId: newOperationId(), kind: 'CANCEL', traceParent }
  const claimed = await context.batches.claimCancel({ ...intent, keyId, leaseMs })
  if (claimed) return { kind: 'begun', operation: openedOperation({ ...intent, ...claimed }) }
  const subject = await findCancelSubject(context.database, intent)
  if (subject && (await isFirstToHear(context, subject, intent))) return { kind: 'cancelled' }
  return judge(subject, intent)
}

/** The background has finished a cancellation and nobody has been told yet. */
async function isFirstToHear(context: PaymentContext, subject: CancelSubject, intent: Intent): Promise<boolean> {
  const { order, cancel: done } = subject
  if (order.status !== 'CANCELLED' || done?.kind !== 'CANCEL') return false
  return claimAnswer(context.database, done, intent.operationId)
}

/** Why the claim failed. Cancel is accepted from CONFIRMED alone; a PENDING order with a payment key has an open confirm. */
function judge(subject: CancelSubject | null, intent: Intent): Opening {
  if (!subject) throw cancelRefusals.paymentNotFound()
  const { order, confirm, cancel: open, available } = subject
  if (order.status === 'PENDING') return { kind: 'open', operation: confirm }
  if (order.status === 'FAILED') throw cancelRefusals.notCaptured(intent)
  if (order.status === 'CANCELLED') throw cancelRefusals.alreadyCancelled(intent)
  if (order.status === 'REFUNDED') throw cancelRefusals.alreadyRefunded(intent)
  // A claim that was repeated after a lost connection finds its own operation: it had been made.
  if (open) return { kind: open.operationId === intent.operationId ? 'begun' : 'open', operation: open }
  if (available < order.credits) throw cancelRefusals.creditsSpentOrHeld(intent)
  return { kind: 'race', operation: null }
}

function answer(conclusion: Concluded, request: CancelRequest): void {
  if (conclusion.kind === 'rejected') throw cancelRefusals.refusedByGateway(request)
}
