// Customers that operators suspended: between the answer to the suspension and the request to end it nothing of them was
// spent or held.
import type { World } from '../../world/world.ts'
import type { Suspension } from '../actions/account-actions.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'

export function checkSuspensions({ clockSpreadMs }: Pick<World, 'clockSpreadMs'>, evidence: Evidence): Check[] {
  const toleranceMs = clockMs + clockSpreadMs
  return checksOf({
    'S-1 no credits of a suspended customer were spent or held': evidence.suspensions.flatMap((suspension) =>
      spentMeanwhile(evidence, suspension, toleranceMs),
    ),
  })
}

/** The time of an entry is of the database's clock. */
const clockMs = 100

function spentMeanwhile(
  { usage, shop }: Evidence,
  { customer, suspended, activated }: Suspension,
  toleranceMs: number,
): string[] {
  const own = shop.customers[customer]?.customerId
  const fromAt = performance.timeOrigin + suspended.endedAtMs + toleranceMs
  const toAt = performance.timeOrigin + (activated?.invokedAtMs ?? Number.POSITIVE_INFINITY) - toleranceMs
  return usage
    .filter(({ customerId, isOfAnother }) => customerId === own && !isOfAnother)
    .filter(({ credits, at }) => credits > 0 && at > fromAt && at < toAt)
    .map(({ reference, credits }) => `customer ${customer} was suspended, and ${reference} took ${credits}`)
}

type Span = { request: { customer: number }; invokedAtMs: number; endedAtMs: number }

/** Whether the customer may have been suspended at some moment of the call. */
export function maySuspensionCover({ suspensions }: Evidence, { request, invokedAtMs, endedAtMs }: Span): boolean {
  return suspensions.some(
    ({ customer, suspended, activated }) =>
      customer === request.customer &&
      suspended.invokedAtMs <= endedAtMs &&
      (activated?.endedAtMs ?? Number.POSITIVE_INFINITY) >= invokedAtMs,
  )
}
