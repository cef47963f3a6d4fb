// The fault table of changes without the gateway: purchase (section 4.1), spending, holds, the expiry of orders that were
// not confirmed in time (section 3), also with a confirm at the same moment, and the expiry of holds.
import { confirmAnswer, confirmation, confirmed, failed, pending } from '../ends.ts'
import type { Background, Ends, Scenario } from '../scenario.ts'

const expired = { ...pending, answer: 'SUCCESS', order: 'FAILED' }
const listing = ['payments.listDueOrders']
const expiring = [...listing, 'payments.expireOrders']
const captured = { ...confirmed, movements: ['GRANT 21', 'CAPTURE -5'], holds: ['CAPTURED 5'] }
const released = { ...confirmed, holds: ['EXPIRED'] }
const jobs: Background['jobs'] = ['expire', 'recover']

/** The expiry leaves it to the worker, which completes it with the gateway. */
const completedWith = (books: Ends): Background => ({ jobs, unbegun: books, afterUnbegun: books })

export const scenarios = {
  purchase: {
    title: '4.1 rule 1: a purchase with an X-Idempotency-Key creates one order',
    given: 'a customer',
    action: 'purchase',
    calls: ['payments.insertOrders'],
    ends: { ...pending, answer: 'SUCCESS', payment: null },
    followedBy: ['purchase'],
  },
  spend: {
    title: 'a spend with a reference takes the credits once',
    given: 'a confirmed order',
    action: 'spend',
    calls: ['credits.spend'],
    ends: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'], data: () => ({ spent: 5, available: 16 }) },
  },
  hold: {
    title: 'a hold with a reference holds the credits once',
    given: 'a confirmed order',
    action: 'hold',
    calls: ['credits.openHolds'],
    ends: { ...confirmed, held: 8, holds: ['ACTIVE'] },
    followedBy: ['hold'],
  },
  capture: {
    title: 'a capture deducts the captured credits once and releases the rest',
    given: 'a hold',
    action: 'capture',
    calls: ['credits.endHolds'],
    ends: { ...captured, data: ({ holdId }) => ({ holdId, captured: 5, released: 3, balance: 16 }) },
    followedBy: ['capture'],
  },
  part: {
    title: 'a part with a reference is captured once and leaves the hold active',
    given: 'a hold',
    action: 'part',
    calls: ['credits.captureParts'],
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
    action: 'capture',
    calls: ['credits.endHolds', 'credits.findHolds', 'credits.endHolds', 'credits.findHolds'],
    ends: { ...released, answer: 'VAL003' },
    background: { jobs: ['expireHolds'] },
  },
  release: {
    title: 'a release makes the credits available again once',
    given: 'a hold',
    action: 'release',
    calls: ['credits.endHolds'],
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
    action: 'expireHolds',
    calls: ['credits.listDueHolds', 'credits.endHolds'],
    ends: released,
    background: { jobs: ['expireHolds'] },
  },
  expiry: {
    title: '3: an order that was not confirmed in time fails once',
    given: 'a paid order',
    aged: true,
    action: 'expire',
    calls: expiring,
    ends: expired,
    background: { jobs, unbegun: expired },
  },
  expiryOfCaptured: {
    title: '3: an order whose confirm has no known outcome does not expire: it was captured',
    given: 'a captured payment whose answer was lost',
    aged: true,
    action: 'expire',
    calls: listing,
    ends: { ...pending, answer: 'SUCCESS', payment: 'DONE', open: 1 },
    background: completedWith(confirmed),
  },
  expiryOfUnsent: {
    title: '3: an order whose confirm has no known outcome does not expire: it never arrived',
    given: 'a confirm that never arrived',
    aged: true,
    action: 'expire',
    calls: listing,
    ends: { ...pending, answer: 'SUCCESS', open: 1 },
    background: completedWith(confirmed),
  },
  expiryOfRefused: {
    title: '3: an order whose confirm has no known outcome does not expire: it was refused',
    given: 'a refused confirm whose answer was lost',
    aged: true,
    action: 'expire',
    calls: listing,
    ends: { ...pending, answer: 'SUCCESS', payment: 'ABORTED', open: 1 },
    background: completedWith(failed),
  },
  confirmAtExpiry: {
    title: '3 and 4.2: a confirm at the moment of the expiry captures and confirms, or does neither',
    given: 'a paid order',
    aged: true,
    action: 'confirm',
    calls: confirmation,
    ends: { ...confirmed, data: confirmAnswer },
    background: { jobs, unbegun: expired, afterUnbegun: { ...expired, answer: 'VAL003' } },
    followedBy: ['expire', 'recover'],
    after: { job: 'expire', calls: expiring },
  },
} satisfies Record<string, Scenario>
