// How much is let in at a time, so that what is under way is finished as fast as ever however much comes. What is past the
// limit is refused at once with SVC001 and told when to come again. Limits are by kind of work: what settles money has one
// of its own, far above the others, so that neither reads nor purchases can take its place.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import type { AnswerBusy } from '../error-handler.ts'
import { countAnswer, type RequestCounts, type RouteCounts } from '../request-counts.ts'
import { watchPace } from './pace.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What kind of work a request of this route is. */
    work?: Work
  }
}

export type Work = keyof typeof limits

/**
 * Requests of a kind that may be under way in one listener. `burst` may come at once and are all served, within a fraction
 * of a second. More than that is no burst but a crowd: for a while only `steady` are let in, which keep the database and
 * this process as busy and let nobody wait for long. What settles money waits for the gateway most of its time.
 */
export const limits = {
  read: { burst: 512, steady: 64 },
  write: { burst: 512, steady: 256 },
  settle: { burst: 1_024, steady: 1_024 },
} as const

const crowdedMs = 1_000

/** What reads keep of their steady load while payments would have to wait for them. */
const yieldedShare = 0.5

/** Whoever is refused is told to wait for so many seconds, not all of them for the same: they would come back together. */
const waitsSeconds = [1, 2, 3] as const
const restMs = 500

/** Before the body is read, where most are refused; and again when it was, since others have come meanwhile. */
export function limitWork(
  app: FastifyInstance,
  counts: RequestCounts,
  answerBusy: AnswerBusy,
  isShared: (socket: Socket) => boolean,
): void {
  const pace = watchPace()
  app.addHook('onClose', async () => pace.stop())
  const write = createGate(limits.write)
  const settle = createGate(limits.settle)
  const read = createGate(limits.read, () => settle.underWay() > 0 && pace.isSlow())
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
      else turnAway(gate, request, reply)
    }
  }

  function limited(gate: Gate, own: RouteCounts, handle: RouteHandlerMethod): RouteHandlerMethod {
    const { isOpen, enter, leave } = gate
    return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      if (!isOpen()) return turnAway(gate, request, reply)
      enter()
      // Handlers are async: they give a promise and never throw. Beside it, not around it: every request comes this way.
      const answer = handle.call(this, request, reply) as Promise<unknown>
      answer.then(() => {
        leave()
        countAnswer(own, request)
      }, leave)
      return answer
    }
  }

  let turnedAway = 0
  function turnAway({ mustYield }: Gate, request: FastifyRequest, reply: FastifyReply): void {
    counts.turnedAway[mustYield() ? 'yielding' : 'crowded'] += 1
    const seconds = waitsSeconds[turnedAway % waitsSeconds.length] as number
    turnedAway += 1
    // Behind a proxy's connection there are others, who may be paying.
    if (!isShared(request.raw.socket)) rest(request, reply)
    answerBusy(request, reply, seconds)
  }
}

type Gate = { isOpen(): boolean; mustYield(): boolean; enter(): void; leave(): void; underWay(): number }

/** `mustYield`: others need the room now. */
function createGate({ burst, steady }: (typeof limits)[Work], mustYield = () => false): Gate {
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
 * The connection is not read from for half of the shortest wait: whoever comes again at once would have us spend our time
 * on refusals. It begins behind the answer and the last of the request: until then Node reads on by itself.
 */
function rest({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  function pause(): void {
    socket.pause()
    setTimeout(() => socket.resume(), restMs).unref()
  }
  response.once('finish', () => {
    if (request.closed) process.nextTick(pause)
    else request.once('close', pause)
  })
}
