// What is known of each connection: the request that came last on it and how many there were. At a stop, requests under
// way are answered and take their connection with them, and so are those that come a moment later; connections that are
// idle then are closed by the framework, and one that is kept alive after its answer would hold the stop up to its limit.
import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { deadlineIn, sleep } from '../core/clock.ts'

/** Requests that wait for those before them; nobody sends so many before reading an answer. */
const maxWaiting = 128

/** At a stop, for connections that never say anything: Node would wait for them. */
const silentMs = 1_000

/** At a stop, for requests that are on their way over connections that look idle. */
const momentMs = 100

/**
 * At a stop, where requests came until now: who has just been answered is about to ask again, and would lose a request to a
 * connection closed in that moment. Whoever asks is answered and told that it was the last; after so long without a
 * request, those who were in the middle of something are through.
 */
const quietMs = 1_000

/** At a stop: somebody who opens connection after connection before it does not hold it up for longer. */
const graceMs = 3_000

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
  /** Whether an answer is the last on its connection; others may be under way before it. */
  isLast(reply: FastifyReply): boolean
}

type Seen = { reply: FastifyReply; requests: number; waiting: number; caller: string; isShared: boolean }

export function watchConnections(app: FastifyInstance, maxRequests: number): Connections {
  const seenOn = new Map<Socket, Seen>()
  const open = new Set<Socket>()
  let isStopping = false
  let latestAt = -quietMs
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', async () => {
    isStopping = true
    const silence = deadlineIn(silentMs)
    for (const { reply } of seenOn.values()) if (!reply.sent) reply.header('connection', 'close')
    // Who has connected already is let in first: closed, the socket that listens would turn him away after he has asked.
    await turnOfLoop()
    // Of a plain server: the one of HTTP would close idle connections in the same moment.
    if (app.server.listening) Server.prototype.close.call(app.server)
    await quiet()
    const endIf = (isThrough: (answer: ServerResponse) => boolean) => () => {
      for (const socket of open) {
        const seen = seenOn.get(socket)
        if (!seen || isThrough(seen.reply.raw)) socket.destroy()
      }
    }
    setTimeout(
      endIf((answer) => answer.writableFinished),
      silence.remainingMs(),
    ).unref()
    // Those who do not read what they asked for.
    setTimeout(
      endIf((answer) => answer.writableEnded),
      silence.remainingMs() + silentMs,
    ).unref()
  })

  /** Until nobody is left, or nobody has asked for a while. */
  async function quiet(): Promise<void> {
    const grace = deadlineIn(graceMs)
    while (open.size > 0 && grace.remainingMs() > 0) {
      await sleep(momentMs)
      // A process that stood still comes to its timers before it reads what has arrived in the meantime.
      await turnOfLoop()
      if (performance.now() - latestAt >= quietMs) return
    }
  }

  return {
    note({ raw: { socket } }, reply) {
      latestAt = performance.now()
      const seen = seenOn.get(socket)
      if (seen) {
        const before = seen.reply
        seen.reply = reply
        seen.requests += 1
        if (isStopping || seen.requests >= maxRequests) reply.header('connection', 'close')
        return before
      }
      if (isStopping) reply.header('connection', 'close')
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
    isLast(reply) {
      if (isStopping) return true
      const seen = seenOn.get(reply.request.raw.socket)
      return seen !== undefined && seen.requests >= maxRequests && seen.reply === reply
    },
  }
}
