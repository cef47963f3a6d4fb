// The service as a caller sees it: real HTTP on a free port, a database of its own, and the sandbox as the gateway.
// Every answer is checked for the five fields of section 1 and for a code with the status of section 7.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../harness/silent-log.ts'
import { startSandbox } from '../../../sandbox/server.ts'
import { catalogue, type ErrorCode } from '../../../src/core/errors.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { createCredits } from '../../../src/credits/credits.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { createAuthenticate } from '../../../src/customers/authenticate.ts'
import { createDatabase } from '../../../src/db/database.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { createTossGateway } from '../../../src/gateway/toss/adapter.ts'
import { createTossClient } from '../../../src/gateway/toss/client.ts'
import { buildPublicListener } from '../../../src/listeners/public.ts'
import { createPaymentContext, type PaymentContext, type PaymentSettings } from '../../../src/payments/context.ts'
import { failUrlOf } from '../../../src/payments/fail-url.ts'
import { type PackageType, packageOf } from '../../../src/payments/packages.ts'
import { logKeysOf } from '../../../src/transparency/note.ts'
import { assertInvariants, assertNoCardNumbers, type GatewayPayment } from '../audit/invariants.ts'
import { closeNow } from '../closing.ts'
import { createTestDatabase, type TestDatabase } from '../database/database.ts'
import { openWay, type WayName } from '../documents/prism.ts'
import { countCalls } from '../gateway/counted-gateway.ts'
import { createWatchedLog, type Settings } from '../leaks.ts'

export const testLogOrigin = 'prepaid-credits/log'
export const testPeppers = [{ version: 1, secret: 'a pepper for the tests only' }] as const
export const testLogKeys = logKeysOf(testPeppers, testLogOrigin)
export const testSigner = { keys: testLogKeys, origin: testLogOrigin }
export const secretKey = 'test_sk_of_the_tests'

/** Secrets that the log of a test listener must not contain. */
export function testSecrets({ connection }: Pick<TestDatabase, 'connection'>): Settings {
  return { KEY_PEPPER: testPeppers[0].secret, TOSS_SECRET_KEY: secretKey, DATABASE_PASSWORD: connection.password }
}

export type Answer<Data = Record<string, unknown>> = {
  status: number
  headers: Headers
  text: string
  body: { success: boolean; data: Data; message: string | null; code: string; metadata: Record<string, unknown> | null }
}

export type Call = {
  method?: string
  key?: string | null
  body?: unknown
  headers?: Record<string, string>
  raw?: string
}

export type Fault = {
  on: 'confirm' | 'cancel' | 'lookup' | 'transactions' | 'webhook'
  kind: string
  times: number
  delayMs?: number
}

export const testSettings: PaymentSettings = {
  operationLeaseMs: 4_000,
  operationWaitMs: 3_000,
  paymentSessionMs: 600_000,
  retryFirstPauseMs: 50,
  retryLongestPauseMs: 200,
  stuckAfterAttempts: 20,
  pendingOrdersPerCustomer: 1_000,
  pendingOrderLifetimeMs: 86_400_000,
  firstRefundRule: { from: null, fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 100 },
  movementsKeptDays: 400,
  clientKey: 'test_ck_of_the_tests',
  successUrl: 'https://shop.example/success',
  failUrlOf: failUrlOf('https://shop.example/fail?from=checkout'),
}

export type TestService = Awaited<ReturnType<typeof startTestService>>
export type TestCustomer = Awaited<ReturnType<TestService['newCustomer']>>

export type TestServiceOptions = {
  settings?: Partial<PaymentSettings>
  bodyLimitBytes?: number
  rateLimitPerSecond?: number
  callTimeoutMs?: number
  /** False: a payment key made up by the caller counts as a finished checkout. */
  strictSandbox?: boolean
  /** Receives every line of the log, which is also searched for secrets. */
  onLogged?: (line: string) => void
  /** More processes on one database: each has its own pool, batches and listener. */
  beside?: { database: TestDatabase; sandboxUrl: string }
  /** Whether calls go to the listener directly, or through a proxy that knows the API document. */
  way?: WayName
  /** Wraps the gateway that the use cases call. */
  wrapGateway?: (gateway: Gateway) => Gateway
}

