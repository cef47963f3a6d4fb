// What every listener has in common: an envelope on everything that can arrive at its port, limits on everything a sender can
// prolong, and exactly one answer to each request, in the order of the requests of a connection.
//
// The stages of a request, each a function below:
//   receive        counts it and sets the security headers; starts it, or lets it wait for the answer before it (pipelining)
//   start          runs the checks, then hands the request to the framework or its refusal to the error handler
//   check          head, Host, then the listener's own `admit`: caller, rate, route; nothing of the body is read before
//   (framework)    body, schema, admission, handler
//   answer…        the envelope of a refusal: answerUnread, answerBusy; past the framework answerUnreadable, answerConnect
// A connection is open, then ending (its last answer is decided, later input is ignored), then closing (half closed for at
// most a second).
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { type ErrorCode, refuse } from '../core/errors.ts'
import { newRequestIds } from '../core/ids.ts'
import { closeAfter, closeSoon, drain, endSoon } from './closing.ts'
import { watchConnections } from './connections.ts'
import { rawFailure, securityHeaders, writeFailure } from './envelope.ts'
import { type AnswerBusy, codeOfParserError, createAnswerBusy, createAnswerError, toRefusal } from './error-handler.ts'
import { refusalOfHost } from './input/host-names.ts'
import { acceptJsonOnly } from './input/json-body.ts'
import { strictValidation } from './input/validation.ts'
import { watchForStalls } from './limits/event-loop.ts'
import { countAnswers, createRequestCounts, type RequestCounts } from './request-counts.ts'

export type ListenerOptions = {
  /** Runs before a byte of the body is read. Synchronous where possible: it runs for every request. */
  admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  /** The same for CONNECT, which no route has. */
  admitConnect(request: IncomingMessage): Promise<Error>
  log: FastifyBaseLogger
  bodyLimitBytes: number
  maxParamLength?: number
  limits?: Partial<TransportLimits>
  /** Where its answers are counted. */
  counts?: RequestCounts
  /** Names besides addresses and localhost that it answers to; undefined: any. */
  hostnames?: readonly string[] | undefined
}

/** The refusal, or that the request has been answered already; undefined: it may go on. */
export type Admitted = Error | 'answered' | undefined

export type TransportLimits = {
  /** How long the head of a request may take, and how long the whole request may take to arrive. */
  headMs: number
  requestMs: number
  /** After this many the connection is closed, so that clients spread over new instances. */
  requestsPerConnection: number
}

const defaultLimits: TransportLimits = { headMs: 5_000, requestMs: 10_000, requestsPerConnection: 100_000 }
/** Idle between two requests; longer than the proxies in front of us wait. */
const keepAliveMs = 72_000
/** Without a byte in either direction, also while an answer is not read; longer than a confirm may take. */
const silentMs = 120_000
/** Node checks the limits this often, so they apply that much later. */
const checkEveryMs = 1_000
const maxHeadBytes = 16 * 1024
const maxHeaders = 1_000

export type Listener = {
  app: FastifyInstance
  answerBusy: AnswerBusy
  counts: RequestCounts
}

/** What the framework calls a hook with; an error refuses the request. */
type Done = (refusal?: Error) => void

