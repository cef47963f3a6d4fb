// The internal API for the platform's own services: spend, reverse, hold, extend, capture, release, lots, refunds and receipts,
// and the statement, by pages or entry by entry. The customer is named in each request, the caller by its token.
import { type PageRequest, pageQueryOf, pagesFrom, type StatementQuery, statementQueryOf } from './pages.ts'
import { queryOf, segment } from './path.ts'
import { send } from './send.ts'
import { type CallOptions, type ClientOptions, requireSecret, settingsOf } from './settings.ts'
import type {
  Budgets,
  CapturedPart,
  CapturePartRequest,
  CaptureRequest,
  DryHold,
  EndedHold,
  ExtendRequest,
  Hold,
  HoldRequest,
  Lots,
  OrderOfCustomer,
  Receipt,
  Refund,
  RefundQuote,
  RefundRequest,
  ReleaseRequest,
  Reversal,
  ReverseRequest,
  Spend,
  SpendRequest,
  Statement,
  StatementEntry,
  Use,
  UseDimension,
} from './types.ts'

export type SpendingClientOptions = ClientOptions & { token: string }

export type StatementRequest = StatementQuery & { customerId: string }

/** Numbers of entries, both included, at most 500. */
export type StatementReceiptRequest = { customerId: string; from: number; to: number }

export type UseRequest = {
  customerId: string
  /** Days in Korea, both included, as 2026-01-31. The last 31 days. */
  from?: string | undefined
  to?: string | undefined
  /** `service`. */
  by?: UseDimension | undefined
}

export type LotsRequest = PageRequest & { customerId: string }

export type SpendingClient = {
  /** The same reference spends once. */
  spendCredits(request: SpendRequest, options?: CallOptions): Promise<Spend>
  /** Gives back what this service has spent, or captured: all that is left, or `credits` of it. */
  reverseSpend(request: ReverseRequest, options?: CallOptions): Promise<Reversal>
  /** What `spendCredits` would answer now, or its refusal. Changes nothing. */
  dryRunSpend(request: SpendRequest, options?: CallOptions): Promise<Spend>
  /**
   * Holds credits for work whose price is known at its end. The same reference holds once. With `atMost` it holds what
   * is available, up to `credits`.
   */
  holdCredits(request: HoldRequest, options?: CallOptions): Promise<Hold>
  /** What `holdCredits` would answer now, or its refusal. Changes nothing. */
  dryRunHold(request: HoldRequest, options?: CallOptions): Promise<DryHold>
  /** Moves the end of a hold to `expiresInSeconds` from now, never to an earlier time. */
  extendHold(request: ExtendRequest, options?: CallOptions): Promise<Hold>
  /** Spends a part of the held credits; the hold stays active until they are all taken. The same reference captures once. */
  capturePart(request: CapturePartRequest, options?: CallOptions): Promise<CapturedPart>
  /** Spends the held credits, or a part of them, and releases the rest. */
  captureHold(request: CaptureRequest, options?: CallOptions): Promise<EndedHold>
  /** Releases the held credits. */
  releaseHold(request: ReleaseRequest, options?: CallOptions): Promise<EndedHold>
  /** What is left of the customer's orders: one page, newest order first. */
  listLots(request: LotsRequest, options?: CallOptions): Promise<Lots>
  /** What a refund of the unused part of an order would return now. */
  quoteRefund(request: OrderOfCustomer, options?: CallOptions): Promise<RefundQuote>
  /** Refunds the unused part, exactly as it was quoted. The money goes back once. */
  refundUnused(request: RefundRequest, options?: CallOptions): Promise<Refund>
  /** The budgets of a customer, and what is used of them. */
  getBudgets(request: { customerId: string }, options?: CallOptions): Promise<Budgets>
  /** What the customer has used, by day and by service, key, user or label. */
  getUse(request: UseRequest, options?: CallOptions): Promise<Use>
  /** What proves the entries of an order: save it as a file. */
  getOrderReceipt(request: OrderOfCustomer, options?: CallOptions): Promise<Receipt>
  /** The same for a spend, a part of a hold or a reversal, or for all of a hold. */
  getReferenceReceipt(request: { customerId: string; reference: string }, options?: CallOptions): Promise<Receipt>
  /** The same for a part of the statement. */
  getStatementReceipt(request: StatementReceiptRequest, options?: CallOptions): Promise<Receipt>
  /** One page, newest entry first. */
  getStatement(request: StatementRequest, options?: CallOptions): Promise<Statement>
  /** All pages, each requested when it is needed. A page can be empty and not be the last. */
  statementPages(request: StatementRequest, options?: CallOptions): AsyncGenerator<Statement, void, undefined>
  /** The entries of all pages. */
  statementEntries(request: StatementRequest, options?: CallOptions): AsyncGenerator<StatementEntry, void, undefined>
}

