// The listener of an API. A request is checked in this order: the caller, before anything else is read (section 5 of the
// specification), the caller's rate, whether the route exists, the scope it needs, its body; then it waits for its place.
import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, refuse } from '../core/errors.ts'
import { createTokenBuckets, type TokenBucketOptions } from '../core/limit.ts'
import type { TokenScope } from '../core/token-scopes.ts'
import { noTracing, type Tracing } from '../core/tracing.ts'
import { allowedMethods } from './allow-header.ts'
import { limitWork } from './limits/admission.ts'
import { createWrongKeyDelay } from './limits/wrong-key-delay.ts'
import { type Admitted, buildListener, type TransportLimits } from './listener.ts'
import type { RequestCounts } from './request-counts.ts'
import { type CallersTraces, traceRequests } from './request-spans.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of the public API, or of the internal one. */
    customerId: string
    serviceId: string
    /** Whether the token of a request to the internal API has the scope `manage-holds`. */
    mayManageHolds: boolean
    /** The API key of a request to the public API. */
    keyId: string
  }
  interface FastifyContextConfig {
    /** Without authentication. */
    open?: true
    /** What a token needs for it. Every route of the internal API has it, or is open. */
    scope?: TokenScope
  }
}

type Caller = { customerId: string; keyId: string } | { serviceId: string; scopes: readonly TokenScope[] }

export type ApiListenerOptions = {
  /** Throws the refusal of an unknown caller. Returns synchronously when the key is cached. */
  authenticate(request: IncomingMessage): Caller | Promise<Caller>
  log: FastifyBaseLogger
  bodyLimitBytes: number
  maxParamLength?: number
  /** For each API key; null: no limit. */
  rateLimit?: TokenBucketOptions | null
  limits?: Partial<TransportLimits>
  counts?: RequestCounts
  tracing?: Tracing
  callersTraces?: CallersTraces
  /** As for any listener. */
  hostnames?: readonly string[]
}

/** The share of a key's rate that reads and purchases cannot use: a caller that reads too often can still confirm and cancel. */
const reservedForPayments = 0.2

/** The refusal of a token without the scope of the route. */
export function scopeMissing(scope: TokenScope): Refusal {
  return refuse('AUTH003', { message: `The token lacks the scope ${scope}: the request needs a token that has it.` })
}

export function buildApiListener(options: ApiListenerOptions): FastifyInstance {
  const { authenticate, rateLimit = null, tracing = noTracing, callersTraces = 'link', ...rest } = options
  const rate = rateLimit && createTokenBuckets(rateLimit)
  const delayWrongKey = createWrongKeyDelay()
  const { app, counts, answerBusy } = buildListener({ ...rest, admit, admitConnect })

  /** Without a promise when the key is cached. */
  function admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted> {
    const { open, work, scope } = request.routeOptions?.config ?? {}
    // The router takes `GET *` for `/`.
    const isFound = !request.is404 && request.raw.url !== '*'
    if (open && isFound) return undefined
    function enter(caller: Caller): Admitted {
      if ('customerId' in caller) {
        request.customerId = caller.customerId
        request.keyId = caller.keyId
      } else {
        request.serviceId = caller.serviceId
        request.mayManageHolds = caller.scopes.includes('manage-holds')
      }
      if (rate && 'keyId' in caller && !rate.take(caller.keyId, work === 'settle' ? 0 : reservedForPayments)) {
        counts.earlyRefusals['rate limit'] += 1
        answerBusy(request, reply, 1)
        return 'answered'
      }
      if (isFound)
        return scope && 'scopes' in caller && !caller.scopes.includes(scope) ? scopeMissing(scope) : undefined
      const allowed = allowedMethodsOf(request.raw.url ?? '')
      // Not for a path that the router could not read.
      const isOfMethod = allowed.length > 0 && !allowed.includes(request.method)
      if (isOfMethod) reply.header('allow', allowed.join(', '))
      return refuse('NOT000')
    }
    const caller = authenticate(request.raw)
    return caller instanceof Promise
      ? caller.then(enter, (refusal) => delayWrongKey(request.ip, refusal))
      : enter(caller)
  }

  async function admitConnect(request: IncomingMessage): Promise<Error> {
    try {
      await authenticate(request)
      return refuse('NOT000')
    } catch (refusal) {
      return delayWrongKey(request.socket.remoteAddress, refusal)
    }
  }

  const allowedMethodsOf = allowedMethods(app)
  app.decorateRequest('customerId', '')
  app.decorateRequest('keyId', '')
  app.decorateRequest('serviceId', '')
  app.decorateRequest('mayManageHolds', false)
  traceRequests(app, tracing, callersTraces)
  limitWork(app, counts, answerBusy)
  return app
}