export function buildListener(options: ListenerOptions): Listener {
  const { admit, admitConnect, log, bodyLimitBytes, maxParamLength = 100, hostnames } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { counts = createRequestCounts() } = options
  const stalls = watchForStalls()
  /** Connections whose last answer is decided: later input is ignored. */
  const ending = new WeakSet<Socket>()
  const isLast = (reply: FastifyReply) => connections.isLast(reply)
  const answerError = createAnswerError(log, isLast, (request, code) => answers.refused(request, code))
  const answerBusy = createAnswerBusy(isLast, (request, code) => answers.refused(request, code))
  const app = fastify({
    // With a logger, or with a hook after the answer, the framework listens to the end of every answer. The error handler
    // logs what is worth logging.
    logger: false,
    genReqId: newRequestIds(),
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength },
    requestTimeout: limits.requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: silentMs,
    http: {
      headersTimeout: limits.headMs,
      connectionsCheckingInterval: Math.min(checkEveryMs, limits.headMs),
      maxHeaderSize: maxHeadBytes,
      // `check` requires it: its refusal has an envelope.
      requireHostHeader: false,
    },
    // Requests under way during a stop are answered, not refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    ajv: strictValidation,
    clientErrorHandler: (error, socket) =>
      answerUnreadable(codeOfParserError(error, stalls.hasStalledWithin(limits.requestMs)), socket),
    frameworkErrors: answerFrameworkError,
  })

  function receive(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const { socket } = request.raw
    const before = connections.note(request, reply)
    // Its sender has been sent something else, or cannot be sent anything.
    if (ending.has(socket) || !socket.writable) return
    answers.begun(request)
    reply.headers(securityHeaders)
    if (request.method === 'GET') drain(request, reply)
    if (!before || before.raw.writableFinished) {
      start(request, reply, done)
    } else if (connections.wait(socket)) {
      before.raw.once('finish', () => startAfterPrevious(request, reply, done))
    } else {
      // No client sends that many before it reads an answer: the waiting ones are served, the rest stays unread.
      ending.add(socket)
      socket.pause()
      before.raw.once('finish', () => endSoon(socket))
    }
  }

  /** What follows an answer that closes the connection is not a request, whatever it looks like. */
  function startAfterPrevious(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    connections.waitNoLonger(request.raw.socket)
    if (request.raw.socket.writable && !reply.sent) start(request, reply, done)
  }

  function start(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    function goOn(admitted: Admitted): void {
      if (admitted !== 'answered') done(admitted)
    }
    const admitted = check(request, reply)
    if (admitted instanceof Promise) admitted.then(goOn, done)
    else goOn(admitted)
  }

  function check(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted> {
    try {
      return refusalOfHead(request.raw) ?? (hostnames && refusalOfHost(request.raw, hostnames)) ?? admit(request, reply)
    } catch (refusal) {
      return refusal as Error
    }
  }

  /** A path that the router cannot read is an unknown route, and NOT000 is only sent to known callers. */
  function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    // Node takes PRI for the start of HTTP/2 and closes the connection at once, with earlier answers still on their way. Under
    // another name it is an unknown method like any other.
    if (request.raw.method === 'PRI') request.raw.method = 'PRI of HTTP/2'
    receive(request, reply, (refusal) => answerUnread(refusal ?? error, request, reply))
  }

  /** A refusal may come before the body was read. */
  function answerUnread(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    drain(request, reply)
    return answerError(error, request, reply)
  }

  function answerRaw(socket: Duplex, code: ErrorCode): void {
    if (!socket.writable) return void socket.destroy()
    answers.refusedUnread(code)
    closeSoon(socket, rawFailure(code))
  }

  /** The parser gave up. Earlier requests of the connection are answered first: work that was done is reported as done. */
  function answerUnreadable(code: ErrorCode, socket: Socket): void {
    // The parser gives up again with every further chunk.
    if (ending.has(socket) || socket.writableEnded) return
    ending.add(socket)
    const latest = connections.latestOn(socket)
    if (!latest || isDone(latest)) {
      answerRaw(socket, code)
    } else if (latest.request.raw.complete || latest.sent) {
      // Its answer may be decided and still wait behind earlier ones.
      closeAfter(latest, socket)
    } else {
      // The rest of this request is missing and will not come.
      answerError(refuse(code), latest.request, latest, 'last')
    }
  }

  async function answerConnect(request: IncomingMessage, socket: Duplex): Promise<void> {
    // Node hands this socket over: without a listener a reset would end the process.
    socket.on('error', () => socket.destroy())
    const latest = connections.latestOn(socket as Socket)
    if (latest && !isDone(latest)) closeAfter(latest, socket)
    else answerRaw(socket, toRefusal(await admitConnect(request).catch((error: unknown) => error))?.code ?? 'INT001')
  }

  app.addHook('onClose', async () => stalls.stop())
  const answers = countAnswers(app, counts)
  const connections = watchConnections(app, limits.requestsPerConnection)
  acceptJsonOnly(app)
  app.addHook('onRequest', receive)
  app.setErrorHandler((error: FastifyError | null, request, reply) => {
    // For a method that no route can have, the framework reports this before the request was received.
    if (error?.code === 'FST_ERR_NOT_FOUND') answerFrameworkError(error, request, reply)
    else answerUnread(error, request, reply)
  })
  app.setNotFoundHandler(async () => {
    throw refuse('NOT000')
  })
  // A client that has closed its sending half still reads: an answer to work that was done must not be lost.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  app.server.on('connection', (socket: Socket) => {
    // Node calls this after a last answer; it would close at once.
    socket.destroySoon = () => closeSoon(socket)
    // After a refusal without a Connection header Node would keep the connection open.
    socket.once('end', () => {
      const latest = connections.latestOn(socket)
      if (latest && !latest.raw.writableFinished) closeAfter(latest, socket)
    })
  })
  app.server.on('connect', answerConnect)
  // Through the response object, which keeps the order of the answers.
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    ending.add(request.socket)
    answers.refusedUnread('VAL001')
    writeFailure(response, 'VAL001', { connection: 'close' })
  })
  return {
    app,
    counts,
    answerBusy(request, reply, retryAfterSeconds) {
      if (request.method !== 'GET') drain(request, reply)
      answerBusy(request, reply, retryAfterSeconds)
    },
  }
}

/** What the parser accepts and we do not. */
function refusalOfHead({
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
  headers,
}: IncomingMessage): Error | undefined {
  if (httpVersionMajor !== 1 || (httpVersionMinor === 1 && headers.host === undefined)) return refuse('VAL001')
  // Two texts each. Newer parsers refuse too many themselves, older ones drop those past their limit.
  if (rawHeaders.length >= 2 * maxHeaders) return refuse('VAL004')
  return undefined
}

function isDone({ raw, request }: FastifyReply): boolean {
  return raw.writableFinished && request.raw.complete
}
