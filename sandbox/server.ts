// The sandbox gateway: a server of its own that speaks the Toss protocol over HTTP, so that the service talks to it
// through the same adapter as to Toss. This file holds the addresses and what every answer has in common; it
// imports nothing of src/. The control endpoints under /sandbox need no authentication: bind it to loopback.

import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { refuseStranger } from './authenticate.ts'
import { cancel } from './cancel.ts'
import { confirm } from './confirm.ts'
import { errorAnswer } from './errors.ts'
import { exchange, type Sandbox } from './exchange.ts'
import { createFaults } from './faults.ts'
import { findBreach } from './fields.ts'
import { createIdempotency } from './idempotency.ts'
import { type JournalEntry, openJournal } from './journal.ts'
import { paymentObject } from './payment-object.ts'
import {
  type Checkout,
  checkoutFields,
  createPayments,
  finishCheckout,
  type Outcome,
  type Payment,
  refused,
} from './payments.ts'

export type SandboxOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** For the browser's side of the protocol; the endpoints below need the secret key only. */
  clientKey: string
  secretKey: string
  dataDir: string
  /** Only payment keys the sandbox issued are accepted at confirm. */
  strict: boolean
}

export type RunningSandbox = { url: string; port: number; close(): Promise<void> }

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const payments = createPayments()
  const idempotency = createIdempotency()
  const apply = (entry: JournalEntry) => {
    for (const payment of entry.changed) payments.put(payment)
    if (entry.answered !== undefined) idempotency.put(entry.answered)
  }
  const journal = openJournal(options.dataDir, apply)
  const stopping = new AbortController()
  const app = createApp({
    secretKey: options.secretKey,
    strict: options.strict,
    payments,
    idempotency,
    faults: createFaults(),
    record(entry) {
      journal.append(entry)
      apply(entry)
    },
    stopping: stopping.signal,
  })
  // Runs when the connections are gone. In one breath: a delay that ended in between would find no journal.
  app.addHook('onClose', async () => {
    stopping.abort()
    journal.close()
  })

  try {
    const url = await app.listen({ host: options.host, port: options.port })
    return { url, port: Number(new URL(url).port), close: () => app.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function createApp(sandbox: Sandbox): FastifyInstance {
  const app = Fastify({
    bodyLimit: 64 * 1024,
    exposeHeadRoutes: false,
    // Hanging requests would keep close() waiting for ever.
    forceCloseConnections: true,
    // A paymentKey has up to 200 characters, three times that when percent-encoded.
    routerOptions: { maxParamLength: 600 },
    // Addresses that cannot be decoded never reach a hook.
    frameworkErrors: (error, request, reply) => {
      trace(reply)
      answerError(error, request, reply)
    },
  })

  app.addHook('onRequest', async (request, reply) => {
    trace(reply)
    // The route that matched, not the address as written: /%761/… is /v1/… to the router.
    if (!(request.routeOptions.url ?? request.url).startsWith('/v1/')) return
    const refusal = refuseStranger(request.headers.authorization, sandbox.secretKey)
    if (refusal !== null) return reply.code(refusal.status).send(refusal.error)
  })
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((_request, reply) => {
    const { status, error } = errorAnswer('NOT_FOUND')
    reply.code(status).send(error)
  })

  addTossRoutes(app, sandbox)
  addControlRoutes(app, sandbox)
  return app
}

function addTossRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { payments, strict } = sandbox

  app.post('/v1/payments/confirm', (request, reply) =>
    exchange(sandbox, 'confirm', request, reply, (now) => confirm(payments, strict, request.body, now)),
  )
  app.post<{ Params: { paymentKey: string } }>('/v1/payments/:paymentKey/cancel', (request, reply) =>
    exchange(sandbox, 'cancel', request, reply, (now) =>
      cancel(payments, request.params.paymentKey, request.body, now),
    ),
  )
  app.get<{ Params: { paymentKey: string } }>('/v1/payments/:paymentKey', (request, reply) =>
    exchange(sandbox, 'lookup', request, reply, () => found(payments.find(request.params.paymentKey))),
  )
  app.get<{ Params: { orderId: string } }>('/v1/payments/orders/:orderId', (request, reply) =>
    exchange(sandbox, 'lookup', request, reply, () => found(payments.findLatestOfOrder(request.params.orderId))),
  )
}

function addControlRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { payments, faults } = sandbox
  const invalid = (reply: FastifyReply, message: string) =>
    reply.code(400).send(errorAnswer('INVALID_REQUEST', message).error)

  app.post('/sandbox/payments', async (request, reply) => {
    const breach = findBreach(request.body, checkoutFields)
    if (breach !== null) return invalid(reply, breach)
    const { orderId, amount, result } = request.body as Checkout
    const payment = finishCheckout({ orderId, amount, result: result ?? 'approve' }, new Date())
    sandbox.record({ changed: [payment] })
    return reply.code(201).send({ paymentKey: payment.paymentKey })
  })
  app.get('/sandbox/payments', async () => ({ payments: payments.all().map(paymentObject) }))

  app.put('/sandbox/faults', async (request, reply) => {
    const problem = faults.replace(request.body)
    return problem === null ? faults.remaining() : invalid(reply, problem)
  })
  app.get('/sandbox/faults', async () => faults.remaining())
  app.delete('/sandbox/faults', async () => {
    faults.clear()
    return faults.remaining()
  })
}

function found(payment: Payment | undefined): Outcome {
  return payment === undefined ? refused('NOT_FOUND_PAYMENT') : { changed: [], answer: { status: 200, payment } }
}

function trace(reply: FastifyReply): void {
  reply.header('x-tosspayments-trace-id', randomUUID().replaceAll('-', ''))
}

/** Whatever the framework refuses (JSON, size, media type, address) is the caller's; the rest is a bug of ours. */
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
