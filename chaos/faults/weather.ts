// What the gateway itself does wrong: every kind of fault that the sandbox knows, on every call it can strike, topped up
// all the time from shuffled decks, so that each has its turn. Also keeps the account of what has struck: the sandbox
// counts in memory, and forgets when it is killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../harness/random.ts'
import { faultKinds, webhookFaultKinds } from '../../sandbox/faults/faults.ts'
import type { Fired, GatewayFault, GatewayProcess } from '../world/gateway.ts'

type Target = { on: string; kinds: string[]; share: number; atMost: number }

const struck = ['confirm', 'cancel', 'lookup', 'transactions'] as const
const kindsOn = (on: (typeof struck)[number]) =>
  Object.entries(faultKinds)
    .filter(([, effect]) => effect.on.includes(on))
    .map(([kind]) => kind)

/** How likely a top-up adds one, and how many may wait. Confirms are the most frequent calls. */
const targets: Target[] = [
  { on: 'confirm', kinds: kindsOn('confirm'), share: 1, atMost: 3 },
  { on: 'cancel', kinds: kindsOn('cancel'), share: 0.5, atMost: 1 },
  { on: 'lookup', kinds: kindsOn('lookup'), share: 0.6, atMost: 2 },
  { on: 'transactions', kinds: kindsOn('transactions'), share: 0.2, atMost: 1 },
  { on: 'webhook', kinds: [...webhookFaultKinds], share: 1, atMost: 3 },
]

/** Every kind that has to have struck somewhere before a run counts. */
export const gatewayFaultNames: string[] = [
  ...Object.keys(faultKinds).map((kind) => `gateway ${kind}`),
  ...webhookFaultKinds.map((kind) => `webhook ${kind}`),
]

const topUpMs = 400

export type Weather = ReturnType<typeof createWeather>

export function createWeather(gateway: GatewayProcess, seed: number, stopped: AbortSignal) {
  const random = createRandom(seed)
  const decks = targets.map((target) => ({ target, left: [] as string[] }))
  let bad = false
  /** By the sandboxes that are dead, and by the one that runs. */
  const before = new Map<string, number>()
  let now: Fired[] = []

  function next({ target, left }: (typeof decks)[number]): GatewayFault {
    if (left.length === 0) left.push(...random.shuffled(target.kinds))
    const kind = left.pop() as string
    const fault = { on: target.on, kind, times: random.integer(1, 2) }
    return kind.startsWith('delay') ? { ...fault, delayMs: delayOf(random, target.on) } : fault
  }

  async function topUp(): Promise<void> {
    const remaining = await gateway.control<GatewayFault[]>('GET', '/sandbox/faults')
    if (!remaining) return
    const added = decks.flatMap((deck) => {
      const waiting = remaining.filter(({ on }) => on === deck.target.on).length
      return waiting < deck.target.atMost && random.chance(deck.target.share) ? [next(deck)] : []
    })
    if (bad && added.length > 0) await gateway.control('PUT', '/sandbox/faults', [...remaining, ...added])
  }

  async function collect(): Promise<void> {
    now = (await gateway.fired()) ?? now
  }

  return {
    /** Until it is told to clear up. */
    async blow(): Promise<void> {
      bad = true
      while (bad && !stopped.aborted) {
        await topUp()
        await collect()
        await sleep(topUpMs)
      }
    },
    async clearUp(): Promise<void> {
      bad = false
      await gateway.control('DELETE', '/sandbox/faults')
      await collect()
    },
    collect,
    /** The sandbox is about to be killed, and its counts with it. */
    async remember(): Promise<void> {
      await collect()
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

/** Of calls up to past their time limits, of webhooks up to some seconds. */
function delayOf(random: Random, on: string): number {
  return on === 'webhook' ? random.integer(500, 6_000) : random.integer(50, 2_500)
}
