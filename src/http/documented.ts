// What the API document has about an endpoint beyond its schemas: names, texts, an example of the request and of every answer.
// It is part of the route's definition, with the one list of what the endpoint refuses. A test compares each refusal with
// what is really sent, word for word.
import type Type from 'typebox'
import { type Refusal, refuse, refuseFields } from '../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `no API`: a page for people, not in the document. */
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
  /** Request headers, beyond those that every request has. */
  headers?: Record<string, Type.TSchema>
  /** An example of the body. */
  body?: object
  /** Response headers of its success, beyond those that every answer has; each may be missing. */
  answerHeaders?: Record<string, Type.TSchema>
  /** An example for each status, as it is sent. */
  answers: Record<number, unknown>
  /** What the endpoint itself refuses; refusals before it is reached come with its listener. */
  refusals: readonly Refused[]
}

export type Refused = { when: string; refusal: Refusal }

export function refused(when: string, refusal: Refusal): Refused {
  return { when, refusal }
}

/** VAL002, as the schema of a body produces it. */
export function missing(field: string): Refused {
  return refused(`${field} is missing`, refuseFields('VAL002', [{ field, rule: 'is required' }]))
}

/** VAL003, as the schema of a field produces it. */
export function notAllowed(field: string, schema: Type.TSchema): Refused {
  const { description } = schema as { description?: string }
  const refusal = refuseFields('VAL003', [{ field, rule: `must be ${description}` }])
  return refused(`${field} has a value that is not allowed`, refusal)
}

/** For every endpoint with a body. */
export const bodyRefusals: readonly Refused[] = [
  refused('the body is of another type', refuse('VAL001', { message: 'The Content-Type must be application/json.' })),
]

/** For every route: what cannot be read as HTTP before authentication, a body after it, a bug at any time. */
export const transportRefusals: readonly Refused[] = [
  refused('the request, or its body, cannot be read', refuse('VAL001')),
  refused('the head or the body is larger than the limit', refuse('VAL004')),
  refused(
    'a bug; the request id finds it in the log',
    refuse('INT001', { metadata: { requestId: 'Zk3vTq81Lw-4021' } }),
  ),
]
