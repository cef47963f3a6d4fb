// What is known of each connection: the request that came last on it and how many there were. At a stop, requests under
// way are answered and take their connection with them; connections that are idle at the moment are closed by the
// framework, and one that is kept alive after its answer would hold the stop up to its limit.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Then a connection is closed behind its answer, so that clients spread over new instances. */
const maxRequestsPerConnection = 100_000

/** Requests that wait for those before them; nobody sends so many before reading an answer. */
const maxWaiting = 128

/** At a stop: for requests that are on their way. Node would wait for connections that never say anything. */
const graceMs = 1_000

export type Connections = {
  /**
   * Is to be told of every request, and tells which came before it: a hook before each answer would do the same at ten
   * times the cost.
   */
  note(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
  /** Whether a request may wait for the one before it. */
  wait(socket: Socket): boolean
  waitNoLonger(socket: Socket): void
  /** Who the request was of. */
  noteCaller(socket: Socket, caller: string): void
  /** Whether several have called on it: then it is a proxy's. */
  isShared(socket: Socket): boolean
  /** Undefined where none has come. */
  latestOn(socket: Socket): FastifyReply | undefined
  /** Whether an answer is the last on its connection. */
  isLast(socket: Socket): boolean
}

type Seen = { reply: FastifyReply; requests: number; waiting: number; caller: string; isShared: boolean }

export function watchConnections(app: FastifyInstance, maxRequests = maxRequestsPerConnection): Connections {
  const seenOn = new Map<Socket, Seen>()
  const open = new Set<Socket>()
  let isStopping = false
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', async () => {
    isStopping = true
    for (const { reply } of seenOn.values()) if (!reply.sent) reply.header('connection', 'close')
    setTimeout(() => {
      for (const socket of open) if (seenOn.get(socket)?.reply.raw.writableEnded ?? true) socket.destroy()
    }, graceMs).unref()
  })
  return {
    note({ raw: { socket } }, reply) {
      const seen = seenOn.get(socket)
      if (seen) {
        const before = seen.reply
        seen.reply = reply
        seen.requests += 1
        if (seen.requests >= maxRequests) reply.header('connection', 'close')
        return before
      }
      seenOn.set(socket, { reply, requests: 1, waiting: 0, caller: '', isShared: false })
      socket.once('close', () => seenOn.delete(socket))
      return undefined
    },
    wait(socket) {
      const seen = seenOn.get(socket)
      if (!seen || seen.waiting === maxWaiting) return false
      seen.waiting += 1
      return true
    },
    waitNoLonger(socket) {
      const seen = seenOn.get(socket)
      if (seen) seen.waiting -= 1
    },
    noteCaller(socket, caller) {
      const seen = seenOn.get(socket)
      if (!seen || seen.caller === caller) return
      seen.isShared = seen.caller !== ''
      seen.caller = caller
    },
    isShared: (socket) => seenOn.get(socket)?.isShared ?? false,
    latestOn: (socket) => seenOn.get(socket)?.reply,
    isLast: (socket) => isStopping || (seenOn.get(socket)?.requests ?? 0) >= maxRequests,
  }
}
