// Holds for the services of the platform: hold credits, extend the hold and capture parts of it while the work goes on, then
// capture those that were used or release them. A hold ends once, by the first final capture, release or expiry, or by the
// part that takes its last credits. A retry of that gets the first answer; any other request about a hold that has ended is
// refused, with its state. To a service a hold of another one is like none, unless its token has the scope manage-holds.
import { assert } from '../../core/assert.ts'
import type { Refusal } from '../../core/errors.ts'
import { newHoldId } from '../../core/ids.ts'
import type { Verdict } from '../budgets/usage.sql.ts'
import type { Credits } from '../credits.ts'
import type { ReferenceUse } from '../references.sql.ts'
import { customerNotFound, holdRefusals, insufficientCredits, referenceRefusals, requireAllowed } from '../refusals.ts'
import type { ForeignCapture } from './foreign-capture.sql.ts'
import type {
  Hold,
  HoldCaller,
  HoldEnding,
  HoldExtension,
  HoldOpened,
  HoldOpening,
  HoldPart,
  HoldSearch,
  PartCaptured,
} from './holds.sql.ts'

export type HoldRequest = Omit<HoldOpening, 'holdId' | 'serviceId'>
export type HoldAnswer = { holdId: string; credits: number; expiresAt: string; balance: number }

export async function openHold(credits: Credits, serviceId: string, request: HoldRequest): Promise<HoldAnswer> {
  const opened = await credits.openHold({ ...request, holdId: newHoldId(), serviceId })
  const { holdId, expiresAt } = opened
  const held = heldBy(request, opened)
  assert(holdId !== null && expiresAt !== null, 'held credits without their hold')
  return { holdId, expiresAt: expiresAt.toISOString(), ...held }
}

/** The held credits and what is available after it, or the refusal. */
export function heldBy(
  request: Pick<HoldRequest, 'credits' | 'atMost'>,
  opened: Pick<HoldOpened, 'credits' | 'requested' | 'available' | 'usedFor' | keyof Verdict>,
): { credits: number; balance: number } {
  const { credits, requested, available, usedFor } = opened
  if (available === null) throw customerNotFound()
  if (usedFor) throw referenceRefusals.usedFor(usedFor)
  if (credits === null) {
    requireAllowed(request.credits, available, opened)
    throw insufficientCredits(request.credits, available)
  }
  const isSameKind = (requested !== null) === (request.atMost ?? false)
  if (!isSameKind || (requested ?? credits) !== request.credits) {
    throw requested === null ? referenceRefusals.heldOtherCredits(credits) : referenceRefusals.heldAtMost(requested)
  }
  return { credits, balance: available }
}

export async function extendHold(credits: Credits, request: HoldExtension): Promise<HoldAnswer> {
  const extended = await credits.extendHold(request)
  if (!extended) throw refusalOf(await findEndedHold(credits, request))
  const { holdId, credits: held, expiresAt, available: balance } = extended
  return { holdId, credits: held, expiresAt: expiresAt.toISOString(), balance }
}

export type PartRequest = Omit<HoldPart, 'serviceId'>
export type PartAnswer = { holdId: string; captured: number; remaining: number; balance: number }

/** Idempotent by the reference: a retry gets the first answer, also when the hold has ended since. */
export async function capturePart(credits: Credits, caller: HoldCaller, request: PartRequest): Promise<PartAnswer> {
  const part =
    (await credits.capturePart({ ...request, serviceId: caller.serviceId })) ??
    (await capturePartOfAnother(credits, caller, request)) ??
    (await findPart(credits, caller, request))
  const { captured, remaining, available: balance } = part
  return { holdId: request.holdId, captured, remaining, balance }
}

async function capturePartOfAnother(credits: Credits, caller: HoldCaller, request: PartRequest) {
  const { customerId, holdId, credits: captured, reference } = request
  const found = await captureFromAnother(credits, caller, { customerId, holdId, captured, reference })
  return found && { captured, remaining: found.held - captured, available: found.available }
}

