// The answers to sibling services compared with the ledger: a reference is used once, for a spend, a hold, a part of a hold
// or a reversal, and every answer about it is the same. A refusal for lack of credits has to be right.
import type { Call, Data, HoldRequest, PartRequest, ReverseRequest, SpendRequest, UseRequest } from '../../history.ts'
import { at, type Check, checksOf, type Evidence } from '../evidence.ts'
import { maySuspensionCover } from '../suspensions.ts'
import { type BookedHold, type BookedUse, keyOfUse, type Step, wasDuring } from './booked.ts'
import { type NamedLimit, refusedByBudget } from './budgets.ts'
import { answeredWithoutAccess, firstFault, mayUse, refusedForBudget, ruleOf } from './holds.ts'
import { refusedReversal } from './reversals.ts'

type UseCall = Call<SpendRequest> | Call<HoldRequest> | Call<PartRequest> | Call<ReverseRequest>
type Refused = Extract<UseCall['outcome'], { kind: 'fail' }>
type Group = { calls: UseCall[]; booked: BookedUse | undefined }

export function checkSpends(evidence: Evidence): Check[] {
  const groups = groupUses(evidence)
  const each = (check: (evidence: Evidence, group: Group, call: UseCall) => string | null) =>
    groups.flatMap((group) =>
      group.calls.flatMap((call) => {
        const fault = check(evidence, group, call)
        return fault === null ? [] : [`${at(call)} ${call.request.op} ${call.request.reference}: ${fault}`]
      }),
    )
  return checksOf({
    'H-2 every acknowledged spend, hold, part of a hold and reversal is in the ledger once, as in each answer':
      each(acknowledged),
    'H-5 a request is refused for lack of credits or by a budget only if it had not succeeded before':
      each(refusedForLack),
    'H-3 a reference is refused only for a different use, or for what is true of it': each(otherRefusal),
    'I-23 every spend, hold, part of a hold and reversal in the ledger was requested, once': unrequested(
      evidence,
      groups,
    ),
  })
}

/** All calls by customer and reference. */
function groupUses({ callsOf, uses, shop }: Evidence): Group[] {
  const keyOf = ({ request: { customer, reference } }: UseCall) =>
    keyOfUse({ customerId: shop.customers[customer]?.customerId ?? '', reference })
  const calls: UseCall[] = [...callsOf.spend, ...callsOf.hold, ...callsOf.part, ...callsOf.reverse]
  return [...Map.groupBy(calls, keyOf)].map(([key, ofReference]) => ({ calls: ofReference, booked: uses.get(key) }))
}

const kinds = { spend: 'SPEND', hold: 'HOLD', part: 'CAPTURE', reverse: 'REVERSAL' } as const

export function isUseOf(booked: BookedUse, request: UseRequest | PartRequest | ReverseRequest): boolean {
  const isAtMost = request.op === 'hold' && request.atMost
  return (
    booked.kind === kinds[request.op] &&
    (booked.requested !== null) === isAtMost &&
    (booked.requested ?? booked.credits) === (request.credits ?? booked.credits) &&
    (request.op !== 'part' || booked.holdId === request.holdId) &&
    (request.op !== 'reverse' || booked.reversed === request.reversed)
  )
}

function acknowledged(evidence: Evidence, { booked }: Group, call: UseCall): string | null {
  const { shop, holds } = evidence
  const { request, outcome } = call
  if (outcome.kind !== 'ok') return null
  if (isWithoutAccess(evidence, call)) return answeredWithoutAccess(call)
  if (!booked) return 'was acknowledged and is not in the ledger'
  const { credits, captured, balance, reference, holdId, expiresAt } = outcome.data as Data
  const service = shop.siblings[request.sibling]?.serviceId
  const hold = request.op === 'hold' ? holds.get(String(booked.holdId)) : undefined
  const own = request.op === 'spend' || request.op === 'reverse' ? [reference, null] : [booked.reference, holdId]
  // An answer from before an extension has an earlier one.
  const expiry = hold && !hold.isExtended ? new Date(String(expiresAt)).getTime() : null
  const moved = request.op === 'part' ? captured : credits
  const answered = [kinds[request.op], moved, balance, service, ...own, expiry].join(' ')
  const { kind, holdId: bookedId, serviceId } = booked
  const bookedExpiry = hold && !hold.isExtended ? hold.expiresAt.getTime() : null
  const inBooks = [kind, booked.credits, booked.balance, serviceId, booked.reference, bookedId, bookedExpiry].join(' ')
  return answered === inBooks && isUseOf(booked, request) ? null : `was answered with ${answered}, booked ${inBooks}`
}

const never = Number.POSITIVE_INFINITY
const beforeAll: Step = { entryNumber: 0, available: 0, at: Number.NEGATIVE_INFINITY }

/**
 * The available credits in the refusal must have been the balance at some moment of the call, before anything was
 * booked with the reference: an earlier request without an answer may arrive later, and find the credits.
 */
