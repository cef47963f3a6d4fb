// Each hold from its opening to its end: it ended at most once, by an acknowledged request or by expiry, with the
// matching ledger entry; a request that came too late was answered with how the hold had ended; and an extension is kept. Only
// the service that opened a hold, and one with the scope for holds of others, has one.
import type { HoldState } from '../../../../src/credits/holds/holds.sql.ts'
import type { Call, Data, EndRequest, ExtendRequest, Outcome, PartRequest } from '../../history.ts'
import { at, type Check, checksOf, type Evidence } from '../evidence.ts'
import { type BookedHold, keyOfUse } from './booked.ts'
import { type NamedLimit, refusedByBudget } from './budgets.ts'

type EndCall = Evidence['callsOf']['capture'][number] | Evidence['callsOf']['release'][number]

export function checkHolds(evidence: Evidence): Check[] {
  const { callsOf, holds } = evidence
  function ofHold(hold: BookedHold | undefined, call: HoldCall, check: (hold: BookedHold) => string | null) {
    if (!hold) return 'there is no such hold'
    return mayUse(evidence, hold, call) ? check(hold) : answeredWithoutAccess(call)
  }
  const calls: EndCall[] = [...callsOf.capture, ...callsOf.release]
  const each = (check: (hold: BookedHold, call: EndCall) => string | null) =>
    calls.flatMap((call) => {
      const hold = holds.get(call.request.holdId)
      const fault = ofHold(hold, call, (each) => check(each, call))
      return fault === null ? [] : [`${at(call)} ${call.request.op} ${call.request.holdId}: ${fault}`]
    })
  const all = [...holds.values()]
  return checksOf({
    'H-6 every acknowledged capture and release is in the ledger once, as in each answer': each((hold, call) =>
      acknowledged(hold, call),
    ),
    'H-8 an acknowledged extension is kept, and one is refused only when the hold has ended': callsOf.extend.flatMap(
      (call) => {
        const hold = holds.get(call.request.holdId)
        const fault = ofHold(hold, call, (each) => extended(each, call.outcome))
        return fault === null ? [] : [`${at(call)} extend ${call.request.holdId}: ${fault}`]
      },
    ),
    'H-7 a capture or release is refused for a reason that is true': each((hold, call) =>
      refused(evidence, hold, call),
    ),
    'H-6 every hold ended at most once, by a request or by expiry': ends(evidence, all, calls),
    'H-8 no hold is active past its expiry, and none expired before it': all.flatMap(
      ({ holdId, isOverdue, earlyMs, expiresAt }) => {
        if (isOverdue) return [`${holdId} is ACTIVE, and was to expire at ${expiresAt.toISOString()}`]
        return earlyMs === null ? [] : [`${holdId} expired ${Math.round(earlyMs)} ms before its time`]
      },
    ),
  })
}

type HoldCall = EndCall | Call<ExtendRequest> | Call<PartRequest>

function isOfAnother({ shop, uses }: Evidence, hold: BookedHold, { request: { sibling } }: HoldCall): boolean {
  return uses.get(keyOfUse(hold))?.serviceId !== shop.siblings[sibling]?.serviceId
}

/** The service that opened it, and those with the scope. */
export function mayUse(evidence: Evidence, hold: BookedHold, call: HoldCall): boolean {
  const { scopes } = evidence.shop.siblings[call.request.sibling] ?? {}
  return !isOfAnother(evidence, hold, call) || scopes?.includes('manage-holds') === true
}

/** Others do not find it. */
export function answeredWithoutAccess({ outcome }: HoldCall): string | null {
  if (outcome.kind === 'ok') return 'succeeded, and another service holds it'
  return outcome.kind === 'fail' && outcome.code !== 'NOT000' ? `was refused with ${outcome.code}` : null
}

/** Checks a refused capture of another service's hold by the budgets of the one that captures. `wanted` is null for all. */
export function refusedForBudget(
  evidence: Evidence,
  hold: BookedHold,
  call: EndCall | Call<PartRequest>,
  wanted: number | null,
): string | null {
  const { outcome, request } = call
  const metadata = outcome.kind === 'fail' ? outcome.metadata : null
  const requested = Number(metadata?.requested)
  // Parts that were captured later are not in its credits.
  const isAll = requested >= hold.credits && requested <= hold.credits + hold.capturedInParts
  const limit = metadata?.limit as NamedLimit | undefined
  if (request.op === 'release' || !isOfAnother(evidence, hold, call) || !limit) return 'was refused for lack of credits'
  if (wanted === null ? !isAll : requested !== wanted) return `requested ${wanted ?? 'all'}, refused with ${requested}`
  const { customer, sibling } = request
  return refusedByBudget(evidence, { ...call, request: { customer, sibling, reference: null } }, requested, limit)
}

