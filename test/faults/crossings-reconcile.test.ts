// The fault table of reconciliation: whatever happens to a run, another one by another process finds the movement of money
// that our books do not know, and finds it once.
import type { Gateway } from '../../src/gateway/gateway.ts'
import { compared, confirmed, failed, pending, refusingCancels, returning } from '../support/crossings/ends.ts'
import type { Books, Scenario } from '../support/crossings/scenario.ts'
import { crossingTable } from '../support/crossings/table.ts'
import { noonOfLastDay } from '../support/crossings/world.ts'

/** The gateway's list says that what has just happened happened so much earlier. */
const listedEarlier =
  (shiftMs: number) =>
  (gateway: Gateway): Gateway => ({
    ...gateway,
    async listMovements({ from, to, after }) {
      const shifted = (time: Date, ms: number) => new Date(time.getTime() + ms)
      const page = await gateway.listMovements({ from: shifted(from, shiftMs), to: shifted(to, shiftMs), after })
      if (page.kind !== 'page') return page
      const movements = page.movements.map((each) => ({ ...each, movedAt: shifted(each.movedAt, -shiftMs) }))
      return { ...page, movements }
    },
  })
/** Of the last minute the list may know nothing yet. */
const minutesAgo = listedEarlier(5 * 60_000)

const adopted = [...compared, 'payments.claimConfirms', 'payments.finishOperations', ...compared]
const notReturned = [...compared, ...returning]

const crossings = (begin: string, reviewed: string[], slices: string) => [
  begin,
  'payments.listDoubtedOrders',
  'payments.renewReconciliation',
  'payments.listGatewayMovements',
  'gateway.listMovements',
  'payments.insertGatewayMovements',
  'payments.resolveMovementDiscrepancies',
  'payments.compareGatewayMovements',
  ...reviewed,
  slices,
  'payments.sumGatewayMovements',
  'payments.finishReconciliation',
]
const anHour = 'payments.listUnmovedOperations'

const unknownToUs: Books = { ...pending, payment: 'DONE' }

const scenarios = {
  capture: {
    title: 'reconciliation finds a capture that no confirm of ours knows of and confirms the order',
    given: 'a capture outside this service',
    alone: true,
    call: 'reconcile',
    gateway: minutesAgo,
    crossings: crossings('payments.insertReconciliation', adopted, anHour),
    ends: confirmed,
    background: { unbegun: unknownToUs },
  },
  day: {
    title: 'the reconciliation of a day finds a capture that no confirm of ours knows of and confirms the order',
    given: 'a capture outside this service',
    alone: true,
    call: 'reconcileDay',
    // What a run has left open is the worker's, not the next run's.
    ending: 'left to the background',
    gateway: listedEarlier(Date.now() - noonOfLastDay().getTime()),
    crossings: crossings('payments.claimDailyReconciliation', adopted, `${anHour} × 24`),
    ends: confirmed,
    background: { unbegun: unknownToUs },
  },
  notGivenBack: {
    title: 'reconciliation leaves money captured for a FAILED order, which the gateway does not give back, to a person',
    given: 'a capture for an order that has expired',
    alone: true,
    call: 'reconcile',
    gateway: (gateway) => refusingCancels(minutesAgo(gateway)),
    crossings: crossings('payments.insertReconciliation', notReturned, anHour),
    ends: { ...failed, answer: 'SUCCESS', payment: 'DONE', discrepancies: ['CAPTURED_FOR_FAILED_ORDER'] },
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)
table.sum()
