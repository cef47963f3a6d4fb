// From any error to a code of the catalogue: one table for the framework, one for the HTTP parser. An error that is in neither
// is a bug: INT001, with the details in the log only.
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, type FieldFault, Refusal, refuse, refuseFields } from '../core/errors.ts'
import { orderIdPattern } from '../core/ids.ts'
import { failure, refusalReasonHeader, writeFailure } from './envelope.ts'
import { answerAfterReading } from './limits/event-loop.ts'
import type { CountAnswers } from './request-counts.ts'

const frameworkCodes: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'VAL004'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'VAL001'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'VAL001'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'VAL001'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'VAL001'],
  ['FST_ERR_BAD_URL', 'NOT000'],
  ['FST_ERR_NOT_FOUND', 'NOT000'],
  ['FST_ERR_ASYNC_CONSTRAINT', 'NOT000'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'NOT000'],
  // the sender disconnected while its body was read: the answer reaches no one
  ['ECONNRESET', 'VAL001'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'VAL001'],
])

const parserCodes: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'VAL004'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'VAL004'],
])

/** The request did not arrive in time. */
const tooSlow = /^ERR_HTTP_REQUEST_TIMEOUT$/

/**
 * The code for a request that Node's parser gave up on, before authentication. A request that was late because this process
 * stood still is not the sender's fault.
 */
export function codeOfParserError(error: { code?: string }, hasStalled = false): ErrorCode {
  if (hasStalled && tooSlow.test(error.code ?? '')) return 'SVC001'
  return parserCodes.get(error.code ?? '') ?? 'VAL001'
}

export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  const { code, validation, validationContext } = (error ?? {}) as Partial<FastifyError>
  if (validation) return refusalOfValidation(validation as ValidationFault[], validationContext)
  const known = frameworkCodes.get(code ?? '')
  return known && refuse(known)
}

type ValidationFault = {
  instancePath: string
  keyword: string
  params: { missingProperty?: string }
  parentSchema?: { description?: string }
}

/**
 * Missing fields are reported before wrong ones. The rule is the description in the schema of the field. A body that was read
 * is an object, so one of another type is a missing body.
 */
function refusalOfValidation(faults: ValidationFault[], part: string | undefined): Refusal {
  if (part === 'body' && faults.some(({ instancePath, keyword }) => instancePath === '' && keyword === 'type')) {
    return refuse('VAL001', { message: 'The request has no body.' })
  }
  const missing = faults.filter((fault) => fault.keyword === 'required')
  if (missing.length > 0) {
    const fields = missing.map((fault) => ({ field: fault.params.missingProperty ?? '', rule: 'is required' }))
    return refuseFields('VAL002', fields)
  }
  const fields = new Map<string, FieldFault>()
  for (const { instancePath, parentSchema } of faults) {
    const field = instancePath.slice(1)
    fields.set(field, { field, rule: `must be ${parentSchema?.description ?? 'valid'}` })
  }
  return refuseFields('VAL003', [...fields.values()])
}

/** `last`: the connection is closed after it, whatever the code. */
export type AnswerError = (error: unknown, request: FastifyRequest, reply: FastifyReply, place?: 'last') => FastifyReply

/** Fastify's error handler: refusals, errors of the framework, bugs. */
export function createAnswerError(
  log: Pick<FastifyBaseLogger, 'error'>,
  isLast: (reply: FastifyReply) => boolean,
  count: CountAnswers['refused'],
): AnswerError {
  /** The caller gets the request id, to report it, and nothing else. */
  function unexpected(error: unknown, request: FastifyRequest): Refusal {
    const fields = { requestId: request.id, route: request.routeOptions?.url, orderId: orderIdOf(request) }
    log.error({ err: error, ...fields }, 'unexpected error')
    return refuse('INT001', { metadata: { requestId: request.id } })
  }
  return (error, request, reply, place) => {
    const refusal = toRefusal(error) ?? unexpected(error, request)
    count(request, refusal.code)
    if (refusal.retryAfterSeconds !== null) reply.header('retry-after', refusal.retryAfterSeconds)
    if (refusal.reason !== null) reply.header(refusalReasonHeader, refusal.reason)
    const ends = place === 'last' || isLast(reply) || endsConnection(refusal, request)
    if (ends) reply.header('connection', 'close')
    else reply.removeHeader('connection')
    return reply.code(refusal.status).type('application/json; charset=utf-8').send(failure(refusal))
  }
}

/** The only value of a caller's that is logged. */
function orderIdOf({ body, params }: FastifyRequest): string | undefined {
  const { orderId } = { ...(params as object), ...(body as object) } as { orderId?: unknown }
  return typeof orderId === 'string' && orderIdPattern.test(orderId) ? orderId : undefined
}

/**
 * An unreadable request may have been longer than it declared: what follows may not be a request. While the sender is still
 * sending, closing would discard its answer; the rest of the body is drained instead.
 */
function endsConnection({ code }: Refusal, { raw }: FastifyRequest): boolean {
  return code === 'VAL001' && raw.complete
}

export type AnswerBusy = (request: FastifyRequest, reply: FastifyReply, retryAfterSeconds: number) => void

/**
 * SVC001 under overload, serialised once and written past the framework: with all steps of the framework a refusal would cost
 * more than the work that it avoids.
 */
export function createAnswerBusy(isLast: (reply: FastifyReply) => boolean, count: CountAnswers['refused']): AnswerBusy {
  return (request, reply, retryAfterSeconds) => {
    count(request, 'SVC001')
    reply.hijack()
    const { raw: response } = reply
    answerAfterReading(() => {
      const end = isLast(reply) && { connection: 'close' }
      writeFailure(response, 'SVC001', { 'retry-after': `${retryAfterSeconds}`, ...end })
    })
  }
}
