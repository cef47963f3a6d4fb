// What the listeners of an API have in common: the envelope on everything that can arrive at their port, limits on all
// that a sender can draw out, and the filter of section 5, which runs before the route is known to the caller and before a
// byte of the body is read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type ErrorCode, refuse } from '../core/errors.ts'
import { rawFailure } from './envelope.ts'
import { answerError, codeOfParserError, toRefusal } from './error-handler.ts'
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

export type ApiListenerOptions = {
  /** Throws the refusal of whoever is not known. */
  authenticate(request: IncomingMessage): Promise<{ customerId: string } | { serviceId: string }>
  log: FastifyBaseLogger
  bodyLimitBytes: number
}

/** How much of a refused body is taken off the wire, so that a client still sending gets its answer. */
const maxDrainedBytes = 1024 * 1024

const requestTimeoutMs = 10_000

export function buildApiListener({ authenticate, log, bodyLimitBytes }: ApiListenerOptions): FastifyInstance {
  const stalls = watchForStalls()
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
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

  async function edgeFilter(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw refuse('VAL001')
    if (request.routeOptions?.config.open) return
    const caller = await authenticate(request.raw)
    if ('customerId' in caller) request.customerId = caller.customerId
    else request.serviceId = caller.serviceId
    if (request.is404) throw refuse('NOT000')
  }

  /** A path the router cannot read is an unknown route, and like every other it is told to known callers only. */
  function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    edgeFilter(request, reply).then(
      () => answerError(error, request, reply),
      (refusal) => answerError(refusal, request, reply),
    )
  }

  async function answerConnect(request: IncomingMessage, socket: Duplex): Promise<void> {
    // Node leaves this socket to us whole: without a listener a reset would end the process.
    socket.on('error', () => socket.destroy())
    const code = await authenticate(request).then(
      (): ErrorCode => 'NOT000',
      (error) => toRefusal(error)?.code ?? 'INT001',
    )
    answerRaw(socket, code)
  }

  app.addHook('onClose', async () => stalls.stop())
  acceptJsonOnly(app)
  closeConnectionsWhenStopping(app)
  app.decorateRequest('customerId', '')
  app.decorateRequest('serviceId', '')
  app.addHook('onRequest', edgeFilter)
  app.addHook('onResponse', async (request) => drain(request.raw))
  app.setErrorHandler(answerError)
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
function drain(request: IncomingMessage): void {
  if (request.complete) return
  let drained = 0
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length
    if (drained > maxDrainedBytes) request.destroy()
  })
}
