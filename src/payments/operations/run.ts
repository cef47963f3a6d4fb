// A payment from its begin to its end, the same for every kind of operation: call the gateway, then finish with the outcome.
// If the outcome is unknown the operation stays open, and the next request or the worker resumes it: it looks up what became
// of the call, and sends it again only where the gateway does not show it as done: with the same idempotency key, unless the
// gateway would repeat a useless answer for it (`sendNumber`). Nothing is locked during a gateway call. The lease in the
// operation's row keeps two holders from calling at once, and the guards of `finish` accept one outcome only.
//
//   begin (begin.sql.ts) → callAndFinish → approved, rejected: finish
//                                        → unknown: leaveOpen, and later resume
//   resume               → look up       → approved, rejected: finish
//                                        → call was not made: resend = callAndFinish, or endWithoutSending, where the caller
//                                          does not want it made, or a review has found a cancellation that was made elsewhere
//                                        → unknown: leaveOpen again
import { newOperationId } from '../../core/ids.ts'
import { inSpan } from '../../core/tracing.ts'
import {
  type Approved,
  type CancelIntent,
  type CardSlip,
  cancelledAtGateway,
  type LookupResult,
  type Outcome,
  type Rejected,
  type Unknown,
} from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { cancelledElsewhere, type OutcomeRow, operationKinds } from '../kinds.ts'
import { insertDiscrepancyOfOperation, resolveDiscrepanciesOfOrder } from '../recovery/discrepancies.sql.ts'
import { reportWrongParts } from '../recovery/wrong-parts.ts'
import { columnsOfSlip, noSlip, type SlipColumns } from '../slip.sql.ts'
import type { Operation, RequestRef } from './begin.sql.ts'
import type { Finish, Finished } from './finish.sql.ts'
import { claimLease, notArrivedYet, releaseLease, renewLease } from './lease.sql.ts'

/**
 * `begun`: this request has opened the operation. `existing`: another operation is open on the order. `changed`: the claim
 * opened nothing, and what prevented it is gone; begin again.
 */
export type BeginResult =
  | { kind: 'begun'; operation: Operation }
  | { kind: 'existing'; operation: Operation }
  | { kind: 'changed'; operation: null }

/**
 * `finished` is null when another holder has closed the operation first: read the order again. The gateway's code and the slip
 * are the outcome's.
 */
export type ClosedResult = {
  kind: 'approved' | 'rejected'
  finished: Finished | null
  gatewayCode: string | null
  slip: CardSlip
}

/** `hasDiscrepancy`: a person has to look at it, and another try will not change it. */
export type OperationResult = ClosedResult | { kind: 'unknown'; code: string; hasDiscrepancy: boolean }

/** Whether a call that was never made may be sent now, and whether a caller gets the outcome as its answer. */
export const recoveryModes = {
  retry: { mayResend: true, answersCaller: true },
  lookupOnly: { mayResend: false, answersCaller: true },
  background: { mayResend: true, answersCaller: false },
} as const
export type RecoveryMode = keyof typeof recoveryModes

/**
 * After this many attempts without an outcome an answer of 5xx gets a new idempotency key. Whether the gateway repeats a stored
 * 5xx is not known; if it does, the old key never succeeds. A new key cannot do it twice: it is sent after a lookup that shows
 * nothing done, a payment key is captured once, a whole cancel happens once, and a part is cancelled of an untouched payment
 * only.
 */
const newKeyForServerErrorsFrom = 3

/** The kind of the discrepancy for an operation that was tried too often. */
export const stuckKind = 'OPERATION_STUCK'

/** How long an operation is left to the worker that could not claim it when it was due: it looks about once a second. */
const turnInFirstPauses = 2

/** The ids of an operation in traces. */
export function idsOf({ orderId, operationId }: Operation): { orderId: string; operationId: string } {
  return { orderId, operationId }
}

/** On every line of the log about an operation. */
export function logFieldsOf({ customerId, orderId, operationId, kind, attempts, request }: Operation): object {
  return { ...(request && { requestId: request.requestId }), customerId, orderId, operationId, kind, attempts }
}

