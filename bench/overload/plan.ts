// What is measured of the service when more comes than it can carry, and in which order: the peak with a few counts of
// connections, then three times as many, with clients that come again when they are told to and with clients that
// come again at once; and who pays beside few readers and beside too many. Every other round goes the other way round.
import type { Refusals } from '../load/main.ts'
import type { PlayName, WorkloadName } from '../load/workloads.ts'

export const overloaded = ['balance', 'purchase', 'mixed day'] as const satisfies WorkloadName[]
export type Overloaded = (typeof overloaded)[number]

export type Play = { workload: PlayName; connections: number; refusals: Refusals }

/** `besides`: what plays meanwhile in a load of its own. */
export type Step = { round: number; subject: Overloaded | 'payers'; phase: Phase; play: Play; besides?: Play }
export type Phase = 'peak' | 'polite' | 'rude' | 'calm' | 'crowded'

const peakConnections = [64, 128, 256]

/** Three times the load at which the most is done, more than a kind of work has places for. */
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
    // At the peak nobody needs to be refused; who is, does not count as work and comes again as told.
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
