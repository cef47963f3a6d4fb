// Acts two and three of every payment, for both kinds and for whoever runs them: the request that opened the operation,
// or whoever comes upon it later. `perform` calls the gateway and records what it said; `settle` asks the gateway what
// became of an earlier call and performs again only where that never arrived. Nothing is held open during a call: the
// lease on the operation's row says that somebody is at work, and the guards of `finish` decide who was first.
import { unreachable } from '../core/assert.ts'
import { type Deadline, sleep } from '../core/clock.ts'
import { newOperationId } from '../core/ids.ts'
import type { CancelIntent, Finding, Outcome, Unknown } from '../gateway/gateway.ts'
import type { Operation, OperationKind } from './begin-sql.ts'
import type { PaymentContext } from './context.ts'
import { claimLease, type Finish, type Finished, insertDiscrepancy, releaseLease, renewLease } from './finish-sql.ts'
import { type OrderEvent, transitionOf } from './order-status.ts'

/** What begin has come upon: the way is free, or an operation is open, or neither any more. */
export type Opening =
  | { kind: 'begun'; operation: Operation }
  | { kind: 'open'; operation: Operation }
  | { kind: 'race'; operation: null }

/** `finished` is null when somebody else has closed the operation meanwhile: read what became of it. */
export type Concluded = { kind: 'approved' | 'rejected'; finished: Finished | null }

/** `unsent`: the gateway waits for the call, and this time it was not to be made. */
export type Conclusion = Concluded | { kind: 'unknown' } | { kind: 'unsent' }

export type Settling = 'send again' | 'only look'

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

/** Acts two and three, or the settling of what nobody works on; undefined asks to wait for whoever is at it. */
export async function proceed(
  context: PaymentContext,
  opening: Opening,
  settling: Settling,
): Promise<Conclusion | undefined> {
  if (opening.kind === 'begun') return perform(context, opening.operation)
  if (opening.kind === 'open' && !opening.operation.leased) return settle(context, opening.operation, settling)
  return undefined
}

/** Acts two and three, by the holder. */
async function perform(context: PaymentContext, operation: Operation): Promise<Conclusion> {
  const outcome = await context.gateway[verbs[operation.kind].call](intentOf(operation))
  return conclude(context, operation, outcome)
}

/** Finds out what became of an operation and finishes it. Undefined when somebody else took or closed it meanwhile. */
async function settle(context: PaymentContext, open: Operation, settling: Settling): Promise<Conclusion | undefined> {
  const leaseMs = context.settings.operationLeaseMs
  const operation = await claimLease(context.database, open, newOperationId(), leaseMs)
  if (!operation) return undefined
  const finding = await context.gateway[verbs[operation.kind].find](intentOf(operation))
  if (finding.kind === 'unsent' || (finding.kind === 'absent' && maySessionLive(context, operation))) {
    if (settling === 'only look') return leaveUnsent(context, operation, finding)
    return (await renewLease(context.database, operation, leaseMs)) ? perform(context, operation) : undefined
  }
  return conclude(context, operation, finding.kind === 'absent' ? goneOutcome(operation) : finding)
}

// A payment the gateway does not know proves nothing while the session behind its payment key may live: the call could be
// on its way. Sending it again is safe, a payment key is captured once, and the answer to the call itself decides.
function maySessionLive({ settings }: PaymentContext, { kind, sentAgoMs }: Operation): boolean {
  return kind === 'CONFIRM' && sentAgoMs < settings.paymentSessionMs
}

/** The session of a confirm is over. A captured payment that is gone is for a person to look at. */
function goneOutcome({ kind }: Operation): Outcome {
  const code = 'NOT_FOUND_PAYMENT'
  return kind === 'CONFIRM' ? { kind: 'rejected', code } : { kind: 'unknown', code, discrepancy: { status: null } }
}

/** A payment that is seen waiting is uncaptured once the last call cannot be on its way any more; until then, unknown. */
async function leaveUnsent(context: PaymentContext, operation: Operation, finding: Finding): Promise<Conclusion> {
  await releaseLease(context.database, operation, { code: null })
  const arrived = operation.sentAgoMs >= context.settings.operationLeaseMs
  return { kind: finding.kind === 'unsent' && arrived ? 'unsent' : 'unknown' }
}

/** Act three: the outcome and all that follows from it, or the operation left open for the next one who asks. */
async function conclude(context: PaymentContext, operation: Operation, outcome: Outcome): Promise<Conclusion> {
  const { approved, rejected } = verbs[operation.kind]
  switch (outcome.kind) {
    case 'approved': {
      const heard = { state: 'APPROVED', gatewayCode: null, transactionKey: outcome.transactionKey } as const
      return { kind: 'approved', finished: await finish(context, operation, approved, heard) }
    }
    case 'rejected': {
      const heard = { state: 'REJECTED', gatewayCode: outcome.code, transactionKey: null } as const
      return { kind: 'rejected', finished: await finish(context, operation, rejected, heard) }
    }
    case 'unknown':
      await leaveOpen(context, operation, outcome)
      return { kind: 'unknown' }
    default:
      return unreachable(outcome)
  }
}

type Heard = Pick<Finish, 'state' | 'gatewayCode' | 'transactionKey'>

async function finish(context: PaymentContext, operation: Operation, event: OrderEvent, heard: Heard) {
  const { customerId, operationId, holderId, orderId } = operation
  const { from, to, credits } = transitionOf(event)
  const input = { customerId, operationId, holderId, orderId, from, to, credits, ...heard }
  const finished = await context.batches.finishOperation(input)
  // Whoever was first has heard the same from the gateway, or one of the two answers was wrong.
  const opposite = heard.state === 'APPROVED' ? 'REJECTED' : 'APPROVED'
  if (!finished) await report(context, operation, opposite, 'CONTRADICTING_OUTCOMES', { heard: heard.state })
  return finished
}

async function leaveOpen(context: PaymentContext, operation: Operation, unknown: Unknown): Promise<void> {
  const { customerId, operationId, orderId, kind } = operation
  context.log.warn({ customerId, orderId, operationId, kind, code: unknown.code }, 'gateway outcome unknown')
  if (unknown.discrepancy) await report(context, operation, 'OPEN', unknown.code, unknown.discrepancy)
  await releaseLease(context.database, operation, unknown)
}

/** A discrepancy for a person, if the operation is in the state that makes it one. */
async function report(
  context: PaymentContext,
  operation: Operation,
  state: Operation['state'],
  code: string,
  detail: object,
): Promise<void> {
  if (!(await insertDiscrepancy(context.database, operation, state, code, detail))) return
  const { customerId, orderId, operationId, kind } = operation
  context.log.error({ customerId, orderId, operationId, kind, code, detail }, 'the gateway and our books disagree')
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
