// Every method of both clients with some input, as a table, for tests that apply to all of them.
import assert from 'node:assert/strict'
import {
  type CallOptions,
  type ClientOptions,
  type CreditsError,
  createCreditsClient,
  createSpendingClient,
  isCreditsError,
  type OperationId,
} from '../../client/src/index.ts'

export type Methods = Record<OperationId, (options?: CallOptions) => Promise<unknown>>

/** With negligible pauses. */
export function everyMethod(baseUrl: string, options: Partial<ClientOptions> = {}): Methods {
  const common = { firstPauseMs: 1, longestPauseMs: 2, ...options, baseUrl }
  const credits = createCreditsClient({ ...common, apiKey: 'cpk_of_a_test' })
  const spending = createSpendingClient({ ...common, token: 'cst_of_a_test' })
  const order = { customerId: 'a-customer', orderId: 'ord_1' }
  const hold = { customerId: 'a-customer', holdId: 'a-hold' }
  const spend = { customerId: 'a-customer', credits: 3, reference: 'analysis-1' }
  return {
    listCreditPackages: (options) => credits.listCreditPackages(options),
    purchaseCredits: (options) => credits.purchaseCredits({ packageType: 'BASIC' }, options),
    confirmPayment: (options) =>
      credits.confirmPayment({ orderId: 'ord_1', paymentKey: 'pay_1', amount: 1_000 }, options),
    cancelPayment: (options) => credits.cancelPayment({ paymentKey: 'pay_1', reason: 'changed my mind' }, options),
    getPaymentStatus: (options) => credits.getPaymentStatus({ orderId: 'ord_1' }, options),
    getCreditBalance: (options) => credits.getCreditBalance(options),
    listOrders: (options) => credits.listOrders({}, options),
    getOrder: (options) => credits.getOrder({ orderId: 'ord_1' }, options),
    getOwnStatement: (options) => credits.getOwnStatement({}, options),
    spendCredits: (options) => spending.spendCredits(spend, options),
    reverseSpend: (options) =>
      spending.reverseSpend({ ...spend, reversedReference: 'a/spend', reason: 'it failed' }, options),
    holdCredits: (options) => spending.holdCredits(spend, options),
    extendHold: (options) => spending.extendHold({ ...hold, expiresInSeconds: 60 }, options),
    captureHold: (options) => spending.captureHold(hold, options),
    releaseHold: (options) => spending.releaseHold(hold, options),
    listLots: (options) => spending.listLots({ customerId: 'a-customer' }, options),
    quoteRefund: (options) => spending.quoteRefund(order, options),
    refundUnused: (options) =>
      spending.refundUnused({ ...order, amount: 15_000, credits: 16, reason: 'unused' }, options),
    getBudgets: (options) => spending.getBudgets({ customerId: 'a-customer' }, options),
    getUse: (options) => spending.getUse({ customerId: 'a-customer' }, options),
    getOrderReceipt: (options) => spending.getOrderReceipt(order, options),
    getReferenceReceipt: (options) =>
      spending.getReferenceReceipt({ customerId: 'a-customer', reference: 'a/spend' }, options),
    getStatementReceipt: (options) =>
      spending.getStatementReceipt({ customerId: 'a-customer', from: 1, to: 2 }, options),
    getStatement: (options) => spending.getStatement({ customerId: 'a-customer' }, options),
  }
}

export function isRead(operation: OperationId): boolean {
  const reads: OperationId[] = ['listCreditPackages', 'getPaymentStatus', 'getCreditBalance', 'getStatement']
  const own: OperationId[] = ['listOrders', 'getOrder', 'getOwnStatement']
  const receipts: OperationId[] = ['getOrderReceipt', 'getReferenceReceipt', 'getStatementReceipt']
  return [...reads, ...own, ...receipts, 'getBudgets', 'getUse', 'listLots', 'quoteRefund'].includes(operation)
}

export async function failureOf(call: Promise<unknown>): Promise<CreditsError> {
  const error = await call.then(
    () => assert.fail('it succeeded'),
    (reason: unknown) => reason,
  )
  assert.ok(isCreditsError(error), String(error))
  return error
}
