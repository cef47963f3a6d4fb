// Holds as a sibling service meets them: set credits aside, then capture what was used or release them. A hold ends once,
// whoever is first: capture, release or the clock. A retry of what has happened gets its first answer; anything else
// about a hold that has ended is refused and names its state.
import { refuse, refuseFields } from '../core/errors.ts'
import { newHoldId } from '../core/ids.ts'
import type { Credits } from './credits.ts'
import type { Hold, HoldEnding } from './holds.sql.ts'
import { refuseForLack } from './spend.ts'

export type HoldRequest = { customerId: string; credits: number; reference: string; expiresInSeconds: number }
export type HoldAnswer = { holdId: string; credits: number; expiresAt: string; balance: number }

export async function openHold(credits: Credits, serviceId: string, request: HoldRequest): Promise<HoldAnswer> {
  const opened = await credits.openHold({ ...request, holdId: newHoldId(), serviceId })
  if (opened.available === null) throw refuse('NOT000')
  if (opened.isSpend) throw refuseFields('VAL003', [{ field: 'reference', rule: 'was used to spend credits' }])
  if (opened.holdId === null || opened.credits === null || opened.expiresAt === null) {
    throw refuseForLack(request.credits, opened.available)
  }
  if (opened.credits !== request.credits) {
    throw refuseFields('VAL003', [{ field: 'reference', rule: `was used for a hold of ${opened.credits} credits` }])
  }
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
  if (!hold) throw refuse('NOT000')
  const wanted = ending === 'CAPTURE' ? (captured ?? hold.credits) : null
  if (wanted !== null && wanted > hold.credits) {
    throw refuseFields('VAL003', [
      { field: 'credits', rule: `must be at most the credits of the hold, ${hold.credits}` },
    ])
  }
  const wantedState = ending === 'CAPTURE' ? 'CAPTURED' : 'RELEASED'
  if (hold.state === wantedState && hold.captured === wanted) return hold
  const detail = hold.state === 'CAPTURED' ? `, ${hold.captured} of ${hold.credits}` : ''
  throw refuseFields('VAL003', [{ field: 'holdId', rule: `the hold is ${hold.state}${detail}` }])
}

function answerOf({ holdId, credits, captured, available }: Hold): EndAnswer {
  return { holdId, captured: captured ?? 0, released: credits - (captured ?? 0), balance: available ?? 0 }
}
