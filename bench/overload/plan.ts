// The steps of an overload, in order: the peak with a few counts of connections, then three times as many, with clients
// that obey Retry-After and with clients that retry at once; and payers beside few readers and beside too many. Every
// other round runs in reverse order.
import type { Refusals } from '../load/main.ts'
import type { PlayName, WorkloadName } from '../load/workloads.ts'

export const overloaded = ['balance', 'purchase', 'mixed day'] as const satisfies WorkloadName[]
export type Overloaded = (typeof overloaded)[number]

export type Play = { workload: PlayName; connections: number; refusals: Refusals }

/** `besides`: a second load that runs at the same time. */
export type Step = { round: number; subject: Overloaded | 'payers'; phase: Phase; play: Play; besides?: Play }
export type Phase = 'peak' | 'polite' | 'rude' | 'calm' | 'crowded'

const peakConnections = [64, 128, 256]

/** Three times the load of the peak, more than there are places for reads or writes. */
const tooMany = 3 * Math.max(...peakConnections)

const payers: Play = { workload: 'pay', connections: 32, refusals: 'insist' }
const readers: Record<'calm' | 'crowded', Play> = {
  calm: { workload: 'balance', connections: 64, refusals: 'insist' },
  crowded: { workload: 'balance', connections: tooMany, refusals: 'insist' },
}

export function planOf({ rounds, workloads }: { rounds: number; workloads: Overloaded[] }): Step[] {
  return Array.from({ length: rounds }, (_, index) => {
    const steps = [...workloads.flatMap(stepsOf), ...shareSteps()]
    const inTurn = index % 2 === 0 ? steps : steps.toReversed()
    return inTurn.map((step) => ({ round: index + 1, ...step }))
  }).flat()
}

function stepsOf(workload: Overloaded): Omit<Step, 'round'>[] {
  return [
    // A request that is refused at the peak does not count as work and is retried after Retry-After.
    ...peakConnections.map((count) => ({
      subject: workload,
      phase: 'peak' as const,
      play: { workload, connections: count, refusals: 'wait' as const },
    })),
    { subject: workload, phase: 'polite', play: { workload, connections: tooMany, refusals: 'wait' } },
    { subject: workload, phase: 'rude', play: { workload, connections: tooMany, refusals: 'insist' } },
  ]
}

function shareSteps(): Omit<Step, 'round'>[] {
  return (['calm', 'crowded'] as const).map((phase) => ({
    subject: 'payers',
    phase,
    play: payers,
    besides: readers[phase],
  }))
}
