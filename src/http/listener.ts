// What every listener has in common: the envelope on everything that can arrive at its port, limits on all that a sender
// can draw out, and one answer to a request, in the order in which requests came, whatever arrives behind it.
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
import { type Connections, watchConnections } from './connections.ts'
import { rawFailure, securityHeaders, writeFailure } from './envelope.ts'
import { type AnswerBusy, codeOfParserError, createAnswerBusy, createAnswerError, toRefusal } from './error-handler.ts'
import { refusalOfHost } from './host-names.ts'
import { acceptJsonOnly } from './json-body.ts'
import { watchForStalls } from './limits/stall.ts'
import { countAnswers, createRequestCounts, type RequestCounts } from './request-counts.ts'
import { strictValidation } from './validation.ts'

export type ListenerOptions = {
  /** Before a byte of the body is read. At once, where it can be judged at once: it is asked for every request. */
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

/** The refusal of whoever may not come in, or that it was answered already. */
export type Admitted = Error | 'answered' | undefined

export type TransportLimits = {
  /** How long the head of one request may take, and how long it may take whole. */
  headMs: number
  requestMs: number
  /** Then a connection is closed behind its answer, so that clients spread over new instances. */
  requestsPerConnection: number
}

const usualLimits: TransportLimits = { headMs: 5_000, requestMs: 10_000, requestsPerConnection: 100_000 }
/** Idle between two requests; longer than the proxies in front of us wait. */
const keepAliveMs = 72_000
/** Without a byte either way, an answer that is not taken included; longer than a confirm may take. */
const silentMs = 120_000
/** Node looks at the clock so often, and the limits come true that much later. */
const lookEveryMs = 1_000
const maxHeadBytes = 16 * 1024
const maxHeaders = 1_000

/** How much of a refused body is taken off the wire, so that a client still sending gets its answer. */
const maxDrainedBytes = 1024 * 1024

export type Listener = {
  app: FastifyInstance
  connections: Connections
  answerBusy: AnswerBusy
  counts: RequestCounts
}

export function buildListener(options: ListenerOptions): Listener {
  const { admit, admitConnect, log, bodyLimitBytes, maxParamLength = 100, hostnames } = options
  const limits = { ...usualLimits, ...options.limits }
  const { counts = createRequestCounts() } = options
  const stalls = watchForStalls()
  /** Their last answer is decided: what else arrives on them is not looked at. */
  const ending = new WeakSet<Socket>()
  const isLast = (reply: FastifyReply) => connections.isLast(reply)
  const answerError = createAnswerError(log, isLast, (request, code) => answers.refused(request, code))
  const answerBusy = createAnswerBusy(isLast, (request, code) => answers.refused(request, code))
  const app = fastify({
    // With a logger, or a hook behind the answer, the framework listens to the end of every answer. What is worth logging,
    // the error handler logs.
    logger: false,
    genReqId: newRequestIds(),
    bodyLimit: bodyLimitBytes,
    routerOptions: { maxParamLength },
    requestTimeout: limits.requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: silentMs,
    http: {
      headersTimeout: limits.headMs,
      connectionsCheckingInterval: Math.min(lookEveryMs, limits.headMs),
      maxHeaderSize: maxHeadBytes,
      // It is required, and its refusal has an envelope.
      requireHostHeader: false,
    },
    // Requests under way while we stop are answered, not refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    ajv: strictValidation,
    clientErrorHandler: (error, socket) =>
      answerUnreadable(codeOfParserError(error, stalls.hasStalledWithin(limits.requestMs)), socket),
    frameworkErrors: answerFrameworkError,
  })

  function edgeFilter(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    const { socket } = request.raw
    const before = connections.note(request, reply)
    // Its sender was told something else already, or nobody can be told anything any more.
    if (ending.has(socket) || !socket.writable) return
    answers.begun(request)
    reply.headers(securityHeaders)
    if (request.method === 'GET') drain(request, reply)
    if (!before || before.raw.writableFinished) {
      enter(request, reply, done)
    } else if (connections.wait(socket)) {
      before.raw.once('finish', () => enterBehind(request, reply, done))
    } else {
      // Nobody sends so many before they read an answer: those who wait are served, and the rest is left unread.
      ending.add(socket)
      socket.pause()
      before.raw.once('finish', () => endSoon(socket))
    }
  }

  /** In its turn. Behind an answer that closes the connection there is no request, whatever it looks like. */
  function enterBehind(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    connections.waitNoLonger(request.raw.socket)
    if (request.raw.socket.writable && !reply.sent) enter(request, reply, done)
  }

  function enter(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    function goOn(admitted: Admitted): void {
      if (admitted !== 'answered') done(admitted)
    }
    const admitted = admittedOf(request, reply)
    if (admitted instanceof Promise) admitted.then(goOn, done)
    else goOn(admitted)
  }

  function admittedOf(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted> {
    try {
      return refusalOfHead(request.raw) ?? (hostnames && refusalOfHost(request.raw, hostnames)) ?? admit(request, reply)
    } catch (refusal) {
      return refusal as Error
    }
  }

  /** A path the router cannot read is an unknown route, and like every other it is told to known callers only. */
  function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    // Node knows it as the first word of HTTP/2 and closes the connection at once, with answers to what came before it
    // still on their way. Under another name it is a method like all that nobody has.
    if (request.raw.method === 'PRI') request.raw.method = 'PRI of HTTP/2'
    edgeFilter(request, reply, (refusal) => answerUnread(refusal ?? error, request, reply))
  }

  /** A refusal may come before the body was read. */
  function answerUnread(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    drain(request, reply)
    return answerError(error, request, reply)
  }

  function answerRaw(socket: Duplex, code: ErrorCode): void {
    if (!socket.writable) return void socket.destroy()
    answers.refusedUnread(code)
    hangUp(socket, rawFailure(code))
  }

  /**
   * The parser gave up. What came before on this connection is answered first and only once: work that was done is told
   * as done, whatever follows it.
   */
  function answerUnreadable(code: ErrorCode, socket: Socket): void {
    // With every piece that arrives behind it the parser gives up again.
    if (ending.has(socket) || socket.writableEnded) return
    ending.add(socket)
    const latest = connections.latestOn(socket)
    if (!latest || isDone(latest)) {
      answerRaw(socket, code)
    } else if (latest.request.raw.complete || latest.sent) {
      // It may have its answer, but not its turn: others before it are under way.
      closeBehind(latest, socket)
    } else {
      // Of this very request something is missing, and it will not come any more.
      answerError(refuse(code), latest.request, latest, 'last')
    }
  }

  async function answerConnect(request: IncomingMessage, socket: Duplex): Promise<void> {
    // Node leaves this socket to us whole: without a listener a reset would end the process.
    socket.on('error', () => socket.destroy())
    const latest = connections.latestOn(socket as Socket)
    if (latest && !isDone(latest)) closeBehind(latest, socket)
    else answerRaw(socket, toRefusal(await admitConnect(request).catch((error: unknown) => error))?.code ?? 'INT001')
  }

  app.addHook('onClose', async () => stalls.stop())
  const answers = countAnswers(app, counts)
  const connections = watchConnections(app, limits.requestsPerConnection)
  acceptJsonOnly(app)
  app.addHook('onRequest', edgeFilter)
  app.setErrorHandler((error: FastifyError | null, request, reply) => {
    // Of a method that no route can have the framework says so before anybody was let in.
    if (error?.code === 'FST_ERR_NOT_FOUND') answerFrameworkError(error, request, reply)
    else answerUnread(error, request, reply)
  })
  app.setNotFoundHandler(async () => {
    throw refuse('NOT000')
  })
  // Whoever has said everything and closes that half still reads: an answer to work that was done must not be lost.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  app.server.on('connection', (socket: Socket) => {
    // What Node does behind a last answer: not at once, as everywhere here.
    socket.destroySoon = () => hangUp(socket)
    // Behind a refusal, whose answer says nothing of the connection, Node would keep it open.
    socket.once('end', () => {
      const latest = connections.latestOn(socket)
      if (latest && !latest.raw.writableFinished) closeBehind(latest, socket)
    })
  })
  app.server.on('connect', answerConnect)
  // Through the response: behind another that is under way it has its turn.
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    ending.add(request.socket)
    answers.refusedUnread('VAL001')
    writeFailure(response, 'VAL001', { connection: 'close' })
  })
  return {
    app,
    connections,
    counts,
    answerBusy(request, reply, retryAfterSeconds) {
      if (request.method !== 'GET') drain(request, reply)
      answerBusy(request, reply, retryAfterSeconds)
    },
  }
}

