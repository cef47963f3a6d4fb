// The answers of a listener: how many of each code on each route, and how long they took. Each answer is counted once, where
// it is decided: a success when its handler has returned, a refusal where its code is known. A success that cannot be written
// counts as both. The counters of a route are created with the route, so that a request only adds to them.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { catalogue, type ErrorCode } from '../core/errors.ts'
import { createDistribution, type Distribution, observe, zeros } from '../core/tallies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** By the monotonic clock; after the answer, one of the two marks below. */
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

/** Why a request was refused before its work began. */
export const earlyRefusalReasons = ['crowded', 'rate limit'] as const
export type EarlyRefusalReason = (typeof earlyRefusalReasons)[number]

export type RequestCounts = {
  routes: RouteCounts[]
  /** Requests of each kind of work that are under way, and that wait for a place. */
  work: Map<string, { running(): number; waiting(): number }>
  earlyRefusals: Record<EarlyRefusalReason, number>
}

const codes = ['SUCCESS', ...(Object.keys(catalogue) as ErrorCode[])] as const
/** From less than a read takes to more than a confirm may take. */
const durationBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

/** Marks in the place of the start time. */
const succeeded = 0
const refused = -1

export function createRequestCounts(): RequestCounts {
  return { routes: [], work: new Map(), earlyRefusals: zeros(earlyRefusalReasons) }
}

function addRoute(counts: RequestCounts, method: string, route: string): RouteCounts {
  const added = { method, route, answers: zeros(codes), durationsMs: createDistribution(durationBoundsMs) }
  counts.routes.push(added)
  return added
}

export type CountAnswers = {
  begun(request: FastifyRequest): void
  refused(request: FastifyRequest, code: ErrorCode): void
  /** For what never became a request: its duration is 0. */
  refusedUnread(code: ErrorCode): void
}

/** Call it before the routes are added. Routes with a kind of work are counted by the admission. */
export function countAnswers(app: FastifyInstance, counts: RequestCounts): CountAnswers {
  // Unmatched requests share one label: their methods are chosen by the sender.
  const unmatched = addRoute(counts, 'any', 'unmatched')
  app.decorateRequest('startedAtMs', succeeded)
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
      // After a success that could not be written it counts as both, since counters never go down.
      if (startedAtMs !== succeeded) observe(durationsMs, performance.now() - startedAtMs)
    },
    refusedUnread(code) {
      unmatched.answers[code] += 1
      observe(unmatched.durationsMs, 0)
    },
  }
}

/** The handler has returned the answer. */
export function countAnswer(counts: RouteCounts, request: FastifyRequest, code: AnswerCode = 'SUCCESS'): void {
  const { startedAtMs } = request
  // Its sender was refused while the handler was running.
  if (startedAtMs === refused) return
  request.startedAtMs = succeeded
  counts.answers[code] += 1
  observe(counts.durationsMs, performance.now() - startedAtMs)
}

/** For routes without admission: they have few requests, or cost less than a refusal. */
function counted(counts: RouteCounts, handle: RouteHandlerMethod): RouteHandlerMethod {
  return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    const answer = handle.call(this, request, reply)
    // Without an envelope the status decides: 503 is not ready.
    const done = () => countAnswer(counts, request, reply.statusCode === catalogue.SVC001.status ? 'SVC001' : 'SUCCESS')
    if (answer instanceof Promise) answer.then(done, () => undefined)
    else done()
    return answer
  }
}
