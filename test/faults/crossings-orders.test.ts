// The fault table of changes without the gateway: purchase (section 4.1), spending, holds, the expiry of orders that were
// not confirmed in time (section 3), also with a confirm at the same moment, and the expiry of holds.
import { confirmAnswer, confirmation, confirmed, failed, pending } from '../../proof/stages/calls/ends.ts'
import type { Background, Ends, Scenario } from '../../proof/stages/calls/scenario.ts'
import { crossingTable } from '../../proof/stages/calls/table.ts'

const expired = { ...pending, answer: 'SUCCESS', order: 'FAILED' }
const listing = ['payments.listDueOrders']
const expiring = [...listing, 'payments.expireOrders']
const captured = { ...confirmed, movements: ['GRANT 21', 'CAPTURE -5'], holds: ['CAPTURED 5'] }
const released = { ...confirmed, holds: ['EXPIRED'] }
const jobs: Background['jobs'] = ['expire', 'recover']

/** The expiry leaves it to the worker, which completes it with the gateway. */
const completedWith = (books: Ends): Background => ({ jobs, unbegun: books, afterUnbegun: books })

const scenarios = {
  purchase: {
    title: '4.1 rule 1: a purchase with an X-Idempotency-Key creates one order',
    given: 'a customer',
    call: 'purchase',
    crossings: ['payments.insertOrders'],
    ends: { ...pending, answer: 'SUCCESS', payment: null },
  },
  spend: {
    title: 'a spend with a reference takes the credits once',
    given: 'a confirmed order',
    call: 'spend',
    crossings: ['credits.spend'],
    ends: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'], data: () => ({ spent: 5, available: 16 }) },
  },
  hold: {
    title: 'a hold with a reference holds the credits once',
    given: 'a confirmed order',
    call: 'hold',
    crossings: ['credits.openHolds'],
    ends: { ...confirmed, held: 8, holds: ['ACTIVE'] },
  },
  capture: {
    title: 'a capture deducts the captured credits once and releases the rest',
    given: 'a hold',
    call: 'capture',
    crossings: ['credits.endHolds'],
    ends: { ...captured, data: ({ holdId }) => ({ holdId, captured: 5, released: 3, balance: 16 }) },
  },
  part: {
    title: 'a part with a reference is captured once and leaves the hold active',
    given: 'a hold',
    call: 'part',
    crossings: ['credits.captureParts'],
    ends: {
      ...confirmed,
      movements: ['GRANT 21', 'CAPTURE -5'],
      held: 3,
      holds: ['ACTIVE'],
      data: ({ holdId }) => ({ holdId, captured: 5, remaining: 3, balance: 13 }),
    },
  },
  captureOfExpired: {
    title: 'a capture of an expired hold is refused, before and after the sweep',
    given: 'a hold',
    aged: true,
    call: 'capture',
    crossings: ['credits.endHolds', 'credits.findHolds', 'credits.endHolds', 'credits.findHolds'],
    ends: { ...released, answer: 'VAL003' },
    background: { jobs: ['expireHolds'] },
  },
  release: {
    title: 'a release makes the credits available again once',
    given: 'a hold',
    call: 'release',
    crossings: ['credits.endHolds'],
    ends: {
      ...confirmed,
      holds: ['RELEASED'],
      data: ({ holdId }) => ({ holdId, captured: 0, released: 8, balance: 21 }),
    },
  },
  expiryOfHold: {
    title: 'a hold that was not ended in time releases its credits once',
    given: 'a hold',
    aged: true,
    call: 'expireHolds',
    crossings: ['credits.listDueHolds', 'credits.endHolds'],
    ends: released,
    background: { jobs: ['expireHolds'] },
  },
  expiry: {
    title: '3: an order that was not confirmed in time fails once',
    given: 'a paid order',
    aged: true,
    call: 'expire',
    crossings: expiring,
    ends: expired,
    background: { jobs, unbegun: expired },
  },
  expiryOfCaptured: {
    title: '3: an order whose confirm has no known outcome does not expire: it was captured',
    given: 'a captured payment whose answer was lost',
    aged: true,
    call: 'expire',
    crossings: listing,
    ends: { ...pending, answer: 'SUCCESS', payment: 'DONE', open: 1 },
    background: completedWith(confirmed),
  },
  expiryOfUnsent: {
    title: '3: an order whose confirm has no known outcome does not expire: it never arrived',
    given: 'a confirm that never arrived',
    aged: true,
    call: 'expire',
    crossings: listing,
    ends: { ...pending, answer: 'SUCCESS', open: 1 },
    background: completedWith(confirmed),
  },
  expiryOfRefused: {
    title: '3: an order whose confirm has no known outcome does not expire: it was refused',
    given: 'a refused confirm whose answer was lost',
    aged: true,
    call: 'expire',
    crossings: listing,
    ends: { ...pending, answer: 'SUCCESS', payment: 'ABORTED', open: 1 },
    background: completedWith(failed),
  },
  confirmAtExpiry: {
    title: '3 and 4.2: a confirm at the moment of the expiry captures and confirms, or does neither',
    given: 'a paid order',
    aged: true,
    call: 'confirm',
    crossings: confirmation,
    ends: { ...confirmed, data: confirmAnswer },
    background: { jobs, unbegun: expired, afterUnbegun: { ...expired, answer: 'VAL003' } },
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)

table.pairs(scenarios.purchase, 'purchase')
table.pairs(scenarios.hold, 'hold')
table.pairs(scenarios.capture, 'capture')
table.pairs(scenarios.confirmAtExpiry, 'expire')
table.pairs(scenarios.confirmAtExpiry, 'recover')
table.pairsAfter(scenarios.confirmAtExpiry, 'expire', expiring)
table.sum()
