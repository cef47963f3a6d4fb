// The words of the page of one discrepancy, in English. What a kind means stands with the books.

export const discrepancy = {
  title: 'Discrepancy',
  back: 'All discrepancies',
  open: 'Open the discrepancy',
  lastSeen: 'Last seen',
  resolvedAt: 'Resolved',
  customer: 'Customer',
  nobody: 'Not known',
  order: 'Order',
  orderNow: 'The order is now',
  payment: 'Payment at the gateway',
  sides: 'What the two sides said',
  sidesHint: 'As it was when it was last seen. The order may have changed since.',
  books: 'Our books',
  gateway: 'Gateway',
  nothing: 'Nothing: it is not known here.',
  history: 'History',
  historyCaption: 'What happened to this discrepancy, in the order of time',
  others: 'Others about the same order',
  /** Why something cannot be done now. */
  why: {
    role: 'Your role may not do this.',
    resolved: 'It is resolved. If the two sides still differ, the next reconciliation opens a new one.',
    'no order': 'There is no order of ours to settle.',
  },
}
