// The fault table of what the gateway tells us: a notification is stored once, and acting on it, however often and by
// however many, brings the order in line with the gateway once.
import { claimed, closed, compared, confirmed, lookedUp, pending, refunded } from '../support/crossings/ends.ts'
import type { Background, Books, Scenario } from '../support/crossings/scenario.ts'
import { crossingTable } from '../support/crossings/table.ts'

/** The worker takes up what is open and what was told; both find the same. */
const worker = (unbegun: Books) => ({ jobs: ['recover', 'process'], unbegun }) satisfies Background

const scenarios = {
  cancelledInDashboard: {
    title: '3: a notification of a cancellation made in the dashboard refunds the order',
    given: 'a confirmed order cancelled in the dashboard',
    notified: 'CANCELED',
    call: 'process',
    crossings: [...claimed, ...compared, 'payments.claimCancels', 'payments.finishOperations', ...compared, ...closed],
    ends: { ...refunded, notification: 'processed' },
    background: worker({ ...refunded, notification: 'processed' }),
    sends: ['confirm'],
  },
  lostCapture: {
    title: '4.2: a notification of a capture whose answer was lost confirms the order',
    given: 'a captured payment whose answer was lost',
    notified: 'DONE',
    call: 'process',
    crossings: [...claimed, 'payments.findReviewSubject', 'payments.claimLease', ...lookedUp, ...compared, ...closed],
    ends: { ...confirmed, notification: 'processed' },
    background: worker({ ...confirmed, notification: 'processed' }),
  },
  adopted: {
    title: '4.2: a notification of a capture that no confirm of ours knows of confirms the order',
    given: 'a capture outside this service',
    notified: 'DONE',
    call: 'process',
    crossings: [...claimed, ...compared, 'payments.claimConfirms', 'payments.finishOperations', ...compared, ...closed],
    ends: { ...confirmed, notification: 'processed' },
    background: worker({ ...confirmed, notification: 'processed' }),
    sends: [],
  },
  nothingNew: {
    title: 'a notification of what the books say already changes nothing and asks nobody',
    given: 'a confirmed order',
    notified: 'DONE',
    call: 'process',
    crossings: [...claimed, ...closed],
    ends: { ...confirmed, notification: 'nothing new' },
    background: worker({ ...confirmed, notification: 'nothing new' }),
  },
  untrue: {
    title: 'a notification that is not true changes nothing',
    given: 'a confirmed order',
    notified: 'CANCELED',
    call: 'process',
    crossings: [...claimed, ...compared, ...closed],
    ends: { ...confirmed, notification: 'agrees' },
    background: worker({ ...confirmed, notification: 'agrees' }),
  },
  stored: {
    title: 'a notification is stored once, and acted upon',
    given: 'a capture outside this service',
    call: 'notify',
    crossings: ['payments.insertNotification'],
    ends: { ...pending, answer: 'SUCCESS', payment: 'DONE', notification: null },
    background: {
      ...worker({ ...pending, payment: 'DONE' }),
      afterBegun: { ...confirmed, notification: 'processed' },
      afterUnbegun: { ...pending, answer: 'SUCCESS', payment: 'DONE', notification: null },
    },
    sends: [],
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)
table.pairs(scenarios.cancelledInDashboard, 'recover')
table.sum()
