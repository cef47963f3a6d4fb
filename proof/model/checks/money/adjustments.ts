// Adjustments by operators compared with the books: each id once, as in every answer, by the persons who requested and
// approved it; no more in a day than an operator may, and a request only for what is more; and one is refused for a reason that
// is true. One whose answer was lost may have been charged to the operator's day and not made.
import { type AdjustmentCall, adjustmentLimits } from '../../actions/account-actions.ts'
import { accepter } from '../../actions/outside-actions.ts'
import { type Check, checksOf, type Evidence } from '../evidence.ts'
import { type BookedAdjustment, wasDuring } from './booked.ts'

export function checkAdjustments(evidence: Evidence): Check[] {
  const { adjustments, adjustmentCalls } = evidence
  const booked = new Map(adjustments.map((each) => [each.adjustmentId, each]))
  const each = (check: (call: AdjustmentCall, booked: BookedAdjustment | undefined) => string | null) =>
    adjustmentCalls.flatMap((call) => {
      const { adjustmentId, credits } = call.adjustment
      const fault = check(call, booked.get(adjustmentId))
      return fault === null ? [] : [`${call.by} of ${credits} by ${call.actor} (${adjustmentId}) ${fault}`]
    })
  const days = chargesOf(adjustments)
  return checksOf({
    'A-1 every acknowledged adjustment is in the books, as in each answer': each(acknowledged),
    'A-2 every adjustment in the books was requested, once, and approved by another person where it has to be':
      unrequested(evidence),
    'A-3 no operator has adjusted more than the limit of a day': [...days]
      .filter(([, credits]) => credits > adjustmentLimits.perDay)
      .map(([day, credits]) => `${day}: ${credits} of ${adjustmentLimits.perDay}`),
    'A-4 an adjustment is refused for a reason that is true': each((call, own) => refused(evidence, call, own)),
    'A-5 a day is charged with what its operator has done at once or approved, each once': wronglyCharged(evidence),
  })
}

/** What counts for each operator and day: what was done at once, and approvals. */
function chargesOf(adjustments: BookedAdjustment[]): Map<string, number> {
  const charges = new Map<string, number>()
  const charge = (actor: string, day: string, credits: number) =>
    charges.set(`${actor} ${day}`, (charges.get(`${actor} ${day}`) ?? 0) + Math.abs(credits))
  for (const { actor, day, credits, requestState, approvedBy, approvalDay } of adjustments) {
    if (requestState === null) charge(actor, day, credits)
    if (approvedBy !== null && approvalDay !== null) charge(approvedBy, approvalDay, credits)
  }
  return charges
}

function acknowledged({ outcome }: AdjustmentCall, booked: BookedAdjustment | undefined): string | null {
  if (outcome.kind !== 'ok') return null
  const { state, available, customerId, kind, credits } = outcome.result
  if (!booked) return `was answered with ${state}, and is not in the books`
  const { requestState } = booked
  // It may have been approved since.
  const isPending = state === 'PENDING'
  const answered = [customerId, kind, credits, isPending ? null : available].join(' ')
  const inBooks = [booked.customerId, booked.kind, booked.credits, isPending ? null : booked.available].join(' ')
  const isInState = {
    DONE: booked.available !== null,
    PENDING: requestState !== null,
    REJECTED: requestState === 'REJECTED',
  }
  return answered === inBooks && isInState[state]
    ? null
    : `was answered with ${state} ${answered}, booked ${requestState} ${inBooks}`
}

/** The most that was charged to the operator on a day. */
const mostCharged = ({ adjustmentDays }: Evidence, operator: string) =>
  Math.max(...adjustmentDays.filter(({ actor }) => actor === operator).map(({ credits }) => credits), 0)

