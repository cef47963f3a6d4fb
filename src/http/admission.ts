// How much is let in at a time, so that what is under way is finished as fast as ever however much comes. What is past the
// limit is refused at once with SVC001 and told when to come again. Limits are by kind of work: what settles money has one
// of its own, far above the others, so that neither reads nor purchases can take its place.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { refuse } from '../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What kind of work a request of this route is. */
    work?: Work
  }
}

export type Work = keyof typeof limits

/**
 * Requests of a kind that may be under way in one listener. A few dozen keep the database and this process busy; more only
 * wait longer, and these still wait for less than a second. What settles money waits for the gateway most of its time.
 */
export const limits = { read: 512, write: 1_024, settle: 2_048 } as const

/**
 * A connection whose request was refused is not read from for this long, half of what it was told to wait. Whoever comes
 * again at once would otherwise have us spend our time on refusals.
 */
const restMs = 500

export function limitWork(app: FastifyInstance): void {
  const underWay: Record<Work, number> = { read: 0, write: 0, settle: 0 }
  app.addHook('onRoute', (route) => {
    const { work } = route.config ?? {}
    if (work) route.handler = limited(work, route.handler)
  })

  function limited(work: Work, handle: RouteHandlerMethod): RouteHandlerMethod {
    const leave = () => {
      underWay[work] -= 1
    }
    return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      if (underWay[work] >= limits[work]) {
        rest(reply)
        throw refuse('SVC001')
      }
      underWay[work] += 1
      // Handlers are async: they give a promise and never throw. Beside it, not around it: every request comes this way.
      const answer = handle.call(this, request, reply) as Promise<unknown>
      answer.then(leave, leave)
      return answer
    }
  }
}

/** Behind the answer: until then Node reads on by itself. */
function rest({ raw }: FastifyReply): void {
  const { socket } = raw
  if (!socket) return
  raw.once('finish', () => {
    setImmediate(() => {
      socket.pause()
      setTimeout(() => socket.resume(), restMs).unref()
    })
  })
}
