// The fault table of the gateway's notifications: a notification is stored once, and processing it, however often and by
// however many processes, repairs the order once.
import { claimed, closed, compared, confirmed, lookedUp, pending, readForReview, refunded } from '../ends.ts'
import type { Background, Books, Scenario } from '../scenario.ts'

/** The worker claims open operations and notifications; both lead to the same result. */
const worker = (unbegun: Books) => ({ jobs: ['recover', 'process'], unbegun }) satisfies Background

export const scenarios = {
  cancelledInDashboard: {
    title: '3: a notification of a cancellation made in the dashboard refunds the order',
    given: 'a confirmed order cancelled in the dashboard',
    notified: 'CANCELED',
    action: 'process',
    calls: [...claimed, ...compared, 'payments.claimCancels', 'payments.finishOperations', ...compared, ...closed],
    ends: { ...refunded, notification: 'processed' },
    background: worker({ ...refunded, notification: 'processed' }),
    sends: ['confirm'],
    followedBy: ['recover'],
  },
  lostCapture: {
    title: '4.2: a notification of a capture whose answer was lost confirms the order',
    given: 'a captured payment whose answer was lost',
    notified: 'DONE',
    action: 'process',
    calls: [...claimed, ...readForReview, 'payments.claimLease', ...lookedUp, ...compared, ...closed],
    ends: { ...confirmed, notification: 'processed' },
    background: worker({ ...confirmed, notification: 'processed' }),
  },
  adopted: {
    title: '4.2: a notification of a capture without a confirm of ours confirms the order',
    given: 'a capture outside this service',
    notified: 'DONE',
    action: 'process',
    calls: [...claimed, ...compared, 'payments.claimConfirms', 'payments.finishOperations', ...compared, ...closed],
    ends: { ...confirmed, notification: 'processed' },
    background: worker({ ...confirmed, notification: 'processed' }),
    sends: [],
  },
  nothingNew: {
    title: 'a notification of a state that the books already have changes nothing and calls no gateway',
    given: 'a confirmed order',
    notified: 'DONE',
    action: 'process',
    calls: [...claimed, ...closed],
    ends: { ...confirmed, notification: 'nothing new' },
    background: worker({ ...confirmed, notification: 'nothing new' }),
  },
  untrue: {
    title: 'a notification that the gateway does not confirm changes nothing',
    given: 'a confirmed order',
    notified: 'CANCELED',
    action: 'process',
    calls: [...claimed, ...compared, ...closed],
    ends: { ...confirmed, notification: 'agrees' },
    background: worker({ ...confirmed, notification: 'agrees' }),
  },
  stored: {
    title: 'a notification is stored once, and processed',
    given: 'a capture outside this service',
    action: 'notify',
    calls: ['payments.insertNotification'],
    ends: { ...pending, answer: 'SUCCESS', payment: 'DONE', notification: null },
    background: {
      ...worker({ ...pending, payment: 'DONE' }),
      afterBegun: { ...confirmed, notification: 'processed' },
      afterUnbegun: { ...pending, answer: 'SUCCESS', payment: 'DONE', notification: null },
    },
    sends: [],
  },
} satisfies Record<string, Scenario>
