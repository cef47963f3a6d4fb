// A span for each request that does work; it is the current span for everything the handler calls. A trace that a sibling
// service names is continued. A trace that an API caller names is only linked: ours begins anew, so a caller can neither
// have a request recorded nor prevent it. With tracing off the routes are left as they are.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { noTracing, type SpanOptions, type Tracing } from '../core/tracing.ts'
import { toRefusal } from './error-handler.ts'

/** What is done with the trace that a caller names. */
export type CallersTraces = 'continue' | 'link'

/** Call it before the routes are added. */
export function traceRequests(app: FastifyInstance, tracing: Tracing, callersTraces: CallersTraces): void {
  if (tracing === noTracing) return
  app.addHook('onRoute', (route) => {
    if (!route.config?.work) return
    route.handler = traced(tracing, callersTraces, `${route.method} ${route.url}`, route.handler)
  })
}

const placeOf: Record<CallersTraces, (traceParent: string | null) => Pick<SpanOptions, 'parent' | 'links'>> = {
  continue: (traceParent) => ({ parent: traceParent }),
  link: (traceParent) => ({ parent: null, links: traceParent === null ? [] : [traceParent] }),
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
    const answer = span.run(() => handle.call(this, request, reply)) as Promise<unknown>
    answer.then(
      () => span.end({ code: 'SUCCESS' }),
      (error) => span.end({ code: toRefusal(error)?.code ?? 'INT001' }),
    )
    return answer
  }
}
