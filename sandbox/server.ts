// The sandbox gateway: a server of its own that speaks the Toss protocol over HTTP, so that the service talks to it
// through the same adapter as to Toss. This file has the routes of the protocol and what every answer has in common;
// the sandbox imports nothing of src/. The control endpoints (control.ts) need no authentication: bind it to loopback.

import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { addCheckoutRoutes } from './checkout/routes.ts'
import { addControlRoutes } from './control.ts'
import type { Behaviour } from './faults/behaviour.ts'
import { foreignHostText, isOwnHost } from './host-names.ts'
import { addPageRoutes } from './page/routes.ts'
import { cancel } from './payments/cancel.ts'
import { confirm } from './payments/confirm.ts'
import { type Outcome, type Payment, refused } from './payments/payments.ts'
import { listTransactions } from './payments/transactions.ts'
import { refuseWrongKey } from './protocol/authenticate.ts'
import { errorAnswer } from './protocol/errors.ts'
import { exchange, traceHeader } from './protocol/exchange.ts'
import { requestedError, testCodeHeader } from './protocol/test-code.ts'
import { openState, type Sandbox, type StateOptions } from './state.ts'

export type SandboxOptions = StateOptions & {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Names it answers to, besides addresses and localhost; lower case. */
  hostnames?: readonly string[]
}

export type RunningSandbox = { url: string; port: number; close(): Promise<void> }

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const sandbox = openState(options)
  const app = createApp(sandbox, options.hostnames ?? [])
  // Runs when the connections are closed.
  app.addHook('onClose', async () => sandbox.close())

  try {
    const url = await app.listen({ host: options.host, port: options.port })
    return { url, port: Number(new URL(url).port), close: () => app.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function createApp(sandbox: Sandbox, hostnames: readonly string[]): FastifyInstance {
  const isForeign = ({ headers }: FastifyRequest) => !isOwnHost(headers.host, hostnames)

  const app = Fastify({
    bodyLimit: 64 * 1024,
    exposeHeadRoutes: false,
    // Hanging requests would keep close() waiting for ever.
    forceCloseConnections: true,
    // A paymentKey has up to 200 characters, three times that when percent-encoded.
    routerOptions: { maxParamLength: 600 },
    // Addresses that cannot be decoded never reach a hook.
    frameworkErrors: (error, request, reply) => {
      if (isForeign(request)) return refuseForeign(reply)
      trace(reply)
      answerError(error, request, reply)
    },
  })

  app.addHook('onRequest', async (request, reply) => {
    if (isForeign(request)) return refuseForeign(reply)
    trace(reply)
    // The route that matched, not the address as written: /%761/… is /v1/… to the router.
    if (!(request.routeOptions.url ?? request.url).startsWith('/v1/')) return
    const refusal =
      refuseWrongKey(request.headers.authorization, sandbox.secretKey) ??
      requestedError(request.headers[testCodeHeader], sandbox.secretKey)
    if (refusal !== null) return reply.code(refusal.status).send(refusal.error)
  })
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((_request, reply) => {
    const { status, error } = errorAnswer('NOT_FOUND')
    reply.code(status).send(error)
  })

  addTossRoutes(app, sandbox)
  addControlRoutes(app, sandbox)
  addCheckoutRoutes(app, sandbox)
  addPageRoutes(app, sandbox)
  return app
}

function addTossRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { payments, movements, strict } = sandbox
  const behaviour = sandbox.behaviour.values

  app.post('/v1/payments/confirm', (request, reply) => {
    const rules = { payments, strict, behaviour, origin: `${request.protocol}://${request.host}` }
    return exchange(sandbox, 'confirm', request, reply, (now) => confirm(rules, request.body, now))
  })
  app.post<{ Params: { paymentKey: string } }>('/v1/payments/:paymentKey/cancel', (request, reply) =>
    exchange(sandbox, 'cancel', request, reply, (now) =>
      cancel(payments, request.params.paymentKey, request.body, now, behaviour.cancelWindowDays),
    ),
  )
  app.get<{ Params: { paymentKey: string } }>('/v1/payments/:paymentKey', (request, reply) =>
    exchange(sandbox, 'lookup', request, reply, () => found(payments.find(request.params.paymentKey), behaviour)),
  )
  app.get<{ Params: { orderId: string } }>('/v1/payments/orders/:orderId', (request, reply) =>
    exchange(sandbox, 'lookup', request, reply, () =>
      found(payments.findLatestOfOrder(request.params.orderId), behaviour),
    ),
  )
  app.get<{ Querystring: Record<string, unknown> }>('/v1/transactions', (request, reply) =>
    exchange(sandbox, 'transactions', request, reply, () => listTransactions(movements, behaviour, request.query)),
  )
}

function found(payment: Payment | undefined, { unconfirmedLookup }: Behaviour): Outcome {
  if (payment === undefined) return refused('NOT_FOUND_PAYMENT')
  const unconfirmed = payment.status === 'READY' || payment.status === 'IN_PROGRESS'
  if (unconfirmed && unconfirmedLookup === 'not-found') return refused('NOT_FOUND_PAYMENT')
  return { changed: [], answer: { status: 200, payment } }
}

function refuseForeign(reply: FastifyReply): FastifyReply {
  return reply.code(400).type('text/plain; charset=utf-8').send(foreignHostText)
}

function trace(reply: FastifyReply): void {
  reply.header(traceHeader, randomUUID().replaceAll('-', ''))
}

/** What the framework refuses (JSON, size, media type, address) is the caller's mistake; the rest is a bug of ours. */
function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode = 500, name, message } = thrown as FastifyError
  const callersFault = statusCode >= 400 && statusCode < 500
  // AbortError: the server stopped in the middle of a delay.
  if (!callersFault && name !== 'AbortError')
    process.stderr.write(`sandbox: ${request.method} ${request.url}: ${message}\n`)
  const answer = callersFault
    ? errorAnswer('INVALID_REQUEST', message)
    : errorAnswer('FAILED_INTERNAL_SYSTEM_PROCESSING')
  reply.code(answer.status).send(answer.error)
}
