// The console's API beside a test service, over real HTTP, without signing in and without the pages: an operator of any role
// calls it as the page does. Events are delivered when a test calls `deliver`.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { consoleApi } from '../../../src/console/console.ts'
import type { ConsoleContext } from '../../../src/console/context.ts'
import type { Body, Data, Params, Query } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints } from '../../../src/console/endpoints.ts'
import { paymentUrlsBy } from '../../../src/console/orders/payment-link.ts'
import { startSession } from '../../../src/console/session/session.sql.ts'
import { addEndpoint } from '../../../src/events/endpoints.ts'
import { createOutbound } from '../../../src/events/outbound.ts'
import { buildApiListener } from '../../../src/http/api-listener.ts'
import { createActionLog } from '../../../src/operators/action-log.ts'
import { insertOperator } from '../../../src/operators/operators.sql.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import { closeNow } from '../closing.ts'
import type { Consumer } from '../events/consumer.ts'
import { deliver, slowSettings } from '../events/world.ts'
import { createWatchedLog } from '../leaks.ts'
import {
  type Answer,
  assertEnvelope,
  assertSuccess,
  type TestService,
  testPeppers,
  testSecrets,
  testSigner,
} from '../service/service.ts'
import { testWitness } from '../transparency/test-witness.ts'
import { assertListedFields } from './fields.ts'

type Input<Name extends EndpointName> = { params?: Params<Name>; query?: Query<Name>; body?: Body<Name> }
export type Operator = {
  name: string
  /** Returns any answer. */
  request<Name extends EndpointName>(name: Name, input?: Input<Name>): Promise<Answer<Data<Name>>>
  /** Returns the data of a success, and fails otherwise. */
  get<Name extends EndpointName>(name: Name, input?: Input<Name>): Promise<Data<Name>>
  /** Downloads a file. */
  save(path: string): Promise<Response>
}
export type ConsoleApi = Awaited<ReturnType<typeof openConsoleApi>>

export async function openConsoleApi(service: TestService, { approvalAbove = 200 } = {}) {
  const { database, payments } = service
  const lines: string[] = []
  const { log, assertNoSecret } = createWatchedLog(testSecrets(database), (line) => lines.push(line))
  await using opening = new AsyncDisposableStack()
  opening.defer(assertNoSecret)
  const outbound = createOutbound({ allowPrivate: true, timeoutMs: slowSettings.timeoutMs })
  opening.defer(() => outbound.close())
  const { database: books, tallies } = payments
  const deliveries = { database: books, outbound, sealing: testPeppers, settings: slowSettings, log, tallies }
  const context: ConsoleContext = {
    database: books,
    payments,
    background: payments,
    deliveries,
    peppers: testPeppers,
    log,
    secureCookies: false,
    firstPasswordHours: 72,
    limits: { pendingOrdersPerCustomer: 1_000, requestsPerSecond: 0 },
    adjustments: { limits: { viewer: 0, support: 20, finance: 500, admin: 2_000 }, approvalAbove },
    signer: testSigner,
    witnesses: [testWitness],
    paymentUrlOf: paymentUrlsBy('https://gateway.example/payments/{paymentKey}?order={orderId}'),
    isHeldBack: () => false,
  }
  const app = buildApiListener({
    authenticate: () => assert.fail('every route of the console has its own guard'),
    log,
    bodyLimitBytes: 16_384,
  })
  const actionLog = createActionLog(books, log)
  app.addHook('onClose', actionLog.finish)
  const guard = consoleApi(app, context, actionLog)
  opening.defer(() => closeNow(app))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${apiPath}`

  async function newOperator(role: Role): Promise<Operator> {
    const [name, passwordHash] = [`${role}-${crypto.randomUUID().slice(0, 8)}`, '$scrypt$unknown']
    const operatorId = `opr_${name}`
    await insertOperator(books, { operatorId, name, role, passwordHash })
    await database.query('update operators set must_change_password = false where operator_id = $1', [operatorId])
    const { token, sessionHash } = guard.newToken()
    await startSession(books, { sessionHash, operatorId, passwordHash })
    const headers = { cookie: `credits_console=${token}`, 'sec-fetch-site': 'same-origin' }

    async function request<Name extends EndpointName>(endpoint: Name, input: Input<Name> = {}) {
      const [method = '', path = ''] = endpoints[endpoint].split(' ')
      const params = (input.params ?? {}) as Record<string, string>
      const url = new URL(base + path.replace(/:(\w+)/g, (_, each) => encodeURIComponent(params[each] ?? '')))
      for (const [key, value] of Object.entries(input.query ?? {})) url.searchParams.set(key, `${value}`)
      const json = method === 'POST' ? { 'content-type': 'application/json' } : {}
      const body = method === 'POST' ? { body: JSON.stringify(input.body ?? {}) } : {}
      const response = await fetch(url, { method, headers: { ...headers, ...json }, ...body })
      const text = await response.text()
      const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
      assertEnvelope(answer)
      assertListedFields(endpoint, answer.body.data)
      return answer as Answer<Data<Name>>
    }
    return {
      name,
      request,
      save: (path) => fetch(`${base}${path}`, { headers }),
      async get(endpoint, input) {
        const answer = await request(endpoint, input)
        assertSuccess(answer, 200)
        return answer.body.data
      },
    }
  }

  const opened = opening.move()
  return {
    base,
    newOperator,
    /** The log so far, line by line. */
    lines,
    async register(consumer: Consumer): Promise<string> {
      const { endpointId, secret } = await addEndpoint(books, testPeppers[0], { url: consumer.url, types: [] })
      consumer.secrets.push(secret)
      return endpointId
    },
    /** Delivers all events that are due now. */
    deliver: () => deliver(deliveries),
    close: () => opened.disposeAsync(),
  }
}