function unrequested(evidence: Evidence): string[] {
  const { adjustments, adjustmentCalls, shop } = evidence
  const calls = Map.groupBy(adjustmentCalls, ({ adjustment }) => adjustment.adjustmentId)
  const ids = Map.groupBy(adjustments, ({ adjustmentId }) => adjustmentId)
  return adjustments.flatMap((booked) => {
    const { adjustmentId, customerId, kind, credits, actor, approvedBy, available, requestState } = booked
    const mayBe = (calls.get(adjustmentId) ?? []).filter(({ outcome }) => outcome.kind !== 'fail')
    const isRequested = mayBe.some(
      (call) =>
        call.by === 'adjust' &&
        call.actor === actor &&
        shop.customers[call.customer]?.customerId === customerId &&
        call.adjustment.kind === kind &&
        call.adjustment.credits === credits,
    )
    const isApproved = mayBe.some(({ by, actor: other }) => by === 'approve' && other === approvedBy && other !== actor)
    const isAboveLimit = Math.abs(credits) > adjustmentLimits.approvalAbove
    const isOverDay = mostCharged(evidence, actor) + Math.abs(credits) > adjustmentLimits.perDay
    const isRightKind = requestState === null ? !isAboveLimit : isAboveLimit || isOverDay
    const needsApproval = requestState !== null && available !== null
    const isOnce = ids.get(adjustmentId)?.length === 1
    return isOnce && isRequested && isRightKind && isApproved === needsApproval
      ? []
      : [`${adjustmentId}: ${kind} ${credits} by ${actor}, approved by ${approvedBy}: no requests can have caused that`]
  })
}

function wronglyCharged({ adjustmentDays, adjustmentCalls, reversals, orders, shop }: Evidence): string[] {
  const keyOf = ({ customer, adjustment }: AdjustmentCall) =>
    `${shop.customers[customer]?.customerId}/${adjustment.adjustmentId}`
  const mayCharge = adjustmentCalls.filter(({ by }) => by !== 'reject')
  const actors = new Set(mayCharge.map((call) => `${call.actor}/${keyOf(call)}`))
  // One id may be requested with different credits: an approval is charged with those that were stored.
  const requested = new Set(
    mayCharge.map((call) => `${keyOf(call)}/${call.adjustment.kind}/${call.adjustment.credits}`),
  )
  // Who accepts a part is charged for what it takes more or less than it stands for, also when the acceptance was lost then.
  const withPart = new Set(
    reversals
      .filter(({ kind }) => kind === 'partial cancel')
      .map(({ orderId }) => shop.customers[orders.get(orderId)?.customer ?? -1]?.customerId),
  )
  const isOfPart = (actor: string, charge: string) => {
    const [customerId, , kind] = charge.split('/')
    return kind === 'PART' && actor === accepter && withPart.has(customerId)
  }
  return adjustmentDays.flatMap(({ actor, day, credits, charges }) => {
    const sum = charges.reduce((total, charge) => total + Math.abs(Number(charge.split('/').at(-1))), 0)
    const isOwn = (charge: string) => actors.has(`${actor}/${charge.split('/').slice(0, 2).join('/')}`)
    const isKnown = (charge: string) => (requested.has(charge) && isOwn(charge)) || isOfPart(actor, charge)
    const isRight = sum === credits && new Set(charges).size === charges.length && charges.every(isKnown)
    return isRight ? [] : [`${actor} on ${day}: ${credits} for ${charges.join(', ')}`]
  })
}

function refused(evidence: Evidence, call: AdjustmentCall, booked: BookedAdjustment | undefined): string | null {
  const { shop, courses } = evidence
  const { by, customer, actor, adjustment, outcome } = call
  if (outcome.kind !== 'fail') return null
  const { credits } = adjustment
  const steps = courses.get(shop.customers[customer]?.customerId ?? '') ?? []
  const reasons: Record<string, () => boolean> = {
    BUS002: () => wasDuring(call, [noCredits, ...steps], ({ available }) => available + credits < 0),
    'VAL003 adjustment limit': () =>
      by === 'approve' && mostCharged(evidence, actor) + Math.abs(credits) > adjustmentLimits.perDay,
    'VAL003 adjustmentId': () => booked !== undefined && booked.credits !== credits,
    'VAL003 second person': () => by === 'approve' && booked?.actor === actor,
    'VAL003 decided': () => by !== 'adjust' && booked?.decidedBy != null,
  }
  const name = [outcome.code, outcome.about].join(' ').trim()
  return reasons[name]?.() ? null : `was refused with ${name}`
}

const noCredits = { available: 0, at: Number.NEGATIVE_INFINITY }