function refusedForLack(evidence: Evidence, { calls, booked }: Group, call: UseCall): string | null {
  const { shop, courses } = evidence
  const { request, outcome } = call
  if (outcome.kind !== 'fail' || outcome.code !== 'BUS002') return null
  if (request.op === 'reverse') return 'was refused for lack of credits'
  if (request.op === 'part') return refusedPartForBudget(evidence, calls, call as Call<PartRequest>)
  const { requested, available, limit } = outcome.metadata ?? {}
  const enough = request.op === 'hold' && request.atMost ? 1 : request.credits
  if (requested !== request.credits || !(limit || Number(available) < enough)) {
    return `requested ${request.credits}, refused with ${JSON.stringify(outcome.metadata)}`
  }
  const before = succeededBefore(calls, call)
  if (before) return `was refused for lack of credits after ${at(before)} had succeeded`
  const fault = limit ? refusedByBudget(evidence, call, enough, limit as NamedLimit) : null
  if (fault) return fault
  const { customerId = '' } = shop.customers[request.customer] ?? {}
  const steps = [beforeAll, ...(courses.get(customerId) ?? [])]
  const isPossible = ({ entryNumber, available: left }: Step) =>
    left === available && entryNumber < (booked?.entryNumber ?? never)
  return wasDuring(call, steps, isPossible)
    ? null
    : `was refused with ${available} credits, which the balance was not at that time`
}

/** What is held is enough: only a budget of a service that captures what another one holds can refuse a part. */
function refusedPartForBudget(evidence: Evidence, calls: UseCall[], call: Call<PartRequest>): string | null {
  const { holdId, credits } = call.request
  const before = succeededBefore(calls, call)
  if (before) return `was refused for lack of credits after ${at(before)} had succeeded`
  const hold = evidence.holds.get(holdId)
  return hold ? refusedForBudget(evidence, hold, call, credits) : 'there is no such hold'
}

function succeededBefore(calls: UseCall[], { invokedAtMs }: UseCall): UseCall | undefined {
  return calls.find(({ outcome, endedAtMs }) => outcome.kind === 'ok' && endedAtMs < invokedAtMs)
}

function otherRefusal(evidence: Evidence, { calls, booked }: Group, call: UseCall): string | null {
  const { request, outcome } = call
  if (outcome.kind !== 'fail' || outcome.code === 'BUS002') return null
  const { field } = firstFault(outcome.metadata)
  if (field === 'customerId') {
    const isNew = (request.op === 'spend' || request.op === 'hold') && !succeededBefore(calls, call)
    return isNew && maySuspensionCover(evidence, call) ? null : 'was refused as suspended'
  }
  if (request.op === 'reverse' && field !== 'reference') {
    return refusedReversal(evidence, call as Call<ReverseRequest>, outcome, succeededBefore(calls, call))
  }
  if (isWithoutAccess(evidence, call)) return answeredWithoutAccess(call)
  const hold = request.op === 'part' ? evidence.holds.get(request.holdId) : undefined
  if (request.op === 'part' && !booked) return hold ? refusedPart(hold, request, outcome) : 'there is no such hold'
  if (outcome.code !== 'VAL003') return `was refused with ${outcome.code} ${outcome.message}`
  if (!booked) return 'was refused as used before, and is not in the ledger'
  return isUseOf(booked, request) ? 'was refused as used differently, and was used the same' : null
}

function isWithoutAccess(evidence: Evidence, call: UseCall): call is Call<PartRequest> {
  const hold = call.request.op === 'part' ? evidence.holds.get(call.request.holdId) : undefined
  return hold !== undefined && !mayUse(evidence, hold, call as Call<PartRequest>)
}

/** Too little was left, or the hold had ended. */
function refusedPart(hold: BookedHold, { credits }: PartRequest, { code, metadata }: Refused): string | null {
  const { field, rule } = firstFault(metadata)
  if (code !== 'VAL003') return `was refused with ${code}`
  const isTrue = field === 'credits' ? credits > hold.credits : rule === ruleOf(hold)
  return isTrue ? null : `was refused with "${rule}", booked ${ruleOf(hold)}`
}

/** By a call that succeeded, or whose outcome is unknown. */
function unrequested({ uses }: Evidence, groups: Group[]): string[] {
  const requested = new Set<BookedUse>()
  for (const { calls, booked } of groups) {
    if (booked && calls.some(({ request, outcome }) => outcome.kind !== 'fail' && isUseOf(booked, request))) {
      requested.add(booked)
    }
  }
  return [...uses.values()].flatMap((use) => {
    const what = `${use.kind} ${use.credits} ${use.reference} of ${use.customerId}`
    if (use.entries > 1) return [`${what}: ${use.entries} entries have the reference`]
    return requested.has(use) ? [] : [`${what}: no request can have caused that`]
  })
}
