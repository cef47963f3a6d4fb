// Which answers a listener has given: how many of each code on each route, and how long they took. Every answer is
// counted once, where it is decided: a success when its handler is done, a refusal where its code is known. An answer that
// its handler gave and that cannot be written is both. The numbers of a route are made with the route, so that a request
// only adds to them.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { catalogue, type ErrorCode } from '../core/errors.ts'
import { createDistribution, type Distribution, observe, zeroOf } from '../core/tallies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** By the clock of the process; once it is answered, how it was. */
    startedAtMs: number
  }
  interface FastifyContextConfig {
    counts?: RouteCounts
  }
}

export type AnswerCode = 'SUCCESS' | ErrorCode

export type RouteCounts = {
  method: string
  route: string
  answers: Record<AnswerCode, number>
  durationsMs: Distribution
}

/** Why a request was turned away before its work began. */
export const turnedAwayFor = ['crowded', 'yielding', 'rate limit'] as const
export type TurnedAwayFor = (typeof turnedAwayFor)[number]

export type RequestCounts = {
  routes: RouteCounts[]
  /** Requests under way, by kind of work. */
  underWay: Map<string, () => number>
  turnedAway: Record<TurnedAwayFor, number>
}

const codes = ['SUCCESS', ...(Object.keys(catalogue) as ErrorCode[])] as const
/** From below what a read takes to past the longest a confirm may take. */
const durationBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

/** In the place of the time of its start. */
const answeredWell = 0
const refused = -1

export function createRequestCounts(): RequestCounts {
  return { routes: [], underWay: new Map(), turnedAway: zeroOf(turnedAwayFor) }
}

function addRoute(counts: RequestCounts, method: string, route: string): RouteCounts {
  const added = { method, route, answers: zeroOf(codes), durationsMs: createDistribution(durationBoundsMs) }
  counts.routes.push(added)
  return added
}

export type CountAnswers = {
  begun(request: FastifyRequest): void
  refused(request: FastifyRequest, code: ErrorCode): void
  /** Of what never became a request: no time of ours was spent on it. */
  refusedUnread(code: ErrorCode): void
}

/** Has to be called before the routes are added. Routes with work of a kind are counted where they are let in. */
export function countAnswers(app: FastifyInstance, counts: RequestCounts): CountAnswers {
  // Of what matches no route the methods are the sender's own, and anything.
  const unmatched = addRoute(counts, 'any', 'unmatched')
  app.decorateRequest('startedAtMs', answeredWell)
  app.addHook('onRoute', (route) => {
    const own = addRoute(counts, [route.method].flat().join(','), route.url)
    route.config = { ...route.config, counts: own }
    if (!route.config.work) route.handler = counted(own, route.handler)
  })
  return {
    begun(request) {
      request.startedAtMs = performance.now()
    },
    refused(request, code) {
      const { startedAtMs } = request
      if (startedAtMs === refused) return
      const { answers, durationsMs } = request.routeOptions?.config?.counts ?? unmatched
      request.startedAtMs = refused
      answers[code] += 1
      // Its handler was content with it, and it could not be written: it counts as both, since no count goes down.
      if (startedAtMs !== answeredWell) observe(durationsMs, performance.now() - startedAtMs)
    },
    refusedUnread(code) {
      unmatched.answers[code] += 1
      observe(unmatched.durationsMs, 0)
    },
  }
}

/** The handler is done: what it gave is the answer. */
export function countAnswer(counts: RouteCounts, request: FastifyRequest, code: AnswerCode = 'SUCCESS'): void {
  const { startedAtMs } = request
  // While it was at work its sender was told something else.
  if (startedAtMs === refused) return
  request.startedAtMs = answeredWell
  counts.answers[code] += 1
  observe(counts.durationsMs, performance.now() - startedAtMs)
}

/** For routes that nobody is turned away from: they are few, or cost less than a refusal. */
function counted(counts: RouteCounts, handle: RouteHandlerMethod): RouteHandlerMethod {
  return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    const answer = handle.call(this, request, reply)
    // Without the envelope the status tells: not ready.
    const done = () => countAnswer(counts, request, reply.statusCode === catalogue.SVC001.status ? 'SVC001' : 'SUCCESS')
    if (answer instanceof Promise) answer.then(done, () => undefined)
    else done()
    return answer
  }
}
