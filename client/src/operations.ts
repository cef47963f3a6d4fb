// The endpoints as a table: whether each reads, writes or waits for the gateway, and so how long it may take, and why
// it may be retried when its outcome is unknown. An endpoint that may not be retried would need a column here.
import type { OperationId } from './types.ts'

/** `settle` waits for the payment gateway. */
export type Work = 'read' | 'write' | 'settle'

export const operations: Record<OperationId, { work: Work }> = {
  listCreditPackages: { work: 'read' },
  getPaymentStatus: { work: 'read' },
  getCreditBalance: { work: 'read' },
  listOrders: { work: 'read' },
  getOrder: { work: 'read' },
  getOwnStatement: { work: 'read' },
  getStatement: { work: 'read' },
  listLots: { work: 'read' },
  quoteRefund: { work: 'read' },
  getBudgets: { work: 'read' },
  getUse: { work: 'read' },
  getOrderReceipt: { work: 'read' },
  getReferenceReceipt: { work: 'read' },
  getStatementReceipt: { work: 'read' },

  // With the same X-Idempotency-Key the service returns the original order and creates no second one, for as long as
  // the order exists. Every purchase has a key, and all its attempts have the same.
  purchaseCredits: { work: 'write' },

  // The same order, key and amount: while the first is under way the service waits for it, afterwards it returns the
  // first answer again, and where the outcome at the gateway is unknown it looks the payment up first. One charge in
  // total.
  confirmPayment: { work: 'settle' },

  // A payment is cancelled once, however many requests are sent, and a second one cannot refund more than the first.
  // But only one request gets the success: see `failureToReport`.
  cancelPayment: { work: 'settle' },

  // An order is refunded once, and a repeated request gets the first answer.
  refundUnused: { work: 'settle' },

  // A reference is spent or held once; a repeated request gets the first answer, however late. A dry run changes nothing.
  spendCredits: { work: 'write' },
  holdCredits: { work: 'write' },

  // A reversal has a reference of its own, with the same promise.
  reverseSpend: { work: 'write' },

  // The end of a hold only gets later.
  extendHold: { work: 'write' },

  // A hold ends once. The same ending again gets the first answer. A part is captured once for its reference.
  captureHold: { work: 'write' },
  releaseHold: { work: 'write' },
}
