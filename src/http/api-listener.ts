// What the listeners of an API have in common: the envelope on everything that can arrive at their port, limits on all
// that a sender can draw out, and the filter of section 5, which runs before the route is known to the caller and before a
// byte of the body is read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type ErrorCode, refuse } from '../core/errors.ts'
import { limitWork } from './admission.ts'
import { rawFailure } from './envelope.ts'
import { codeOfParserError, createAnswerBusy, createAnswerError, toRefusal } from './error-handler.ts'
import { acceptJsonOnly } from './json-body.ts'
import { watchForStalls } from './stall.ts'
import { closeConnectionsWhenStopping } from './stopping.ts'
import { strictValidation } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls the public API, or the internal one. */
    customerId: string
    serviceId: string
  }
  interface FastifyContextConfig {
    /** For everybody who can reach the port. */
    open?: true
  }
}

type Caller = { customerId: string } | { serviceId: string }

export type ApiListenerOptions = {
  /** Throws the refusal of whoever is not known. Of whoever is remembered it gives the name at once. */
  authenticate(request: IncomingMessage): Caller | Promise<Caller>
  log: FastifyBaseLogger
  bodyLimitBytes: number
}

/** How much of a refused body is taken off the wire, so that a client still sending gets its answer. */
const maxDrainedBytes = 1024 * 1024

const requestTimeoutMs = 10_000

export function buildApiListener({ authenticate, log, bodyLimitBytes }: ApiListenerOptions): FastifyInstance {
  const stalls = watchForStalls()
  const answerError = createAnswerError(log, () => stopping.hasBegun())
  const answerBusy = createAnswerBusy(() => stopping.hasBegun())
  const app = fastify({
    // With a logger, or a hook behind the answer, the framework listens to the end of every answer. What is worth logging,
    // the error handler logs.
    logger: false,
    bodyLimit: bodyLimitBytes,
    // A sender that stalls is cut off: the head within 5 s, the whole request within 10 s. Node looks at the clock every
    // 30 s unless told otherwise, and the limits would come true that much later.
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    // Requests under way while we stop are answered, not refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    ajv: strictValidation,
    clientErrorHandler: (error, socket) =>
      answerRaw(socket, codeOfParserError(error, stalls.hasStalledWithin(requestTimeoutMs))),
    frameworkErrors: answerFrameworkError,
  })

  /** Without a promise for whoever is remembered: it runs for every request. */
  function edgeFilter(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    stopping.note(request, reply)
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    if (request.method === 'GET') drain(request, reply)
    function enter(caller: Caller): void {
      if ('customerId' in caller) request.customerId = caller.customerId
      else request.serviceId = caller.serviceId
      done(request.is404 ? refuse('NOT000') : undefined)
    }
    const caller = callerOf(request)
    if (caller instanceof Promise) caller.then(enter, done)
    else if (caller instanceof Error) done(caller)
    else if (caller) enter(caller)
    else done()
  }

  /** Undefined where everybody may come; a refusal as a value. */
  function callerOf(request: FastifyRequest): Caller | Promise<Caller> | Error | undefined {
    try {
      if (request.headers.host === undefined && request.raw.httpVersion === '1.1') return refuse('VAL001')
      return request.routeOptions?.config.open ? undefined : authenticate(request.raw)
    } catch (refusal) {
      return refusal as Error
    }
  }

  /** A path the router cannot read is an unknown route, and like every other it is told to known callers only. */
  function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    edgeFilter(request, reply, (refusal) => answerUnread(refusal ?? error, request, reply))
  }

  /** A refusal may come before the body was read. */
  function answerUnread(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    drain(request, reply)
    return answerError(error, request, reply)
  }

  async function answerConnect(request: IncomingMessage, socket: Duplex): Promise<void> {
    // Node leaves this socket to us whole: without a listener a reset would end the process.
    socket.on('error', () => socket.destroy())
    try {
      await authenticate(request)
      answerRaw(socket, 'NOT000')
    } catch (error) {
      answerRaw(socket, toRefusal(error)?.code ?? 'INT001')
    }
  }

  app.addHook('onClose', async () => stalls.stop())
  const stopping = closeConnectionsWhenStopping(app)
  limitWork(app, (request, reply, retryAfterSeconds) => {
    if (request.method !== 'GET') drain(request, reply)
    answerBusy(reply, retryAfterSeconds)
  })
  acceptJsonOnly(app)
  app.decorateRequest('customerId', '')
  app.decorateRequest('serviceId', '')
  app.addHook('onRequest', edgeFilter)
  app.setErrorHandler(answerUnread)
  app.setNotFoundHandler(async () => {
    throw refuse('NOT000')
  })
  app.server.on('connect', answerConnect)
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    answerRaw(response.socket, 'VAL001')
  })
  return app
}

function answerRaw(socket: Duplex | null, code: ErrorCode): void {
  if (socket?.writable) socket.end(rawFailure(code), () => socket.destroy())
  else socket?.destroy()
}

/** Node reads and drops what is left of a body that nobody wanted, without a limit; this is the limit. */
function drain({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (request.complete || (length ?? encoding) === undefined) return
  let drained = 0
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length
    if (drained <= maxDrainedBytes) return
    request.pause()
    // Not before the answer has left.
    if (response.writableFinished) request.destroy()
    else response.once('finish', () => request.destroy())
  })
}
