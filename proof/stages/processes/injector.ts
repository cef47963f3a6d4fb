// Decides when each fault is applied. The plan follows from the seed alone: a list of times for each row of the table, at least
// one each, and a seed of its own for each time. In which state a fault finds the processes does not follow from it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../harness/random.ts'
import type { History } from '../../model/history.ts'
import type { CampaignWorld } from './campaign.ts'
import type { CampaignFault, FaultContext } from './faults.ts'
import type { GatewayFaults } from './gateway-faults.ts'

export type Planned = { atMs: number; fault: CampaignFault; seed: number }

export function planFaults(seed: number, durationMs: number, table: CampaignFault[]): Planned[] {
  return table
    .flatMap((fault, row) => {
      const random = createRandom(seed * 97 + row)
      const [least, most] = fault.every.map((seconds) => seconds * 1_000) as [number, number]
      const planned: Planned[] = []
      for (let atMs = random.integer(0, most); atMs < durationMs; atMs += random.integer(least, most)) {
        planned.push({ atMs, fault, seed: random.integer(0, 2 ** 31) })
      }
      if (planned.length > 0) return planned
      return [{ atMs: random.integer(0, Math.floor(durationMs * 0.8)), fault, seed: random.integer(0, 2 ** 31) }]
    })
    .sort((one, other) => one.atMs - other.atMs)
}

export type Injector = ReturnType<typeof createInjector>

export function createInjector(world: CampaignWorld, gatewayFaults: GatewayFaults, history: History) {
  const counts = new Map<string, number>()
  const wrong: string[] = []

  function count(name: string, times = 1): void {
    counts.set(name, (counts.get(name) ?? 0) + times)
  }

  async function apply({ fault, seed }: Planned): Promise<void> {
    const context: FaultContext = { world, gatewayFaults, random: createRandom(seed), count, wrong }
    history.note('fault', { name: fault.name })
    try {
      await fault.apply(context)
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
    /** Returns when all faults were applied and everything they stopped runs again. */
    async run(plan: Planned[], durationMs: number, stopped: AbortSignal): Promise<void> {
      const startedAt = performance.now()
      const underWay: Promise<void>[] = []
      for (const each of plan) {
        await sleep(Math.max(0, startedAt + each.atMs - performance.now()), undefined, { signal: stopped })
        underWay.push(apply(each))
      }
      await sleep(Math.max(0, startedAt + durationMs - performance.now()), undefined, { signal: stopped })
      await Promise.all(underWay)
    },
  }
}
