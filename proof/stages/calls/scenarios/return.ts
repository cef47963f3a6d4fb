// The fault table of money that was captured for a FAILED order: it is returned once, whichever process finds it.
import { claimed, closed, compared, failed, returning } from '../ends.ts'
import type { Background, Ends, Scenario } from '../scenario.ts'

const resolved = ['payments.resolveDiscrepancies']
const returned: Ends = {
  ...failed,
  payment: 'CANCELED',
  resolved: ['CAPTURED_FOR_FAILED_ORDER'],
  notification: 'processed',
}

/** The worker claims open operations and notifications; both lead to the same result. */
const background: Background = { jobs: ['recover', 'process'], unbegun: returned }

export const scenarios = {
  capturedAfterRefusal: {
    title: '3: a notification of money captured for a FAILED order returns it',
    given: 'a capture for an order that was refused',
    notified: 'DONE',
    action: 'process',
    calls: [...claimed, ...compared, 'gateway.look', ...returning, ...compared, 'gateway.look', ...resolved, ...closed],
    ends: returned,
    background,
    sends: ['cancel'],
  },
  capturedAfterExpiry: {
    title: '3: a notification of money captured for an order that has expired returns it',
    given: 'a capture for an order that has expired',
    notified: 'DONE',
    action: 'process',
    calls: [...claimed, ...compared, ...returning, ...compared, ...resolved, ...closed],
    ends: returned,
    background,
    sends: ['cancel'],
    followedBy: ['process', 'recover'],
  },
} satisfies Record<string, Scenario>