/** Goes on after begin. Undefined when another holder has the lease: wait, and begin again. */
export async function runOrResume(
  context: PaymentContext,
  begun: BeginResult,
  mode: RecoveryMode,
  request?: RequestRef,
): Promise<OperationResult | undefined> {
  if (begun.kind === 'changed') return undefined
  const operation = request ? { ...begun.operation, request } : begun.operation
  if (begun.kind === 'begun') return callAndFinish(context, operation, mode)
  return operation.leased ? undefined : takeOver(context, operation, mode)
}

/** Call and finish, by the holder of the lease. */
async function callAndFinish(
  context: PaymentContext,
  operation: Operation,
  mode: RecoveryMode,
): Promise<OperationResult> {
  const outcome = await callGateway(context, operation, operationKinds[operation.kind].call)
  return outcome.kind === 'unknown'
    ? leaveOpen(context, operation, outcome)
    : finish(context, operation, outcome, recoveryModes[mode])
}

/** Claims the lease of an open operation and resumes it. Undefined when another holder was faster, or it is the worker's turn. */
export async function takeOver(
  context: PaymentContext,
  open: Operation,
  mode: RecoveryMode,
): Promise<OperationResult | undefined> {
  const { operationLeaseMs, retryFirstPauseMs } = context.settings
  const turnMs = turnInFirstPauses * retryFirstPauseMs
  const operation = await claimLease(context.database, open, newOperationId(), operationLeaseMs, turnMs)
  if (!operation) return undefined
  return resume(context, open.request ? { ...operation, request: open.request } : operation, mode)
}

/**
 * Finds out what became of an operation and finishes it, by the holder of the lease. In the trace that the operation began
 * in, with a link to the present request. Undefined when another holder has the lease by now.
 */
export function resume(
  context: PaymentContext,
  operation: Operation,
  mode: RecoveryMode,
): Promise<OperationResult | undefined> {
  const { attempts, traceParent: parent } = operation
  const links = [context.tracing.current() ?? []].flat()
  return inSpan(
    context.tracing,
    'payments.settle',
    { parent, links, attributes: { ...idsOf(operation), attempts } },
    () => lookUpAndFinish(context, operation, mode),
    (result) => ({ outcome: result?.kind ?? 'taken over' }),
  )
}

async function lookUpAndFinish(
  context: PaymentContext,
  operation: Operation,
  mode: RecoveryMode,
): Promise<OperationResult | undefined> {
  const found = await callGateway(context, operation, operationKinds[operation.kind].lookup)
  if (found.kind === 'unsent' || (found.kind === 'absent' && mayStillBeCaptured(context, operation))) {
    return recoveryModes[mode].mayResend && !isOfReview(operation)
      ? resend(context, operation, mode)
      : endWithoutSending(context, operation, found, mode)
  }
  const outcome = found.kind === 'absent' ? outcomeOfMissingPayment(operation) : adopted(operation, found)
  return outcome.kind === 'unknown'
    ? leaveOpen(context, operation, outcome)
    : finish(context, operation, outcome, recoveryModes[mode])
}

/**
 * A review that has found a cancellation at the gateway, and ended before it was booked, has left the operation open. Such an
 * operation is never sent: the audit expects no action of an operator for it, because no money goes back by it.
 */
function isOfReview({ kind, reason }: Operation): boolean {
  return kind === 'REFUND' && reason === cancelledElsewhere
}

function adopted(operation: Operation, found: Outcome): Outcome {
  return isOfReview(operation) && found.kind === 'approved' ? { ...found, code: cancelledAtGateway } : found
}

async function resend(
  context: PaymentContext,
  operation: Operation,
  mode: RecoveryMode,
): Promise<OperationResult | undefined> {
  const isRenewed = await renewLease(context.database, operation, context.settings.operationLeaseMs)
  return isRenewed ? callAndFinish(context, operation, mode) : undefined
}

type GatewayCall = 'confirm' | 'cancel' | 'findConfirm' | 'findCancel'

function callGateway<Name extends GatewayCall>(
  context: PaymentContext,
  operation: Operation,
  name: Name,
): ReturnType<PaymentContext['gateway'][Name]>
function callGateway(context: PaymentContext, operation: Operation, name: GatewayCall): Promise<LookupResult> {
  const attributes = { ...idsOf(operation), sendNumber: operation.sendNumber }
  return inSpan<LookupResult>(
    context.tracing,
    `gateway.${name}`,
    { kind: 'client', attributes },
    () => context.gateway[name](intentOf(operation)),
    (answer) => ({ outcome: answer.kind, ...('code' in answer && { code: answer.code }) }),
  )
}

