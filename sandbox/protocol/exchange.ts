// One request of the Toss protocol from arrival to answer: idempotency key, fault, work, journal, answer. The work is
// synchronous, so no request ever sees another one half done; its changes are in the journal before anything is sent. A
// fault after the work therefore loses the answer only, never the money or the idempotency record.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { faultKinds, hang, type Operation, type RequestFault } from '../faults/faults.ts'
import type { RawAnswer } from '../faults/garble.ts'
import { bodyOf } from '../payments/payment-object.ts'
import type { Answer, Outcome } from '../payments/payments.ts'
import type { Sandbox } from '../state.ts'
import { errorAnswer } from './errors.ts'
import { type Answered, bindsKey, idempotencyKeyMaxLength, idempotencyScope } from './idempotency.ts'
import type { LoggedRequest } from './request-log.ts'

export const traceHeader = 'x-tosspayments-trace-id'

export type Work = (now: Date) => Outcome

/** The answer, and whether it is withheld. */
type Produced = { answer: Answer; silent: boolean }

/** Where an answer comes from: the work of this request, or the stored answer of another one. */
type Source = {
  isReplay: boolean
  /** Does the work; `instead` is then bound to the idempotency key, not the answer of the work. */
  produce(instead: Answer | null): Produced
  /** Binds an answer without doing the work. */
  bind(answer: Answer): void
}

/** Returns the body to send, or nothing when a fault took over the connection. */
export async function exchange(
  sandbox: Sandbox,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  work: Work,
): Promise<object | string | undefined> {
  const logged = sandbox.requests.add(operation, request, sandbox.clock.now())
  const body = await respond(sandbox, logged, request, reply, work)
  if (!reply.sent) Object.assign(logged, { status: reply.statusCode, code: (body as { code?: string }).code ?? null })
  return body
}

async function respond(
  sandbox: Sandbox,
  logged: LoggedRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  work: Work,
): Promise<object | string | undefined> {
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  if (typeof key !== 'string' || key === '') return perform(sandbox, logged, reply, first(sandbox, null, work))
  if (key.length > idempotencyKeyMaxLength) return send(reply, errorAnswer('INVALID_IDEMPOTENCY_KEY'))

  reply.header('idempotency-key', key)
  const { running, find } = sandbox.idempotency
  const scope = idempotencyScope(sandbox.secretKey, request.method, request.url, key)
  const stored = find(scope, sandbox.clock.nowMs())
  if (stored !== undefined) return perform(sandbox, logged, reply, replay(reply, stored))
  if (running.has(scope)) return send(reply, errorAnswer('IDEMPOTENT_REQUEST_PROCESSING'))
  running.add(scope)
  try {
    const identity = { scope, traceId: String(reply.getHeader(traceHeader)) }
    return await perform(sandbox, logged, reply, first(sandbox, identity, work))
  } finally {
    running.delete(scope)
  }
}

function first(sandbox: Sandbox, identity: { scope: string; traceId: string } | null, work: Work): Source {
  const answeredWith = (answer: Answer) =>
    identity === null ? {} : { answered: { ...identity, atMs: sandbox.clock.nowMs(), answer } }
  return {
    isReplay: false,
    produce(instead) {
      sandbox.expireSessions()
      const { changed, answer, silent = false } = work(sandbox.clock.now())
      if (changed.length > 0 || identity !== null) sandbox.record({ changed, ...answeredWith(instead ?? answer) })
      return { answer, silent }
    },
    bind(answer) {
      if (identity !== null) sandbox.record({ changed: [], ...answeredWith(answer) })
    },
  }
}

function replay(reply: FastifyReply, { answer, traceId }: Answered): Source {
  reply.header(traceHeader, `${reply.getHeader(traceHeader)}, ${traceId}`)
  return { isReplay: true, produce: () => ({ answer, silent: false }), bind: () => undefined }
}

/** Answers from the source, unless a fault is due. */
async function perform(sandbox: Sandbox, logged: LoggedRequest, reply: FastifyReply, source: Source) {
  logged.replay = source.isReplay
  const fault = sandbox.faults.take(logged.operation, source.isReplay)
  if (fault === undefined) return sendProduced(reply, source.produce(null))
  logged.fault = fault.kind

  const { moment, answer, strike, garble } = faultKinds[fault.kind]
  if (moment === 'none') {
    await wait(sandbox, fault)
    return sendProduced(reply, source.produce(null))
  }
  const bound = answer !== undefined && bindsKey(answer.status, sandbox.behaviour.values) ? answer : null
  if (moment !== 'after') {
    if (bound !== null) source.bind(bound)
    return fail(reply, answer, strike)
  }

  const produced = source.produce(bound)
  await wait(sandbox, fault)
  if (answer !== undefined || strike !== undefined) return fail(reply, answer, strike)
  const garbled = garble?.(produced.answer)
  if (garbled === null) {
    sandbox.faults.giveBack(fault)
    logged.fault = null
  }
  return garbled ? send(reply, garbled) : sendProduced(reply, produced)
}

async function wait(sandbox: Sandbox, { delayMs }: RequestFault): Promise<void> {
  if (delayMs !== undefined) await sleep(delayMs, undefined, { signal: sandbox.stopping })
}

function fail(reply: FastifyReply, answer: Answer | undefined, strike: ((reply: FastifyReply) => void) | undefined) {
  strike?.(reply)
  return answer && send(reply, answer)
}

function sendProduced(reply: FastifyReply, { answer, silent }: Produced): object | string | undefined {
  if (!silent) return send(reply, answer)
  hang(reply)
  return undefined
}

function send(reply: FastifyReply, answer: Answer | RawAnswer): object | string {
  reply.code(answer.status)
  if (!('text' in answer)) return bodyOf(answer)
  reply.type(answer.type)
  return answer.text
}
