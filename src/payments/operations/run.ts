// Acts two and three of every payment, for all kinds and for whoever runs them: the request that opened the operation,
// or whoever comes upon it later. `perform` calls the gateway and records what it said; `settle` asks the gateway what
// became of an earlier call and performs again only where that never arrived. Nothing is held open during a call: the
// lease on the operation's row says that somebody is at work, and the guards of `finish` decide who was first.
import { unreachable } from '../../core/assert.ts'
import { newOperationId } from '../../core/ids.ts'
import { inSpan } from '../../core/tracing.ts'
import type { CancelIntent, Finding, Outcome, Unknown } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { type Transition, transitionOf } from '../order-status.ts'
import { insertDiscrepancyOfOperation, resolveDiscrepanciesOfOrder } from '../recovery/discrepancies.sql.ts'
import type { Asked, Operation, OperationKind } from './begin.sql.ts'
import type { Finish, Finished } from './finish.sql.ts'
import { claimLease, notArrivedYet, releaseLease, renewLease } from './lease.sql.ts'

/** What begin has come upon: the way is free, or an operation is open, or neither any more. */
export type Opening =
  | { kind: 'begun'; operation: Operation }
  | { kind: 'open'; operation: Operation }
  | { kind: 'race'; operation: null }

/** `finished` is null when somebody else has closed the operation meanwhile: read what became of it. */
export type Concluded = { kind: 'approved' | 'rejected'; finished: Finished | null }

/** `doubtful`: what the gateway says is for a person to look at, and will not change by asking again. */
export type Conclusion = Concluded | { kind: 'unknown'; code: string; doubtful: boolean }

/** For whom an operation is settled: whether a call that never arrived is made again, and whether a caller is told. */
export const errands = {
  'send again': { sends: true, answers: true },
  'only look': { sends: false, answers: true },
  'in the background': { sends: true, answers: false },
} as const
export type Errand = keyof typeof errands

const verbs = {
  CONFIRM: { call: 'confirm', find: 'findConfirm', approved: 'CONFIRM_APPROVED', rejected: 'CONFIRM_REJECTED' },
  CANCEL: { call: 'cancel', find: 'findCancel', approved: 'CANCEL_APPROVED', rejected: 'CANCEL_REJECTED' },
  REFUND: { call: 'cancel', find: 'findCancel', approved: 'PLATFORM_REFUNDED', rejected: 'REFUND_REJECTED' },
  RETURN: { call: 'cancel', find: 'findCancel', approved: 'RETURN_APPROVED', rejected: 'RETURN_REJECTED' },
} as const satisfies Record<OperationKind, Record<string, string>>

/**
 * From this attempt of the worker on an answer of 5xx spends its idempotency key. Whether the gateway repeats a stored
 * 5xx is not known; if it does, the old key never gets anything done. A new one cannot do it twice: it is sent after a
 * lookup that shows nothing done, a payment key is captured once, and a whole cancel happens once.
 */
const serverErrorsSpendKeyFrom = 3

/** The kind of a discrepancy that says: the worker has tried often enough for a person to look. */
export const stuckKind = 'OPERATION_STUCK'

/** A new operation as its claim has just written it. */
export function openedOperation(
  claim: Pick<Operation, 'customerId' | 'operationId' | 'orderId' | 'kind' | 'paymentKey' | 'amount' | 'reason'> & {
    traceParent?: string | null
  },
): Operation {
  const { operationId: holderId, traceParent = null } = claim
  const fresh = { state: 'OPEN', sendNumber: 1, sentAgoMs: 0, leased: true, attempts: 0, totalCredits: null } as const
  return { ...claim, ...fresh, holderId, traceParent }
}

/** What an operation is called in the log and in traces, the same everywhere. */
export function idsOf({ orderId, operationId }: Operation): { orderId: string; operationId: string } {
  return { orderId, operationId }
}

/** On every line of the log about an operation. */
export function fieldsOf({ customerId, orderId, operationId, kind, attempts, asked }: Operation): object {
  return { ...(asked && { requestId: asked.requestId }), customerId, orderId, operationId, kind, attempts }
}

/** Acts two and three, or the settling of what nobody works on; undefined asks to wait for whoever is at it. */
export async function proceed(
  context: PaymentContext,
  opening: Opening,
  errand: Errand,
  asked?: Asked,
): Promise<Conclusion | undefined> {
  if (opening.kind === 'race') return undefined
  const operation = asked ? { ...opening.operation, asked } : opening.operation
  if (opening.kind === 'begun') return perform(context, operation, errand)
  return operation.leased ? undefined : takeOver(context, operation, errand)
}

