// Holds for the services of the platform: hold credits, then capture those that were used or release them. A hold ends once,
// by the first capture, release or expiry. A retry of that gets the first answer; any other request about a hold that has
// ended is refused, with its state.
import { newHoldId } from '../core/ids.ts'
import type { Credits } from './credits.ts'
import type { Hold, HoldEnding, HoldOpening } from './holds.sql.ts'
import { customerNotFound, holdRefusals, insufficientCredits, referenceRefusals, requireAllowed } from './refusals.ts'

export type HoldRequest = Omit<HoldOpening, 'holdId' | 'serviceId'>
export type HoldAnswer = { holdId: string; credits: number; expiresAt: string; balance: number }

export async function openHold(credits: Credits, serviceId: string, request: HoldRequest): Promise<HoldAnswer> {
  const opened = await credits.openHold({ ...request, holdId: newHoldId(), serviceId })
  if (opened.available === null) throw customerNotFound()
  if (opened.isSpend) throw referenceRefusals.usedToSpend()
  if (opened.holdId === null || opened.credits === null || opened.expiresAt === null) {
    requireAllowed(request.credits, opened.available, opened)
    throw insufficientCredits(request.credits, opened.available)
  }
  if (opened.credits !== request.credits) throw referenceRefusals.heldOtherCredits(opened.credits)
  const { holdId, expiresAt, available: balance } = opened
  return { holdId, credits: opened.credits, expiresAt: expiresAt.toISOString(), balance }
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
async function findEndedHold(credits: Credits, { customerId, holdId }: EndRequest): Promise<Hold | null> {
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
  if (hold.state === wantedState && hold.captured === wanted) return hold
  throw holdRefusals.endedOtherwise(hold)
}

function answerOf({ holdId, credits, captured, available }: Hold): EndAnswer {
  return { holdId, captured: captured ?? 0, released: credits - (captured ?? 0), balance: available ?? 0 }
}
