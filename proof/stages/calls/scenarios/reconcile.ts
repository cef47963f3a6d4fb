// The fault table of reconciliation: with any fault in a run, another run by another process finds the movement of money
// that is not in our books, and finds it once.
import type { Gateway } from '../../../../src/gateway/gateway.ts'
import { compared, confirmed, failed, pending, refusingCancels, returning } from '../ends.ts'
import type { Books, Scenario } from '../scenario.ts'
import { noonOfLastDay } from '../world.ts'

/** The gateway's list shows movements with times that are earlier by this. */
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
/** Earlier than the last minute, which the list may not have yet. */
const minutesAgo = listedEarlier(5 * 60_000)

const adopted = [...compared, 'payments.claimConfirms', 'payments.finishOperations', ...compared]
const returnRefused = [...compared, ...returning]

const callsOf = (begin: string[], reviewed: string[], slices: string) => [
  ...begin,
  'payments.listDoubtedOrders',
  'payments.renewReconciliation',
  'payments.listGatewayMovements',
  'gateway.listMovements',
  'payments.insertGatewayMovements',
  'payments.resolveMovementDiscrepancies',
  'payments.listGatewayMovements',
  'payments.findOrderKeys',
  'payments.findMovementsOfPayments',
  'payments.findApprovedOperations',
  ...reviewed,
  slices,
  'payments.listGatewayMovements',
  'payments.findDiscrepanciesOfLines',
  'payments.finishReconciliation',
]
const onRequest = ['db.readTime', 'payments.insertReconciliation']
const anHour = 'payments.listApprovedOperations'

const notInBooks: Books = { ...pending, payment: 'DONE' }

export const scenarios = {
  capture: {
    title: 'reconciliation finds a capture without a confirm of ours and confirms the order',
    given: 'a capture outside this service',
    alone: true,
    action: 'reconcile',
    gateway: minutesAgo,
    calls: callsOf(onRequest, adopted, anHour),
    ends: confirmed,
    background: { unbegun: notInBooks },
  },
  day: {
    title: 'the reconciliation of a day finds a capture without a confirm of ours and confirms the order',
    given: 'a capture outside this service',
    alone: true,
    action: 'reconcileDay',
    // The worker completes what a run has left open, not the next run.
    ending: 'left to the background',
    gateway: listedEarlier(Date.now() - noonOfLastDay().getTime()),
    calls: callsOf(['payments.claimDailyReconciliation'], adopted, `${anHour} × 24`),
    ends: confirmed,
    background: { unbegun: notInBooks },
  },
  notReturned: {
    title:
      'reconciliation opens a discrepancy for money captured for a FAILED order when the gateway refuses to return it',
    given: 'a capture for an order that has expired',
    alone: true,
    action: 'reconcile',
    gateway: (gateway) => refusingCancels(minutesAgo(gateway)),
    calls: callsOf(onRequest, returnRefused, anHour),
    ends: { ...failed, answer: 'SUCCESS', payment: 'DONE', discrepancies: ['CAPTURED_FOR_FAILED_ORDER'] },
  },
} satisfies Record<string, Scenario>
