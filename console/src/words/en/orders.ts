// The words of the pages of orders and of the search, in English.

const creditsOf = (count: string) => `${count} ${count === '1' ? 'credit' : 'credits'}`

export const orders = {
  title: 'Orders',
  caption: 'Orders, newest first',
  none: 'No order fits.',
  noneYet: 'No order has been made yet.',
  lookedThrough: 'A stretch of orders was looked through, and more may follow. Go on with "more".',
  columns: {
    made: 'Made',
    order: 'Order',
    customer: 'Customer',
    package: 'Package',
    amount: 'Amount',
    credits: 'Credits',
    status: 'Status',
  },
  filters: {
    status: 'Status',
    everyStatus: 'Every status',
    customer: 'Customer',
    customerHint: 'Beginning of a name, or a UUID',
    everyCustomer: 'Every customer',
    nobody: 'No customer has a name that begins so.',
    typeOn: 'Type the beginning of a name.',
  },
  nameless: 'No name',

  search: {
    title: 'Search',
    titleFor: (text: string) => `Search: ${text}`,
    caption: (count: string) => `Found: ${count}`,
    nothing: 'Nothing was found.',
    nothingHint:
      'Order ids can be found from 8 characters on, payment keys and UUIDs as a whole, customers by the beginning of their name, API keys by their last four characters.',
    empty: 'Type what to look for into the field at the top.',
    opening: 'Opening the only hit',
    columns: { kind: 'What', id: 'Found', customer: 'Customer', status: 'Status' },
    kinds: { order: 'Order', payment: 'Payment', customer: 'Customer', key: 'API key' },
  },

  order: {
    title: 'Order',
    back: 'All orders',
    amount: 'Amount',
    credits: 'Credits',
    package: 'Package',
    customer: 'Customer',
    paymentKey: 'Payment key',
    paymentKeyHint: 'Shown in full to roles that may refund.',
    noPaymentKey: 'None yet: no payment has been confirmed.',
    made: 'Made',
    confirmed: 'Confirmed',
    notConfirmed: 'Never',
    kept: 'Kept by the customer',
    keptHint: 'Credits that were spent or held when it was refunded, and could not be taken back.',
    /** What each status means, for somebody who has the customer on the telephone. */
    meaning: {
      PENDING: 'Waiting for the payment. No credits have been given.',
      CONFIRMED: 'Paid. The credits have been given.',
      FAILED: 'The payment was refused, or it never came. No credits have been given.',
      CANCELLED: 'The customer cancelled it. The money goes back and the credits have been taken back.',
      REFUNDED: 'We gave the money back, and took back what was left of the credits.',
    },
  },

  open: {
    titles: {
      CONFIRM: 'A confirmation is under way at the gateway',
      CANCEL: 'A cancellation is under way at the gateway',
      REFUND: 'A refund is under way at the gateway',
      RETURN: 'Money is being given back at the gateway',
    },
    anyTitle: 'Something is under way at the gateway',
    text: 'Its outcome is not known. The service goes on asking by itself; "Settle with the gateway" asks now.',
    since: 'Since',
    attempts: 'Tried',
    times: (count: string, isOne: boolean) => `${count} ${isOne ? 'time' : 'times'}`,
    notYet: 'Not again yet',
    gatewaySaid: 'The gateway said',
    nothingSaid: 'Nothing yet',
    next: 'Next try',
    nextNone: 'Not planned',
  },

  disagreement: {
    title: (count: string, isOne: boolean) => `${count} open ${isOne ? 'discrepancy' : 'discrepancies'}`,
    found: 'Found',
  },

  actions: {
    title: 'Actions',
    settle: 'Settle with the gateway',
    refund: 'Refund',
    resend: 'Resend events',
    /** Why one cannot be used now, by its code. */
    why: {
      role: 'Your role may not do this.',
      open: 'Something is under way at the gateway: settle that first.',
      'no events': 'There are no events of this order yet.',
      'no endpoint': 'No active endpoint takes events.',
    },
    whyState: (status: string) => `Its status is ${status}: only a confirmed order can be refunded.`,
    close: 'Close',
    cancel: 'Cancel',
    back: 'Back',
  },

  settle: {
    title: 'Settle with the gateway',
    text: 'Asks the gateway about this order now and brings our books in line: an open operation is finished, a captured payment is granted its credits, and money captured for a failed order is given back.',
    action: 'Settle now',
    status: 'The order is now',
    results: {
      agrees: 'The gateway and our books agree',
      repaired: 'Set right',
      disagrees: 'The gateway and our books disagree',
      'under way': 'Somebody is at work on it',
      unknown: 'The gateway did not tell',
    },
    /** What it means when they agree, by the status of the order. */
    agrees: {
      PENDING:
        'Nothing was captured for this order. If the customer was charged, ask for the payment key or the receipt and search for it: it may belong to another order.',
      CONFIRMED: 'The payment is captured and the credits are given. Nothing had to be changed.',
      FAILED: 'Nothing is captured for this order. If the customer still wants credits, they buy again.',
      CANCELLED: 'The money is with the customer and the credits are taken back. The card company may take days.',
      REFUNDED: 'The money is with the customer. The card company may take days to show it.',
    },
    repaired: {
      PENDING: 'What was open is closed. No payment was captured, and the customer can try again.',
      CONFIRMED: 'The payment had been captured. The credits are given now: tell the customer to look again.',
      FAILED: 'What was captured goes back to the card, or the payment was refused. No credits were given.',
      CANCELLED: 'The cancellation is complete: money and credits are back.',
      REFUNDED: 'The payment had been given back at the gateway. What was left of the credits is taken back.',
    },
    other: {
      disagrees:
        'A person has to decide. The discrepancy is shown on this page: hand it to finance, who compare it with the gateway and resolve it in Books with a note.',
      'under way': 'A request or the worker holds it right now. Look again in some seconds.',
      unknown:
        'Nothing was changed, and the service goes on asking by itself. Look at the health of the gateway on the first page, and try again in a few minutes.',
    },
  },

  refund: {
    title: 'Refund',
    quoteTitle: 'What a refund would do now',
    paid: 'Paid',
    backToCard: 'Back to the card',
    backUnknown: 'Not known',
    creditsOfOrder: 'Credits of the order',
    takenBack: 'Credits taken back',
    shortfall: 'Kept by the customer, because they are spent or held',
    moving: 'If the customer spends meanwhile, what is left then is taken.',
    reasonHint: 'For the gateway and for the trail: 3 to 200 characters in one line.',
    continue: 'Continue',
    sureTitle: 'Give the money back?',
    sure: (won: string, credits: string) =>
      `${won} goes back to the card and ${creditsOf(credits)} will be taken back.`,
    sureUnknown: (credits: string) =>
      `What is left at the gateway goes back to the card and ${creditsOf(credits)} will be taken back.`,
    sureShortfall: (credits: string) => `The customer keeps ${creditsOf(credits)} already spent or held.`,
    final: 'This cannot be undone.',
    act: 'Refund now',
    done: 'Refunded',
    doneText: (credits: string) => `The money goes back to the card. Taken back: ${creditsOf(credits)}.`,
    doneShortfall: (credits: string) => `Spent or held, and left to the customer: ${creditsOf(credits)}.`,
    unknown: 'Not known yet',
    unknownText:
      'The gateway has not told whether the money went back. Do not pay it back by another way. The story of the order shows whether a refund has begun: if so, it goes on by itself, and "Settle with the gateway" asks at once.',
  },

  resend: {
    title: 'Resend events',
    text: 'Sends the events of this order once more, now, to every active endpoint that takes them. Receivers know a repeat by its id.',
    action: 'Resend now',
    allDelivered: (count: string) => `Taken: ${count}`,
    someFailed: (delivered: string, failed: string) => `Taken: ${delivered}, not taken: ${failed}`,
    none: 'Nobody takes these events.',
    failedCaption: 'Events that were not taken',
  },
}
