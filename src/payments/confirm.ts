// Section 4.2, a payment in three acts: begin (the claim), call (the gateway), finish (the grant). A confirm that cannot
// begin has met something: a finished order, which gives the original answer again or a refusal; or an open operation,
// which it waits for when somebody is at work on it and settles itself when nobody is. One gateway call in all.
import { assert } from '../core/assert.ts'
import { type Deadline, deadlineIn, within } from '../core/clock.ts'
import { newOperationId, orderIdPattern } from '../core/ids.ts'
import { inSpan } from '../core/tracing.ts'
import type { ConfirmAnswer, PaymentContext } from './context.ts'
import type { Asked, ConfirmSubject, Operation } from './operations/begin.sql.ts'
import { createPauses } from './operations/pauses.ts'
import { type Concluded, idsOf, type Opening, openedOperation, proceed } from './operations/run.ts'
import { confirmRefusals, orderNotFound, outcomeUnknown } from './refusals.ts'

export type ConfirmRequest = { orderId: string; paymentKey: string; amount: number }

/**
 * Confirms of one order in one process join before begin: the same request shares the answer, one with another payment
 * key waits for it. Another amount is wrong whatever comes of the other, and does not wait.
 */
export async function confirm(
  context: PaymentContext,
  customerId: string,
  request: ConfirmRequest,
  asked?: Asked,
): Promise<ConfirmAnswer> {
  if (!orderIdPattern.test(request.orderId)) throw orderNotFound()
  const { confirming, settings } = context
  const deadline = deadlineIn(settings.operationWaitMs)
  const key = `${customerId}/${request.orderId}`
  for (let running = confirming.get(key); running; running = confirming.get(key)) {
    if (running.amount !== request.amount) return confirmAlone(context, customerId, request, deadline, asked)
    const same = running.paymentKey === request.paymentKey
    const joined = same ? running.answer : running.answer.catch(() => undefined)
    const answer = await within(deadline, joined, 'late' as const)
    if (answer === 'late') throw outcomeUnknown()
    if (same && answer) return answer
  }
  const answer = confirmAlone(context, customerId, request, deadline, asked)
  confirming.set(key, { ...request, answer })
  try {
    return await answer
  } finally {
    confirming.delete(key)
  }
}

async function confirmAlone(
  context: PaymentContext,
  customerId: string,
  request: ConfirmRequest,
  deadline: Deadline,
  asked?: Asked,
): Promise<ConfirmAnswer> {
  const pause = createPauses(deadline)
  for (;;) {
    const met = await begin(context, customerId, request, asked)
    if (met.kind === 'confirmed') return met.answer
    const conclusion = await proceed(context, met, 'send again', asked)
    if (conclusion?.kind === 'unknown') throw outcomeUnknown()
    if (met.kind === 'begun' && conclusion?.finished) return answerOf(request, conclusion)
    // Somebody else is at work, or has just finished: look again.
    if (!conclusion && !(await pause())) throw outcomeUnknown()
  }
}

/** What begin has come upon: the way is free, or an operation is open, or the order is confirmed. */
type Met = Opening | { kind: 'confirmed'; answer: ConfirmAnswer }

function begin(context: PaymentContext, customerId: string, request: ConfirmRequest, asked?: Asked): Promise<Met> {
  const parent = asked?.traceParent ?? null
  const { orderId } = request
  return inSpan(
    context.tracing,
    'payments.begin',
    { parent, attributes: { orderId } },
    (traceParent) => claim(context, customerId, request, traceParent),
    (met) => ({ met: met.kind, ...('operation' in met && met.operation && idsOf(met.operation)) }),
  )
}

async function claim(
  context: PaymentContext,
  customerId: string,
  request: ConfirmRequest,
  traceParent: string | null,
): Promise<Met> {
  const intent = { ...request, customerId, operationId: newOperationId(), kind: 'CONFIRM', reason: null } as const
  const operation = openedOperation({ ...intent, traceParent })
  const leaseMs = context.settings.operationLeaseMs
  if (await context.batches.claimConfirm({ ...operation, leaseMs })) return { kind: 'begun', operation }
  return judge(await context.batches.findConfirmSubject(operation), operation)
}

/** Why the claim failed, in the order of precedence: the order itself, what it says of the request, its state. */
function judge(subject: ConfirmSubject | null, operation: Operation): Met {
  if (!subject) throw orderNotFound()
  const { order, confirm, paymentKeyTaken } = subject
  if (order.amount !== operation.amount) throw confirmRefusals.wrongAmount(order)
  if (order.status === 'CONFIRMED' && confirm?.paymentKey === operation.paymentKey) {
    return { kind: 'confirmed', answer: originalAnswer(subject) }
  }
  if (order.status !== 'PENDING') throw confirmRefusals.notPending(order.status)
  // A claim that was repeated after a lost connection finds its own operation: it had been made.
  if (confirm?.operationId === operation.operationId) return { kind: 'begun', operation }
  if (confirm) return { kind: 'open', operation: confirm }
  if (paymentKeyTaken) throw confirmRefusals.paymentKeyOfAnotherOrder()
  return { kind: 'race', operation: null }
}

function answerOf({ orderId }: ConfirmRequest, conclusion: Concluded): ConfirmAnswer {
  if (conclusion.kind === 'rejected') throw confirmRefusals.refusedByGateway()
  assert(conclusion.finished?.totalCredits != null, 'a confirm was approved without a grant')
  return { orderId, creditsAdded: conclusion.finished.credits, totalCredits: conclusion.finished.totalCredits }
}

function originalAnswer({ order, confirm }: ConfirmSubject): ConfirmAnswer {
  assert(confirm?.totalCredits != null, 'a confirmed order without the answer of its confirm')
  return { orderId: order.orderId, creditsAdded: order.credits, totalCredits: confirm.totalCredits }
}