const spends = '/internal/v1/credits/spend'
const holds = '/internal/v1/credits/holds'

export function createSpendingClient({ token, ...options }: SpendingClientOptions): SpendingClient {
  const value = `Bearer ${requireSecret('token', token)}`
  const settings = settingsOf(options, { name: 'token', header: 'authorization', value })

  async function getStatement(request: StatementRequest, callOptions?: CallOptions): Promise<Statement> {
    const path = `${customerPath(request.customerId)}/statement${statementQueryOf(request)}`
    return send(settings, 'getStatement', { path }, callOptions)
  }

  const statementPages = (request: StatementRequest, callOptions?: CallOptions) =>
    pagesFrom(request, (page) => getStatement(page, callOptions))

  return {
    spendCredits: (body, callOptions) => send(settings, 'spendCredits', { path: spends, body }, callOptions),

    async reverseSpend({ reversedReference, ...body }, callOptions) {
      const path = `${spends}/${segment('reversedReference', reversedReference)}/reverse`
      return send(settings, 'reverseSpend', { path, body }, callOptions)
    },

    dryRunSpend: (request, callOptions) => {
      const body = { ...request, dryRun: true }
      return send(settings, 'spendCredits', { path: '/internal/v1/credits/spend', body }, callOptions)
    },

    async holdCredits(body, callOptions) {
      return (await send(settings, 'holdCredits', { path: holds, body }, callOptions)) as Hold
    },

    dryRunHold: (request, callOptions) =>
      send(settings, 'holdCredits', { path: holds, body: { ...request, dryRun: true } }, callOptions),

    async extendHold({ holdId, ...body }, callOptions) {
      return send(settings, 'extendHold', { path: `${holds}/${segment('holdId', holdId)}/extend`, body }, callOptions)
    },

    async capturePart({ holdId, ...part }, callOptions) {
      const body = { ...part, final: false }
      const path = `${holds}/${segment('holdId', holdId)}/capture`
      return (await send(settings, 'captureHold', { path, body }, callOptions)) as CapturedPart
    },

    async captureHold({ holdId, ...body }, callOptions) {
      const path = `${holds}/${segment('holdId', holdId)}/capture`
      return (await send(settings, 'captureHold', { path, body }, callOptions)) as EndedHold
    },

    async releaseHold({ holdId, ...body }, callOptions) {
      return send(settings, 'releaseHold', { path: `${holds}/${segment('holdId', holdId)}/release`, body }, callOptions)
    },

    async listLots(request, callOptions) {
      const path = `${customerPath(request.customerId)}/lots${pageQueryOf(request)}`
      return send(settings, 'listLots', { path }, callOptions)
    },

    async quoteRefund(order, callOptions) {
      return send(settings, 'quoteRefund', { path: `${orderPath(order)}/refund-quote` }, callOptions)
    },

    async refundUnused({ customerId, orderId, ...body }, callOptions) {
      const path = `${orderPath({ customerId, orderId })}/refund`
      return send(settings, 'refundUnused', { path, body }, callOptions)
    },

    async getBudgets({ customerId }, callOptions) {
      const path = `${customerPath(customerId)}/budgets`
      return send(settings, 'getBudgets', { path }, callOptions)
    },

    async getUse({ customerId, ...query }, callOptions) {
      return send(settings, 'getUse', { path: `${customerPath(customerId)}/use${queryOf(query)}` }, callOptions)
    },

    async getOrderReceipt(order, callOptions) {
      return send(settings, 'getOrderReceipt', { path: `${orderPath(order)}/receipt` }, callOptions)
    },

    async getReferenceReceipt({ customerId, reference }, callOptions) {
      const path = `${customerPath(customerId)}/references/${segment('reference', reference)}/receipt`
      return send(settings, 'getReferenceReceipt', { path }, callOptions)
    },

    async getStatementReceipt({ customerId, from, to }, callOptions) {
      const path = `${customerPath(customerId)}/statement/receipt${queryOf({ from: `${from}`, to: `${to}` })}`
      return send(settings, 'getStatementReceipt', { path }, callOptions)
    },

    getStatement,
    statementPages,

    async *statementEntries(request, callOptions) {
      for await (const { entries } of statementPages(request, callOptions)) yield* entries
    },
  }
}

function customerPath(customerId: string): string {
  return `/internal/v1/customers/${segment('customerId', customerId)}`
}

function orderPath({ customerId, orderId }: OrderOfCustomer): string {
  return `${customerPath(customerId)}/orders/${segment('orderId', orderId)}`
}
