// Every refusal of a spend, a hold, the end of a hold and a statement: from the situation to code, message and metadata. The
// use cases throw them, and the examples of the API document are made of them.
import { type Refusal, refuse, refuseFields } from '../core/errors.ts'
import type { ExceededBudget, Verdict } from './budgets/usage.sql.ts'
import type { Hold } from './holds.sql.ts'

function refuseField(field: string, rule: string): Refusal {
  return refuseFields('VAL003', [{ field, rule }])
}

export const customerNotFound = () => refuse('NOT000')

export const insufficientCredits = (requested: number, available: number) =>
  refuse('BUS002', { metadata: { requested, available } })

export const restrictionRefusals = {
  customerSuspended: () =>
    refuseFields('VAL003', [{ field: 'customerId', rule: 'the customer is suspended' }], 'The customer is suspended.'),
  budgetExceeded(requested: number, available: number, exceeded: ExceededBudget): Refusal {
    const { scope, value, period, credits, left, renewsAt } = exceeded
    const whose = value === null ? scope.toLowerCase() : `${scope.toLowerCase()} ${value}`
    return refuse('BUS002', {
      message: `The budget of the ${whose} allows ${left} more of ${credits} credits until ${renewsAt}, by ${period.toLowerCase()}.`,
      metadata: { requested, available, limit: exceeded },
    })
  },
}

/** Throws the refusal of a movement that suspension or a budget has not allowed. */
export function requireAllowed(requested: number, available: number, verdict: Partial<Verdict>): void {
  if (verdict.isSuspended) throw restrictionRefusals.customerSuspended()
  if (verdict.exceeded) throw restrictionRefusals.budgetExceeded(requested, available, verdict.exceeded)
}

/** A reference stands for one spend or one hold of a customer, with its credits. */
export const referenceRefusals = {
  spentOtherCredits: (spent: number) => refuseField('reference', `was used to spend ${spent} credits`),
  usedToSpend: () => refuseField('reference', 'was used to spend credits'),
  heldOtherCredits: (held: number) => refuseField('reference', `was used for a hold of ${held} credits`),
  usedForHold: () => refuseField('reference', 'was used for a hold'),
}

export const holdRefusals = {
  holdNotFound: () => refuse('NOT000'),
  moreThanHeld: ({ credits }: Pick<Hold, 'credits'>) =>
    refuseField('credits', `must be at most the credits of the hold, ${credits}`),
  endedOtherwise({ state, captured, credits }: Pick<Hold, 'state' | 'captured' | 'credits'>): Refusal {
    const detail = state === 'CAPTURED' ? `, ${captured} of ${credits}` : ''
    return refuseField('holdId', `the hold is ${state}${detail}`)
  },
}

export const statementRefusals = {
  noSuchTime: (field: 'from' | 'to') => refuseField(field, 'must be a time that exists'),
  endsBeforeItBegins: () => refuseField('to', 'must not be before from'),
}
