// The fault table of the platform's refund (section 3, CONFIRMED to REFUNDED): what is left of the credits is taken back
// once, what was spent is recorded, the money goes back once, and asking again gives the same answer.
import { cancellation, confirmed, lookedUp, refunded, refusingCancels } from '../support/crossings/ends.ts'
import type { Scenario, Subject } from '../support/crossings/scenario.ts'
import { crossingTable } from '../support/crossings/table.ts'

const answer = (creditsTakenBack: number, shortfall: number) => ({
  shortfall,
  data: ({ orderId }: Subject) => ({ orderId, status: 'REFUNDED', creditsTakenBack, shortfall }),
})
const looked = ['payments.findOrderKeys', 'payments.findReviewSubject']
const crossings = [...looked, ...cancellation, 'payments.findReviewSubject']

const scenarios = {
  whole: {
    title: '3: a refund takes the credits back once',
    given: 'a confirmed order',
    call: 'refund',
    crossings,
    ends: { ...refunded, ...answer(21, 0) },
    background: { unbegun: confirmed },
  },
  someSpent: {
    title: '3: a refund takes back what is left of the credits and records the rest',
    given: 'a confirmed order with some credits spent',
    call: 'refund',
    crossings,
    ends: { ...refunded, ...answer(16, 5), movements: ['GRANT 21', 'SPEND -5', 'REFUND -16'] },
    background: { unbegun: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'] } },
  },
  allSpent: {
    title: '3: a refund of an order whose credits are all spent records them',
    given: 'a confirmed order with all credits spent',
    call: 'refund',
    crossings,
    ends: { ...refunded, ...answer(0, 21), movements: ['GRANT 21', 'SPEND -21'] },
    background: { unbegun: { ...confirmed, movements: ['GRANT 21', 'SPEND -21'] } },
  },
  refused: {
    title: '3: a refund the gateway refuses gives the credits back',
    given: 'a confirmed order',
    call: 'refund',
    gateway: refusingCancels,
    crossings: [...looked, ...cancellation],
    ends: { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' },
    background: { unbegun: confirmed },
  },
  captured: {
    title: '3: a refund of a payment captured without our knowing settles it first',
    given: 'a captured payment whose answer was lost',
    call: 'refund',
    crossings: [
      ...looked,
      'payments.claimLease',
      ...lookedUp,
      'payments.findReviewSubject',
      ...cancellation,
      'payments.findReviewSubject',
    ],
    ends: { ...refunded, ...answer(21, 0) },
    background: { unbegun: confirmed },
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)
for (const scenario of [scenarios.someSpent, scenarios.refused]) {
  table.pairs(scenario, 'refund')
  table.pairs(scenario, 'recover')
}
table.sum()
