// How many requests are worked on at a time, so that those under way stay fast under any load. The others wait in line, in the
// order of their arrival, and are refused with SVC001 and Retry-After if their turn does not come within five seconds. Each kind of
// work has a line of its own; that of requests which settle money has far more places than the others, so that neither reads nor
// purchases can take them. A refusal comes after that wait, so a client that retries at once does not keep this process busy with
// refusals. Only while a line is at its limit a request is refused at once, before its body is read.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import { createTimedQueue, type TimedQueue } from '../../core/limit.ts'
import type { AnswerBusy } from '../error-handler.ts'
import { countAnswer, type RequestCounts, type RouteCounts } from '../request-counts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The kind of work of this route; it is a metric label too. */
    work?: WorkKind
  }
}

export type WorkKind = keyof typeof placesOf

/**
 * As many as keep the database and this process busy: more would only make each of them wait longer. Requests that settle money
 * spend most of their time waiting for the gateway.
 */
export const placesOf = { read: 64, write: 256, settle: 1_024 } as const

/** As long as a statement may take. A request that waits is cheaper than one that is refused and comes again. */
export const longestWaitMs = 5_000
/** In one line. A request that waits costs memory, though little: its body is parsed and valid. */
export const mostWaiting = 4_096

/** Retry-After of refusals, not the same for all: they would come back together. */
const retryAfterSeconds = [1, 2, 3] as const

export function limitWork(app: FastifyInstance, counts: RequestCounts, answerBusy: AnswerBusy): void {
  const queues = { read: queueOf('read'), write: queueOf('write'), settle: queueOf('settle') }
  app.addHook('onRoute', (route) => {
    const { work, counts: own } = route.config ?? {}
    if (!work || !own) return
    route.onRequest = [route.onRequest ?? [], refuseIfFull(queues[work])].flat()
    route.handler = queued(queues[work], own, route.handler)
  })

  function queueOf(work: WorkKind): TimedQueue {
    const queue = createTimedQueue(placesOf[work], mostWaiting, longestWaitMs)
    counts.work.set(work, queue)
    return queue
  }

  function refuseIfFull({ isFull }: TimedQueue): onRequestHookHandler {
    return (request, reply, done) => {
      if (isFull()) refuseBusy(request, reply)
      else done()
    }
  }

  function queued({ run }: TimedQueue, own: RouteCounts, handle: RouteHandlerMethod): RouteHandlerMethod {
    return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      return run(
        () => {
          if (isOver(request, reply)) return leaveUnanswered(reply)
          // Handlers are async: they return a promise and never throw. Not wrapped in another promise: this is the hot path.
          const answer = handle.call(this, request, reply) as Promise<unknown>
          answer.then(() => countAnswer(own, request), ignore)
          return answer
        },
        () => (isOver(request, reply) ? leaveUnanswered(reply) : refuseBusy(request, reply)),
      )
    }
  }

  let refused = 0
  function refuseBusy(request: FastifyRequest, reply: FastifyReply): void {
    counts.earlyRefusals.crowded += 1
    const seconds = retryAfterSeconds[refused % retryAfterSeconds.length] as number
    refused += 1
    answerBusy(request, reply, seconds)
  }
}

/** While it waited it was answered, because the rest of it was unreadable, or its sender has gone. */
function isOver({ raw: { socket } }: FastifyRequest, { sent }: FastifyReply): boolean {
  return sent || !socket.writable
}

async function leaveUnanswered(reply: FastifyReply): Promise<void> {
  if (!reply.sent) reply.hijack()
}

function ignore(): void {
  // The error handler has it.
}
