// The internal API as a sibling service uses it: an internal listener beside a test service, a token, and the calls.
// Every answer is checked for the envelope, as on the public listener.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { ReversalAnswer } from '../../../src/credits/adjustments/reverse.ts'
import type { EndAnswer, HoldAnswer, PartAnswer } from '../../../src/credits/holds/holds.ts'
import type { Lot } from '../../../src/credits/lots/lots.sql.ts'
import type { CustomerLots } from '../../../src/credits/lots/lots.ts'
import type { SpendAnswer } from '../../../src/credits/spend.ts'
import type { StatementEntry } from '../../../src/credits/statement/statement.sql.ts'
import type { CustomerStatement } from '../../../src/credits/statement/statement.ts'
import type { CustomerUse } from '../../../src/credits/use/use.ts'
import { createAuthenticateService, issueToken } from '../../../src/customers/service-tokens.ts'
import { buildInternalListener } from '../../../src/listeners/internal.ts'
import type { PaymentContext } from '../../../src/payments/context.ts'
import type { UnusedQuote } from '../../../src/payments/refunds/quote.ts'
import type { RefundAnswer } from '../../../src/payments/refunds/refund.ts'
import type { Metrics } from '../../../src/telemetry/metrics.ts'
import type { Receipt } from '../../../src/transparency/receipts/receipts.ts'
import { closeNow } from '../closing.ts'
import { direct, openWay, type Way, type WayName } from '../documents/prism.ts'
import { createWatchedLog } from '../leaks.ts'
import {
  type Answer,
  assertEnvelope,
  assertSuccess,
  type Call,
  startTestService,
  type TestCustomer,
  type TestServiceOptions,
  testPeppers,
  testSigner,
} from '../service/service.ts'

export const creditsPath = '/internal/v1/credits'

export type ShownEntry = Omit<StatementEntry, 'createdAt'> & { createdAt: string }
type ShownLot = Omit<Lot, 'grantedAt'> & { grantedAt: string }
export type ShownLots = Omit<CustomerLots, 'lots'> & { lots: ShownLot[] }
export type ShownStatement = Omit<CustomerStatement, 'entries' | 'lots'> & { entries: ShownEntry[]; lots: ShownLot[] }
type Details = { keyId?: unknown; userId?: unknown; label?: unknown; units?: unknown }
type SpendOptions = Details & { dryRun?: unknown }
type HoldOptions = Details & { reference?: unknown; expiresInSeconds?: unknown; atMost?: unknown; dryRun?: unknown }
export type Spending = ReturnType<typeof spendingCalls>

