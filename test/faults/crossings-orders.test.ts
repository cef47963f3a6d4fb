// The fault table of what happens to an order and its credits without the gateway: purchase (section 4.1), spending,
// holds, and the clock that fails what nobody has confirmed in time (section 3), also when a confirm comes at the same
// moment, and that gives back what nobody has captured in time.
import { confirmAnswer, confirmation, confirmed, failed, pending } from '../support/crossings/ends.ts'
import type { Background, Ends, Scenario } from '../support/crossings/scenario.ts'
import { crossingTable } from '../support/crossings/table.ts'

const expired = { ...pending, answer: 'SUCCESS', order: 'FAILED' }
const looking = ['payments.listDueOrders']
const expiring = [...looking, 'payments.expireOrders']
const captured = { ...confirmed, movements: ['GRANT 21', 'CAPTURE -5'], holds: ['CAPTURED 5'] }
const givenBack = { ...confirmed, holds: ['EXPIRED'] }
const jobs: Background['jobs'] = ['expire', 'recover']

/** The clock leaves it to the worker, which settles it with the gateway. */
const settled = (books: Ends): Background => ({ jobs, unbegun: books, afterUnbegun: books })

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
    title: 'a hold with a reference sets the credits aside once',
    given: 'a confirmed order',
    call: 'hold',
    crossings: ['credits.openHolds'],
    ends: { ...confirmed, held: 8, holds: ['ACTIVE'] },
  },
  capture: {
    title: 'a capture takes what was used once and gives the rest back',
    given: 'a hold',
    call: 'capture',
    crossings: ['credits.endHolds'],
    ends: { ...captured, data: ({ holdId }) => ({ holdId, captured: 5, released: 3, balance: 16 }) },
  },
  captureOfExpired: {
    title: 'a capture of a hold whose time is over is refused, whether the clock has come or not',
    given: 'a hold',
    aged: true,
    call: 'capture',
    crossings: ['credits.endHolds', 'credits.findHolds', 'credits.endHolds', 'credits.findHolds'],
    ends: { ...givenBack, answer: 'VAL003' },
    background: { jobs: ['expireHolds'] },
  },
  release: {
    title: 'a release gives the credits back once',
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
    title: 'a hold that nobody has ended in time gives its credits back once',
    given: 'a hold',
    aged: true,
    call: 'expireHolds',
    crossings: ['credits.listDueHolds', 'credits.endHolds'],
    ends: givenBack,
    background: { jobs: ['expireHolds'] },
  },
  expiry: {
    title: '3: an order that nobody has confirmed in time fails once',
    given: 'a paid order',
    aged: true,
    call: 'expire',
    crossings: expiring,
    ends: expired,
    background: { jobs, unbegun: expired },
  },
  expiryOfCaptured: {
    title: '3: an order whose confirm has no known outcome is not failed by the clock: it was captured',
    given: 'a captured payment whose answer was lost',
    aged: true,
    call: 'expire',
    crossings: looking,
    ends: { ...pending, answer: 'SUCCESS', payment: 'DONE', open: 1 },
    background: settled(confirmed),
  },
  expiryOfUnsent: {
    title: '3: an order whose confirm has no known outcome is not failed by the clock: it never arrived',
    given: 'a confirm that never arrived',
    aged: true,
    call: 'expire',
    crossings: looking,
    ends: { ...pending, answer: 'SUCCESS', open: 1 },
    background: settled(confirmed),
  },
  expiryOfRefused: {
    title: '3: an order whose confirm has no known outcome is not failed by the clock: it was refused',
    given: 'a refused confirm whose answer was lost',
    aged: true,
    call: 'expire',
    crossings: looking,
    ends: { ...pending, answer: 'SUCCESS', payment: 'ABORTED', open: 1 },
    background: settled(failed),
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
