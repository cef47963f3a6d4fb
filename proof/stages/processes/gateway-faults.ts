// Faults of the gateway itself: every kind that the sandbox knows, on every call it applies to. The sandbox's list is
// refilled all the time from shuffled lists, so that each kind is used. Also keeps the counts of those that took effect: the
// sandbox counts in memory and loses its counts when it is killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../harness/random.ts'
import type { LoggedRequest } from '../../../sandbox/protocol/request-log.ts'
import { faultRows } from '../../faults.ts'
import type { Fired, Gateway, GatewayFault, Lies } from '../../world/gateway.ts'

const targets = faultRows.flatMap(({ kind, refill, effects = [] }) =>
  refill ? [{ ...refill, on: kind.replace('fault on ', ''), kinds: kindsIn(effects) }] : [],
)

/** "gateway delay" is the kind "delay". */
export function kindsIn(effects: readonly string[]): string[] {
  return effects.map((effect) => effect.replace(/^\w+ /, ''))
}

const refillMs = 400

/** It costs the order: its confirm is refused, and its money returned. */
const lie = { on: 'lookup', kind: 'other-order-after' }
const liesIn = (fired: Fired[]) => fired.find(({ on, kind }) => on === lie.on && kind === lie.kind)?.times ?? 0

export type GatewayFaults = ReturnType<typeof createGatewayFaults>

export function createGatewayFaults(gateway: Gateway, seed: number, stopped: AbortSignal) {
  const random = createRandom(seed)
  const queues = targets.map((target) => ({ target, left: [] as string[] }))
  let injecting = false
  /** Counts of the sandboxes that were killed, and of the one that runs. */
  const before = new Map<string, number>()
  let now: Fired[] = []
  const lies = { about: new Set<string>(), isComplete: true }

  function next({ target, left }: (typeof queues)[number]): GatewayFault {
    if (left.length === 0) left.push(...random.shuffled(target.kinds))
    const kind = left.pop() as string
    const fault = { on: target.on, kind, times: random.integer(1, 2) }
    return kind.startsWith('delay') ? { ...fault, delayMs: delayOf(random, target.on) } : fault
  }

  async function refill(): Promise<void> {
    const remaining = await gateway.control<GatewayFault[]>('GET', '/sandbox/faults')
    if (!remaining) return
    const added = queues.flatMap((queue) => {
      const waiting = remaining.filter(({ on }) => on === queue.target.on).length
      return waiting < queue.target.atMost && random.chance(queue.target.share) ? [next(queue)] : []
    })
    if (injecting && added.length > 0) await gateway.control('PUT', '/sandbox/faults', [...remaining, ...added])
  }

  /** Whether the sandbox has answered. */
  async function collect(): Promise<boolean> {
    const fired = await gateway.fired()
    if (!fired) return false
    // The sandbox keeps its last thousand requests: they are read when there is another one of interest.
    if (liesIn(fired) !== liesIn(now)) {
      const log = await gateway.control<{ requests: LoggedRequest[] }>('GET', '/sandbox/requests')
      if (!log) return false
      for (const { operation, fault, paymentKey, orderId } of log.requests)
        if (operation === lie.on && fault === lie.kind) lies.about.add(paymentKey ?? orderId ?? '')
    }
    now = fired
    return true
  }

  return {
    /** Until `stop`. */
    async inject(): Promise<void> {
      injecting = true
      while (injecting && !stopped.aborted) {
        await refill()
        await collect()
        await sleep(refillMs)
      }
    },
    async stop(): Promise<void> {
      injecting = false
      await gateway.control('DELETE', '/sandbox/faults')
      await collect()
    },
    collect,
    lies: (): Lies => lies,
    /** Before the sandbox is killed, and its counts with it. */
    async remember(): Promise<void> {
      if (!(await collect())) lies.isComplete = false
      for (const { on, kind, times } of now) before.set(`${on} ${kind}`, (before.get(`${on} ${kind}`) ?? 0) + times)
      now = []
    },
    fired(): Fired[] {
      const all = new Map(before)
      for (const { on, kind, times } of now) all.set(`${on} ${kind}`, (all.get(`${on} ${kind}`) ?? 0) + times)
      return [...all].map(([name, times]) => {
        const [on = '', kind = ''] = name.split(' ')
        return { on, kind, times }
      })
    },
  }
}

/** Calls: up to past their time limits. Webhooks: up to some seconds. */
export function delayOf(random: Random, on: string): number {
  return on === 'webhook' ? random.integer(500, 6_000) : random.integer(50, 2_500)
}
