// The endpoints for the holder of an API key: one method each, named as in the API document, which returns the data of the
// answer, and the lists page by page. Everything but a success is thrown: see errors.ts.
import { type PageRequest, pageQueryOf, pagesFrom, type StatementQuery, statementQueryOf } from './pages.ts'
import { segment } from './path.ts'
import { readStatus, send, sendConfirm } from './send.ts'
import { type CallOptions, type ClientOptions, requireSecret, settingsOf } from './settings.ts'
import type {
  Balance,
  Cancellation,
  CancelRequest,
  Confirmation,
  ConfirmRequest,
  CreditPackage,
  Order,
  Orders,
  PaymentOrder,
  Purchase,
  PurchaseRequest,
  Statement,
  StatementEntry,
} from './types.ts'

export type CreditsClientOptions = ClientOptions & {
  /**
   * Omitted where a proxy adds it; refused in a browser. A key that is present and undefined is a mistake, and refused
   * too.
   */
  apiKey?: string | undefined
}

export type PurchaseOptions = CallOptions & {
  /** 1 to 255 visible ASCII characters; generated when omitted. Repeat a purchase with the same one. */
  idempotencyKey?: string | undefined
}

export type CreditsClient = {
  /** The packages on sale: BASIC, STANDARD, PRO. */
  listCreditPackages(options?: CallOptions): Promise<CreditPackage[]>
  /** Creates an order, and returns what the checkout in the browser needs. */
  purchaseCredits(request: PurchaseRequest, options?: PurchaseOptions): Promise<Purchase>
  /** Captures the payment the buyer has approved, and adds the credits. Once, however often it is called. */
  confirmPayment(request: ConfirmRequest, options?: CallOptions): Promise<Confirmation>
  /** Refunds a confirmed payment, and takes its credits back. */
  cancelPayment(request: CancelRequest, options?: CallOptions): Promise<Cancellation>
  /** The current state of the order. */
  getPaymentStatus(request: { orderId: string }, options?: CallOptions): Promise<PaymentOrder>
  /** The credits that can be spent now. */
  getCreditBalance(options?: CallOptions): Promise<Balance>
  /** One page, newest order first. */
  listOrders(request?: PageRequest, options?: CallOptions): Promise<Orders>
  /** One order as the list has it. */
  getOrder(request: { orderId: string }, options?: CallOptions): Promise<Order>
  /** All pages, each requested when it is needed. */
  orderPages(request?: PageRequest, options?: CallOptions): AsyncGenerator<Orders, void, undefined>
  /** The orders of all pages. */
  orders(request?: PageRequest, options?: CallOptions): AsyncGenerator<Order, void, undefined>
  /** One page, newest entry first. */
  getOwnStatement(request?: StatementQuery, options?: CallOptions): Promise<Statement>
  /** All pages, each requested when it is needed. A page can be empty and not be the last. */
  ownStatementPages(request?: StatementQuery, options?: CallOptions): AsyncGenerator<Statement, void, undefined>
  /** The entries of all pages. */
  ownStatementEntries(request?: StatementQuery, options?: CallOptions): AsyncGenerator<StatementEntry, void, undefined>
}

const base = '/public/v1/payments'
const ordersPath = '/public/v1/orders'
const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/

export function createCreditsClient(given: CreditsClientOptions): CreditsClient {
  const { apiKey, ...options } = given
  // Present and undefined is refused: that is a variable missing in the environment.
  const secret = Object.hasOwn(given, 'apiKey')
    ? { name: 'apiKey', header: 'service-api-key', value: requireSecret('apiKey', apiKey) }
    : null
  const settings = settingsOf(options, secret)

  const listOrders = (request: PageRequest = {}, callOptions?: CallOptions) =>
    send(settings, 'listOrders', { path: `${ordersPath}${pageQueryOf(request)}` }, callOptions)
  const orderPages = (request: PageRequest = {}, callOptions?: CallOptions) =>
    pagesFrom(request, (page) => listOrders(page, callOptions))

  async function getOwnStatement(request: StatementQuery = {}, callOptions?: CallOptions) {
    const path = `/public/v1/statement${statementQueryOf(request)}`
    return send(settings, 'getOwnStatement', { path }, callOptions)
  }
  const ownStatementPages = (request: StatementQuery = {}, callOptions?: CallOptions) =>
    pagesFrom(request, (page) => getOwnStatement(page, callOptions))

  return {
    listCreditPackages: (callOptions) =>
      send(settings, 'listCreditPackages', { path: `${base}/packages` }, callOptions),

    async purchaseCredits(body, { idempotencyKey = newIdempotencyKey(), ...callOptions } = {}) {
      if (!idempotencyKeyPattern.test(idempotencyKey)) {
        throw new TypeError('idempotencyKey: expected 1 to 255 visible ASCII characters.')
      }
      return send(settings, 'purchaseCredits', { path: `${base}/purchase`, body, idempotencyKey }, callOptions)
    },

    confirmPayment: (body, callOptions) => sendConfirm(settings, { path: `${base}/confirm`, body }, callOptions),

    cancelPayment: (body, callOptions) =>
      send(settings, 'cancelPayment', { path: `${base}/cancel`, body }, callOptions),

    async getPaymentStatus({ orderId }, callOptions) {
      const path = `${base}/${segment('orderId', orderId, ['credits', 'packages'])}`
      return readStatus(settings, { path }, callOptions)
    },

    getCreditBalance: (callOptions) => send(settings, 'getCreditBalance', { path: `${base}/credits` }, callOptions),

    listOrders,
    orderPages,

    async getOrder({ orderId }, callOptions) {
      return send(settings, 'getOrder', { path: `${ordersPath}/${segment('orderId', orderId)}` }, callOptions)
    },

    async *orders(request, callOptions) {
      for await (const page of orderPages(request, callOptions)) yield* page.orders
    },

    getOwnStatement,
    ownStatementPages,

    async *ownStatementEntries(request, callOptions) {
      for await (const { entries } of ownStatementPages(request, callOptions)) yield* entries
    },
  }
}

/** 128 random bits. Not `randomUUID`, which browsers do not offer to pages without TLS. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
