// Section 4.2, in three steps: begin (the claim), call (the gateway), finish (the grant of credits). A confirm that cannot
// begin has found either a finished order, and returns the original answer or a refusal, or an open operation: it waits
// while another holder has the lease, and resumes the operation when none has. An order is captured by one gateway call.
import { assert } from '../core/assert.ts'
import { type Deadline, deadlineIn, within } from '../core/clock.ts'
import { newOperationId, orderIdPattern } from '../core/ids.ts'
import { inSpan } from '../core/tracing.ts'
import type { ConfirmAnswer, Confirming, PaymentContext } from './context.ts'
import { failureOf } from './failure-reasons.ts'
import { newOperation, type Operation, type RequestRef } from './operations/begin.sql.ts'
import { createPauses } from './operations/pauses.ts'
import type { OrderForConfirm } from './operations/read.sql.ts'
import { type BeginResult, type ClosedResult, idsOf, runOrResume } from './operations/run.ts'
import { confirmRefusals, orderNotFound, outcomeUnknown } from './refusals.ts'

export type ConfirmRequest = { orderId: string; paymentKey: string; amount: number }

/**
 * Confirms of one order in one process join before begin: an equal request shares the answer, one with another payment key
 * waits for it. One with another amount does not wait: at most one of the two is the order's.
 */
export async function confirm(
  context: PaymentContext,
  customerId: string,
  request: ConfirmRequest,
  ref?: RequestRef,
): Promise<ConfirmAnswer> {
  if (!orderIdPattern.test(request.orderId)) throw orderNotFound()
  const { confirming, settings } = context
  const deadline = deadlineIn(settings.operationWaitMs)
  const key = `${customerId}/${request.orderId}`
  for (let running = confirming.get(key); running; running = confirming.get(key)) {
    if (running.amount !== request.amount) return confirmAlone(context, customerId, request, deadline, ref)
    const same = isSamePayment(running, request)
    const joined = same ? running.answer : running.answer.catch(() => undefined)
    const answer = await within(deadline, joined, 'late' as const)
    if (answer === 'late') throw outcomeUnknown()
    if (same && answer) return answer
  }
  const answer = confirmAlone(context, customerId, request, deadline, ref)
  confirming.set(key, { ...request, answer })
  try {
    return await answer
  } finally {
    confirming.delete(key)
  }
}

export function isSamePayment(running: Confirming, { paymentKey }: ConfirmRequest): boolean {
  return running.paymentKey === paymentKey
}

async function confirmAlone(
  context: PaymentContext,
  customerId: string,
  request: ConfirmRequest,
  deadline: Deadline,
  ref?: RequestRef,
): Promise<ConfirmAnswer> {
  const pause = createPauses(deadline)
  for (;;) {
    const begun = await begin(context, customerId, request)
    if (begun.kind === 'confirmed') return begun.answer
    const result = await runOrResume(context, begun, 'retry', ref)
    if (result?.kind === 'unknown') throw outcomeUnknown()
    if (begun.kind === 'begun' && result?.finished) return answerOf(request, result)
    // Another holder is working on the order, or has just finished: begin again.
    if (!result && !(await pause())) throw outcomeUnknown()
  }
}

type ConfirmBegin = BeginResult | { kind: 'confirmed'; answer: ConfirmAnswer }

function begin(context: PaymentContext, customerId: string, request: ConfirmRequest): Promise<ConfirmBegin> {
  const { tracing, batches, settings } = context
  return inSpan<ConfirmBegin>(
    tracing,
    'payments.begin',
    { attributes: { orderId: request.orderId } },
    async () => {
      const intent = { ...request, customerId, operationId: newOperationId(), kind: 'CONFIRM', reason: null } as const
      const operation = newOperation({ ...intent, traceParent: tracing.current() })
      const isClaimed = await batches.claimConfirm({ ...operation, leaseMs: settings.operationLeaseMs })
      if (isClaimed) return { kind: 'begun', operation }
      return explainFailedClaim(await batches.findOrderForConfirm(operation), operation)
    },
    (begun) => ({ result: begun.kind, ...('operation' in begun && begun.operation && idsOf(begun.operation)) }),
  )
}

/** The reason, in the order of precedence: the order does not exist, differs from the request, or its state. */
function explainFailedClaim(found: OrderForConfirm | null, operation: Operation): ConfirmBegin {
  if (!found) throw orderNotFound()
  const { order, confirm, paymentKeyTaken, failed } = found
  if (order.amount !== operation.amount) throw confirmRefusals.wrongAmount(order)
  if (order.status === 'CONFIRMED' && confirm?.paymentKey === operation.paymentKey) {
    return { kind: 'confirmed', answer: originalAnswer(found) }
  }
  if (order.status !== 'PENDING') throw confirmRefusals.notPending(order.status, failed)
  // A claim that was repeated after a lost connection finds its own operation: the first run was committed.
  if (confirm?.operationId === operation.operationId) return { kind: 'begun', operation }
  if (confirm) return { kind: 'existing', operation: confirm }
  if (paymentKeyTaken) throw confirmRefusals.paymentKeyOfAnotherOrder()
  return { kind: 'changed', operation: null }
}

function answerOf({ orderId }: ConfirmRequest, { kind, finished, gatewayCode, slip }: ClosedResult): ConfirmAnswer {
  if (kind === 'rejected') throw confirmRefusals.refusedByGateway(failureOf({ state: 'REJECTED', gatewayCode }))
  assert(finished?.totalCredits != null, 'a confirm was approved without a grant')
  return { orderId, creditsAdded: finished.credits, totalCredits: finished.totalCredits, slip }
}

function originalAnswer({ order, confirm, slip }: OrderForConfirm): ConfirmAnswer {
  assert(confirm?.totalCredits != null, 'a confirmed order without the answer of its confirm')
  return { orderId: order.orderId, creditsAdded: order.credits, totalCredits: confirm.totalCredits, slip }
}
