// A span for each request that does work, where spans are recorded. A trace that a service of ours names goes on. Of
// anybody else's there is a link: a trace of our own begins, and whether it is recorded is not theirs to say. Where no
// spans are recorded, requests pass nothing of this.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { noTracing, type SpanOptions, type Tracing } from '../core/tracing.ts'
import { toRefusal } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's own span, for those within it. */
    traceParent: string | null
  }
}

/** What becomes of the trace that a caller names. */
export type CallersTraces = 'go on' | 'are linked'

/** Has to be called before the routes are added. */
export function traceRequests(app: FastifyInstance, tracing: Tracing, callersTraces: CallersTraces): void {
  app.decorateRequest('traceParent', null)
  if (tracing === noTracing) return
  app.addHook('onRoute', (route) => {
    if (!route.config?.work) return
    route.handler = traced(tracing, callersTraces, `${route.method} ${route.url}`, route.handler)
  })
}

const placeOf: Record<CallersTraces, (traceParent: string | null) => Pick<SpanOptions, 'parent' | 'links'>> = {
  'go on': (traceParent) => ({ parent: traceParent }),
  'are linked': (traceParent) => ({ parent: null, links: traceParent === null ? [] : [traceParent] }),
}

function traced(
  tracing: Tracing,
  callersTraces: CallersTraces,
  name: string,
  handle: RouteHandlerMethod,
): RouteHandlerMethod {
  const [method = '', route = ''] = name.split(' ')
  const place = placeOf[callersTraces]
  return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
    const span = tracing.start(name, {
      ...place(request.headers.traceparent?.toString() ?? null),
      kind: 'server',
      attributes: { 'http.request.method': method, 'http.route': route, requestId: request.id },
    })
    if (!span) return handle.call(this, request, reply)
    request.traceParent = span.traceParent
    const answer = handle.call(this, request, reply) as Promise<unknown>
    answer.then(
      () => span.end({ code: 'SUCCESS' }),
      (error) => span.end({ code: toRefusal(error)?.code ?? 'INT001' }),
    )
    return answer
  }
}
