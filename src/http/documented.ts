// What the API document says of an endpoint beyond its schemas: names, texts, and an example of what is sent and of every
// answer. It is part of the route's own definition, and the list of refusals in it is the only one there is. A test holds
// each of them against what is really sent, word for word.
import type Type from 'typebox'
import { type Refusal, refuse, refuseFields } from '../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `no API`: a page for people. */
    documented?: Documented | 'no API'
  }
}

/** The groups of the document, in their order. */
export type Tag = 'Payments' | 'Credits' | 'Operation'

export type Documented = {
  operationId: string
  tag: Tag
  summary: string
  description: string
  /** Of the request, beyond those that every request has. */
  headers?: Record<string, Type.TSchema>
  /** An example of the body. */
  body?: object
  /** An example for each status, as it is sent. */
  answers: Record<number, unknown>
  /** What the endpoint itself refuses; what refuses before it is reached comes with its listener. */
  refusals: readonly Refused[]
}

export type Refused = { when: string; refusal: Refusal }

export function refused(when: string, refusal: Refusal): Refused {
  return { when, refusal }
}

/** VAL002, as the schema of a body gives it. */
export function missing(field: string): Refused {
  return refused(`${field} is missing`, refuseFields('VAL002', [{ field, rule: 'is required' }]))
}

/** VAL003, as the schema of a field gives it. */
export function notAllowed(field: string, schema: Type.TSchema): Refused {
  const { description } = schema as { description?: string }
  const refusal = refuseFields('VAL003', [{ field, rule: `must be ${description}` }])
  return refused(`${field} has a value that is not allowed`, refusal)
}

/** Of every endpoint that takes a body. */
export const bodyRefusals: readonly Refused[] = [
  refused('the body is of another type', refuse('VAL001', { message: 'The Content-Type must be application/json.' })),
]

/** Whatever the route, for everybody who can reach the port. */
export const transportRefusals: readonly Refused[] = [
  refused('the request, or its body, cannot be read', refuse('VAL001')),
  refused('the head or the body is larger than the limit', refuse('VAL004')),
  refused(
    'a bug; the request id finds it in the log',
    refuse('INT001', { metadata: { requestId: 'Zk3vTq81Lw-4021' } }),
  ),
]
