// The payment service as this shop calls it, through the client: answers as values, and every missing answer (refused
// connection, time-out, an answer that is not the service's) as one more code, UNREACHABLE. The API key and the service
// token stay in the clients: they are sent to the service only, and no message contains them.

import {
  type CreditsClient,
  createCreditsClient,
  createSpendingClient,
  type EntryKind,
  isCreditsError,
  type Lots,
  type PackageType,
  type Receipt,
  type RefusalReason,
  type ServiceCode,
  type SpendingClient,
  type Statement,
} from '../../client/src/index.ts'

/** The codes of the service, and UNREACHABLE for no answer at all. */
export type ApiCode = ServiceCode | 'UNREACHABLE'

export type Refused = { ok: false; code: ApiCode; reason: RefusalReason | null }
export type Answer<Data> = { ok: true; data: Data } | Refused

export type Api = ReturnType<typeof createApi>

/** The pages check an unknown outcome again by themselves, and show that they do. */
const once = { maxAttempts: 1 }

/** The movements of the balance itself; a hold and its end move nothing before they are captured. */
const listedKinds: EntryKind[] = [
  'GRANT',
  'ROLLBACK',
  'REFUND',
  'SPEND',
  'CAPTURE',
  'GOODWILL',
  'CORRECTION',
  'REVERSAL',
]
const entriesPerPage = 50
/** The most that one answer of the service has. */
const lotsInTotals = 1_000
/** The page that verifies also works without them. */
const logKeysLimitMs = 2_000

export type ApiOptions = {
  apiUrl: () => string | undefined
  apiKey: string
  /** The internal API, where the shop reads statement, lots and receipts; undefined: it shows none of them. */
  statement?: { apiUrl: () => string | undefined; token: string } | undefined
  timeoutMs: number
}

const unreachable: Refused = { ok: false, code: 'UNREACHABLE', reason: null }

export function createApi({ apiUrl, apiKey, statement, timeoutMs }: ApiOptions) {
  // A visitor waits for the page: one retry at most, and no longer than the limit.
  const limits = { timeoutMs, settleTimeoutMs: timeoutMs, deadlineMs: timeoutMs, maxAttempts: 2 }
  let client: CreditsClient | undefined
  let spending: SpendingClient | undefined

  async function call<Data>(send: (credits: CreditsClient) => Promise<Data>): Promise<Answer<Data>> {
    const baseUrl = apiUrl()
    if (baseUrl === undefined) return unreachable
    client ??= createCreditsClient({ baseUrl, apiKey, ...limits })
    return answerOf(send(client))
  }

  async function callInternal<Data>(send: (spending: SpendingClient) => Promise<Data>): Promise<Answer<Data>> {
    const baseUrl = statement?.apiUrl()
    if (statement === undefined || baseUrl === undefined) return unreachable
    spending ??= createSpendingClient({ baseUrl, token: statement.token, ...limits })
    return answerOf(send(spending))
  }

  let knownLogKeys: string[] = []

  /** Keys of the service's log, with the retired ones, which older receipts need. Without an answer the last known ones. */
  async function logKeys(): Promise<string[]> {
    const baseUrl = statement?.apiUrl()
    if (baseUrl === undefined) return knownLogKeys
    const signal = AbortSignal.timeout(Math.min(timeoutMs, logKeysLimitMs))
    const answer = await fetch(`${baseUrl}/log/keys`, { signal }).catch(() => null)
    const text = answer?.ok ? await answer.text().catch(() => '') : ''
    if (text !== '') knownLogKeys = text.trimEnd().split('\n')
    return knownLogKeys
  }

  return {
    logKeys,
    hasStatement: statement !== undefined,
    packages: () => call((credits) => credits.listCreditPackages()),
    balance: () => call((credits) => credits.getCreditBalance()),
    order: (orderId: string) => call((credits) => credits.getOrder({ orderId })),
    /** One key per click: a repeated request finds the order of the first. `packageType` may be any text: it is a form field. */
    purchase: (packageType: string, idempotencyKey: string) =>
      call((credits) => credits.purchaseCredits({ packageType: packageType as PackageType }, { idempotencyKey })),
    confirm: (payment: { orderId: string; paymentKey: string; amount: number }) =>
      call((credits) => credits.confirmPayment(payment, once)),
    cancel: (paymentKey: string, reason: string) =>
      call((credits) => credits.cancelPayment({ paymentKey, reason }, once)),
    /** One page, newest entry first. */
    statement: (customerId: string, cursor: string | undefined): Promise<Answer<Statement>> =>
      callInternal((internal) =>
        internal.getStatement({ customerId, kind: listedKinds, limit: entriesPerPage, cursor }),
      ),
    lots: (customerId: string): Promise<Answer<Lots>> =>
      callInternal((internal) => internal.listLots({ customerId, limit: lotsInTotals })),
    /** SVC001: its entries are not in the log yet, for some seconds after the payment. */
    receipt: (customerId: string, orderId: string): Promise<Answer<Receipt>> =>
      callInternal((internal) => internal.getOrderReceipt({ customerId, orderId })),
  }
}

async function answerOf<Data>(call: Promise<Data>): Promise<Answer<Data>> {
  try {
    return { ok: true, data: await call }
  } catch (error) {
    if (!isCreditsError(error)) throw error
    return error.kind === 'answer' ? { ok: false, code: error.code, reason: error.refusalReason } : unreachable
  }
}
