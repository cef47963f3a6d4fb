// The endpoints as a table: what each does to the world, and so how long it may take, and why it may be sent again when
// nobody knows what became of it. An endpoint that could not bear that would need a column here.
import type { OperationId } from './types.ts'

/** `settle` waits for the payment gateway. */
export type Work = 'read' | 'write' | 'settle'

export const operations: Record<OperationId, { work: Work }> = {
  listCreditPackages: { work: 'read' },
  getPaymentStatus: { work: 'read' },
  getCreditBalance: { work: 'read' },
  getStatement: { work: 'read' },

  // With the same X-Idempotency-Key the service gives the original order and makes no second one, for as long as the order
  // exists. Every purchase has a key, and all attempts have the same.
  purchaseCredits: { work: 'write' },

  // The same order, key and amount: while the first is under way the service waits for it, afterwards it gives the first
  // answer again, and where the gateway left it open it asks there before it sends anything. One charge in all.
  confirmPayment: { work: 'settle' },

  // A payment is cancelled once, whoever asks how often, and a second request cannot take back more than the first. But
  // only one request is told of it: see `toldInsteadOf`.
  cancelPayment: { work: 'settle' },

  // The reference makes a spend or a hold one, with the first answer again however late.
  spendCredits: { work: 'write' },
  holdCredits: { work: 'write' },

  // A hold ends once. The same ending again gets the first answer.
  captureHold: { work: 'write' },
  releaseHold: { work: 'write' },
}
