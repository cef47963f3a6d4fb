// Goodwill and corrections by operators. Each has a reason. An operator adjusts up to a limit per Korean day, by their role. What
// is more than is left of it, or above another limit, becomes a request for a second person, who needs the right to approve and
// a limit that covers it: a request moves nothing, and its approval counts in the limit of the one who approves. A repeat with
// the same id gets the first answer: a double click or a lost answer moves nothing twice.
import { refuse } from '../../core/errors.ts'
import { type Database, isUniqueViolation } from '../../db/database.ts'
import { adjustmentRefusals, customerNotFound, insufficientCredits } from '../refusals.ts'
import { retryOnUniqueViolation } from '../retry-on-unique-violation.ts'
import {
  type Adjustment,
  type AdjustmentRequest,
  type AdjustmentState,
  approveRequest,
  type Charge,
  findAdjustmentState,
  findRequest,
  findUsedToday,
  insertAdjustment,
  insertRequest,
  isCharged,
  type RequestKind,
  rejectRequest,
} from './adjust.sql.ts'

export type AdjustmentLimits = {
  /** Credits that the operator may adjust in a Korean day, whatever their sign. */
  perDay: number
  /** More credits than this need a second person. */
  approvalAbove: number
}

/** `available` is null while it waits for a second person, and when it was rejected. */
export type AdjustmentResult = {
  adjustmentId: string
  customerId: string
  kind: RequestKind
  credits: number
  state: 'DONE' | 'PENDING' | 'REJECTED'
  available: number | null
}

/** It waits for a second person. */
export const isRequest = ({ state }: { state: string }): boolean => state === 'PENDING'

/** `approvalAbove` is what the operator may adjust now without a second person. */
export async function limitsToday(database: Database, actor: string, { perDay, approvalAbove }: AdjustmentLimits) {
  const usedToday = await findUsedToday(database, actor)
  return { perDay, usedToday, approvalAbove: Math.min(approvalAbove, Math.max(perDay - usedToday, 0)) }
}

export async function adjust(
  database: Database,
  adjustment: Adjustment,
  { perDay, approvalAbove }: AdjustmentLimits,
): Promise<AdjustmentResult> {
  const { customerId, adjustmentId, kind, credits } = adjustment
  const before = await findAdjustmentState(database, adjustment)
  const known = await findKnown(database, adjustment, before)
  if (known) return known
  if (isCovered(before, credits)) {
    requireLimit(perDay)
    const result = { adjustmentId, customerId, kind, credits }
    const isAlone = Math.abs(credits) <= approvalAbove
    if (isAlone) {
      const available = await retryOnUniqueViolation(() => insertAdjustment(database, adjustment, perDay))
      if (available !== undefined) return { ...result, state: 'DONE', available }
    }
    if (!isAlone || (await isOverDailyLimit(database, adjustment, perDay))) {
      const isStored = await retryOnUniqueViolation(() => insertRequest(database, adjustment)).catch(unlessUsed)
      if (isStored) return { ...result, state: 'PENDING', available: null }
    }
  }
  // Another request with this id may have been faster.
  const state = await findAdjustmentState(database, adjustment)
  const found = await findKnown(database, adjustment, state)
  if (found) return found
  throw refusalOf(adjustment, state)
}

/** A request of another customer has the id: `findKnown` refuses it. */
function unlessUsed(error: unknown): false {
  if (!isUniqueViolation(error)) throw error
  return false
}

/** Who may adjust nothing requests nothing either. */
export function requireLimit(perDay: number): void {
  if (perDay === 0) throw adjustmentRefusals.mayAdjustNothing()
}

const isCovered = ({ available }: AdjustmentState, credits: number) => available !== null && available + credits >= 0

/** What the adjustment of this id has become; undefined when there is none. */
async function findKnown(
  database: Database,
  { customerId, adjustmentId, kind, credits }: Adjustment,
  state: AdjustmentState,
): Promise<AdjustmentResult | undefined> {
  const request = await findRequest(database, adjustmentId)
  const known = request ?? state.done
  if (!known) return undefined
  if (known.kind !== kind || known.credits !== credits || (request && request.customerId !== customerId)) {
    throw adjustmentRefusals.usedId()
  }
  return { adjustmentId, customerId, kind, credits, ...resultOf(request, state) }
}

