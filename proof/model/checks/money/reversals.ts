// Reversals: never more is given back than was spent, nor than was used beyond what full refunds have paid back; and one is
// refused only when there is no such spend of the service, or when less than that was left of it. That each is in the ledger
// once is checked with the references.
import type { Call, Outcome, ReverseRequest } from '../../history.ts'
import { at, type Check, checksOf, type Evidence } from '../evidence.ts'
import { keyOfUse, type UsedStep, wasDuring } from './booked.ts'
import { firstFault } from './holds.ts'

export function checkReversals({ usedCredits, uses }: Evidence): Check[] {
  return checksOf({
    'V-1 never more was given back than was spent or captured': [...usedCredits].flatMap(overdrawn),
    'V-2 only the service that spent gave back': [...uses.values()].flatMap(
      ({ customerId, reference, reversed, serviceId }) => {
        const spender =
          reversed === null ? serviceId : uses.get(keyOfUse({ customerId, reference: reversed }))?.serviceId
        return spender === serviceId ? [] : [`${reference} of ${serviceId} reversed ${reversed} of ${spender}`]
      },
    ),
    'V-3 no reversal gave back credits whose use a full refund had paid back': [...usedCredits].flatMap(paidBackTwice),
  })
}

function overdrawn([customerId, steps]: [string, UsedStep[]]): string[] {
  const ofUses = Map.groupBy(
    steps.filter(({ reference }) => reference !== null),
    ({ reference }) => reference,
  )
  return [...ofUses].flatMap(([reference, ofUse]) => {
    const left = sums(ofUse, ({ used }) => used)
    const isOverdrawn = left.some((credits) => credits < 0)
    return isOverdrawn ? [`${customerId}/${reference}: ${left.join(', ')} left to reverse`] : []
  })
}

/** A refund may have less than nothing left to be reversed: it pays back credits that a hold only captures later. */
function paidBackTwice([customerId, steps]: [string, UsedStep[]]): string[] {
  return steps.flatMap(({ used, reference, begunAt }, place) => {
    const left = used < 0 ? notPaidBack(steps.slice(0, place + 1), begunAt) : 0
    return left < 0 ? [`${customerId}/${reference}: ${-left} of the credits given back had been refunded`] : []
  })
}

/**
 * Each refund has paid back credits of the uses that had begun before it: those of them that are not given back have to cover
 * it. What that leaves of a use that began at this time, after all steps.
 */
function notPaidBack(steps: UsedStep[], begunAt: number): number {
  const refunds = steps.filter((step) => step.refunded !== 0)
  const limits = refunds
    .map((refund) => refund.begunAt)
    .filter((at) => at >= begunAt)
    .filter((at) => refunds.reduce((sum, refund) => sum + (refund.begunAt === at ? refund.refunded : 0), 0) > 0)
    .map((at) => {
      const before = steps.filter((step) => step.begunAt <= at)
      return before.reduce((sum, { used, refunded }) => sum + used - refunded, 0)
    })
  return Math.min(...limits)
}

/** After each step. */
function sums(steps: UsedStep[], creditsOf: (step: UsedStep) => number): number[] {
  let sum = 0
  return steps.map((step) => (sum += creditsOf(step)))
}

type LeftStep = { at: number; left: number }
const beforeAll: LeftStep = { left: 0, at: Number.NEGATIVE_INFINITY }

/** What could be reversed of a spend or a hold, after each step of its customer. */
function leftToReverse(steps: UsedStep[], reversed: string): LeftStep[] {
  const begunAt = steps.find(({ reference }) => reference === reversed)?.begunAt ?? 0
  const ofUse = sums(steps, (step) => (step.reference === reversed ? step.used : 0))
  return steps.map(({ at }, place) => {
    const left = Math.min(ofUse[place] ?? 0, notPaidBack(steps.slice(0, place + 1), begunAt))
    return { at, left: Math.max(0, left) }
  })
}

/** `before`: a call with the same reference that had succeeded when this one began. */
export function refusedReversal(
  { callsOf, shop, usedCredits }: Evidence,
  call: Call<ReverseRequest>,
  { code, metadata }: Extract<Outcome, { kind: 'fail' }>,
  before: Call | undefined,
): string | null {
  const { customer, sibling, reversed, credits } = call.request
  if (before) return `was refused with ${code} after ${at(before)} had succeeded`
  if (code === 'NOT000') {
    const made = [...callsOf.spend, ...callsOf.hold].find(
      ({ request, outcome, endedAtMs }) =>
        request.customer === customer &&
        request.sibling === sibling &&
        request.reference === reversed &&
        outcome.kind === 'ok' &&
        endedAtMs < call.invokedAtMs,
    )
    return made ? `found nothing to reverse after ${at(made)} had succeeded` : null
  }
  const { field, rule } = firstFault(metadata)
  if (code !== 'VAL003' || field !== 'credits') return `was refused with ${code} ${field} ${rule}`
  const left = Number(/\d+$/.exec(rule)?.[0])
  const ofCustomer = usedCredits.get(shop.customers[customer]?.customerId ?? '') ?? []
  const steps = [beforeAll, ...leftToReverse(ofCustomer, reversed)]
  const isTrue = left < (credits ?? 1) && wasDuring(call, steps, (step) => step.left === left)
  return isTrue ? null : `${credits ?? 'all'} were refused with ${left} left, which was not so at that time`
}
