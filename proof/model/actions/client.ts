// A customer's program, or a sibling service. A request without a definite answer is retried with the same values, at
// either service, with growing pauses. One program in ten never retries; what it has started must be finished without
// it. A sibling service always retries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../harness/random.ts'
import { drops } from '../../faults.ts'
import type { Key, Shop } from '../../world/shop.ts'
import type { World } from '../../world/world.ts'
import { type Call, checkAnswer, type History, type Request } from '../history.ts'
import type { Exchanger } from './exchange.ts'
import { messageOf } from './messages.ts'

/** Some time out before a paused service resumes. */
const answerLimitsMs = [2_000, 6_000, 15_000] as const
const retryForMs = 30_000
const retryPatientlyForMs = 90_000
const firstPauseMs = 50
const longestPauseMs = 800
const lastAttempts = 20
const giveUpShare = 0.1
const dropShare = 0.03

/** The code for a suspended key. Not a definite answer: the customer retries with its new key. */
export const suspendedCause = 'AUTH003'

export type Client = ReturnType<typeof createClient>

export type ClientParts = {
  world: World
  shop: Shop
  history: History
  exchanger: Exchanger
  random: Random
  /** Dropped connections are a fault like any other: only while the faults are on. */
  mayDrop(): boolean
  stopped: AbortSignal
}

export function createClient({ world, shop, history, exchanger, random, mayDrop, stopped }: ClientParts) {
  /** One attempt at one service, by default with the key that the customer uses now. */
  async function sendOnce<Of extends Request>(attempt: number, request: Of, otherKey?: Key): Promise<Call<Of>> {
    const service = world.services[attempt % 2 === 0 ? 0 : 1]
    const { customerId = '', key: ownKey } = shop.customers[request.customer] ?? {}
    const { apiKey = '', keyId = null } = otherKey ?? ownKey ?? {}
    const { method, path, body, headers } = messageOf(request, customerId)
    const isSibling = 'sibling' in request
    const caller: Record<string, string> = isSibling
      ? { authorization: `Bearer ${shop.siblings[request.sibling]?.token}` }
      : { 'service-api-key': apiKey }
    const drop =
      mayDrop() && random.chance(dropShare) ? { kind: random.pick(drops), afterMs: random.integer(0, 40) } : undefined
    const invoked = history.invoke(service.name, request)
    const answer = await exchanger.exchange({
      url: `${isSibling ? service.internalUrl : service.publicUrl}${path}`,
      method,
      headers: {
        ...caller,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body,
      timeoutMs: random.pick(answerLimitsMs),
      drop,
    })
    const { breach, outcome: checked } = checkAnswer(request.op, answer)
    const isOwnKey = !isSibling && headers?.['service-api-key'] === undefined
    // An operator has suspended the key: its customer gets another one and retries.
    const isSuspended = isOwnKey && checked.kind === 'fail' && checked.code === suspendedCause
    const outcome = isSuspended ? ({ kind: 'info', cause: suspendedCause } as const) : checked
    const dropped = answer.kind === 'none' && answer.cause.startsWith('DROPPED')
    const sent = { ...invoked, service: service.name, request, keyId: isOwnKey ? keyId : null }
    return history.complete({ ...sent, outcome, breach, dropped }) as Call<Of>
  }

  /** Until there is a definite answer or the time is over; some clients give up after the first attempt. */
  async function send<Of extends Request>(
    request: Of,
    firstAttempt = random.integer(0, 1),
    forMs = random.chance(giveUpShare) ? 0 : retryForMs,
  ): Promise<Call<Of>> {
    const limit = performance.now() + forMs
    let pauseMs = firstPauseMs
    for (let attempt = firstAttempt; ; attempt += 1) {
      const call = await sendOnce(attempt, request)
      if (call.outcome.kind !== 'info' || performance.now() >= limit || stopped.aborted) return call
      await sleep(pauseMs * (0.5 + random.integer(0, 100) / 100))
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  /** For the final reads, when there are no more faults. */
  async function sendUntilAnswered<Of extends Request>(request: Of): Promise<Call<Of>> {
    for (let attempt = random.integer(0, 1); ; attempt += 1) {
      const call = await sendOnce(attempt, request)
      if (call.outcome.kind !== 'info' || attempt > lastAttempts || stopped.aborted) return call
      await sleep(longestPauseMs)
    }
  }

  return {
    send,
    sendUntilAnswered,
    /** Once, with a current or former key of the customer. */
    sendWithKey: <Of extends Request>(key: Key, attempt: number, request: Of) => sendOnce(attempt, request, key),
    /** Longer than any fault lasts. */
    sendPatiently: <Of extends Request>(request: Of, firstAttempt?: number) =>
      send(request, firstAttempt, retryPatientlyForMs),
    /** The same request several times at once, over both services. */
    sendInParallel: <Of extends Request>(request: Of, copies: number) =>
      Promise.all(Array.from({ length: copies }, (_, copy) => send(request, copy))),
  }
}
