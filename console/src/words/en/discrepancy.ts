// Texts of the page of one discrepancy. The meaning of each type is in books.ts.

const creditsOf = (count: string) => `${count} ${count === '1' ? 'credit' : 'credits'}`

export const discrepancy = {
  title: 'Discrepancy',
  back: 'All discrepancies',
  open: 'Open discrepancy page',
  lastSeen: 'Last seen',
  asFound: 'When it was last seen: ',
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
  others: 'Other discrepancies of this order or payment',
  accept: {
    action: 'Accept partial cancellation',
    title: 'Accept partial cancellation',
    text: 'No money moves: the gateway has already returned it. The order stays confirmed; what is then left of it is shown below. The discrepancy is resolved for good.',
    quoteTitle: 'Preview',
    returned: 'Returned by the gateway',
    unusedNow: 'Unused credits now',
    left: 'Unused credits left',
    valueAfter: 'Value of the rest afterwards',
    credits: 'Credits to deduct',
    creditsHint: (proposed: string, most: string) =>
      `Proposed: ${proposed}. At most ${most}, as far as they are unused.`,
    creditsWrong: 'Enter a whole number of credits, or 0.',
    tooMany: (most: string) =>
      `At most ${most}: what all that was returned stands for and the bonus of the order, as far as they are unused and not deducted yet.`,
    fewer: (count: string) => `${creditsOf(count)} fewer than the amount stands for.`,
    more: (count: string) => `${creditsOf(count)} more than the amount stands for.`,
    usesOwnLimit: (used: string, perDay: string) =>
      `This counts in your daily limit of adjustments: ${used} of ${perDay} used today.`,
    usesLimitOfApprover: 'It becomes a request, and uses the limit of the operator who approves it.',
    needsApproval: (most: string) =>
      `A difference of more than ${creditsOf(most)} becomes a request: nothing is deducted until another operator approves it.`,
    sureTitle: 'Accept this partial cancellation?',
    sureRequest: 'Request this partial cancellation?',
    sure: (won: string, credits: string) =>
      `For ${won} that the gateway has returned, ${creditsOf(credits)} are deducted.`,
    sureRest: (credits: string, won: string) => `${creditsOf(credits)} are left unused. The rest is worth ${won}.`,
    act: 'Accept now',
    request: 'Request approval',
    done: 'Partial cancellation accepted',
    doneText: (won: string, credits: string) => `${won} returned by the gateway. Deducted: ${creditsOf(credits)}.`,
    doneRest: (won: string) => `The order stays confirmed. The rest is worth ${won} and can be refunded.`,
    requested: 'Waiting for another operator',
    requestedText: (won: string, credits: string) =>
      `The request is stored: deduct ${creditsOf(credits)} for ${won}. Nothing was deducted yet.`,
  },
  /** Why an action is not possible now. */
  why: {
    role: 'Your role does not allow this.',
    resolved: 'This discrepancy is resolved, and stays resolved as long as the gateway says the same.',
    'no order': 'There is no order to sync.',
    'not a part': "Only for an order's own payment, of which a part was cancelled at the gateway.",
  },
}
