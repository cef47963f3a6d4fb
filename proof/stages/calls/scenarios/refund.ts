// The fault table of the platform's refund (section 3, CONFIRMED to REFUNDED): the remaining credits are deducted once, the
// spent ones are recorded, the money is refunded once, in whole or for the unused part, and a retry gets the same answer.
import { cancellation, confirmed, lookedUp, readForReview, refunded, refusingCancels } from '../ends.ts'
import type { Scenario, Subject } from '../scenario.ts'

const answer = (creditsTakenBack: number, shortfall: number, refundedAmount = 20_000) => ({
  shortfall,
  data: ({ orderId }: Subject) => ({ orderId, status: 'REFUNDED', refundedAmount, creditsTakenBack, shortfall }),
})
const found = ['payments.findOrderKeys', ...readForReview]
const calls = [...found, ...cancellation, ...readForReview]

export const scenarios = {
  whole: {
    title: '3: a refund deducts the credits once',
    given: 'a confirmed order',
    action: 'refund',
    calls,
    ends: { ...refunded, ...answer(21, 0) },
    background: { unbegun: confirmed },
  },
  someSpent: {
    title: '3: a refund deducts the remaining credits and records the spent ones',
    given: 'a confirmed order with some credits spent',
    action: 'refund',
    calls,
    ends: { ...refunded, ...answer(16, 5), movements: ['GRANT 21', 'SPEND -5', 'REFUND -16'] },
    background: { unbegun: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'] } },
    followedBy: ['refund', 'recover'],
  },
  allSpent: {
    title: '3: a refund of an order whose credits are all spent records them all',
    given: 'a confirmed order with all credits spent',
    action: 'refund',
    calls,
    ends: { ...refunded, ...answer(0, 21), movements: ['GRANT 21', 'SPEND -21'] },
    background: { unbegun: { ...confirmed, movements: ['GRANT 21', 'SPEND -21'] } },
  },
  unusedPart: {
    title: '3: a refund of the unused part returns its value and takes its credits once',
    given: 'a confirmed order with some credits spent',
    action: 'refundUnused',
    calls: [...found, 'credits.findLot', ...cancellation, ...readForReview],
    ends: {
      ...refunded,
      ...answer(16, 5, 15_000),
      movements: ['GRANT 21', 'SPEND -5', 'REFUND -16'],
      payment: 'PARTIAL_CANCELED',
    },
    background: { unbegun: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'] } },
    followedBy: ['refundUnused', 'recover'],
  },
  refused: {
    title: '3: a refund that the gateway refuses releases the credits',
    given: 'a confirmed order',
    action: 'refund',
    gateway: refusingCancels,
    calls: [...found, ...cancellation],
    ends: { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' },
    background: { unbegun: confirmed },
    followedBy: ['refund', 'recover'],
  },
  captured: {
    title: '3: a refund of a captured payment whose answer was lost completes its confirm first',
    given: 'a captured payment whose answer was lost',
    action: 'refund',
    calls: [...found, 'payments.claimLease', ...lookedUp, ...readForReview, ...cancellation, ...readForReview],
    ends: { ...refunded, ...answer(21, 0) },
    background: { unbegun: confirmed },
  },
} satisfies Record<string, Scenario>
