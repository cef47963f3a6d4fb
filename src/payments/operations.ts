// Acts two and three of every payment, for both kinds and for whoever runs them: the request that opened the operation,
// a caller's retry, or recovery. `perform` calls the gateway and records what it said; `settle` asks the gateway what
// became of an earlier call and performs again only where that never arrived. Nothing is held open during a call: the
// lease on the operation's row says that somebody is at work, and the guards of `finish` decide who was first.
import { unreachable } from '../core/assert.ts'
import type { Deadline } from '../core/clock.ts'
import { sleep } from '../core/clock.ts'
import { newOperationId } from '../core/ids.ts'
import type { CancelIntent, Finding, Outcome, Unknown } from '../gateway/gateway.ts'
import type { Operation, OperationKind } from './begin-sql.ts'
import type { PaymentContext } from './context.ts'
import { claimLease, type Finished, insertDiscrepancy, releaseLease, updateSent } from './finish-sql.ts'
import { type OrderEvent, transitionOf } from './order-status.ts'

/** `finished` is null when somebody else has closed the operation meanwhile: read what became of it. */
export type Conclusion =
  | { kind: 'approved'; finished: Finished | null }
  | { kind: 'rejected'; finished: Finished | null; code: string }
  | { kind: 'unknown' }

const verbs = {
  CONFIRM: { call: 'confirm', find: 'findConfirm', approved: 'CONFIRM_APPROVED', rejected: 'CONFIRM_REJECTED' },
  CANCEL: { call: 'cancel', find: 'findCancel', approved: 'CANCEL_APPROVED', rejected: 'CANCEL_REJECTED' },
} as const satisfies Record<OperationKind, Record<string, string>>

/** A new operation as its claim has just written it. */
export function openedOperation(
  claim: Pick<Operation, 'customerId' | 'operationId' | 'orderId' | 'kind' | 'paymentKey' | 'amount' | 'reason'>,
): Operation {
  const holderId = claim.operationId
  return { ...claim, state: 'OPEN', sendNumber: 1, sentAgoMs: 0, leased: true, holderId, totalCredits: null }
}

/** Acts two and three, by whoever holds the lease. */
export async function perform(context: PaymentContext, operation: Operation): Promise<Conclusion> {
  const outcome = await context.gateway[verbs[operation.kind].call](intentOf(operation))
  return conclude(context, operation, outcome)
}

/**
 * Finds out what became of an operation that nobody is working on, and finishes it. Undefined when somebody else took it
 * or closed it in the meantime.
 */
export async function settle(context: PaymentContext, open: Operation): Promise<Conclusion | undefined> {
  const operation = await claimLease(context.database, open, newOperationId(), context.settings.operationLeaseMs)
  if (!operation) return undefined
  const finding = await context.gateway[verbs[operation.kind].find](intentOf(operation))
  if (mustBeSentAgain(context, operation, finding)) {
    await updateSent(context.database, operation)
    return perform(context, operation)
  }
  return conclude(context, operation, outcomeOf(operation, finding))
}

// A payment the gateway does not know proves nothing while the session behind the payment key may live: the request
// could be on its way. Sending it again is safe, the idempotency key is the same, and its own answer decides.
function mustBeSentAgain(context: PaymentContext, operation: Operation, finding: Finding): boolean {
  if (finding.kind === 'unsent') return true
  const sessionMayLive = operation.sentAgoMs < context.settings.paymentSessionMs
  return finding.kind === 'absent' && operation.kind === 'CONFIRM' && sessionMayLive
}

/** What a finding means when nothing is to be sent. A captured payment that is gone is for a person to look at. */
function outcomeOf(operation: Operation, finding: Finding): Outcome {
  if (finding.kind === 'unsent') return unreachable(finding as never)
  if (finding.kind !== 'absent') return finding
  const code = 'NOT_FOUND_PAYMENT'
  if (operation.kind === 'CONFIRM') return { kind: 'rejected', code }
  return { kind: 'unknown', code, discrepancy: { paymentKey: operation.paymentKey } }
}

/** Act three: the outcome and all that follows from it, or the operation left open for the next one who asks. */
async function conclude(context: PaymentContext, operation: Operation, outcome: Outcome): Promise<Conclusion> {
  const { approved, rejected } = verbs[operation.kind]
  switch (outcome.kind) {
    case 'approved':
      return { kind: 'approved', finished: await finish(context, operation, approved, null, outcome.transactionKey) }
    case 'rejected':
      return {
        kind: 'rejected',
        finished: await finish(context, operation, rejected, outcome.code, null),
        code: outcome.code,
      }
    case 'unknown':
      await leaveOpen(context, operation, outcome)
      return { kind: 'unknown' }
    default:
      return unreachable(outcome)
  }
}

function finish(
  context: PaymentContext,
  operation: Operation,
  event: OrderEvent,
  gatewayCode: string | null,
  transactionKey: string | null,
): Promise<Finished | null> {
  const { customerId, operationId, holderId, orderId } = operation
  const { from, to, credits } = transitionOf(event)
  const state = event.endsWith('_APPROVED') ? 'APPROVED' : 'REJECTED'
  return context.batches.finishOperation({
    ...{ customerId, operationId, holderId, orderId, state, from, to, credits, gatewayCode, transactionKey },
  })
}

async function leaveOpen(context: PaymentContext, operation: Operation, unknown: Unknown): Promise<void> {
  const { customerId, operationId, orderId, kind } = operation
  context.log.warn({ customerId, orderId, operationId, kind, code: unknown.code }, 'gateway outcome unknown')
  if (unknown.discrepancy) {
    const detail = { operationId, kind, ...unknown.discrepancy }
    context.log.error({ customerId, orderId, ...detail }, 'the gateway and our books disagree')
    await insertDiscrepancy(context.database, { customerId, orderId, kind: unknown.code, detail })
  }
  await releaseLease(context.database, operation, unknown)
}

function intentOf(operation: Operation): CancelIntent {
  const { orderId, paymentKey, amount, reason, operationId, sendNumber } = operation
  return { orderId, paymentKey, amount, idempotencyKey: `${operationId}-${sendNumber}`, reason: reason ?? '' }
}

const firstPauseMs = 20
const longestPauseMs = 250

/** Pauses between two looks at an operation somebody else is working on: longer each time, never past the deadline. */
export function createPauses(deadline: Deadline): () => Promise<boolean> {
  let pauseMs = firstPauseMs
  return async () => {
    if (deadline.remainingMs() === 0) return false
    await sleep(Math.min(pauseMs, deadline.remainingMs()))
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    return true
  }
}