/** The part that was captured before by this reference, or the refusal. */
async function findPart(credits: Credits, caller: HoldCaller, request: PartRequest): Promise<PartCaptured> {
  const { customerId, holdId } = request
  const search = { customerId, holdId, ...caller }
  if (!(await credits.findHold(search))) throw holdRefusals.holdNotFound()
  const use = await credits.findUse(request)
  if (use) return requireSamePart(use, request)
  const hold = await findEndedHold(credits, search)
  if (hold?.state === 'ACTIVE' && request.credits > hold.credits) throw holdRefusals.moreThanHeld(hold)
  throw refusalOf(hold)
}

function requireSamePart(use: ReferenceUse, { holdId, credits }: PartRequest): PartCaptured {
  const { kind, credits: captured, remaining, available } = use
  if (kind !== 'CAPTURE' || remaining === null) throw referenceRefusals.usedFor(kind)
  if (use.holdId !== holdId) throw referenceRefusals.usedForOtherHold()
  if (captured !== credits) throw referenceRefusals.capturedOtherCredits(captured)
  return { captured, remaining, available }
}

function refusalOf(hold: Hold | null): Refusal {
  return hold ? holdRefusals.endedOtherwise(hold) : holdRefusals.holdNotFound()
}

export type EndRequest = Omit<HoldEnding, keyof HoldCaller>
export type EndAnswer = { holdId: string; captured: number; released: number; balance: number }

export async function endHold(credits: Credits, caller: HoldCaller, request: EndRequest): Promise<EndAnswer> {
  const { customerId, holdId } = request
  const ended =
    (await credits.endHold({ ...request, ...caller })) ??
    (await captureHoldOfAnother(credits, caller, request)) ??
    requireSameEnd(await findEndedHold(credits, { customerId, holdId, ...caller }), request)
  return answerOf(ended)
}

async function captureHoldOfAnother(
  credits: Credits,
  caller: HoldCaller,
  request: EndRequest,
): Promise<EndedHold | null> {
  if (request.ending !== 'CAPTURE') return null
  const { customerId, holdId, captured } = request
  const found = await captureFromAnother(credits, caller, { customerId, holdId, captured, reference: null })
  return found && { holdId, credits: found.held, captured: found.captured, available: found.available }
}

/** Null where it cannot be captured; the refusal where a budget of the service has too little left. */
async function captureFromAnother(credits: Credits, caller: HoldCaller, request: Omit<ForeignCapture, 'serviceId'>) {
  if (!caller.mayManageHolds) return null
  const found = await credits.captureForeignHold({ ...request, serviceId: caller.serviceId })
  if (!found.isFound) return null
  requireAllowed(found.captured, found.available, found)
  return found
}

/**
 * A hold whose time is over is expired here if it is still active. Until then a capture that came in time may still be
 * running, and no answer may say that the hold has expired.
 */
async function findEndedHold(credits: Credits, search: HoldSearch): Promise<Hold | null> {
  const hold = await credits.findHold(search)
  if (hold?.state !== 'ACTIVE') return hold
  const { customerId, holdId } = search
  await credits.endHold({ customerId, holdId, ending: 'EXPIRE', captured: null, serviceId: null })
  return credits.findHold(search)
}

/** The hold when it has ended as requested, or the refusal. */
export function requireSameEnd(hold: Hold | null, { ending, captured }: EndRequest): Hold {
  if (!hold) throw holdRefusals.holdNotFound()
  const wanted = ending === 'CAPTURE' ? (captured ?? hold.credits) : null
  if (wanted !== null && wanted > hold.credits) throw holdRefusals.moreThanHeld(hold)
  const wantedState = ending === 'CAPTURE' ? 'CAPTURED' : 'RELEASED'
  if (hold.state === wantedState && hold.captured === wanted && !hold.isEndedByPart) return hold
  throw holdRefusals.endedOtherwise(hold)
}

type EndedHold = Pick<Hold, 'holdId' | 'credits' | 'captured' | 'available'>

function answerOf({ holdId, credits, captured, available }: EndedHold): EndAnswer {
  return { holdId, captured: captured ?? 0, released: credits - (captured ?? 0), balance: available ?? 0 }
}
