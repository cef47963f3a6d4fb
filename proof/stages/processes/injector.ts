// Decides when each fault strikes. The plan follows from the seed alone: a list of times for each row of the table, at
// least one each, and a seed of its own for each strike. In which state a strike finds the processes does not follow
// from it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../harness/random.ts'
import type { History } from '../../model/history.ts'
import type { CampaignWorld } from './campaign.ts'
import { type Fault, faults, type StrikeContext } from './faults.ts'
import type { GatewayFaults } from './gateway-faults.ts'

export type Strike = { atMs: number; fault: Fault; seed: number }

export function planStrikes(seed: number, durationMs: number, table = faults): Strike[] {
  return table
    .flatMap((fault, row) => {
      const random = createRandom(seed * 97 + row)
      const [least, most] = fault.every.map((seconds) => seconds * 1_000) as [number, number]
      const strikes: Strike[] = []
      for (let atMs = random.integer(0, most); atMs < durationMs; atMs += random.integer(least, most)) {
        strikes.push({ atMs, fault, seed: random.integer(0, 2 ** 31) })
      }
      if (strikes.length > 0) return strikes
      return [{ atMs: random.integer(0, Math.floor(durationMs * 0.8)), fault, seed: random.integer(0, 2 ** 31) }]
    })
    .sort((one, other) => one.atMs - other.atMs)
}

export type Nemesis = ReturnType<typeof createNemesis>

export function createNemesis(world: CampaignWorld, gatewayFaults: GatewayFaults, history: History) {
  const counts = new Map<string, number>()
  const wrong: string[] = []

  function count(name: string, times = 1): void {
    counts.set(name, (counts.get(name) ?? 0) + times)
  }

  async function strike({ fault, seed }: Strike): Promise<void> {
    const context: StrikeContext = { world, gatewayFaults, random: createRandom(seed), count, wrong }
    history.note('fault', { name: fault.name })
    try {
      await fault.strike(context)
    } catch (error) {
      wrong.push(`${fault.name}: ${(error as Error).message}`)
    }
    history.note('fault over', { name: fault.name })
  }

  return {
    counts,
    count,
    /** Processes that did not end or start as they must. */
    wrong,
    /** Returns when all faults have struck and everything they stopped runs again. */
    async run(plan: Strike[], durationMs: number, stopped: AbortSignal): Promise<void> {
      const startedAt = performance.now()
      const underWay: Promise<void>[] = []
      for (const each of plan) {
        await sleep(Math.max(0, startedAt + each.atMs - performance.now()), undefined, { signal: stopped })
        underWay.push(strike(each))
      }
      await sleep(Math.max(0, startedAt + durationMs - performance.now()), undefined, { signal: stopped })
      await Promise.all(underWay)
    },
  }
}