/** Settles an operation that nobody works on. Undefined when somebody else took or closed it meanwhile. */
export async function takeOver(
  context: PaymentContext,
  open: Operation,
  errand: Errand,
): Promise<Conclusion | undefined> {
  const leaseMs = context.settings.operationLeaseMs
  const operation = await claimLease(context.database, open, newOperationId(), leaseMs)
  if (!operation) return undefined
  return settle(context, open.asked ? { ...operation, asked: open.asked } : operation, errand)
}

/** Finds out what became of an operation and finishes it, by its holder. Undefined when somebody else has it now. */
export function settle(context: PaymentContext, operation: Operation, errand: Errand): Promise<Conclusion | undefined> {
  const { attempts, asked } = operation
  // In the trace it began in, whoever is at work on it now.
  const parent = operation.traceParent ?? asked?.traceParent ?? null
  const links = [asked?.traceParent ?? []].flat()
  return inSpan(
    context.tracing,
    'payments.settle',
    { parent, links, attributes: { ...idsOf(operation), attempts } },
    (traceParent) => findOut(context, { ...operation, traceParent }, errand),
    (conclusion) => ({ outcome: conclusion?.kind ?? 'taken over' }),
  )
}

async function findOut(context: PaymentContext, operation: Operation, errand: Errand): Promise<Conclusion | undefined> {
  const finding = await ask(context, operation, verbs[operation.kind].find)
  if (finding.kind === 'unsent' || (finding.kind === 'absent' && maySessionLive(context, operation))) {
    return errands[errand].sends ? sendAgain(context, operation, errand) : abandon(context, operation, finding, errand)
  }
  return conclude(context, operation, finding.kind === 'absent' ? goneOutcome(operation) : finding, errand)
}

/** Acts two and three, by the holder. */
async function perform(context: PaymentContext, operation: Operation, errand: Errand): Promise<Conclusion> {
  const outcome = await ask(context, operation, verbs[operation.kind].call)
  return conclude(context, operation, outcome, errand)
}

type Verb = (typeof verbs)[OperationKind]['call' | 'find']

/** The gateway, with nothing held meanwhile. */
function ask<Name extends Verb>(
  context: PaymentContext,
  operation: Operation,
  verb: Name,
): ReturnType<PaymentContext['gateway'][Name]>
function ask(context: PaymentContext, operation: Operation, verb: Verb): Promise<Finding> {
  const { traceParent: parent, sendNumber } = operation
  const attributes = { ...idsOf(operation), sendNumber }
  return inSpan<Finding>(
    context.tracing,
    `gateway.${verb}`,
    { parent, kind: 'client', attributes },
    () => context.gateway[verb](intentOf(operation)),
    (answer) => ({ outcome: answer.kind, ...('code' in answer && { code: answer.code }) }),
  )
}

