// Goodwill and corrections by operators. Each has a reason. An operator adjusts up to a limit per Korean day, by their role;
// above another limit the adjustment waits for a second person, who needs the right to approve and a limit that covers it. A
// repeat with the same id gets the first answer: a double click or a lost answer moves nothing twice.
import { refuse } from '../../core/errors.ts'
import type { Database } from '../../db/database.ts'
import { adjustmentRefusals, customerNotFound, insufficientCredits } from '../refusals.ts'
import { retryOnUniqueViolation } from '../retry-on-unique-violation.ts'
import {
  type Adjustment,
  type AdjustmentRequest,
  type AdjustmentState,
  approveRequest,
  findAdjustmentState,
  findRequest,
  insertAdjustment,
  insertRequest,
  type OperatorKind,
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
  kind: OperatorKind
  credits: number
  state: 'DONE' | 'PENDING' | 'REJECTED'
  available: number | null
}

export async function adjust(
  database: Database,
  adjustment: Adjustment,
  { perDay, approvalAbove }: AdjustmentLimits,
): Promise<AdjustmentResult> {
  const { customerId, adjustmentId, kind, credits } = adjustment
  const result = { adjustmentId, customerId, kind, credits }
  if (Math.abs(credits) > approvalAbove) {
    if (await retryOnUniqueViolation(() => insertRequest(database, adjustment, perDay))) {
      return { ...result, state: 'PENDING', available: null }
    }
  } else {
    const available = await retryOnUniqueViolation(() => insertAdjustment(database, adjustment, perDay))
    if (available !== undefined) return { ...result, state: 'DONE', available }
  }
  const state = await findAdjustmentState(database, adjustment)
  const request = await findRequest(database, adjustmentId)
  const known = request ?? state.done
  if (!known) throw refusalOf(state, credits, perDay)
  if (known.kind !== kind || known.credits !== credits || (request && request.customerId !== customerId)) {
    throw adjustmentRefusals.usedId()
  }
  return { ...result, ...resultOf(request, state) }
}

function resultOf(request: AdjustmentRequest | undefined, { done }: AdjustmentState) {
  if (done) return { state: 'DONE', available: done.available } as const
  return { state: request?.state === 'REJECTED' ? 'REJECTED' : 'PENDING', available: null } as const
}

function refusalOf({ available, usedToday }: AdjustmentState, credits: number, perDay: number): Error {
  if (available === null) return customerNotFound()
  if (available + credits < 0) return insufficientCredits(-credits, available)
  if (usedToday + Math.abs(credits) > perDay) return adjustmentRefusals.overDailyLimit(perDay, usedToday)
  // What stood in the way is gone: another request with this id that was lost in a failover, or a balance that has moved since.
  return refuse('SVC001')
}

/** By another operator than the one who requested it. */
export async function approve(
  database: Database,
  adjustmentId: string,
  actor: string,
  perDay: number,
): Promise<AdjustmentResult> {
  const available = await approveRequest(database, adjustmentId, actor, perDay)
  const request = await findRequest(database, adjustmentId)
  if (!request) throw adjustmentRefusals.requestNotFound()
  const { customerId, kind, credits, requestedBy, decidedBy } = request
  const result = { adjustmentId, customerId, kind, credits }
  if (available !== undefined) return { ...result, state: 'DONE', available }
  const state = await findAdjustmentState(database, { customerId, adjustmentId, actor })
  if (request.state === 'APPROVED' && decidedBy === actor) return { ...result, ...resultOf(request, state) }
  if (request.state !== 'PENDING') throw adjustmentRefusals.decided(request.state, decidedBy)
  if (requestedBy === actor) throw adjustmentRefusals.secondPerson()
  throw refusalOf(state, credits, perDay)
}

/** By anyone with the right to approve, the one who requested it included. */
export async function reject(database: Database, adjustmentId: string, actor: string): Promise<AdjustmentResult> {
  const isRejected = await rejectRequest(database, adjustmentId, actor)
  const request = await findRequest(database, adjustmentId)
  if (!request) throw adjustmentRefusals.requestNotFound()
  const { customerId, kind, credits, decidedBy } = request
  if (!isRejected && !(request.state === 'REJECTED' && decidedBy === actor)) {
    throw adjustmentRefusals.decided(request.state, decidedBy)
  }
  return { adjustmentId, customerId, kind, credits, state: 'REJECTED', available: null }
}
