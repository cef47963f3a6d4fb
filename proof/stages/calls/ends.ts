// The expected ends and the calls that several scenarios of the fault table share.
import { approvalNumberOf } from '../../../sandbox/payments/payment-object.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import type { Books, Ends, Subject } from './scenario.ts'

export const pending = { order: 'PENDING', movements: [], payment: 'IN_PROGRESS' } satisfies Books

export const confirmed = {
  answer: 'SUCCESS',
  order: 'CONFIRMED',
  movements: ['GRANT 21'],
  payment: 'DONE',
} satisfies Ends

export const failed = { answer: 'VAL003', order: 'FAILED', movements: [], payment: 'ABORTED' } satisfies Ends

export const cancelled = {
  answer: 'SUCCESS',
  order: 'CANCELLED',
  movements: ['GRANT 21', 'ROLLBACK -21'],
  payment: 'CANCELED',
} satisfies Ends

export const refunded = {
  answer: 'SUCCESS',
  order: 'REFUNDED',
  movements: ['GRANT 21', 'REFUND -21'],
  payment: 'CANCELED',
  shortfall: 0,
} satisfies Ends

/** Section 4.2: the original answer, every time, with the card slip of the gateway. */
export const confirmAnswer = ({ orderId, paymentKey }: Subject) => ({
  orderId,
  creditsAdded: 21,
  totalCredits: 21,
  slip: {
    receiptUrl: `http://127.0.0.1/receipt/${paymentKey}`,
    cardNumber: '43301234****123*',
    approvalNumber: approvalNumberOf(paymentKey),
  },
})

export const confirmation = ['payments.claimConfirms', 'gateway.confirm', 'payments.finishOperations']
export const cancellation = ['payments.claimCancels', 'gateway.cancel', 'payments.finishOperations']
export const lookedUp = ['gateway.findConfirm', 'payments.finishOperations']
export const readForReview = ['payments.findDoubtsOfOrder', 'payments.findReviewSubject']
export const compared = [...readForReview, 'gateway.look']

export const claimed = ['payments.claimNotifications', 'payments.findOrderKeys', ...readForReview]
export const closed = ['payments.closeNotifications']
export const returning = [
  'payments.saveDiscrepancy',
  'payments.claimReturn',
  'gateway.cancel',
  'payments.finishOperations',
]

export const refusingCancels = (gateway: Gateway): Gateway => ({
  ...gateway,
  cancel: async () => ({ kind: 'rejected', code: 'REFUND_REJECTED' }),
})
