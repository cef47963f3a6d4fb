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
  accept: {
    action: 'Accept partial cancellation',
    title: 'Accept partial cancellation',
    text: 'No money moves. The order becomes refunded with the amount that the gateway has already returned; the rest of the payment stays with us. The customer keeps the credits that you do not deduct. The discrepancy is resolved for good, and nothing more can be refunded for this order.',
    credits: 'Credits to deduct',
    creditsHint: (credits: string) => `0 to ${credits}, the credits of the order. 0: the customer keeps all of them.`,
    creditsWrong: 'Enter a whole number from 0 to the credits of the order.',
    done: 'Partial cancellation accepted.',
    /** By the code of a refusal that has no reason. */
    problems: {
      BUS002: 'Nothing was done. The customer has fewer credits available, or the order has changed in the meantime.',
      PAYMENT_CANCEL_FAILED:
        'Nothing was done. The gateway does not show a part of this payment as cancelled: sync the order with the gateway.',
    } as Record<string, string>,
  },
  /** Why an action is not possible now. */
  why: {
    role: 'Your role does not allow this.',
    resolved:
      'This discrepancy is resolved. If gateway and books still differ, the next reconciliation opens a new one.',
    'no order': 'There is no order to sync.',
    'not a part': 'Only for a payment of which a part was cancelled at the gateway.',
  },
}