/** The requested credits of a capture, 0 for a release. */
export function wantedOf(request: EndRequest, { credits }: { credits: number }): number {
  return request.op === 'release' ? 0 : (request.credits ?? credits)
}

const entryKinds: Record<Exclude<HoldState, 'ACTIVE'>, string> = {
  CAPTURED: 'CAPTURE',
  RELEASED: 'RELEASE',
  EXPIRED: 'EXPIRE',
}

/** Which service has ended it is checked with its entry: another one gets the same answer. */
function acknowledged(hold: BookedHold, { request, outcome }: EndCall): string | null {
  if (outcome.kind !== 'ok') return null
  const wanted = wantedOf(request, hold)
  const { holdId, captured, released, balance } = outcome.data as Data
  const answered = [holdId, wanted > 0 ? 'CAPTURED' : 'RELEASED', captured, released, balance].join(' ')
  const { state, credits, end } = hold
  const inBooks = [hold.holdId, state, wanted, credits - wanted, end?.balance].join(' ')
  return answered === inBooks && (hold.captured ?? 0) === wanted && (end?.reference ?? null) === null
    ? null
    : `was answered with ${answered}, booked ${inBooks}`
}

/** The rule of a refusal about a hold that has ended. */
export function ruleOf({ state, credits, captured, capturedInParts }: BookedHold): string {
  const inAll = capturedInParts + (captured ?? 0)
  const shown = inAll > 0 ? `, ${inAll} of ${capturedInParts + credits}` : ''
  return `the hold is ${state}${shown}${shown && state !== 'CAPTURED' ? ' captured' : ''}`
}

export function firstFault(metadata: Data | null): { field: string; rule: string } {
  const [fault] = (metadata?.fields ?? []) as { field: string; rule: string }[]
  return fault ?? { field: '', rule: '' }
}

function extended(hold: BookedHold, outcome: Outcome): string | null {
  if (outcome.kind === 'ok') {
    const { expiresAt } = outcome.data as Data
    const isKept = Date.parse(String(expiresAt)) <= hold.expiresAt.getTime()
    return isKept ? null : `was answered with ${expiresAt}, booked ${hold.expiresAt.toISOString()}`
  }
  if (outcome.kind !== 'fail') return null
  const { rule } = firstFault(outcome.metadata)
  const isTrue = outcome.code === 'VAL003' && hold.state !== 'ACTIVE' && rule === ruleOf(hold)
  return isTrue ? null : `was refused with ${outcome.code} "${rule}", booked ${ruleOf(hold)}`
}

function refused(evidence: Evidence, hold: BookedHold, call: EndCall): string | null {
  const { request, outcome } = call
  if (outcome.kind !== 'fail') return null
  const { code, message, metadata } = outcome
  if (code === 'BUS002')
    return refusedForBudget(evidence, hold, call, request.op === 'capture' ? request.credits : null)
  if (code !== 'VAL003') return `was refused with ${code} ${message}`
  const { field, rule } = firstFault(metadata)
  const wanted = wantedOf(request, hold)
  if (wanted > hold.credits) return field === 'credits' ? null : `requested ${wanted}, refused because of ${field}`
  if (rule !== ruleOf(hold)) return `was answered with "${rule}", booked ${ruleOf(hold)}`
  const { state, captured, end } = hold
  const isSame = wanted === 0 ? state === 'RELEASED' : captured === wanted && end?.reference === null
  return isSame ? `was refused although that is how it ended` : null
}

function ends({ shop }: Evidence, holds: BookedHold[], calls: EndCall[]): string[] {
  const byHold = Map.groupBy(calls, ({ request }) => request.holdId)
  return holds.flatMap((hold) => {
    const { holdId, state, credits, captured, openings, endings, end } = hold
    const isActive = state === 'ACTIVE'
    const expected = isActive ? null : `${entryKinds[state]} ${-(captured ?? 0)} ${-credits}`
    const entry = end && `${end.kind} ${end.delta} ${end.heldDelta}`
    if (openings !== 1 || endings !== (isActive ? 0 : 1) || entry !== expected) {
      return [`${holdId} is ${state}: begun ${openings} times, ended ${endings} times, ${entry} and not ${expected}`]
    }
    const mayHave = ({ request, outcome }: Call<EndRequest>) =>
      outcome.kind !== 'fail' &&
      wantedOf(request, hold) === (captured ?? 0) &&
      shop.siblings[request.sibling]?.serviceId === end?.serviceId
    // That a part was requested is checked with the references.
    const isPart = end?.reference != null
    const isRequested =
      isActive || isPart || state === 'EXPIRED' || (byHold.get(holdId) as Call<EndRequest>[])?.some(mayHave)
    return isRequested ? [] : [`${holdId} is ${state}, ${captured} of ${credits}: no request can have caused that`]
  })
}
