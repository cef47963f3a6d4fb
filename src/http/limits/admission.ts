// How many requests are admitted at a time, so that those under way stay fast under any load. A request past the limit is
// refused at once with SVC001 and Retry-After. Each kind of work has its own limit; that of requests which settle money is far
// above the others, so that neither reads nor purchases can take their place.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import type { AnswerBusy } from '../error-handler.ts'
import { countAnswer, type RequestCounts, type RouteCounts } from '../request-counts.ts'
import { watchForSlowLoop } from './event-loop.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The kind of work of this route; it is a metric label too. */
    work?: WorkKind
  }
}

export type WorkKind = keyof typeof limits

/**
 * Requests of a kind that may be under way in one listener. Up to `burst` are admitted at once and served within a fraction of
 * a second. More than that is overload: for a while only `steady` are admitted, which keep the database and this process just
 * as busy with shorter waits. Requests that settle money spend most of their time waiting for the gateway.
 */
export const limits = {
  read: { burst: 512, steady: 64 },
  write: { burst: 512, steady: 256 },
  settle: { burst: 1_024, steady: 1_024 },
} as const

const crowdedMs = 1_000

/** The share of their steady limit that reads keep while payments would have to wait for them. */
const yieldedShare = 0.5

/** Retry-After of refusals, not the same for all: they would come back together. */
const retryAfterSeconds = [1, 2, 3] as const
const socketPauseMs = 500

/** Checks before the body is read, where most are refused, and again after it, since other requests were admitted meanwhile. */
export function limitWork(
  app: FastifyInstance,
  counts: RequestCounts,
  answerBusy: AnswerBusy,
  isShared: (socket: Socket) => boolean,
): void {
  const loop = watchForSlowLoop()
  app.addHook('onClose', async () => loop.stop())
  const write = createGate(limits.write)
  const settle = createGate(limits.settle)
  const read = createGate(limits.read, () => settle.underWay() > 0 && loop.isSlow())
  const gates = { read, write, settle }
  for (const [work, { underWay }] of Object.entries(gates)) counts.underWay.set(work, underWay)
  app.addHook('onRoute', (route) => {
    const { work, counts: own } = route.config ?? {}
    if (!work || !own) return
    route.onRequest = [route.onRequest ?? [], early(gates[work])].flat()
    route.handler = limited(gates[work], own, route.handler)
  })

  function early(gate: Gate): onRequestHookHandler {
    return (request, reply, done) => {
      if (gate.isOpen()) done()
      else refuseBusy(gate, request, reply)
    }
  }

  function limited(gate: Gate, own: RouteCounts, handle: RouteHandlerMethod): RouteHandlerMethod {
    const { isOpen, enter, leave } = gate
    return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      if (!isOpen()) return refuseBusy(gate, request, reply)
      enter()
      // Handlers are async: they return a promise and never throw. Not wrapped in another promise: this is the hot path.
      const answer = handle.call(this, request, reply) as Promise<unknown>
      answer.then(() => {
        leave()
        countAnswer(own, request)
      }, leave)
      return answer
    }
  }

  let refused = 0
  function refuseBusy({ mustYield }: Gate, request: FastifyRequest, reply: FastifyReply): void {
    counts.earlyRefusals[mustYield() ? 'yielding' : 'crowded'] += 1
    const seconds = retryAfterSeconds[refused % retryAfterSeconds.length] as number
    refused += 1
    // A proxy's connection carries other callers too, who may be paying.
    if (!isShared(request.raw.socket)) pauseConnection(request, reply)
    answerBusy(request, reply, seconds)
  }
}

type Gate = { isOpen(): boolean; mustYield(): boolean; enter(): void; leave(): void; underWay(): number }

/** `mustYield`: another kind of work needs the room now. */
function createGate({ burst, steady }: (typeof limits)[WorkKind], mustYield = () => false): Gate {
  let underWay = 0
  let crowdedUntil = Number.NEGATIVE_INFINITY
  return {
    isOpen() {
      if (mustYield()) return underWay < steady * yieldedShare
      if (underWay < steady) return true
      const now = performance.now()
      if (now < crowdedUntil) return false
      if (underWay < burst) return true
      crowdedUntil = now + crowdedMs
      return false
    },
    enter() {
      underWay += 1
    },
    leave() {
      underWay -= 1
    },
    underWay: () => underWay,
    mustYield,
  }
}

/**
 * Stops reading from the connection for half of the shortest Retry-After: a client that retries at once would keep this process
 * busy with refusals. It begins after the answer and the end of the request: until then Node reads on by itself.
 */
function pauseConnection({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  function pause(): void {
    socket.pause()
    setTimeout(() => socket.resume(), socketPauseMs).unref()
  }
  response.once('finish', () => {
    if (request.closed) process.nextTick(pause)
    else request.once('close', pause)
  })
}