function intentOf(operation: Operation): CancelIntent {
  const { orderId, paymentKey, amount, orderAmount, returnedBefore, reason, operationId, sendNumber } = operation
  const idempotencyKey = `${operationId}-${sendNumber}`
  const part = amount < orderAmount - returnedBefore ? { cancelAmount: amount, returnedBefore } : {}
  return { orderId, paymentKey, amount: orderAmount, ...part, idempotencyKey, reason: reason ?? '' }
}

// While the buyer's checkout session at the gateway may be alive, a payment that the gateway does not know proves nothing:
// the confirm could be on its way. Sending it again is safe, a payment key is captured once, and the answer decides.
export function mayStillBeCaptured({ settings }: PaymentContext, { kind, sentAgoMs }: Operation): boolean {
  return operationKinds[kind].missingPayment === 'rejected' && sentAgoMs < settings.paymentSessionMs
}

/** A confirm's session has expired: it was not captured. A captured payment that is gone is for a person to look at. */
function outcomeOfMissingPayment({ kind }: Operation): Outcome {
  const code = 'NOT_FOUND_PAYMENT'
  return operationKinds[kind].missingPayment === 'rejected'
    ? { kind: 'rejected', code }
    : { kind: 'unknown', code, discrepancy: { status: null } }
}

/** The last send cannot be on its way to the gateway any more. */
export function isLastSendOver({ settings }: PaymentContext, { sentAgoMs }: Operation): boolean {
  return sentAgoMs >= settings.operationLeaseMs
}

/**
 * The lookup shows that the call was not made, and it is not to be made now. Once the last send cannot be on its
 * way any more the operation ends here as rejected, or the worker would send the call after all. Until then it is unknown.
 */
async function endWithoutSending(
  context: PaymentContext,
  operation: Operation,
  found: LookupResult,
  mode: RecoveryMode,
): Promise<OperationResult> {
  if (found.kind === 'unsent' && isLastSendOver(context, operation)) {
    const { answersCaller } = recoveryModes[mode]
    // Our own decision, not the gateway's: a holder that has taken the operation over may have made the call.
    return finish(context, operation, { kind: 'rejected', code: 'ABANDONED' }, { answersCaller, onlyHolder: true })
  }
  await releaseLease(context.database, operation, context.settings.retryFirstPauseMs, { code: null })
  return { kind: 'unknown', code: notArrivedYet, hasDiscrepancy: false }
}

type OutcomeToRecord = Pick<Finish, 'state' | 'gatewayCode' | 'transactionKey' | keyof SlipColumns>

function recordOf(outcome: Approved | Rejected): OutcomeToRecord {
  return outcome.kind === 'approved'
    ? {
        state: 'APPROVED',
        gatewayCode: outcome.code ?? null,
        transactionKey: outcome.transactionKey,
        ...columnsOfSlip(outcome.slip ?? noSlip),
      }
    : { state: 'REJECTED', gatewayCode: outcome.code, transactionKey: null, ...columnsOfSlip(noSlip) }
}

/** Records the outcome and everything that follows from it; also for an outcome that a review has seen at the gateway. */
export async function finish(
  context: PaymentContext,
  operation: Operation,
  outcome: Approved | Rejected,
  { answersCaller: answered, onlyHolder = false }: { answersCaller: boolean; onlyHolder?: boolean },
): Promise<ClosedResult> {
  const { customerId, operationId, holderId, orderId, kind } = operation
  const record = recordOf(outcome)
  const { from, outcomes } = operationKinds[kind]
  const row = outcomes[record.state]
  const { to, entry, event } = row
  const input = { customerId, operationId, holderId, orderId, from, to, entry, event, ...record, answered, onlyHolder }
  const finished = await inSpan(
    context.tracing,
    'payments.finish',
    { attributes: idsOf(operation) },
    () => context.batches.finishOperation(input),
    (done) => ({ outcome: outcome.kind, ...(done ? { to } : { finished: false }) }),
  )
  if (finished) await afterFinish(context, operation, row, finished)
  else if (!onlyHolder) await reportContradiction(context, operation, outcome)
  if (outcome.kind === 'approved' && outcome.discrepancy) {
    const code = kind === 'CONFIRM' ? 'PARTLY_CANCELLED_AT_GATEWAY' : 'REFUNDED_MORE_AT_GATEWAY'
    await report(context, operation, 'APPROVED', code, outcome.discrepancy)
  }
  if (finished && outcome.kind === 'approved' && outcome.wrongParts) {
    await reportWrongParts(context, operation, operation, outcome.wrongParts)
  }
  const { gatewayCode, receiptUrl, cardNumber, approvalNumber } = record
  return { kind: outcome.kind, finished, gatewayCode, slip: { receiptUrl, cardNumber, approvalNumber } }
}