async function sendAgain(
  context: PaymentContext,
  operation: Operation,
  errand: Errand,
): Promise<Conclusion | undefined> {
  const renewed = await renewLease(context.database, operation, context.settings.operationLeaseMs)
  return renewed ? perform(context, operation, errand) : undefined
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

/**
 * Nobody is to make the call any more. A payment that is seen waiting is uncaptured once the last call cannot be on its
 * way: then the operation ends here, or the worker would make the call after all. Until then, unknown.
 */
async function abandon(
  context: PaymentContext,
  operation: Operation,
  finding: Finding,
  errand: Errand,
): Promise<Conclusion> {
  const arrived = operation.sentAgoMs >= context.settings.operationLeaseMs
  if (finding.kind === 'unsent' && arrived) {
    const { answers: answered } = errands[errand]
    const heard = { state: 'REJECTED', gatewayCode: 'ABANDONED', transactionKey: null, answered } as const
    // Our own word, not the gateway's: whoever has taken it over meanwhile may have made the call.
    return { kind: 'rejected', finished: await finish(context, operation, { ...heard, onlyHolder: true }) }
  }
  await releaseLease(context.database, operation, context.settings.settleFirstPauseMs, { code: null })
  return { kind: 'unknown', code: notArrivedYet, doubtful: false }
}

/** Act three: the outcome and all that follows from it, or the operation left open for the next one who asks. */
export async function conclude(
  context: PaymentContext,
  operation: Operation,
  outcome: Outcome,
  errand: Errand,
): Promise<Conclusion> {
  const answered = errands[errand].answers
  switch (outcome.kind) {
    case 'approved': {
      const { transactionKey, discrepancy } = outcome
      const heard = { state: 'APPROVED', gatewayCode: null, transactionKey, answered } as const
      const finished = await finish(context, operation, heard)
      if (discrepancy) await report(context, operation, 'APPROVED', 'PARTLY_CANCELLED_AT_GATEWAY', discrepancy)
      return { kind: 'approved', finished }
    }
    case 'rejected': {
      const heard = { state: 'REJECTED', gatewayCode: outcome.code, transactionKey: null, answered } as const
      return { kind: 'rejected', finished: await finish(context, operation, heard, outcome.returned) }
    }
    case 'unknown':
      await leaveOpen(context, operation, outcome)
      return { kind: 'unknown', code: outcome.code, doubtful: outcome.discrepancy !== undefined }
    default:
      return unreachable(outcome)
  }
}

type Heard = Pick<Finish, 'state' | 'gatewayCode' | 'transactionKey' | 'answered'> & { onlyHolder?: boolean }

async function finish(
  context: PaymentContext,
  operation: Operation,
  heard: Heard,
  returned = false,
): Promise<Finished | null> {
  const { customerId, operationId, holderId, orderId, kind, traceParent } = operation
  const event = heard.state === 'APPROVED' ? verbs[kind].approved : verbs[kind].rejected
  const transition = transitionOf(event)
  const { from, to, credits } = transition
  const input = { customerId, operationId, holderId, orderId, from, to, credits, onlyHolder: false, ...heard }
  const finished = await inSpan(
    context.tracing,
    'payments.finish',
    { parent: traceParent, attributes: idsOf(operation) },
    (parent) => context.batches.finishOperation({ ...input, traceParent: parent }),
    (done) => ({ outcome: heard.state.toLowerCase(), ...(done ? { to } : { finished: false }) }),
  )
  if (finished) count(context, transition, finished)
  // Whoever was first has heard the same from the gateway, or one of the two answers was wrong; unless what was approved
  // then has been given back before we looked.
  const opposite = heard.state === 'APPROVED' ? 'REJECTED' : 'APPROVED'
  if (!finished && (returned || heard.onlyHolder)) return null
  if (!finished) await report(context, operation, opposite, 'CONTRADICTING_OUTCOMES', { heard: heard.state })
  else if (isStuck(context, operation)) {
    await resolveDiscrepanciesOfOrder(context.database, operation, stuckKind, 'the operation was settled')
  }
  return finished
}

const steps = { CONFIRMED: 'confirmed', FAILED: 'failed', CANCELLED: 'cancelled', REFUNDED: 'refunded' } as const

function count({ tallies }: PaymentContext, { from, to, credits: effect }: Transition, finished: Finished): void {
  if (from !== to) tallies.orders[steps[to]] += 1
  if (effect === 'grant') tallies.credits.granted += finished.credits
  if (effect === 'take-held') tallies.credits[to === 'REFUNDED' ? 'refunded' : 'rolled_back'] += finished.creditsHeld
}

function isStuck({ settings }: PaymentContext, { attempts }: Operation): boolean {
  return attempts >= settings.stuckAfterAttempts
}

async function leaveOpen(context: PaymentContext, operation: Operation, unknown: Unknown): Promise<void> {
  const { attempts } = operation
  const { code } = unknown
  context.log.warn({ ...fieldsOf(operation), code }, 'gateway outcome unknown')
  if (unknown.discrepancy) await report(context, operation, 'OPEN', code, unknown.discrepancy)
  await reportIfStuck(context, operation, code)
  const keySpent = unknown.keySpent || (unknown.serverError && attempts >= serverErrorsSpendKeyFrom)
  await releaseLease(context.database, operation, context.settings.settleFirstPauseMs, { code, keySpent })
}

/** Tried often enough: from here on a person can see it. It is still tried, as seldom as anything is. */
export async function reportIfStuck(context: PaymentContext, operation: Operation, code: string): Promise<void> {
  if (isStuck(context, operation)) await report(context, operation, 'OPEN', stuckKind, { code })
}

/** A discrepancy for a person, if the operation is in the state that makes it one. */
async function report(
  context: PaymentContext,
  operation: Operation,
  state: Operation['state'],
  code: string,
  detail: object,
): Promise<void> {
  if (!(await insertDiscrepancyOfOperation(context.database, operation, state, code, detail))) return
  context.log.error({ ...fieldsOf(operation), discrepancy: code }, 'the gateway and our books disagree')
}

function intentOf(operation: Operation): CancelIntent {
  const { orderId, paymentKey, amount, reason, operationId, sendNumber } = operation
  return { orderId, paymentKey, amount, idempotencyKey: `${operationId}-${sendNumber}`, reason: reason ?? '' }
}
