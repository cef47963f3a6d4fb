// One request of the Toss protocol from arrival to answer: idempotency key, fault, work, journal, answer. The work is
// synchronous, so no request ever sees another one half done; what it changed is in the journal before anything is
// sent. A fault after the work therefore loses the answer only, never the money or the idempotency record.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer } from './errors.ts'
import { type Faults, faultKinds, type Operation } from './faults.ts'
import { type Idempotency, idempotencyKeyMaxLength, idempotencyScope } from './idempotency.ts'
import type { JournalEntry } from './journal.ts'
import { paymentObject } from './payment-object.ts'
import type { Answer, Outcome, Payments } from './payments.ts'

export type Sandbox = {
  secretKey: string
  strict: boolean
  payments: Payments
  idempotency: Idempotency
  faults: Faults
  /** Journal first, memory second. */
  record(entry: JournalEntry): void
  /** Aborted when the server stops: nobody is made to wait for a delay then. */
  stopping: AbortSignal
}

export type Work = (now: Date) => Outcome

/** Returns the body to send, or nothing when a fault took the connection away. */
export async function exchange(
  sandbox: Sandbox,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  work: Work,
): Promise<object | undefined> {
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  if (typeof key !== 'string' || key === '') return perform(sandbox, operation, reply, () => run(sandbox, null, work))
  if (key.length > idempotencyKeyMaxLength) return send(reply, errorAnswer('INVALID_IDEMPOTENCY_KEY'))

  const { running, find } = sandbox.idempotency
  const scope = idempotencyScope(sandbox.secretKey, request.method, request.url, key)
  const stored = find(scope, Date.now())
  if (stored !== undefined) return perform(sandbox, operation, reply, () => stored)
  if (running.has(scope)) return send(reply, errorAnswer('IDEMPOTENT_REQUEST_PROCESSING'))
  running.add(scope)
  try {
    return await perform(sandbox, operation, reply, () => run(sandbox, scope, work))
  } finally {
    running.delete(scope)
  }
}

/** Answers with what `produce` gives, unless a fault is due. */
async function perform(sandbox: Sandbox, operation: Operation, reply: FastifyReply, produce: () => Answer) {
  const fault = sandbox.faults.take(operation)
  if (fault === undefined) return send(reply, produce())

  if (fault.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal: sandbox.stopping })
  const { moment, strike } = faultKinds[fault.kind]
  if (moment === 'before') return send(reply, strike(reply))
  const answer = produce()
  return send(reply, moment === 'after' ? strike(reply) : answer)
}

function run(sandbox: Sandbox, scope: string | null, work: Work): Answer {
  const now = new Date()
  const { changed, answer } = work(now)
  if (scope !== null) sandbox.record({ changed, answered: { scope, atMs: now.getTime(), answer } })
  else if (changed.length > 0) sandbox.record({ changed })
  return answer
}

function send(reply: FastifyReply, answer: Answer | null): object | undefined {
  if (answer === null) return undefined
  reply.code(answer.status)
  return 'payment' in answer ? paymentObject(answer.payment) : answer.error
}