function resultOf(request: AdjustmentRequest | undefined, { done }: AdjustmentState) {
  if (done) return { state: 'DONE', available: done.available } as const
  return { state: request?.state === 'REJECTED' ? 'REJECTED' : 'PENDING', available: null } as const
}

function refusalOf({ credits }: { credits: number }, { available }: AdjustmentState): Error {
  if (available === null) return customerNotFound()
  if (available + credits < 0) return insufficientCredits(-credits, available)
  // What stood in the way is gone: another request with this id that was lost in a failover, or a balance that has moved since.
  return refuse('SVC001')
}

export function isSecondPerson({ requestedBy }: AdjustmentRequest, actor: string): boolean {
  return requestedBy !== actor
}

/** By another operator than the one who requested it. */
export async function approve(
  database: Database,
  adjustmentId: string,
  actor: string,
  perDay: number,
): Promise<AdjustmentResult> {
  const request = await requireRequest(database, adjustmentId)
  const { customerId, kind, credits } = request
  const result = { adjustmentId, customerId, kind, credits }
  const charge = { ...result, actor }
  const before = await findAdjustmentState(database, request)
  const mayApprove = request.state === 'PENDING' && isSecondPerson(request, actor) && isCovered(before, credits)
  if (mayApprove) {
    const available = await approveRequest(database, charge, perDay)
    if (available !== undefined) return { ...result, state: 'DONE', available }
  }
  const { state, decidedBy } = await requireRequest(database, adjustmentId)
  if (state === 'APPROVED' && decidedBy === actor) {
    return { ...result, ...resultOf(request, await findAdjustmentState(database, request)) }
  }
  if (state !== 'PENDING') throw adjustmentRefusals.decided(state, decidedBy)
  if (!isSecondPerson(request, actor)) throw adjustmentRefusals.secondPerson()
  const after = await findAdjustmentState(database, request)
  if (isCovered(after, credits)) await refuseOverDailyLimit(database, charge, perDay)
  throw refusalOf(charge, after)
}

/** Whether the day of the actor does not allow a charge that was not made. */
export async function isOverDailyLimit(database: Database, charge: Charge, perDay: number): Promise<boolean> {
  if (charge.credits === 0) return false
  const used = await findUsedToday(database, charge.actor)
  return used + Math.abs(charge.credits) > perDay && !(await isCharged(database, charge))
}

/** Throws when the day of the approver does not allow the charge, which was not made. */
export async function refuseOverDailyLimit(database: Database, charge: Charge, perDay: number): Promise<void> {
  if (!(await isOverDailyLimit(database, charge, perDay))) return
  throw adjustmentRefusals.overDailyLimit(perDay, await findUsedToday(database, charge.actor))
}

/** The request of a part, which payments/refunds/accept.ts carries out. */
export async function requireApprovable(
  database: Database,
  adjustmentId: string,
  actor: string,
): Promise<AdjustmentRequest> {
  const request = await requireRequest(database, adjustmentId)
  const { state, decidedBy } = request
  if (state !== 'PENDING' && !(state === 'APPROVED' && decidedBy === actor)) {
    throw adjustmentRefusals.decided(state, decidedBy)
  }
  if (!isSecondPerson(request, actor)) throw adjustmentRefusals.secondPerson()
  return request
}

async function requireRequest(database: Database, adjustmentId: string): Promise<AdjustmentRequest> {
  const request = await findRequest(database, adjustmentId)
  if (!request) throw adjustmentRefusals.requestNotFound()
  return request
}

/** By anyone with the right to approve, the one who requested it included. */
export async function reject(database: Database, adjustmentId: string, actor: string): Promise<AdjustmentResult> {
  const isRejected = await rejectRequest(database, await requireRequest(database, adjustmentId), actor)
  const { customerId, kind, credits, state, decidedBy } = await requireRequest(database, adjustmentId)
  if (!isRejected && !(state === 'REJECTED' && decidedBy === actor)) throw adjustmentRefusals.decided(state, decidedBy)
  return { adjustmentId, customerId, kind, credits, state: 'REJECTED', available: null }
}
