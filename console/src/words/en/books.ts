// Texts of the reconciliation pages, including what each type of discrepancy means and what to do about it.

export type KindWords = { name: string; meaning: string; next: string }

export const books = {
  title: 'Reconciliation',
  tabs: {
    days: 'Daily',
    runs: 'Runs',
    discrepancies: 'Discrepancies',
    newKeyCancels: 'Cancels with new keys',
    audits: 'Audits',
    exports: 'Exports',
  },

  newKeyCancels: {
    caption: 'Cancels with an API key younger than a day, newest first',
    intro:
      'Payments that were cancelled through the API with a key issued less than a day before. Most of the time a customer is testing a new key. If the customer did not cancel, suspend the key and check in the audit log who issued it.',
    order: 'Order',
    customer: 'Customer',
    key: 'Key ends in',
    keyAge: 'Age of the key',
    amount: 'Amount',
    begun: 'Cancelled at',
    state: 'Status',
    states: { OPEN: 'In progress', APPROVED: 'Cancelled', REJECTED: 'Declined by the gateway' },
    empty: 'No payment was cancelled with a new key.',
  },

  action: 'Action',

  days: {
    caption: 'Days in Korea, newest first',
    intro:
      'The transactions of the gateway per day in Korea, compared with our own records. The worker reconciles each day after it has ended.',
    day: 'Day',
    state: 'Status',
    gateway: 'Gateway, net',
    books: 'Our books, net',
    difference: 'Difference',
    compared: 'Reconciled at',
    captured: (won: string) => `${won} captured`,
    cancelled: (won: string) => `${won} cancelled`,
    compare: 'Reconcile again',
    compareFirst: 'Reconcile now',
    compareDay: (day: string) => `Reconcile ${day}`,
    compareText:
      'Reads the transaction list of the gateway for this day again and compares it with our books in both directions. Clear cases are corrected, the rest becomes a discrepancy. You can run it at any time.',
    run: 'Show result',
    empty: 'No days in this period.',
    showOthers: (count: number) =>
      count === 1 ? 'Show 1 day that is not reconciled' : `Show ${count} days that are not reconciled`,
    openDiscrepancies: 'Show open discrepancies',
    states: {
      agrees: 'Matched',
      repaired: 'Matched after correction',
      differs: 'Mismatch',
      'under way': 'In progress',
      'not compared': 'Not reconciled',
    },
  },

  following: {
    started: (day: string) => `Reconciliation of ${day} in progress.`,
    finished: (day: string) => `Reconciliation of ${day} finished.`,
    interrupted: (day: string) => `Reconciliation of ${day} was interrupted. No data is lost: run it again.`,
    close: 'Close this notice',
  },

  runs: {
    caption: 'Reconciliation runs, newest first',
    intro: 'Each comparison of the gateway with our books, run daily by the worker or by an operator.',
    started: 'Started',
    span: 'Period',
    cause: 'Run by',
    causes: { DAILY: 'Worker (daily)', COMMAND: 'Operator' },
    state: 'Status',
    states: { 'under way': 'In progress', finished: 'Finished', interrupted: 'Interrupted' },
    movements: 'Transactions',
    difference: 'Difference',
    reviewed: 'Orders checked',
    empty: 'No reconciliations yet.',
  },

  run: {
    title: 'Reconciliation run',
    back: 'All runs',
    span: 'Period',
    started: 'Started',
    finished: 'Finished',
    stillRunning: 'In progress. This page updates automatically.',
    interrupted:
      'The process ended before the run was finished, or the gateway did not return its transactions. The run has no result. The same period can be reconciled again.',
    sums: 'Gateway and books',
    side: 'Source',
    gateway: 'Gateway',
    books: 'Our books, matched',
    missing: 'Our books, not confirmed by the gateway',
    difference: 'Difference',
    outside: 'Confirmed, transaction outside of the period',
    outsideHint:
      'Operations that started in the period without a transaction in it. The gateway confirmed each of them; they count on the day of their transaction.',
    notListed: 'Stored transactions missing at the gateway',
    listedDifferently: 'Stored transactions that differ at the gateway',
    disbelievedHint: 'Excluded from the comparison; each is a discrepancy.',
    captured: 'Captured',
    cancelled: 'Cancelled',
    net: 'Net',
    movements: 'Gateway transactions',
    foreign: 'Of other services',
    foreignHint: 'Orders that this service did not create: another service may use the same account.',
    reviewedTitle: 'Orders checked',
    reviewedHint: 'Orders that did not match were looked up at the gateway one by one.',
    outcome: 'Result',
    orders: 'Orders',
    outcomes: {
      agrees: 'Matched: the transaction belongs to another day, or both sides match by now',
      repaired: 'Corrected: our books were updated from the gateway',
      disagrees: 'Mismatch: a discrepancy that needs a decision',
      'under way': 'In progress: another process was working on the order',
      unknown: 'Unknown: no result from the gateway',
    },
    allAgrees: 'Every transaction matched our books. No order had to be checked.',
    difference0: 'Gateway and books match to the won.',
    differsInside: 'The totals are equal, but their transactions differ.',
    differs: (amount: string) => `Difference between gateway and books at the time of the run: ${amount}`,
    found: 'Open discrepancies',
    foundHint: 'These need a decision. They stay open until both sides match or an operator resolves them.',
    foundNothingOpen: 'All discrepancies of this run are resolved.',
  },

  discrepancies: {
    captionOpen: 'Open discrepancies, oldest first',
    captionResolved: 'Resolved discrepancies, newest first',
    intro: 'Gateway and books differ, and no rule decides which side is right.',
    state: 'Status',
    open: 'Open',
    resolved: 'Resolved',
    kind: 'Type',
    about: 'Order or payment',
    found: 'Found',
    age: 'Age',
    resolution: 'Resolution',
    details: 'Details',
    noOrder: 'no order of ours',
    next: 'What to do',
    seen: 'Recorded data',
    resolve: 'Resolve',
    resolveTitle: 'Resolve discrepancy',
    resolveText:
      'Describe what was found out and agreed. If gateway and books still differ, the next reconciliation finds it again.',
    emptyOpen: 'No open discrepancies. Gateway and books match.',
    emptyResolved: 'No resolved discrepancies yet.',
    resolvedNow: 'Discrepancy resolved.',
    kinds: {
      PARTLY_CANCELLED_AT_GATEWAY: {
        name: 'Partially cancelled at the gateway',
        meaning:
          'A part of the payment was cancelled, but not by this service. The order still has all of its credits.',
        next: 'Check in the dashboard of the gateway who cancelled it. Accept the partial cancellation with the credits to deduct, or refund the rest.',
      },
      REFUNDED_MORE_AT_GATEWAY: {
        name: 'More refunded at the gateway',
        meaning: 'The gateway has returned more of the payment than this service refunded for the order.',
        next: 'Check in the dashboard of the gateway who cancelled the rest. Our books keep the amount of the refund: agree on a solution with the customer and resolve it with a note.',
      },
      NOT_CAPTURED_AT_GATEWAY: {
        name: 'Not captured at the gateway',
        meaning: 'The order is paid in our books, but the gateway has not captured the payment.',
        next: 'Look up the payment key in the dashboard of the gateway. If no payment was received, refund the order.',
      },
      NOT_CANCELLED_AT_GATEWAY: {
        name: 'Not cancelled at the gateway',
        meaning: 'The order is cancelled or refunded in our books, but the payment is still captured at the gateway.',
        next: 'Cancel the payment in the dashboard of the gateway, then sync the order.',
      },
      SECOND_PAYMENT: {
        name: 'Duplicate payment',
        meaning: 'The gateway has a second captured payment for an order that is paid.',
        next: 'Cancel the second payment in the dashboard of the gateway, then sync the order.',
      },
      PAYMENT_DIFFERS: {
        name: 'Payment mismatch',
        meaning: 'The order, amount or currency at the gateway is different from ours.',
        next: 'Compare both in the dashboard of the gateway. Do not refund before it is clear whose payment it is.',
      },
      CAPTURED_FOR_FAILED_ORDER: {
        name: 'Captured for a failed order',
        meaning: 'A payment was captured for an order that had failed. The service returns it automatically.',
        next: 'Wait, or sync the order. The discrepancy closes when the payment is returned.',
      },
      UNKNOWN_ORDER: {
        name: 'Unknown order',
        meaning: 'The gateway has a transaction for an order ID of our format that is not in our books.',
        next: 'Check whether a database was restored or another environment uses this account, and notify the engineers on call.',
      },
      MOVEMENT_NOT_LISTED: {
        name: 'Transaction missing at the gateway',
        meaning:
          'Our copy of the transaction list has a transaction that the gateway does not list. It was excluded from the comparison.',
        next: 'Look up the payment key in the dashboard of the gateway. If the transaction does not exist, find out who wrote the row, have it removed, and reconcile the day again.',
      },
      MOVEMENT_DIFFERS: {
        name: 'Transaction differs at the gateway',
        meaning:
          'A transaction in our copy of the list has another order, payment key, direction, amount or time than at the gateway. The data of the gateway was used.',
        next: 'Compare both with the dashboard of the gateway. Find out who wrote the row, have it removed, and reconcile the day again.',
      },
      OPERATION_STUCK: {
        name: 'No final result from the gateway',
        meaning: 'The gateway was queried many times without a clear result. The service keeps checking.',
        next: 'Sync the order. If it stays unknown, contact the gateway with the payment key.',
      },
      CONTRADICTING_OUTCOMES: {
        name: 'Contradicting results',
        meaning: 'The gateway both approved and declined the same request.',
        next: 'Look up the payment in the dashboard of the gateway, then sync the order.',
      },
      CANCEL_NOT_WHOLE: {
        name: 'Not fully cancelled',
        meaning: 'The gateway reported the payment as cancelled, but a part of the amount is left.',
        next: 'Cancel the rest in the dashboard of the gateway, then sync the order.',
      },
    } as Record<string, KindWords>,
    otherKind: (kind: string): KindWords => ({
      name: kind,
      meaning: 'There is no rule for the payment status at the gateway.',
      next: 'Look up the payment in the dashboard of the gateway, then sync the order.',
    }),
  },

  exports: {
    intro: 'CSV files with days in Korea and amounts in KRW. Every export is in the audit log.',
    daysTitle: 'Daily reconciliation',
    daysText: 'Gateway, books and difference per day.',
    paymentsTitle: 'Payments',
    paymentsText: 'Every capture, cancellation and refund in our books, with the keys of the gateway.',
    liabilityTitle: 'Outstanding liability',
    liabilityText:
      'Every order with unspent credits, held ones included, at the end of the end date, with their value.',
    discrepanciesTitle: 'Discrepancies',
    discrepanciesText: 'Open or resolved discrepancies.',
    notAllowed: 'Exports are available to finance and admins.',
  },
}
