// The Payment object of the protocol (version 2022-11-16): every member present, null where unused, Korean literals
// where Toss has them. A pure function of the payment: an idempotent replay renders the stored payment again and must
// be the same byte for byte, so nothing here may read a clock or an address.

import { createHash } from 'node:crypto'
import { type Answer, balanceOf, type Cancel, merchantId, type Payment } from './payments.ts'

export function bodyOf(answer: Answer): object {
  if ('payment' in answer) return paymentObject(answer.payment)
  return 'rows' in answer ? answer.rows : answer.error
}

export function paymentObject(payment: Payment) {
  const balanceAmount = balanceOf(payment)
  // Math.round rounds half up for positive numbers, as Toss does: 15000 -> 1364, 50000 -> 4545.
  const vat = Math.round(balanceAmount / 11)
  const approved = payment.approvedAt !== null
  return {
    mId: merchantId,
    version: '2022-11-16',
    paymentKey: payment.paymentKey,
    lastTransactionKey: payment.lastTransactionKey,
    type: 'NORMAL',
    orderId: payment.orderId,
    orderName: payment.orderName ?? `주문 ${payment.orderId}`,
    currency: 'KRW',
    country: 'KR',
    method: payment.method,
    status: payment.status,
    requestedAt: payment.requestedAt,
    approvedAt: payment.approvedAt,
    totalAmount: payment.amount,
    balanceAmount,
    suppliedAmount: balanceAmount - vat,
    vat,
    taxFreeAmount: 0,
    taxExemptionAmount: 0,
    useEscrow: false,
    cultureExpense: false,
    isPartialCancelable: payment.partialCancelable ?? true,
    secret: payment.secret,
    card: approved ? cardObject(payment) : null,
    cancels: payment.cancels.length > 0 ? payment.cancels.map(cancelObject) : null,
    failure: payment.failure,
    receipt: approved ? { url: receiptUrl(payment) } : null,
    checkout: { url: `https://sandbox.invalid/v1/payments/${encodeURIComponent(payment.paymentKey)}/checkout` },
    virtualAccount: null,
    transfer: null,
    mobilePhone: null,
    giftCertificate: null,
    easyPay: approved ? easyPayObject(payment) : null,
    cashReceipt: null,
    cashReceipts: null,
    discount: null,
    metadata: payment.metadata ?? null,
  }
}

/** .invalid never resolves: no link leads to the real gateway with a key it did not issue. */
export function receiptUrl({ paymentKey, receiptOrigin = 'https://sandbox.invalid' }: Payment): string {
  return `${receiptOrigin}/receipt/${encodeURIComponent(paymentKey)}`
}

/** Eight digits that two payments hardly share. */
export function approvalNumberOf(paymentKey: string): string {
  return String(createHash('sha256').update(paymentKey).digest().readUInt32BE() % 1e8).padStart(8, '0')
}

function easyPayObject({ easyPay }: Payment) {
  if (easyPay === undefined) return null
  const { provider, amount, discountAmount } = easyPay
  return { provider, amount, discountAmount }
}

function cardObject({ amount, easyPay, paymentKey }: Payment) {
  const part = easyPay?.card ?? amount
  if (part === 0) return null
  return {
    amount: part,
    issuerCode: '61',
    acquirerCode: '31',
    number: '43301234****123*',
    installmentPlanMonths: 0,
    approveNo: approvalNumberOf(paymentKey),
    useCardPoint: false,
    cardType: '신용',
    ownerType: '개인',
    acquireStatus: 'READY',
    isInterestFree: false,
    interestPayer: null,
  }
}

function cancelObject(cancel: Cancel) {
  return {
    transactionKey: cancel.transactionKey,
    cancelReason: cancel.cancelReason,
    canceledAt: cancel.canceledAt,
    cancelAmount: cancel.cancelAmount,
    refundableAmount: cancel.refundableAmount,
    taxFreeAmount: 0,
    taxExemptionAmount: 0,
    cardDiscountAmount: 0,
    transferDiscountAmount: 0,
    easyPayDiscountAmount: cancel.easyPayDiscountAmount ?? 0,
    receiptKey: null,
    cancelStatus: 'DONE',
    cancelRequestId: null,
  }
}
