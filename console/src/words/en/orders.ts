// Texts of the pages of orders and of the search.
import { wallets } from '../ko/wallets.ts'

const creditsOf = (count: string) => `${count} ${count === '1' ? 'credit' : 'credits'}`

/** When the full price of a used order is refunded, and what is taken then. */
const ofFullPrice =
  "as a gesture, or when the service was at fault. Credits of this order that are used are taken from the customer's other orders, as far as there are any."

export const orders = {
  title: 'Orders',
  caption: { newest: 'Orders, newest first', highest: 'Orders, highest amount first' },
  none: 'No orders match.',
  noneYet: 'No orders yet.',
  lookedThrough: 'No match in the orders searched so far. Use "Show more" to search older orders.',
  columns: {
    created: 'Created',
    order: 'Order',
    customer: 'Customer',
    package: 'Package',
    amount: 'Amount',
    credits: 'Credits',
    status: 'Status',
    failure: 'Reason',
  },
  filters: {
    status: 'Status',
    everyStatus: 'All statuses',
    package: 'Package',
    everyPackage: 'All packages',
    failure: 'Reason for failure',
    everyFailure: 'All reasons',
    open: 'Outcome pending at the gateway',
    customer: 'Customer',
    customerHint: 'Start of a name, or a customer ID',
    everyCustomer: 'All customers',
    noMatch: 'No customer name starts with this.',
    typeOn: 'Type the start of a name.',
  },
  /** All that match the filters. */
  matched: {
    orders: (count: string, isOne: boolean) => `${count} ${isOne ? 'order' : 'orders'}`,
    amount: (won: string) => `${won} in total`,
    /** When not all of it was paid, or some was refunded. */
    ordered: (won: string, kept: string) => `${won} ordered, of it ${kept} paid and not refunded`,
    newest: (count: string) => `Among the newest ${count} orders. Choose dates to count all orders of a period.`,
  },
  nameless: 'No name',
  /** In the list, of a confirmed order. */
  partlyCancelled: (won: string) => `${won} cancelled at the gateway`,
  inProgress: 'Outcome pending',
  /** Reasons together, as the badges show them. */
  failureGroups: { expired: 'All expired', declined: 'All declined' },
  /** Why an order is FAILED. */
  failures: {
    'insufficient-funds': {
      label: 'Insufficient funds or limit',
      meaning: 'Declined: insufficient funds, or the card limit is exceeded.',
    },
    'limit-exceeded': { label: 'Limit exceeded', meaning: 'Declined: a limit of the card or account is exceeded.' },
    'card-declined': {
      label: 'Card declined',
      meaning: 'Declined: the payment was not accepted. The customer can try another way to pay.',
    },
    'card-expired': {
      label: 'Card expired',
      meaning: 'Declined: the card has expired, or the expiry date is wrong.',
    },
    'payment-expired': {
      label: 'Payment not completed',
      meaning: 'Expired: the buyer started the payment and did not complete it in time. No card was charged.',
    },
    'order-expired': {
      label: 'Not paid in time',
      meaning: 'Expired: the order was not paid in time. No card was charged.',
    },
    other: { label: 'Other reason', meaning: 'Not paid: the payment could not be made.' },
  },

  search: {
    title: 'Search',
    titleFor: (text: string) => `Search: ${text}`,
    caption: (count: string) => `Results: ${count}`,
    nothing: 'No results.',
    nothingHint:
      'Search by an order ID (at least its first 4 characters after ord_), a complete payment key or customer ID, the approval number of a card slip, a part of a customer name, the reference of a spend, or the last four characters of an API key.',
    empty: 'Type a search text into the field at the top.',
    opening: 'Opening the only result',
    columns: { kind: 'Type', id: 'Result', customer: 'Customer', status: 'Status' },
    kinds: {
      order: 'Order',
      payment: 'Payment',
      customer: 'Customer',
      key: 'API key',
      reference: 'Reference in a statement',
    },
  },

  order: {
    title: 'Order',
    back: 'All orders',
    amount: 'Amount',
    credits: 'Credits',
    package: 'Package',
    customer: 'Customer',
    paymentKey: 'Payment key',
    paymentKeyHint: 'Shown in full to roles that can refund.',
    noPaymentKey: 'None: no payment has been confirmed.',
    card: 'Card',
    approvalNumber: 'Approval number',
    paidWith: 'Paid with',
    paid: {
      methods: { CARD: 'Card', EASY_PAY: 'Wallet', OTHER: 'Another method' },
      wallet: (name: string) => (Object.hasOwn(wallets, name) ? (wallets[name] ?? name) : name),
      byCard: (amount: string) => `${amount} by card`,
      fromWallet: (amount: string) => `${amount} from its balance`,
      points: (amount: string) => `${amount} points`,
    },
    receipt: 'Receipt',
    openReceipt: 'Open the receipt',
    receiptHint: 'Shown to roles that can refund.',
    payment: 'Payment at the gateway',
    openPayment: 'Open at the gateway',
    newTab: 'opens a new tab',
    notFound: 'There is no order with this ID.',
    notFoundHint: 'The ID may be incomplete. Search for the payment key or the customer instead.',
    created: 'Created',
    confirmed: 'Confirmed',
    notConfirmed: 'Not confirmed',
    kept: 'Credits not deducted',
    keptHint: 'Credits that were used or held at the time of the refund, or left to the customer.',
    used: 'Credits used',
    usedHint: 'The oldest credits of a customer are used first.',
    held: 'Credits held',
    unused: 'Credits unused',
    takenBack: 'Credits deducted',
    value: 'Value of the rest',
    valueAtMost: (won: string) => `At most ${won} can go back while the discrepancy is open.`,
    valueHint: 'The amount less the price of the credits used. Bonus credits have no value.',
    /** After a part was cancelled at the gateway. */
    valueHintOfRest:
      'The amount less what was returned and the price of the credits used. Bonus credits have no value.',
    /** What each status means, for support on the phone with the customer. */
    meaning: {
      PENDING: 'Waiting for payment. No credits have been granted.',
      CONFIRMED: 'Paid. The credits have been granted.',
      FAILED: 'The payment was declined or not made in time. No credits have been granted.',
      CANCELLED: 'Cancelled by the customer. The payment is returned and the credits have been deducted.',
      REFUNDED: 'Refunded. The amount returned and the credits deducted are shown below.',
    },
    /** With an operation in progress, by status and kind of operation. */
    meaningOpen: {
      'PENDING CONFIRM': 'Paid or being paid: the outcome is being determined. No credits have been granted yet.',
      'CONFIRMED CANCEL': 'Paid. The customer is cancelling it: the outcome is being determined, and credits are held.',
      'CONFIRMED REFUND': 'Paid. A refund is in progress: the outcome is being determined, and credits are held.',
      'FAILED RETURN':
        'Failed, but a payment was captured afterwards: it is being returned to the card. No credits have been granted.',
    },
    /** A payment was captured for the failed order, by what became of it. */
    meaningCaptured: {
      open: 'Failed, but a payment was captured and has not been returned: see the open discrepancy. No credits have been granted.',
      returned:
        'Failed, but a payment was captured afterwards: it was returned to the card. No credits have been granted.',
      resolved:
        'Failed, but a payment was captured afterwards: the timeline shows how this was resolved. No credits have been granted.',
    },
    /** The gateway has notified a payment that the books do not have yet. */
    meaningNotified: {
      open: 'The gateway has reported the payment as paid: this is being confirmed. The credits will be granted then.',
      alone: 'The gateway has reported a payment that is not in our books: sync with the gateway.',
    },
    noCredits: 'No credits have been granted.',
    /** Accepted while the order was confirmed. */
    parts: {
      CONFIRMED: (won: string, credits: string) =>
        `${won} of it was cancelled at the gateway, ${creditsOf(credits)} deducted. The rest can be refunded.`,
      nothingLeft: (won: string, credits: string) =>
        `${won} of it was cancelled at the gateway, ${creditsOf(credits)} deducted. No unused part is left to refund.`,
      before: (won: string, credits: string) =>
        `Before: ${won} cancelled at the gateway, ${creditsOf(credits)} deducted.`,
    },
    /** How it was cancelled or refunded. */
    ended: {
      customer: (won: string, credits: string) =>
        `Cancelled by the customer: ${won} returned, ${creditsOf(credits)} deducted.`,
      operator: (won: string, credits: string, name: string) =>
        `Refunded by ${name}: ${won} returned, ${creditsOf(credits)} deducted.`,
      platform: (won: string, credits: string) =>
        `Refunded by the platform: ${won} returned, ${creditsOf(credits)} deducted.`,
      gateway: (won: string, credits: string) =>
        `Cancelled at the gateway, not by us: ${won} returned, ${creditsOf(credits)} deducted.`,
    },
    withKey: (lastFour: string) => `API key …${lastFour}`,
    acceptedBy: (name: string) => `Accepted by ${name}`,
  },

  open: {
    titles: {
      CONFIRM: 'Payment confirmation in progress at the gateway',
      CANCEL: 'Cancellation in progress at the gateway',
      REFUND: 'Refund in progress at the gateway',
      RETURN: 'Return of a captured payment in progress at the gateway',
    },
    anyTitle: 'An operation is in progress at the gateway',
    text: 'The outcome is not known yet. The service keeps checking automatically; "Sync with gateway" checks now.',
    since: 'Since',
    attempts: 'Attempts without an outcome',
    times: (count: string) => count,
    timesOrMore: (count: string) => `${count} or more`,
    notYet: 'None yet',
    lastAnswer: 'Last response',
    noAnswer: 'None yet',
    next: 'Next attempt',
    nextNone: 'Not scheduled',
  },

  disagreement: {
    title: (count: string, isOne: boolean) => `${count} open ${isOne ? 'discrepancy' : 'discrepancies'}`,
    found: 'Found',
    amount: (won: string) => `Gateway minus books: ${won}`,
  },

  actions: {
    title: 'Actions',
    settle: 'Sync with gateway',
    refund: 'Refund',
    resend: 'Resend events',
    note: 'Add note',
    receipt: 'Verifiable receipt',
    /** Why an action is not possible now, by its code. */
    why: {
      role: 'Your role does not allow this.',
      open: 'An operation is in progress at the gateway: sync with the gateway first.',
      'no events': 'This order has no events to send: none yet, or they were deleted after EVENTS_KEPT_DAYS.',
      'no endpoint': 'No active endpoint is subscribed.',
    },
    whyState: (status: string) => `The status is ${status}. Only a confirmed order can be refunded.`,
    close: 'Close',
    cancel: 'Cancel',
    back: 'Back',
  },

  settle: {
    title: 'Sync with gateway',
    text: 'Looks up the payment at the gateway now and updates our books: finishes an operation in progress, grants the credits of a captured payment, and returns a payment that was captured for a failed order.',
    action: 'Sync now',
    status: 'Order status',
    results: {
      agrees: 'Gateway and books match',
      repaired: 'Order updated',
      disagrees: 'Gateway and books do not match',
      'under way': 'Another process is working on this order',
      unknown: 'No result from the gateway',
    },
    /** What a match means, by the status of the order. */
    agrees: {
      PENDING:
        'No payment was captured for this order. If the customer was charged, ask for the payment key or the receipt and search for it: the payment may belong to another order.',
      CONFIRMED: 'The payment is captured and the credits are granted. Nothing was changed.',
      FAILED: 'No payment is captured for this order. If the customer still wants credits, they need to buy again.',
      CANCELLED: 'The payment is cancelled and the credits are deducted. The card company may take days to show it.',
      REFUNDED: 'The refund is complete. The card company may take days to show it.',
    },
    repaired: {
      PENDING: 'The operation in progress was closed. No payment was captured, and the customer can try again.',
      CONFIRMED: 'The payment had been captured. The credits are granted now: ask the customer to check again.',
      FAILED: 'The payment was declined, or the captured payment is returned to the card. No credits were granted.',
      CANCELLED: 'The cancellation is complete: the payment is returned and the credits are deducted.',
      REFUNDED: 'The payment had been cancelled at the gateway. The remaining credits are deducted.',
    },
    other: {
      disagrees:
        'This needs a decision. The discrepancy is shown on this page: hand it over to finance, who compare it with the gateway and resolve it under Reconciliation with a note.',
      'under way': 'A request or the worker is processing it right now. Check again in a few seconds.',
      unknown:
        'Nothing was changed, and the service keeps checking automatically. Check the gateway status on the home page and try again in a few minutes.',
    },
  },

  refund: {
    title: 'Refund',
    quoteTitle: 'Refund preview',
    of: (won: string, customer: string) => `Order of ${won} by ${customer}`,
    paid: 'Paid',
    alreadyReturned: 'Already returned at the gateway',
    backToCard: 'Refund',
    backUnknown: 'Not known',
    creditsOfOrder: 'Credits of the order',
    takenBefore: 'Credits deducted before',
    takenBack: 'Credits to deduct',
    /** Credits that are not deducted. */
    kept: { unused: 'Credits used', full: 'Credits not deducted (already used or held)' },
    /** `from`: its day; null: it is the first one. */
    rule: (from: string | null, days: string, share: string, smallest: string) =>
      `${from ? `Rule since ${from}` : 'Rule from the beginning'}: ${days === '0' ? '' : `full price within ${days} ${days === '1' ? 'day' : 'days'} if unused, then `}${share}% of the unused value, at least ${smallest}.`,
    valueUnused: 'Value of the unused credits',
    extent: 'What to refund',
    extents: { unused: 'Unused part', full: 'Full price' },
    unusedHint: 'The share of what is unused that the rule of the order returns.',
    fullHint: `Also for credits that were used: ${ofFullPrice}`,
    /** When the unused part cannot be refunded. */
    onlyFull: `Only the full price can be refunded: ${ofFullPrice}`,
    nothingUsed: 'No credit of this order was used: all that is left of the price is refunded.',
    partRefused: 'The unused part cannot be refunded',
    moving: 'If the customer uses credits in the meantime, only the remaining credits are deducted.',
    movingUnused: 'If the customer uses credits in the meantime, nothing is refunded and a new preview is shown.',
    reasonHint: 'Sent to the gateway and saved in the audit log. 3 to 200 characters in one line.',
    continue: 'Continue',
    sureTitle: { unused: 'Refund the unused part of this order?', full: 'Refund this order in full?' },
    sure: (won: string, credits: string) =>
      `${won} will be refunded to the card and ${creditsOf(credits)} will be deducted.`,
    sureUnknown: (credits: string) =>
      `The amount left at the gateway will be refunded to the card and ${creditsOf(credits)} will be deducted.`,
    sureKept: {
      unused: (credits: string) => `${creditsOf(credits)} already used will not be refunded.`,
      full: (credits: string) => `${creditsOf(credits)} already used or held will not be deducted.`,
    },
    final: 'This cannot be undone.',
    act: 'Refund now',
    done: 'Refunded',
    doneText: (won: string, credits: string) => `${won} refunded to the card. Deducted: ${creditsOf(credits)}.`,
    doneShortfall: (credits: string) => `Not deducted, because already used or held: ${creditsOf(credits)}.`,
    unknown: 'Outcome not known yet',
    unknownText:
      'The gateway has not confirmed the refund yet. Do not pay the customer back in another way. The timeline of the order shows whether the refund has started: if so, it continues automatically, and "Sync with gateway" checks it now.',
  },

  note: {
    title: 'Add note',
    text: 'Changes nothing. The note is shown in the timeline and in the audit log, and cannot be changed or deleted.',
    field: 'Note',
    action: 'Save note',
    done: 'Note saved',
  },

  resend: {
    title: 'Resend events',
    text: 'Sends the events of this order again, now, to every active endpoint that is subscribed to them. Receivers recognise duplicates by the event ID.',
    action: 'Resend now',
    allDelivered: (count: string) => `Delivered: ${count}`,
    someFailed: (delivered: string, failed: string) => `Delivered: ${delivered}, failed: ${failed}`,
    none: 'No endpoint is subscribed to these events.',
    failedCaption: 'Events that were not delivered',
  },
}
