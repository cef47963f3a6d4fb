// The fault table of money that was captured for a FAILED order: it is returned once, whichever process finds it.
import { claimed, closed, compared, failed, returning } from '../../proof/stages/calls/ends.ts'
import type { Background, Ends, Scenario } from '../../proof/stages/calls/scenario.ts'
import { crossingTable } from '../../proof/stages/calls/table.ts'

const resolved = ['payments.resolveDiscrepancies']
const returned: Ends = {
  ...failed,
  payment: 'CANCELED',
  resolved: ['CAPTURED_FOR_FAILED_ORDER'],
  notification: 'processed',
}

/** The worker claims open operations and notifications; both lead to the same result. */
const background: Background = { jobs: ['recover', 'process'], unbegun: returned }

const scenarios = {
  capturedAfterRefusal: {
    title: '3: a notification of money captured for a FAILED order returns it',
    given: 'a capture for an order that was refused',
    notified: 'DONE',
    call: 'process',
    crossings: [
      ...claimed,
      ...compared,
      'gateway.look',
      ...returning,
      ...compared,
      'gateway.look',
      ...resolved,
      ...closed,
    ],
    ends: returned,
    background,
    sends: ['cancel'],
  },
  capturedAfterExpiry: {
    title: '3: a notification of money captured for an order that has expired returns it',
    given: 'a capture for an order that has expired',
    notified: 'DONE',
    call: 'process',
    crossings: [...claimed, ...compared, ...returning, ...compared, ...resolved, ...closed],
    ends: returned,
    background,
    sends: ['cancel'],
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)
table.pairs(scenarios.capturedAfterExpiry, 'process')
table.pairs(scenarios.capturedAfterExpiry, 'recover')
table.sum()