/** The calls of a service with this token, to a listener in this process or in another. */
export function spendingCalls(url: string, token: string | null, way: Pick<Way, 'fetch'> = direct(url)) {
  async function call<Data = Record<string, unknown>>(path: string, request: Call = {}): Promise<Answer<Data>> {
    const { body, raw = body === undefined ? undefined : JSON.stringify(body) } = request
    const response = await way.fetch(path, {
      method: request.method ?? (raw === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(raw === undefined ? {} : { body: raw }),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    assertEnvelope(answer)
    return answer
  }
  return {
    call,
    spend: (customerId: string, credits: unknown, reference: unknown = crypto.randomUUID(), more: SpendOptions = {}) =>
      call<SpendAnswer>(`${creditsPath}/spend`, { body: { customerId, credits, reference, ...more } }),
    reverse: (
      customerId: string,
      spent: string,
      {
        reference = crypto.randomUUID(),
        reason = 'the work failed',
        ...more
      }: {
        credits?: unknown
        reference?: unknown
        reason?: unknown
      } = {},
    ) =>
      call<ReversalAnswer>(`${creditsPath}/spend/${encodeURIComponent(spent)}/reverse`, {
        body: { customerId, reference, reason, ...more },
      }),
    hold: (customerId: string, credits: unknown, more: HoldOptions = {}) =>
      call<HoldAnswer>(`${creditsPath}/holds`, {
        body: { customerId, credits, reference: crypto.randomUUID(), ...more },
      }),
    extend: (customerId: string, holdId: string, expiresInSeconds: unknown) =>
      call<HoldAnswer>(`${creditsPath}/holds/${holdId}/extend`, { body: { customerId, expiresInSeconds } }),
    capturePart: (customerId: string, holdId: string, credits: unknown, reference: unknown = crypto.randomUUID()) =>
      call<PartAnswer>(`${creditsPath}/holds/${holdId}/capture`, {
        body: { customerId, credits, reference, final: false },
      }),
    capture: (customerId: string, holdId: string, credits?: unknown) =>
      call<EndAnswer>(`${creditsPath}/holds/${holdId}/capture`, { body: { customerId, credits } }),
    release: (customerId: string, holdId: string) =>
      call<EndAnswer>(`${creditsPath}/holds/${holdId}/release`, { body: { customerId } }),
    lots: (customerId: string, query: Record<string, string> = {}) =>
      call<ShownLots>(`/internal/v1/customers/${customerId}/lots?${new URLSearchParams(query)}`),
    refundQuote: (customerId: string, orderId: string) =>
      call<UnusedQuote>(`/internal/v1/customers/${customerId}/orders/${orderId}/refund-quote`),
    refund: (customerId: string, orderId: string, quote: { amount: number; credits: number }, reason = 'unused') => {
      const body = { amount: quote.amount, credits: quote.credits, reason }
      return call<RefundAnswer>(`/internal/v1/customers/${customerId}/orders/${orderId}/refund`, { body })
    },
    orderReceipt: (customerId: string, orderId: string) =>
      call<Receipt>(`/internal/v1/customers/${customerId}/orders/${orderId}/receipt`),
    referenceReceipt: (customerId: string, reference: string) =>
      call<Receipt>(`/internal/v1/customers/${customerId}/references/${encodeURIComponent(reference)}/receipt`),
    statementReceipt: (customerId: string, query: Record<string, string>) =>
      call<Receipt>(`/internal/v1/customers/${customerId}/statement/receipt?${new URLSearchParams(query)}`),
    use: (customerId: string, query: Record<string, string> = {}) =>
      call<CustomerUse>(`/internal/v1/customers/${customerId}/use?${new URLSearchParams(query)}`),
    statement: (customerId: string, query: Record<string, string> = {}) =>
      call<ShownStatement>(`/internal/v1/customers/${customerId}/statement?${new URLSearchParams(query)}`),
  }
}

type InternalOptions = {
  way?: WayName | undefined
  metrics?: Metrics
  onLogged?: TestServiceOptions['onLogged'] | undefined
}

/** An internal listener over the parts of a test service, and the token of a service that calls it. */
export async function startInternal(
  payments: PaymentContext,
  serviceName = 'analyses',
  { way: wayName, metrics, onLogged }: InternalOptions = {},
) {
  const { database, gateway, credits } = payments
  await using opening = new AsyncDisposableStack()
  const { log, assertNoSecret } = createWatchedLog({ KEY_PEPPER: testPeppers[0].secret }, onLogged)
  opening.defer(assertNoSecret)
  const listener = buildInternalListener({
    database,
    gateway,
    credits,
    payments,
    signer: testSigner,
    ...(metrics && { metrics }),
    authenticateService: createAuthenticateService(database, testPeppers),
    log,
    bodyLimitBytes: 16_384,
  })
  opening.defer(() => closeNow(listener))
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const { port } = listener.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const way = await openWay('internal', url, wayName)
  opening.defer(() => way.close())
  const issued = await issueToken(database, testPeppers, serviceName)
  const opened = opening.move()
  return {
    ...spendingCalls(url, issued.token, way),
    issued,
    way,
    url,
    port,
    /** The same listener with another token, or with none. */
    as: (token: string | null) => spendingCalls(url, token, way),
    close: () => opened.disposeAsync(),
  }
}

export type SpendingService = Awaited<ReturnType<typeof startSpendingService>>

/** A test service with its internal listener; the books are audited when it closes. */
export async function startSpendingService(options: TestServiceOptions = {}) {
  await using opening = new AsyncDisposableStack()
  const service = await startTestService(options)
  opening.defer(() => service.close())
  const internal = await startInternal(service.payments, undefined, { way: options.way, onLogged: options.onLogged })
  opening.defer(() => internal.close())
  const opened = opening.move()
  return {
    ...service,
    internal,
    /** A customer with that many credits: buys whole packages and spends the surplus. */
    async customerWith(credits: number): Promise<TestCustomer> {
      const customer = await service.newCustomer()
      const packages = Math.ceil(credits / 110)
      for (let bought = 0; bought < packages; bought += 1) await customer.confirmedOrder('PRO')
      const tooMany = packages * 110 - credits
      if (tooMany > 0) assertSuccess(await internal.spend(customer.customerId, tooMany), 200)
      assert.equal(await customer.credits(), credits)
      return customer
    },
    /** All entries of a customer, oldest first, as `KIND delta/heldDelta`. */
    async entries(customerId: string): Promise<string[]> {
      const { entries } = (await internal.statement(customerId, { limit: '1000' })).body.data
      return entries.toReversed().map(({ kind, delta, heldDelta }) => `${kind} ${delta}/${heldDelta}`)
    },
    close: () => opened.disposeAsync(),
  }
}

/** Sends `count` requests at once. */
export function atOnce<Value>(count: number, request: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => request(index)))
}

/** VAL002 or VAL003 that names this field alone. */
export function assertFieldRefused(answer: Answer<unknown>, code: 'VAL002' | 'VAL003', field: string): void {
  const { fields } = (answer.body.metadata ?? {}) as { fields?: { field: string; rule: string }[] }
  const names = fields?.map((fault) => fault.field)
  assert.deepEqual([answer.status, answer.body.code, names], [400, code, [field]], answer.text)
}

/** BUS002 with the requested and the available credits. */
export function assertLack(answer: Answer<unknown>, requested: number, available: number): void {
  assert.deepEqual([answer.status, answer.body.code], [402, 'BUS002'], answer.text)
  assert.deepEqual(answer.body.metadata, { requested, available })
}