/** The service's gateway port, connected to a sandbox. */
export function testGateway(apiUrl: string, callTimeoutMs = 2_000): Gateway {
  const limits = {
    connectTimeoutMs: callTimeoutMs,
    callTimeoutMs,
    lookupTimeoutMs: callTimeoutMs,
    listTimeoutMs: 10_000,
    maxConnections: 64,
  }
  return createTossGateway(createTossClient({ apiUrl, secretKey, ...limits }), silentLog)
}

export async function startTestSandbox({ webhookUrl, strict = true }: { webhookUrl?: string; strict?: boolean } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'prepaid-credits-sandbox-'))
  const keys = { clientKey: testSettings.clientKey, secretKey }
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, ...keys, dataDir, strict, webhookUrl })
  return {
    url: sandbox.url,
    async close() {
      try {
        await sandbox.close()
      } finally {
        rmSync(dataDir, { recursive: true, force: true })
      }
    },
  }
}

/** The control endpoints of the sandbox: the buyer's checkout, the gateway's payments, and its faults. */
/** As the sandbox takes it. */
export type WayToPay = { method?: string; provider?: string; points?: number; partialCancelable?: boolean }

export function sandboxControl(url: string) {
  async function control<Data>(method: string, path: string, body?: unknown): Promise<Data> {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await fetch(`${url}${path}`, { method, ...json })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return (await response.json()) as Data
  }
  return {
    /** The buyer finishes the checkout. */
    async pay(orderId: string, amount: number, result = 'approve', way: WayToPay = {}): Promise<string> {
      const { paymentKey } = await control<{ paymentKey: string }>('POST', '/sandbox/payments', {
        orderId,
        amount,
        result,
        ...way,
      })
      return paymentKey
    },
    async payments(): Promise<GatewayPayment[]> {
      return (await control<{ payments: GatewayPayment[] }>('GET', '/sandbox/payments')).payments
    },
    async paymentsOf(orderId: string): Promise<GatewayPayment[]> {
      return (await this.payments()).filter((payment) => payment.orderId === orderId)
    },
    setFaults: (faults: Fault[]) => control<unknown>('PUT', '/sandbox/faults', faults),
    clearFaults: () => control<unknown>('DELETE', '/sandbox/faults'),
    /** Sets behaviour that the gateway does not document. */
    behave: (values: Record<string, unknown>) => control<unknown>('PUT', '/sandbox/behaviour', values),
    setWebhookUrl: (webhookUrl: string | null) => control<unknown>('PUT', '/sandbox/webhook', { url: webhookUrl }),
    /** A confirm or a cancel that is not ours, as from the gateway's dashboard. */
    capture: (paymentKey: string, orderId: string, amount: number) =>
      dashboard('confirm', { paymentKey, orderId, amount }),
    cancel: (paymentKey: string, cancelAmount?: number) =>
      dashboard(`${paymentKey}/cancel`, { cancelReason: 'by hand', cancelAmount }),
    /** The gateway takes the last cancel back. */
    restore: (paymentKey: string) => control<unknown>('POST', `/sandbox/payments/${paymentKey}/restore`),
  }
  async function dashboard(path: string, body: object): Promise<void> {
    const response = await fetch(`${url}/v1/payments/${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${secretKey}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 200, await response.text())
  }
}

export async function startTestService(options: TestServiceOptions = {}) {
  await using opening = new AsyncDisposableStack()
  const { database: testDatabase, sandboxUrl } = options.beside ?? (await openPlace(opening, options))
  const { log, assertNoSecret } = createWatchedLog(testSecrets(testDatabase), options.onLogged)
  opening.defer(assertNoSecret)
  const database = createDatabase(testDatabase.pool, log)
  const { gateway, calls } = countCalls(testGateway(sandboxUrl, options.callTimeoutMs))
  opening.defer(() => gateway.close())
  const tallies = createTallies()
  const payments: PaymentContext = createPaymentContext({
    database,
    gateway: options.wrapGateway?.(gateway) ?? gateway,
    credits: createCredits(database, tallies),
    settings: { ...testSettings, ...options.settings },
    log,
    tallies,
  })
  const listener = buildPublicListener({
    authenticate: createAuthenticate(database, testPeppers),
    payments,
    log,
    bodyLimitBytes: options.bodyLimitBytes ?? 16_384,
    rateLimitPerSecond: options.rateLimitPerSecond ?? 0,
  })
  opening.defer(() => closeNow(listener))
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const { port } = listener.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const way = await openWay('public', url, options.way)
  opening.defer(() => way.close())

  async function call<Data = Record<string, unknown>>(path: string, request: Call = {}): Promise<Answer<Data>> {
    const { key, body, raw } = request
    const hasBody = body !== undefined || raw !== undefined
    const { method = hasBody ? 'POST' : 'GET' } = request
    const response = await way.fetch(path, {
      method,
      headers: {
        ...(key ? { 'service-api-key': key } : {}),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...request.headers,
      },
      ...(hasBody ? { body: raw ?? JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    assertEnvelope(answer)
    return answer
  }

  /** Without a name, or with this one. */
  async function newCustomer(name: string = crypto.randomUUID()) {
    const { customerId, apiKey, keyId } = await issueKey(database, testPeppers, name)
    const as = <Data>(path: string, request: Call = {}) =>
      call<Data>(`/public/v1/payments${path}`, { key: apiKey, ...request })
    const customer = {
      customerId,
      apiKey,
      keyId,
      as,
      purchase: (packageType: PackageType = 'STANDARD', headers: Record<string, string> = {}) =>
        as<{ orderId: string; amount: number }>('/purchase', { body: { packageType }, headers }),
      confirm: (orderId: string, paymentKey: string, amount: number) =>
        as<{ creditsAdded: number; totalCredits: number }>('/confirm', { body: { orderId, paymentKey, amount } }),
      cancel: (paymentKey: string, reason = 'changed my mind') => as('/cancel', { body: { paymentKey, reason } }),
      async status(orderId: string): Promise<string> {
        return (await as<{ status: string }>(`/${orderId}`)).body.data.status
      },
      async credits(): Promise<number> {
        return (await as<{ credits: number }>('/credits')).body.data.credits
      },
      /** A PENDING order whose buyer has finished the checkout. */
      async paidOrder(packageType: PackageType = 'STANDARD', result = 'approve', way: WayToPay = {}) {
        const { price: amount, credits } = packageOf(packageType)
        const { orderId } = (await customer.purchase(packageType)).body.data
        const paymentKey = await control.pay(orderId, amount, result, way)
        return { orderId, paymentKey, amount, credits, confirm: () => customer.confirm(orderId, paymentKey, amount) }
      },
      /** A CONFIRMED order. */
      async confirmedOrder(packageType: PackageType = 'STANDARD', way: WayToPay = {}) {
        const order = await customer.paidOrder(packageType, 'approve', way)
        assertSuccess(await order.confirm(), 200)
        return order
      },
    }
    return customer
  }

  const control = sandboxControl(sandboxUrl)
  const opened = opening.move()
  return {
    url,
    port,
    call,
    newCustomer,
    database: testDatabase,
    payments,
    calls,
    sandbox: control,
    sandboxUrl,
    close: () => opened.disposeAsync(),
  }
}

/** A database and a gateway of its own; the books are checked when nothing writes to them any more. */
async function openPlace(opening: AsyncDisposableStack, { strictSandbox: strict = true }: TestServiceOptions) {
  const database = await createTestDatabase()
  opening.defer(() => database.drop())
  const sandbox = await startTestSandbox({ strict })
  opening.defer(() => sandbox.close())
  opening.defer(() => assertNoCardNumbers(database))
  opening.defer(() => assertInvariants(database))
  return { database, sandboxUrl: sandbox.url }
}

/** Section 1 and section 7, on every answer. */
export function assertEnvelope({ status, body, headers }: Pick<Answer, 'status' | 'body' | 'headers'>): void {
  assert.deepEqual(Object.keys(body), ['success', 'data', 'message', 'code', 'metadata'])
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  if (body.code === 'SUCCESS') {
    assert.equal(body.success, true)
    assert.equal(body.metadata, null)
    return
  }
  assert.equal(status, catalogue[body.code as ErrorCode]?.status, `${body.code} with status ${status}`)
  assert.equal(body.success, false)
  assert.equal(body.data, null)
  assert.equal(typeof body.message, 'string')
}

export function assertSuccess(answer: Answer<unknown>, status: number): void {
  assert.deepEqual([answer.status, answer.body.code], [status, 'SUCCESS'], answer.text)
}

export function assertRefused(answer: Answer<unknown>, code: ErrorCode): void {
  assert.equal(answer.body.code, code, answer.text)
}