async function afterFinish(
  context: PaymentContext,
  operation: Operation,
  row: OutcomeRow,
  finished: Finished,
): Promise<void> {
  count(context, row, finished)
  if (!isTriedOften(context, operation)) return
  await resolveDiscrepanciesOfOrder(context.database, operation, stuckKind, 'the operation was settled')
}

function count(
  { tallies }: PaymentContext,
  { orderCounter, creditCounter, entry }: OutcomeRow,
  finished: Finished,
): void {
  if (orderCounter) tallies.orders[orderCounter] += 1
  if (creditCounter) tallies.credits[creditCounter] += entry === 'GRANT' ? finished.credits : finished.creditsHeld
}

/**
 * Another holder has closed the operation first. If it was with the opposite outcome, one of the gateway's two answers was
 * wrong; unless a capture that was approved then has been refunded before we looked.
 */
async function reportContradiction(
  context: PaymentContext,
  operation: Operation,
  outcome: Approved | Rejected,
): Promise<void> {
  if (outcome.kind === 'rejected' && outcome.returned) return
  const [state, opposite] =
    outcome.kind === 'approved' ? (['APPROVED', 'REJECTED'] as const) : (['REJECTED', 'APPROVED'] as const)
  await report(context, operation, opposite, 'CONTRADICTING_OUTCOMES', { heard: state })
}

/** The unknown branch: nothing is decided, the lease is released, and the worker tries again after a pause. */
async function leaveOpen(context: PaymentContext, operation: Operation, unknown: Unknown): Promise<OperationResult> {
  const { code, discrepancy, serverError } = unknown
  context.log.warn({ ...logFieldsOf(operation), code }, 'gateway outcome unknown')
  if (discrepancy) await report(context, operation, 'OPEN', code, discrepancy)
  await reportIfStuck(context, operation, code)
  const needsNewIdempotencyKey =
    unknown.needsNewIdempotencyKey || (serverError && operation.attempts >= newKeyForServerErrorsFrom)
  const { retryFirstPauseMs } = context.settings
  await releaseLease(context.database, operation, retryFirstPauseMs, { code, needsNewIdempotencyKey })
  return { kind: 'unknown', code, hasDiscrepancy: discrepancy !== undefined }
}

function isTriedOften({ settings }: PaymentContext, { attempts }: Operation): boolean {
  return attempts >= settings.stuckAfterAttempts
}

/**
 * How old an operation is at least when the worker alone has tried it so often: it shortens each pause to no less than half. A
 * caller that retries without a pause makes as many attempts within seconds.
 */
function ageOfWorkersAttempts({ settings }: PaymentContext): number {
  const { stuckAfterAttempts, retryFirstPauseMs, retryLongestPauseMs } = settings
  let ageMs = 0
  for (let pause = 0; pause < stuckAfterAttempts - 1; pause += 1) {
    ageMs += Math.min(retryLongestPauseMs, retryFirstPauseMs * 2 ** pause) / 2
  }
  return ageMs
}

/** It was tried often enough, and for long enough: a person can see it from now on. It is still tried, after the longest pauses. */
export async function reportIfStuck(context: PaymentContext, operation: Operation, code: string): Promise<void> {
  if (!isTriedOften(context, operation) || operation.openedAgoMs < ageOfWorkersAttempts(context)) return
  await report(context, operation, 'OPEN', stuckKind, { code })
}

/** Stores a discrepancy for a person, if the operation is in the state that makes it one. */
async function report(
  context: PaymentContext,
  operation: Operation,
  state: Operation['state'],
  code: string,
  detail: object,
): Promise<void> {
  if (!(await insertDiscrepancyOfOperation(context.database, operation, state, code, detail))) return
  context.log.error({ ...logFieldsOf(operation), discrepancy: code }, 'the gateway and our books disagree')
}