/** What the parser takes and we do not. */
function refusalOfHead({
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
  headers,
}: IncomingMessage): Error | undefined {
  if (httpVersionMajor !== 1 || (httpVersionMinor === 1 && headers.host === undefined)) return refuse('VAL001')
  // Each is two texts. Newer parsers refuse it themselves, older ones drop what is past their limit.
  if (rawHeaders.length >= 2 * maxHeaders) return refuse('VAL004')
  return undefined
}

function isDone({ raw, request }: FastifyReply): boolean {
  return raw.writableFinished && request.raw.complete
}

function closeBehind({ raw: response }: FastifyReply, socket: Duplex): void {
  if (response.writableFinished) hangUp(socket)
  else response.once('finish', () => hangUp(socket))
}

/**
 * Whoever is still sending has this long to notice. Closed at once, with bytes of theirs on the way, the system would take
 * from them what they have not read yet: an answer to work that was done.
 */
const hangUpMs = 1_000

function hangUp(socket: Duplex, lastWords = ''): void {
  socket.resume()
  endSoon(socket, lastWords)
}

function endSoon(socket: Duplex, lastWords = ''): void {
  if (!socket.writableEnded) socket.end(lastWords)
  const limit = setTimeout(() => socket.destroy(), hangUpMs).unref()
  socket.once('close', () => clearTimeout(limit))
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
