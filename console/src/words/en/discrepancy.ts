// Texts of the page of one discrepancy. The meaning of each type is in books.ts.

export const discrepancy = {
  title: 'Discrepancy',
  back: 'All discrepancies',
  open: 'Open discrepancy page',
  lastSeen: 'Last seen',
  resolvedAt: 'Resolved',
  customer: 'Customer',
  unknownCustomer: 'Unknown',
  order: 'Order',
  orderNow: 'Current order status',
  payment: 'Payment at the gateway',
  sides: 'Comparison',
  sidesHint: 'As of when it was last seen. The order may have changed since.',
  books: 'Our books',
  gateway: 'Gateway',
  nothing: 'No record.',
  history: 'Timeline',
  historyCaption: 'Timeline of this discrepancy, oldest first',
  others: 'Other discrepancies of this order',
  /** Why an action is not possible now. */
  why: {
    role: 'Your role does not allow this.',
    resolved:
      'This discrepancy is resolved. If gateway and books still differ, the next reconciliation opens a new one.',
    'no order': 'There is no order to sync.',
  },
}
