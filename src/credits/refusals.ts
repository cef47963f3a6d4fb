// Every refusal of a spend, a reversal, an adjustment, a hold, the end of a hold and a statement: from the situation to code, message and metadata. The
// use cases throw them, and the examples of the API document are made of them.
import { type Refusal, refuse, refuseFields } from '../core/errors.ts'
import type { Hold } from './holds.sql.ts'

function refuseField(field: string, rule: string): Refusal {
  return refuseFields('VAL003', [{ field, rule }])
}

export const customerNotFound = () => refuse('NOT000')

export const insufficientCredits = (requested: number, available: number) =>
  refuse('BUS002', { metadata: { requested, available } })

/** A reference stands for one spend, one reversal or one hold of a customer, with its credits. */
export const referenceRefusals = {
  spentOtherCredits: (spent: number) => refuseField('reference', `was used to spend ${spent} credits`),
  usedToSpend: () => refuseField('reference', 'was used to spend credits'),
  heldOtherCredits: (held: number) => refuseField('reference', `was used for a hold of ${held} credits`),
  usedForHold: () => refuseField('reference', 'was used for a hold'),
  reversedOtherCredits: (reversed: number) => refuseField('reference', `was used to reverse ${reversed} credits`),
  usedToReverse: () => refuseField('reference', 'was used for a reversal'),
}

export const reversalRefusals = {
  spendNotFound: () => refuse('NOT000'),
  moreThanLeft: (left: number) => refuseField('credits', `must be at most what is left to reverse, ${left}`),
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

export type AdjustmentRefusal = 'adjustment limit' | 'second person' | 'decided'

const refuseAdjustment = (refusal: AdjustmentRefusal, message: string) =>
  refuse('VAL003', { message, metadata: { reason: refusal } })

export const adjustmentRefusals = {
  overDailyLimit: (perDay: number, used: number) =>
    refuseAdjustment(
      'adjustment limit',
      `Not adjusted: the limit is ${perDay} credits a day, of which ${used} are used today.`,
    ),
  secondPerson: () =>
    refuseAdjustment('second person', 'Not approved: another person than the one who requested it has to approve it.'),
  decided: (state: string, by: string | null) =>
    refuseAdjustment('decided', `The request is already ${state}, by ${by}.`),
  usedId: () => refuseField('adjustmentId', 'was used for another adjustment'),
  requestNotFound: () => refuse('NOT000', { message: 'There is no such request.' }),
}
