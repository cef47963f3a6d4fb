// Holds as a sibling service meets them: set credits aside, then capture what was used or release them. A hold ends once,
// whoever is first: capture, release or the clock. A retry of what has happened gets its first answer; anything else
// about a hold that has ended is refused and names its state.
import { newHoldId } from '../core/ids.ts'
import type { Credits } from './credits.ts'
import type { Hold, HoldEnding } from './holds.sql.ts'
import { customerNotFound, holdRefusals, insufficientCredits, referenceRefusals } from './refusals.ts'

export type HoldRequest = { customerId: string; credits: number; reference: string; expiresInSeconds: number }
export type HoldAnswer = { holdId: string; credits: number; expiresAt: string; balance: number }

export async function openHold(credits: Credits, serviceId: string, request: HoldRequest): Promise<HoldAnswer> {
  const opened = await credits.openHold({ ...request, holdId: newHoldId(), serviceId })
  if (opened.available === null) throw customerNotFound()
  if (opened.isSpend) throw referenceRefusals.usedToSpend()
  if (opened.holdId === null || opened.credits === null || opened.expiresAt === null) {
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
  return answerOf(ended ?? judge(await findEnd(credits, request), request))
}

/**
 * A hold whose time is over is ended by whoever comes upon it. Until it is, somebody who came in time may still be
 * capturing it, and nobody may be told that it has expired.
 */
async function findEnd(credits: Credits, { customerId, holdId }: EndRequest): Promise<Hold | null> {
  const hold = await credits.findHold({ customerId, holdId })
  if (hold?.state !== 'ACTIVE') return hold
  await credits.endHold({ customerId, holdId, ending: 'EXPIRE', captured: null, serviceId: null })
  return credits.findHold({ customerId, holdId })
}

/** Why it could not be ended. */
function judge(hold: Hold | null, { ending, captured }: EndRequest): Hold {
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
