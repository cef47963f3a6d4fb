// The words of the pages of the books, in English. What a discrepancy means and what to do about it stands here and
// nowhere else.

export type KindWords = { name: string; meaning: string; next: string }

export const books = {
  title: 'Books',
  tabs: {
    days: 'Days',
    runs: 'Reconciliations',
    discrepancies: 'Discrepancies',
    newKeyCancels: 'Cancels with new keys',
    audits: 'Audits',
    exports: 'Exports',
  },

  newKeyCancels: {
    caption: 'Cancels with an API key younger than a day, newest first',
    intro:
      'Cancels that were made through the API with a key that was issued less than a day before. Most are a customer who tries a new key. If the customer did not ask for it, suspend the key and look in the trail who issued it.',
    order: 'Order',
    customer: 'Customer',
    key: 'Key ends in',
    keyAge: 'Age of the key',
    amount: 'Amount',
    begun: 'Cancelled at',
    state: 'State',
    states: { OPEN: 'in progress', APPROVED: 'cancelled', REJECTED: 'refused by the gateway' },
    empty: 'No payment was cancelled with a new key.',
  },

  from: 'From',
  to: 'To',
  action: 'Action',
  spanMissing: 'Give both days.',
  spanWrong: 'The first day is after the last.',
  spanLong: 'At most 366 days at once.',
  spanOutside: 'Days from the year 2000 to today.',
  lastDays: (days: number) => `Last ${days} days`,

  days: {
    caption: 'Days of Korea, newest first',
    intro:
      'Every movement of money in the list of the gateway, added up by days of Korea, beside our own operations. The worker compares a day after it has ended.',
    day: 'Day',
    state: 'State',
    gateway: 'Gateway, net',
    books: 'Our books, net',
    difference: 'Difference',
    compared: 'Compared',
    captured: (won: string) => `${won} captured`,
    cancelled: (won: string) => `${won} cancelled`,
    compare: 'Compare again',
    compareFirst: 'Compare now',
    compareDay: (day: string) => `Compare ${day} with the gateway`,
    compareText:
      'Reads the list of the gateway for this day once more and compares it with our books, both ways. What is certain is repaired, the rest becomes a discrepancy. It can be done at any time.',
    run: 'What was found',
    empty: 'No days in this span.',
    showOthers: (count: number) =>
      count === 1 ? 'Show one day that was not compared' : `Show ${count} days that were not compared`,
    openDiscrepancies: 'See open discrepancies',
    states: {
      agrees: 'Agrees',
      repaired: 'Agrees after repair',
      differs: 'Differs',
      'under way': 'Being compared',
      'not compared': 'Not compared yet',
    },
  },

  following: {
    started: (day: string) => `${day} is being compared with the gateway.`,
    finished: (day: string) => `${day} has been compared with the gateway.`,
    interrupted: (day: string) => `The comparison of ${day} was interrupted. Nothing is lost: compare it again.`,
    close: 'Close this notice',
  },

  runs: {
    caption: 'Reconciliations, newest first',
    intro: 'Each comparison of the list of the gateway with our books, by the worker once a day or by an operator.',
    started: 'Started',
    span: 'Span',
    cause: 'By',
    causes: { DAILY: 'The worker, daily', COMMAND: 'An operator' },
    state: 'State',
    states: { 'under way': 'Under way', finished: 'Finished', interrupted: 'Interrupted' },
    movements: 'Movements',
    difference: 'Difference',
    reviewed: 'Looked at',
    empty: 'Nothing has been reconciled yet.',
  },

  run: {
    title: 'Reconciliation',
    back: 'All reconciliations',
    span: 'Span that was compared',
    started: 'Started',
    finished: 'Finished',
    stillRunning: 'It is under way. This page follows it.',
    interrupted:
      'Whoever was at it has gone before the end, or the gateway did not list its transactions. Nothing is concluded from it, and the same span can be compared again.',
    sums: 'Gateway and books',
    side: 'Side',
    gateway: 'Gateway',
    books: 'Our books, with a movement',
    missing: 'Our books, not confirmed by the gateway',
    difference: 'Difference',
    outside: 'Confirmed, moved outside of the span',
    outsideHint:
      'Operations of ours that were begun in the span and have no movement in it. The gateway was asked about each and confirms them; they count on the day of their movement.',
    notListed: 'Stored movements that the gateway does not list',
    listedDifferently: 'Stored movements that the gateway lists otherwise',
    disbelievedHint: 'They were left out of the comparison, and each is a discrepancy.',
    captured: 'Captured',
    cancelled: 'Cancelled',
    net: 'Net',
    movements: 'Movements at the gateway',
    foreign: 'Of them not ours',
    foreignHint: 'Orders that this service did not make: another shop may use the same account.',
    reviewedTitle: 'Orders that were looked at',
    reviewedHint: 'What did not match was looked up at the gateway, order by order.',
    outcome: 'What came of it',
    orders: 'Orders',
    outcomes: {
      agrees: 'Agree: the movement belongs to another day, or the two sides met meanwhile',
      repaired: 'Repaired: the books say now what the gateway says',
      disagrees: 'Disagree: a discrepancy for a person',
      'under way': 'Under way: somebody was at work on the order',
      unknown: 'Not known: the gateway did not tell',
    },
    allAgrees: 'Every movement was in our books as it stood. Nothing had to be looked at.',
    difference0: 'The gateway and our books agree to the won.',
    differsInside: 'The sums are equal, and what they are made of is not.',
    differs: (amount: string) => `The gateway and our books differed by ${amount} when they were compared.`,
    found: 'Open discrepancies',
    foundHint: 'A person decides about these. They stay open until the two sides agree or somebody resolves them.',
    foundNothingOpen: 'Nothing that this comparison found is open any more.',
  },

  discrepancies: {
    captionOpen: 'Open discrepancies, oldest first',
    captionResolved: 'Resolved discrepancies, newest first',
    intro: 'The gateway and our books say different things, and no rule decides which of them is right.',
    state: 'Which',
    open: 'Open',
    resolved: 'Resolved',
    kind: 'What',
    about: 'About',
    found: 'Found',
    age: 'Age',
    resolution: 'How',
    details: 'Details',
    noOrder: 'no order of ours',
    next: 'What to do',
    said: 'What was seen',
    resolve: 'Resolve',
    resolveTitle: 'Resolve the discrepancy',
    resolveText:
      'Say what was found out and agreed. If the gateway and the books still differ, the next reconciliation finds it again.',
    emptyOpen: 'Nothing is open. The gateway and our books agree.',
    emptyResolved: 'Nothing has been resolved yet.',
    resolvedNow: 'The discrepancy is resolved.',
    kinds: {
      PARTLY_CANCELLED_AT_GATEWAY: {
        name: 'Partly cancelled at the gateway',
        meaning: 'A part of the payment was given back, and not by this service. The order still has all its credits.',
        next: 'Find out in the dashboard of the gateway who did it. Refund the rest, or leave it and come to terms with the customer.',
      },
      NOT_CAPTURED_AT_GATEWAY: {
        name: 'Not captured at the gateway',
        meaning: 'Our books have the payment as taken, the gateway has not captured it.',
        next: 'Look the payment key up in the dashboard of the gateway. If the money never came, refund the order.',
      },
      NOT_CANCELLED_AT_GATEWAY: {
        name: 'Not cancelled at the gateway',
        meaning: 'Our books have the order as cancelled or refunded, the gateway still keeps the money.',
        next: 'Cancel the payment in the dashboard of the gateway, then settle the order.',
      },
      SECOND_PAYMENT: {
        name: 'Paid twice',
        meaning: 'The gateway keeps another payment for an order that has been paid.',
        next: 'Cancel the second payment in the dashboard of the gateway, then settle the order.',
      },
      PAYMENT_DIFFERS: {
        name: 'The payment is another one',
        meaning: 'The gateway answers with another order, amount or currency than ours.',
        next: 'Compare both in the dashboard of the gateway. Do not refund before it is clear whose money it is.',
      },
      CAPTURED_FOR_FAILED_ORDER: {
        name: 'Captured for a failed order',
        meaning: 'Money was taken for an order that had failed. The service is giving it back by itself.',
        next: 'Wait for it, or settle the order. It closes when the money is back.',
      },
      UNKNOWN_ORDER: {
        name: 'An order that we do not have',
        meaning: 'The gateway has moved money for an order that looks like ours and is not in our books.',
        next: 'Was a database restored or another environment using this account? Tell whoever runs the service.',
      },
      MOVEMENT_NOT_LISTED: {
        name: 'Movement that the gateway does not list',
        meaning:
          'Our copy of the list of the gateway has a movement that the list itself does not have. It was left out of the comparison.',
        next: 'Look the payment key up in the dashboard of the gateway. If the gateway never moved the money, find out who wrote the row, have it removed, and compare the day again.',
      },
      MOVEMENT_DIFFERS: {
        name: 'Movement that the gateway lists otherwise',
        meaning:
          'Our copy of the list of the gateway has a movement with another order, payment key, direction, amount or time than the list itself. The word of the gateway was used.',
        next: 'Compare both with the dashboard of the gateway. Find out who wrote the row, have it removed, and compare the day again.',
      },
      OPERATION_STUCK: {
        name: 'The gateway does not decide',
        meaning: 'It was asked many times and never gave a clear answer. It goes on being asked.',
        next: 'Settle the order. If it stays unknown, ask the gateway about the payment key.',
      },
      CONTRADICTING_OUTCOMES: {
        name: 'Two answers that contradict each other',
        meaning: 'The gateway approved and refused the same call.',
        next: 'Look the payment up in the dashboard of the gateway, then settle the order.',
      },
      CANCEL_NOT_WHOLE: {
        name: 'Not cancelled as a whole',
        meaning: 'The gateway says it cancelled the payment, and still keeps a part of the money.',
        next: 'Cancel the rest in the dashboard of the gateway, then settle the order.',
      },
    } as Record<string, KindWords>,
    otherKind: (kind: string): KindWords => ({
      name: kind,
      meaning: 'The gateway says something of this payment that has no rule here.',
      next: 'Look the payment up in the dashboard of the gateway, then settle the order.',
    }),
  },

  exports: {
    intro:
      'Files for a spreadsheet, with the days of Korea and whole KRW. Every export is on the trail with the name of who made it.',
    daysTitle: 'Days',
    daysText: 'Gateway, books and difference of each day.',
    paymentsTitle: 'Payments',
    paymentsText: 'Every capture, cancellation and refund that our books have, with the keys of the gateway.',
    discrepanciesTitle: 'Discrepancies',
    discrepanciesText: 'The open ones, or those that were resolved.',
    notAllowed: 'Exports are for finance and admins.',
  },
}
