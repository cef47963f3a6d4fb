// Every refusal of a spend, a reversal, an adjustment, a hold, the end of a hold and a statement: from the situation to
// code, message and metadata. The use cases throw them, and the examples of the API document are made of them.
import { type Refusal, refuse, refuseFields } from '../core/errors.ts'
import type { BudgetPeriod } from './budgets/kinds.ts'
import type { ExceededBudget, Verdict } from './budgets/usage.sql.ts'
import type { Hold } from './holds/holds.sql.ts'
import type { ReferenceKind } from './references.sql.ts'
import { mostLabels } from './use/details.sql.ts'

function refuseField(field: string, rule: string): Refusal {
  return refuseFields('VAL003', [{ field, rule }])
}

export const customerNotFound = () => refuse('NOT000')

export const insufficientCredits = (requested: number, available: number) =>
  refuse('BUS002', { metadata: { requested, available } })

const namesOfPeriods: Record<BudgetPeriod, string> = { HOUR: 'hourly', DAY: 'daily', MONTH: 'monthly' }

export const restrictionRefusals = {
  customerSuspended: () =>
    refuseFields('VAL003', [{ field: 'customerId', rule: 'the customer is suspended' }], 'The customer is suspended.'),
  tooManyLabels: () =>
    refuseField('label', `the customer has ${mostLabels} different labels already, the most there can be`),
  budgetExceeded(requested: number, available: number, exceeded: ExceededBudget): Refusal {
    const { scope, value, period, credits, left, renewsAt } = exceeded
    const subject = value === null ? scope.toLowerCase() : `${scope.toLowerCase()} ${value}`
    return refuse('BUS002', {
      message: `The ${namesOfPeriods[period]} budget of the ${subject} has ${left} of ${credits} credits left. It renews at ${renewsAt}.`,
      metadata: { requested, available, limit: exceeded },
    })
  },
}

/** Throws the refusal of a movement that suspension, its label or a budget has not allowed. */
export function requireAllowed(requested: number, available: number, verdict: Partial<Verdict>): void {
  if (verdict.isSuspended) throw restrictionRefusals.customerSuspended()
  if (verdict.hasTooManyLabels) throw restrictionRefusals.tooManyLabels()
  if (verdict.exceeded) throw restrictionRefusals.budgetExceeded(requested, available, verdict.exceeded)
}

const usesOfReference: Record<ReferenceKind, string> = {
  SPEND: 'to spend credits',
  HOLD: 'for a hold',
  CAPTURE: 'for a part of a hold',
  REVERSAL: 'for a reversal',
}

/** A reference stands for one spend, one hold, one part of a hold or one reversal of a customer, with its credits. */
export const referenceRefusals = {
  spentOtherCredits: (spent: number) => refuseField('reference', `was used to spend ${spent} credits`),
  heldOtherCredits: (held: number) => refuseField('reference', `was used for a hold of ${held} credits`),
  heldAtMost: (requested: number) => refuseField('reference', `was used for a hold of at most ${requested} credits`),
  capturedOtherCredits: (captured: number) => refuseField('reference', `was used for a part of ${captured} credits`),
  usedForOtherHold: () => refuseField('reference', 'was used for a part of another hold'),
  usedFor: (kind: ReferenceKind) => refuseField('reference', `was used ${usesOfReference[kind]}`),
  reversedOtherSpend: () => refuseField('reference', 'was used to reverse another spend'),
  reversedOtherCredits: (reversed: number) => refuseField('reference', `was used to reverse ${reversed} credits`),
}

export const reversalRefusals = {
  spendNotFound: () => refuse('NOT000'),
  moreThanLeft: (left: number) => refuseField('credits', `must be at most what is left to reverse, ${left}`),
}

type HoldShown = Pick<Hold, 'state' | 'credits' | 'captured' | 'capturedInParts'>

export const holdRefusals = {
  /** One text, whether there is no such hold or another service has it: a token without the scope does not learn which. */
  holdNotFound: () =>
    refuse('NOT000', {
      message:
        'The service has no such hold of this customer. Holds of other services need a token with the scope manage-holds.',
    }),
  moreThanHeld: ({ credits }: Pick<Hold, 'credits'>) =>
    refuseField('credits', `must be at most the credits of the hold, ${credits}`),
  endedOtherwise({ state, captured, credits, capturedInParts }: HoldShown): Refusal {
    const capturedInAll = capturedInParts + (captured ?? 0)
    const shown = capturedInAll > 0 ? `, ${capturedInAll} of ${capturedInParts + credits}` : ''
    return refuseField('holdId', `the hold is ${state}${shown}${shown && state !== 'CAPTURED' ? ' captured' : ''}`)
  },
}

/** A part has credits and a reference; a final capture is idempotent by its hold and has no reference. */
export const captureRefusals = {
  fieldsMissing: (fields: string[]) =>
    refuseFields(
      'VAL002',
      fields.map((field) => ({ field, rule: 'is required' })),
    ),
  referenceOfFinal: () => refuseField('reference', 'is for a capture with final: false'),
}

export const statementRefusals = {
  noSuchTime: (field: 'from' | 'to') => refuseField(field, 'must be a time that exists'),
  endsBeforeItBegins: () => refuseField('to', 'must not be before from'),
}

export type AdjustmentRefusal = 'adjustment limit' | 'second person' | 'decided'

const refuseAdjustment = (refusal: AdjustmentRefusal, message: string) =>
  refuse('VAL003', { message, metadata: { reason: refusal } })

export const adjustmentRefusals = {
  mayAdjustNothing: () => refuseAdjustment('adjustment limit', 'Not adjusted: the limit is 0 credits a day.'),
  overDailyLimit: (perDay: number, used: number) =>
    refuseAdjustment(
      'adjustment limit',
      `Not approved: an approval counts in the approver's own limit of ${perDay} credits a day, of which ${used} are used today.`,
    ),
  secondPerson: () =>
    refuseAdjustment('second person', 'Not approved: another person than the one who requested it has to approve it.'),
  decided: (state: string, by: string | null) =>
    refuseAdjustment('decided', `Not changed: the request is already ${state}, by ${by}.`),
  usedId: () => refuseField('adjustmentId', 'was used for another adjustment'),
  requestNotFound: () => refuse('NOT000', { message: 'There is no such request.' }),
}
