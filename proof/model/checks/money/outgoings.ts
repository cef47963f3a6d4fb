// What the sibling services and adjustments took from each customer or gave back, and when, by the answers: the other half of
// a balance, beside the orders. The books are used only for requests that succeeded and whose answer was lost.

import { defaultHoldSeconds } from '../../../../src/credits/schemas.ts'
import type { Call, Data, EndRequest, ReverseRequest, UseRequest } from '../../history.ts'
import type { Evidence } from '../evidence.ts'
import { type BookedUse, keyOfUse } from './booked.ts'
import { wantedOf } from './holds.ts'
import { isUseOf } from './spends.ts'

export const never = Number.POSITIVE_INFINITY

/** When something may have begun to count at the earliest, and when it counted for certain. */
export type Span = { fromMs: number; certainMs: number }

export function spanOf(calls: { invokedAtMs: number; endedAtMs: number; outcome: { kind: string } }[]): Span {
  const succeeded = calls.filter(({ outcome }) => outcome.kind === 'ok')
  return {
    fromMs: Math.min(never, ...calls.map(({ invokedAtMs }) => invokedAtMs)),
    certainMs: Math.min(never, ...succeeded.map(({ endedAtMs }) => endedAtMs)),
  }
}

/**
 * Takes `credits` from its beginning, and `afterEnd` of them for good. A spend takes all of them for good at once, and a
 * reversal or goodwill less than nothing.
 */
export type Outgoing = {
  customer: number
  credits: number
  afterEnd: number
  begun: Span
  ended: Span
  /** What it takes at the end of the run. */
  finally: number
}

type UseCalls = Call<UseRequest | ReverseRequest>[]

export function listOutgoings(evidence: Evidence): Outgoing[] {
  const { callsOf, uses, shop } = evidence
  const requested = Map.groupBy(
    [...callsOf.spend, ...callsOf.hold, ...callsOf.reverse] as UseCalls,
    ({ request: { customer, reference } }) =>
      keyOfUse({ customerId: shop.customers[customer]?.customerId ?? '', reference }),
  )
  const ends = Map.groupBy([...callsOf.capture, ...callsOf.release] as EndCalls, ({ request }) => request.holdId)
  const places = new Map(shop.customers.map(({ customerId, index }) => [customerId, index]))
  const ofBalance = [...uses].filter(([, { kind }]) => kind !== 'CAPTURE')
  const ofUses = ofBalance.map(([key, use]) => {
    const calls = (requested.get(key) ?? []).filter(({ request }) => isUseOf(use, request))
    const credits = use.kind === 'REVERSAL' ? -use.credits : use.credits
    const base = { customer: places.get(use.customerId) ?? -1, credits, begun: spanOf(calls) }
    const end =
      use.kind === 'HOLD' ? endOfHold(evidence, use, calls, ends.get(`${use.holdId}`) ?? []) : endOfSpend({ credits })
    return { ...base, ...end }
  })
  return [...ofUses, ...ofAdjustments(evidence)]
}

/** A request that waits for a second person has moved nothing. */
function ofAdjustments({ adjustments, adjustmentCalls }: Evidence): Outgoing[] {
  const moving = adjustmentCalls.filter(({ outcome }) => outcome.kind !== 'ok' || outcome.result.state === 'DONE')
  const byId = Map.groupBy(moving, ({ adjustment }) => adjustment.adjustmentId)
  return adjustments
    .filter(({ available }) => available !== null)
    .map(({ adjustmentId, credits }) => {
      const calls = byId.get(adjustmentId) ?? []
      const base = { customer: calls[0]?.customer ?? -1, credits: -credits, begun: spanOf(calls) }
      return { ...base, ...endOfSpend({ credits: -credits }) }
    })
}

type EndCalls = Call<EndRequest>[]
type End = Pick<Outgoing, 'afterEnd' | 'ended' | 'finally'>

function endOfSpend({ credits }: Pick<BookedUse, 'credits'>): End {
  return { afterEnd: credits, ended: { fromMs: never, certainMs: never }, finally: credits }
}

/** This close to its expiry, the books say whether a hold without a requested duration has expired. */
const aroundExpiryMs = 60_000

/** By the acknowledged request, or else by expiry. */
function endOfHold({ holds }: Evidence, use: BookedUse, opened: UseCalls, ends: EndCalls): End {
  const acknowledged = ends.find(({ outcome }) => outcome.kind === 'ok')
  const hold = holds.get(`${use.holdId}`)
  const inParts = hold?.capturedInParts ?? 0
  // A part takes what is held already: nothing becomes available by it, nor by the one that ends the hold.
  if (hold?.end?.reference != null) return endOfSpend(use)
  if (acknowledged) {
    const wanted = wantedOf(acknowledged.request, hold ?? use)
    const same = ends.filter(({ request }) => wantedOf(request, hold ?? use) === wanted)
    return { afterEnd: wanted + inParts, ended: spanOf(same), finally: wanted + inParts }
  }
  const { fromMs } = spanOf(opened)
  const seconds = opened.map(({ request }) => ('expiresInSeconds' in request && request.expiresInSeconds) || null)
  const ended = {
    fromMs:
      fromMs + Math.min(...seconds.map((each) => (each ? each * 1_000 : defaultHoldSeconds * 1_000 - aroundExpiryMs))),
    certainMs: never,
  }
  const answer = opened.find(({ outcome }) => outcome.kind === 'ok')
  // From the call that opened it: the first with its reference may have been refused for lack of credits long before.
  const leftMs =
    answer?.outcome.kind === 'ok' && !hold?.isExtended
      ? Date.parse(String((answer.outcome.data as Data).expiresAt)) - performance.timeOrigin - performance.now()
      : null
  const isForShort = seconds.every((each) => each !== null)
  const isLasting =
    leftMs === null || (Math.abs(leftMs) < aroundExpiryMs && !isForShort) ? hold?.state === 'ACTIVE' : leftMs > 0
  return { afterEnd: inParts, ended, finally: isLasting ? use.credits : inParts }
}

/** The least and the most that it took at any moment between the two. */
export function takenBetween({ credits, afterEnd, begun, ended }: Outgoing, fromMs: number, toMs: number) {
  const possible: number[] = []
  if (begun.certainMs > fromMs) possible.push(0)
  if (begun.fromMs <= toMs && ended.certainMs > fromMs) possible.push(credits)
  if (ended.fromMs <= toMs) possible.push(afterEnd)
  return { least: Math.min(...possible), most: Math.max(...possible) }
}
