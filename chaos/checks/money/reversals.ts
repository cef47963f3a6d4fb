// Reversals: never more is given back than was spent, and one is refused only when there is no such spend of the service, or
// when less than that was left of it. That each is in the ledger once is checked with the references.
import type { Call, Outcome, ReverseRequest } from '../../history.ts'
import { at, type Check, type Evidence } from '../evidence.ts'
import { keyOfUse, type LeftStep, wasDuring } from './booked.ts'
import { firstFault } from './holds.ts'

export function checkReversals({ leftToReverse, uses }: Evidence): Check[] {
  const overdrawn = [...leftToReverse].filter(([, steps]) => steps.some(({ left }) => left < 0))
  return [
    {
      id: 'V-1',
      title: 'never more was given back than was spent or captured',
      violations: overdrawn.map(
        ([key, steps]) => `${key}: ${steps.map(({ left }) => left).join(', ')} left to reverse`,
      ),
    },
    {
      id: 'V-2',
      title: 'only the service that spent gave back',
      violations: [...uses.values()].flatMap(({ customerId, reference, reversed, serviceId }) => {
        const spender =
          reversed === null ? serviceId : uses.get(keyOfUse({ customerId, reference: reversed }))?.serviceId
        return spender === serviceId ? [] : [`${reference} of ${serviceId} reversed ${reversed} of ${spender}`]
      }),
    },
  ]
}

const beforeAll: LeftStep = { left: 0, at: Number.NEGATIVE_INFINITY }

/** `before`: a call with the same reference that had succeeded when this one began. */
export function refusedReversal(
  { callsOf, shop, leftToReverse }: Evidence,
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
  const key = keyOfUse({ customerId: shop.customers[customer]?.customerId ?? '', reference: reversed })
  const steps = [beforeAll, ...(leftToReverse.get(key) ?? [])]
  const isTrue = left < (credits ?? 1) && wasDuring(call, steps, (step) => step.left === left)
  return isTrue ? null : `${credits ?? 'all'} were refused with ${left} left, which was not so at that time`
}
