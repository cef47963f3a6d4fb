// A customer's program, or a sibling service: it sends a request, and when it is not told how that ended it asks again,
// as callers do: with the same values, at either service, waiting longer each time. One program in ten does not bother
// and never asks again; what it has started must be finished without it. A sibling service always asks to the end.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../harness/random.ts'
import { type Call, type History, judgeAnswer, type Request } from '../history.ts'
import type { Key, Shop } from '../world/shop.ts'
import type { World } from '../world/world.ts'
import { drops, type Exchanger } from './exchange.ts'
import { messageOf } from './messages.ts'

/** Some are less patient than a paused service is slow. */
const answerLimitsMs = [2_000, 6_000, 15_000] as const
const askAgainForMs = 30_000
const askToTheEndForMs = 90_000
const firstPauseMs = 50
const longestPauseMs = 800
const lastTurns = 20
const giveUpShare = 0.1
const dropShare = 0.03

/** What a suspended key is answered with. It is no end: the customer goes on with another. */
export const suspendedCause = 'AUTH003'

export type Client = ReturnType<typeof createClient>

export type ClientParts = {
  world: World
  shop: Shop
  history: History
  exchanger: Exchanger
  random: Random
  /** Dropped connections are a fault like any other: none before the faults begin, none after their end. */
  mayDrop(): boolean
  stopped: AbortSignal
}

export function createClient({ world, shop, history, exchanger, random, mayDrop, stopped }: ClientParts) {
  /** One attempt at one service, with the key that the customer has now unless told otherwise. */
  async function send<Of extends Request>(turn: number, request: Of, otherKey?: Key): Promise<Call<Of>> {
    const service = world.services[turn % 2 === 0 ? 0 : 1]
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
    const { breach, outcome: told } = judgeAnswer(request.op, answer)
    const isOwnKey = !isSibling && headers?.['service-api-key'] === undefined
    // A key that an operator has suspended: whoever is to have another one is told of it, and asks again.
    const isSuspended = isOwnKey && told.kind === 'fail' && told.code === suspendedCause
    const outcome = isSuspended ? ({ kind: 'info', cause: suspendedCause } as const) : told
    const dropped = answer.kind === 'none' && answer.cause.startsWith('DROPPED')
    const asked = { ...invoked, service: service.name, request, keyId: isOwnKey ? keyId : null }
    return history.complete({ ...asked, outcome, breach, dropped }) as Call<Of>
  }

  /** Asks until there is a definite answer, or it has been long enough, or the client is one of those who give up. */
  async function ask<Of extends Request>(
    request: Of,
    firstTurn = random.integer(0, 1),
    forMs = random.chance(giveUpShare) ? 0 : askAgainForMs,
  ): Promise<Call<Of>> {
    const limit = performance.now() + forMs
    let pauseMs = firstPauseMs
    for (let turn = firstTurn; ; turn += 1) {
      const call = await send(turn, request)
      if (call.outcome.kind !== 'info' || performance.now() >= limit || stopped.aborted) return call
      await sleep(pauseMs * (0.5 + random.integer(0, 100) / 100))
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  /** For the last reads, when nothing fails any more. */
  async function askUntilAnswered<Of extends Request>(request: Of): Promise<Call<Of>> {
    for (let turn = random.integer(0, 1); ; turn += 1) {
      const call = await send(turn, request)
      if (call.outcome.kind !== 'info' || turn > lastTurns || stopped.aborted) return call
      await sleep(longestPauseMs)
    }
  }

  return {
    ask,
    askUntilAnswered,
    /** Once, with a key that the customer has or had. */
    askWith: <Of extends Request>(key: Key, turn: number, request: Of) => send(turn, request, key),
    /** Without an end of its patience that a campaign would see. */
    askToTheEnd: <Of extends Request>(request: Of, firstTurn?: number) => ask(request, firstTurn, askToTheEndForMs),
    /** The same request several times at once, over both services. */
    askAtOnce: <Of extends Request>(request: Of, copies: number) =>
      Promise.all(Array.from({ length: copies }, (_, copy) => ask(request, copy))),
  }
}
