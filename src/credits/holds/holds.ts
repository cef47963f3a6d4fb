// Holds for the services of the platform: hold credits, extend the hold and capture parts of it while the work goes on, then
// capture those that were used or release them. A hold ends once, by the first final capture, release or expiry, or by the
// part that takes its last credits. A retry of that gets the first answer; any other request about a hold that has ended is
// refused, with its state.
import { assert } from '../../core/assert.ts'
import type { Refusal } from '../../core/errors.ts'
import { newHoldId } from '../../core/ids.ts'
import type { Verdict } from '../budgets/usage.sql.ts'
import type { Credits } from '../credits.ts'
import type { ReferenceUse } from '../references.sql.ts'
import { customerNotFound, holdRefusals, insufficientCredits, referenceRefusals, requireAllowed } from '../refusals.ts'
import type {
  Hold,
  HoldEnding,
  HoldExtension,
  HoldKey,
  HoldOpened,
  HoldOpening,
  HoldPart,
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
export async function capturePart(credits: Credits, serviceId: string, request: PartRequest): Promise<PartAnswer> {
  const part = (await credits.capturePart({ ...request, serviceId })) ?? (await findPart(credits, request))
  const { captured, remaining, available: balance } = part
  return { holdId: request.holdId, captured, remaining, balance }
}

/** The part that was captured before by this reference, or the refusal. */
async function findPart(credits: Credits, request: PartRequest): Promise<PartCaptured> {
  const use = await credits.findUse(request)
  if (use) return requireSamePart(use, request)
  const hold = await findEndedHold(credits, request)
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

export type EndRequest = Omit<HoldEnding, 'serviceId'>
export type EndAnswer = { holdId: string; captured: number; released: number; balance: number }

export async function endHold(credits: Credits, serviceId: string, request: EndRequest): Promise<EndAnswer> {
  const ended = await credits.endHold({ ...request, serviceId })
  return answerOf(ended ?? requireSameEnd(await findEndedHold(credits, request), request))
}

/**
 * A hold whose time is over is expired here if it is still active. Until then a capture that came in time may still be
 * running, and no answer may say that the hold has expired.
 */
async function findEndedHold(credits: Credits, { customerId, holdId }: HoldKey): Promise<Hold | null> {
  const hold = await credits.findHold({ customerId, holdId })
  if (hold?.state !== 'ACTIVE') return hold
  await credits.endHold({ customerId, holdId, ending: 'EXPIRE', captured: null, serviceId: null })
  return credits.findHold({ customerId, holdId })
}

/** The hold when it has ended as requested, or the refusal. */
function requireSameEnd(hold: Hold | null, { ending, captured }: EndRequest): Hold {
  if (!hold) throw holdRefusals.holdNotFound()
  const wanted = ending === 'CAPTURE' ? (captured ?? hold.credits) : null
  if (wanted !== null && wanted > hold.credits) throw holdRefusals.moreThanHeld(hold)
  const wantedState = ending === 'CAPTURE' ? 'CAPTURED' : 'RELEASED'
  if (hold.state === wantedState && hold.captured === wanted && !hold.isEndedByPart) return hold
  throw holdRefusals.endedOtherwise(hold)
}

function answerOf({ holdId, credits, captured, available }: Hold): EndAnswer {
  return { holdId, captured: captured ?? 0, released: credits - (captured ?? 0), balance: available ?? 0 }
}
