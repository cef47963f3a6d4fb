// The state of each connection: its latest request, how many there were, and how many wait. During a stop, requests under way
// and those that arrive a moment later are answered and their connections closed after the answer. The framework closes idle
// connections; one that was kept alive after its answer would delay the stop to its limit.
import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextIteration } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { deadlineIn, sleep } from '../core/clock.ts'

/** Pipelined requests that wait for the one before them; no client sends that many before it reads an answer. */
const maxWaiting = 128

/** During a stop, for connections that never send anything: Node would wait for them. */
const silentMs = 1_000

/** During a stop, between two checks for requests that were on their way over connections that looked idle. */
const pollMs = 100

/**
 * During a stop under load: a client that has just been answered is about to send its next request, and would lose it to a
 * connection that closes at that moment. Such a request is answered with `Connection: close`. After so long without any
 * request, no client is in the middle of something.
 */
const quietMs = 1_000

/** The longest wait for that quiet: a client that keeps sending does not delay the stop any further. */
const graceMs = 3_000

export type ConnectionStates = {
  /**
   * Call it for every request; returns the reply of the one before it. A hook before each answer would do the same at ten
   * times the cost.
   */
  note(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
  /** Whether a request may wait for the one before it. */
  wait(socket: Socket): boolean
  waitNoLonger(socket: Socket): void
  /** Undefined before the first request. */
  latestOn(socket: Socket): FastifyReply | undefined
  /** Whether an answer is the last one of its connection; earlier ones may still be under way. */
  isLast(reply: FastifyReply): boolean
}

type ConnectionState = { reply: FastifyReply; requests: number; waiting: number }

export function watchConnections(app: FastifyInstance, maxRequests: number): ConnectionStates {
  const states = new Map<Socket, ConnectionState>()
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
    for (const { reply } of states.values()) if (!reply.sent) reply.header('connection', 'close')
    // Clients that have connected already are accepted first: a closed listening socket would refuse them.
    await nextIteration()
    // The method of a plain server: http.Server's own would close idle connections at the same moment.
    if (app.server.listening) Server.prototype.close.call(app.server)
    await quiet()
    const endIf = (isThrough: (answer: ServerResponse) => boolean) => () => {
      for (const socket of open) {
        const state = states.get(socket)
        if (!state || isThrough(state.reply.raw)) socket.destroy()
      }
    }
    setTimeout(
      endIf((answer) => answer.writableFinished),
      silence.remainingMs(),
    ).unref()
    // Clients that do not read their answer.
    setTimeout(
      endIf((answer) => answer.writableEnded),
      silence.remainingMs() + silentMs,
    ).unref()
  })

  /** Until no connection is left, or no request has come for a while. */
  async function quiet(): Promise<void> {
    const grace = deadlineIn(graceMs)
    while (open.size > 0 && grace.remainingMs() > 0) {
      await sleep(pollMs)
      // A process that stood still runs its timers before it reads what has arrived meanwhile.
      await nextIteration()
      if (performance.now() - latestAt >= quietMs) return
    }
  }

  return {
    note({ raw: { socket } }, reply) {
      latestAt = performance.now()
      const state = states.get(socket)
      if (state) {
        const before = state.reply
        state.reply = reply
        state.requests += 1
        if (isStopping || state.requests >= maxRequests) reply.header('connection', 'close')
        return before
      }
      if (isStopping) reply.header('connection', 'close')
      states.set(socket, { reply, requests: 1, waiting: 0 })
      socket.once('close', () => states.delete(socket))
      return undefined
    },
    wait(socket) {
      const state = states.get(socket)
      if (!state || state.waiting === maxWaiting) return false
      state.waiting += 1
      return true
    },
    waitNoLonger(socket) {
      const state = states.get(socket)
      if (state) state.waiting -= 1
    },
    latestOn: (socket) => states.get(socket)?.reply,
    isLast(reply) {
      if (isStopping) return true
      const state = states.get(reply.request.raw.socket)
      return state !== undefined && state.requests >= maxRequests && state.reply === reply
    },
  }
}
