// The listener of an API: who calls is known before anything else of a request is looked at (section 5 of the
// specification), then how often they have called, then whether there is such a route, then whether there is room.
import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../core/errors.ts'
import { noTracing, type Tracing } from '../core/tracing.ts'
import { allowedMethods } from './allow-header.ts'
import { limitWork } from './limits/admission.ts'
import { createRateLimit, type RateLimitOptions } from './limits/rate-limit.ts'
import { createSlowDown } from './limits/wrong-key-delay.ts'
import { type Admitted, buildListener, type TransportLimits } from './listener.ts'
import type { RequestCounts } from './request-counts.ts'
import { type CallersTraces, traceRequests } from './request-spans.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls the public API, or the internal one. */
    customerId: string
    serviceId: string
    /** The API key that a request of the public API came with. */
    keyId: string
  }
  interface FastifyContextConfig {
    /** For everybody who can reach the port. */
    open?: true
  }
}

type Caller = { customerId: string; keyId: string } | { serviceId: string }

export type ApiListenerOptions = {
  /** Throws the refusal of whoever is not known. Of whoever is remembered it gives the name at once. */
  authenticate(request: IncomingMessage): Caller | Promise<Caller>
  log: FastifyBaseLogger
  bodyLimitBytes: number
  /** For each API key; null: no limit. */
  rateLimit?: RateLimitOptions | null
  limits?: Partial<TransportLimits>
  counts?: RequestCounts
  tracing?: Tracing
  callersTraces?: CallersTraces
  /** As of a listener. */
  hostnames?: readonly string[]
}

/** Whoever reads too often can still confirm and cancel. */
const keptForSettling = 0.2

export function buildApiListener(options: ApiListenerOptions): FastifyInstance {
  const { authenticate, rateLimit = null, tracing = noTracing, callersTraces = 'link', ...rest } = options
  const rate = rateLimit && createRateLimit(rateLimit)
  const slowDown = createSlowDown()
  const { app, connections, counts, answerBusy } = buildListener({ ...rest, admit, admitConnect })

  /** Without a promise for whoever is remembered. */
  function admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted> {
    const { open, work } = request.routeOptions?.config ?? {}
    if (open) return undefined
    function enter(caller: Caller): Admitted {
      if ('customerId' in caller) {
        request.customerId = caller.customerId
        request.keyId = caller.keyId
      } else {
        request.serviceId = caller.serviceId
      }
      connections.noteCaller(request.raw.socket, 'keyId' in caller ? caller.keyId : caller.serviceId)
      if (rate && 'keyId' in caller && !rate.take(caller.keyId, work === 'settle' ? 0 : keptForSettling)) {
        counts.turnedAway['rate limit'] += 1
        answerBusy(request, reply, 1)
        return 'answered'
      }
      if (!request.is404) return undefined
      const allowed = allowedMethodsOf(request.raw.url ?? '')
      // Not where it is the address that cannot be read.
      const isOfMethod = allowed.length > 0 && !allowed.includes(request.method)
      if (isOfMethod) reply.header('allow', allowed.join(', '))
      return refuse('NOT000')
    }
    const caller = authenticate(request.raw)
    return caller instanceof Promise ? caller.then(enter, (refusal) => slowDown(request.ip, refusal)) : enter(caller)
  }

  async function admitConnect(request: IncomingMessage): Promise<Error> {
    try {
      await authenticate(request)
      return refuse('NOT000')
    } catch (refusal) {
      return slowDown(request.socket.remoteAddress, refusal)
    }
  }

  const allowedMethodsOf = allowedMethods(app)
  app.decorateRequest('customerId', '')
  app.decorateRequest('keyId', '')
  app.decorateRequest('serviceId', '')
  traceRequests(app, tracing, callersTraces)
  limitWork(app, counts, answerBusy, connections.isShared)
  return app
}
