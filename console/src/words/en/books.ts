// Texts of the reconciliation pages, including what each type of discrepancy means and what to do about it.

export type KindWords = { name: string; meaning: string; next: string }

export const books = {
  title: 'Reconciliation',
  tabs: {
    days: 'Daily',
    runs: 'Runs',
    discrepancies: 'Discrepancies',
    payments: 'Payments',
    newKeyCancels: 'Cancels with new keys',
    audits: 'Audits',
    log: 'Transparency log',
    exports: 'Exports',
  },

  payments: {
    caption: 'Payments and refunds, newest first',
    intro:
      'What our books received and returned, by the day on which we recorded it. The gateway may list a payment around midnight under the day before: reconciliation compares by its day.',
    time: 'Recorded',
    kind: 'Type',
    order: 'Order',
    customer: 'Customer',
    amount: 'Amount',
    credits: 'Credits',
    kinds: {
      CONFIRM: 'Payment',
      CANCEL: 'Cancellation',
      REFUND: 'Refund',
      PART: 'Partial cancellation at the gateway',
    },
    paidAndRefunded: 'Payments and refunds',
    groups: { paid: 'Payments', refunded: 'Refunds and cancellations', failed: 'Failed orders' },
    sum: (count: string, won: string) => `${count} · ${won} in total`,
    empty: 'No payments in this period.',
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
      'The transactions of the gateway per day in Korea, compared with our own records. The worker reconciles each day half an hour after its end, and missed days for a week; reconcile older ones here. A day is that of the transaction at the gateway.',
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
    total: 'Total',
    /** Today is not over. */
    soFar: (state: string) => `${state}, so far`,
    states: {
      agrees: 'Matched',
      repaired: 'Matched after correction',
      explained: 'Difference explained',
      differs: 'Mismatch',
      'under way': 'In progress',
      'not compared': 'Not reconciled',
    },
  },

  following: {
    started: (day: string) => `Reconciliation of ${day} in progress.`,
    agrees: (day: string) => `Reconciliation of ${day} finished. Gateway and books match.`,
    repaired: (day: string) => `Reconciliation of ${day} finished. Our books were corrected and match the gateway now.`,
    explained: (day: string, difference: string) =>
      `Reconciliation of ${day} finished. Difference ${difference}: every line of it is settled or resolved.`,
    differs: (day: string, difference: string, discrepancies: number) =>
      `Reconciliation of ${day} finished. Difference ${difference}, ${discrepancies === 1 ? '1 discrepancy' : `${discrepancies} discrepancies`}.`,
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
    onCommandLine: (name: string) => `${name} (command line)`,
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
    otherServices: 'Of other services',
    otherServicesHint: 'Order IDs that are not in our format: another service may use the same account.',
    unknownOrders: 'Of unknown orders',
    unknownOrdersHint:
      'Order IDs in our format that are not in our books. What the gateway keeps of them is a discrepancy.',
    foreign: 'Of other services or unknown orders',
    foreignHint: 'Orders that are not in our books. This run did not count the two apart.',
    bridge: 'Bridge from our books to the gateway',
    bridgeHint:
      'Every gateway transaction that no operation of ours accounts for, and every operation that the gateway does not confirm. Together they are the difference.',
    bridgeMissing:
      'This run was made by an earlier version, which did not store the lines of the difference. Reconcile the period again to see them.',
    bridgeSum: (gateway: string, books: string, lines: string) => `Gateway ${gateway} = books ${books} ${lines}`,
    booksNet: 'Our books, net',
    gatewayNet: 'Gateway, net',
    line: 'What differs',
    lineAbout: 'Order and payment key',
    lineCustomer: 'Customer',
    lineTime: 'Time',
    lineAmount: 'Amount',
    lineState: 'Status',
    rest: (count: string) => `${count} more lines, together`,
    lineNames: {
      agrees: 'Settled since, or of another day',
      repaired: 'Corrected in our books by this run',
      disagrees: 'Needs a decision',
      'under way': 'Being processed during the run',
      unknown: 'No result from the gateway',
      'unknown order': 'Unknown order',
      'other service': 'Payment of another service',
    },
    lineKinds: {
      movement: { CAPTURE: 'Captured at the gateway only', CANCEL: 'Cancelled at the gateway only' },
      operation: { CAPTURE: 'Captured in our books only', CANCEL: 'Cancelled in our books only' },
    },
    lineStates: {
      open: 'Open',
      resolved: 'Resolved',
      corrected: 'Corrected',
      matched: 'Explained',
      waiting: 'Reconcile again',
      none: 'Nothing to do',
    },
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
    noneReviewed: 'No order of our books had to be checked.',
    difference0: 'Gateway and books match to the won.',
    differsInside: 'The totals are equal, but their transactions differ.',
    differs: (amount: string) => `Difference between gateway and books at the time of the run: ${amount}`,
    explained: (amount: string) =>
      `Difference between gateway and books at the time of the run: ${amount}. Every line of it is settled or resolved.`,
    found: 'Open discrepancies',
    foundHint:
      'Seen by this run, also those that an earlier one had found. These need a decision. They stay open until both sides match or an operator resolves them.',
    foundNothingOpen: 'All discrepancies of this run are resolved.',
  },

  discrepancies: {
    captionOpen: 'Open discrepancies, oldest first',
    captionResolved: 'Resolved discrepancies, newest first',
    intro: 'Gateway and books differ, and no rule decides which side is right.',
    amount: 'Amount',
    amountHint: 'Amount at the gateway minus amount in our books',
    amountUnknown: 'Unknown',
    customer: 'Customer',
    sum: (amount: string) => `Open amounts, added up without their signs: ${amount}`,
    withoutAmount: (count: number) => (count === 1 ? '1 without a known amount' : `${count} without a known amount`),
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
    resolveText: 'Describe what was found out and agreed. It stays resolved as long as the gateway says the same.',
    emptyOpen: 'No open discrepancies.',
    emptyResolved: 'No resolved discrepancies yet.',
    resolvedNow: 'Discrepancy resolved.',
    kinds: {
      PARTLY_CANCELLED_AT_GATEWAY: {
        name: 'Partially cancelled at the gateway',
        meaning: 'A part of the payment was cancelled at the gateway, but not by this service.',
        next: 'Check in the dashboard of the gateway who cancelled it. Then accept the partial cancellation. The order stays confirmed.',
      },
      REFUNDED_MORE_AT_GATEWAY: {
        name: 'More refunded at the gateway',
        meaning: 'The gateway has returned more of the payment than this service refunded for the order.',
        next: 'Check in the dashboard of the gateway who cancelled the rest. Our books keep the amount of the refund: agree on a solution with the customer and resolve it with a note.',
      },
      PAYMENT_PARTS_DIFFER: {
        name: 'Parts of the payment differ',
        meaning:
          'By card, from a wallet and with points: what the gateway names does not add up to the amount of the payment. The order counts with the amount.',
        next: 'Look the payment up in the dashboard of the gateway, ask the gateway which parts are right, and resolve it with a note.',
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
      'Every order with unspent credits, held ones included, at the end of the end date (today: until now), with their value, VAT included.',
    discrepanciesTitle: 'Discrepancies',
    discrepanciesText: 'Open or resolved discrepancies.',
    notAllowed: 'Exports are available to finance and admins.',
  },
}

/** The tab of the transparency log. */
export const transparency = {
  intro:
    'Every ledger entry is added to a log that can only grow. A checkpoint is the signed size and root of the log. A receipt proves to a customer that entries are in it. With an earlier receipt or checkpoint anyone can detect that logged entries were rewritten, with an earlier receipt also that its own entries now read differently.',
  none: 'No entry is in the log yet. The worker adds entries within seconds.',
  heldBack: 'Nothing is signed: the log was restored from a backup',
  heldBackText: (origin: string, size: string) =>
    `The backup has ${size} entries. Later ones may have been signed as ${origin}, so under this name there are no new checkpoints and no receipts. Set LOG_ORIGIN to a name that was never used and restart all processes. Only if nothing was signed after the backup, set LOG_CONTINUE_AFTER_RESTORE to the id of the restore instead.`,
  restored: 'Restore',
  size: 'Entries in the log',
  waiting: 'Not in the log yet',
  waitingHint: 'The worker adds them within seconds.',
  /** When counting was stopped. */
  atLeast: (count: string) => `${count} or more`,
  written: 'Newest checkpoint',
  checkpoint: 'Checkpoint',
  root: 'Root',
  save: 'Save the checkpoint',
  saveHint:
    'Keep it outside of this system: credits audit --checkpoint FILE shows later whether the log still contains it.',
  keys: 'Public keys',
  keysHint:
    'One for each secret in KEY_PEPPER. Publish them where customers trust them, for example on your website. Receipts are verified with one of them.',
  signs: 'signs',
}

/** The witnesses and the published checkpoints, on the same tab. */
export const publications = {
  witnesses: 'Witnesses',
  witnessesHint:
    'Witnesses of other parties cosign published checkpoints. A witness cosigns one history only, so customers who trust one need not compare checkpoints with each other.',
  noWitnesses: 'No witness is set: LOG_WITNESSES.',
  witness: 'Witness',
  host: 'Host',
  size: 'Entries',
  never: 'Nothing yet',
  cosigned: 'Last cosigned',
  checkpoints: 'Published checkpoints',
  checkpointsHint:
    'Published when the log has grown, at most once in CHECKPOINT_SECONDS: as the event checkpoint.published, in the file of CHECKPOINT_FILE, and at /log/checkpoints.',
  noCheckpoints: 'No checkpoint is published yet.',
  root: 'Root',
  published: 'Published',
  cosigners: 'Cosigned by',
  noCosigner: 'None',
}
