// The order of the measurements. All contenders of a workload are measured one after the other, in reverse order every
// other round, so that disturbances affect all of them.
import type { WorkloadName } from '../load/workloads.ts'
import { type ContenderName, contenderNames } from '../stage/stage.ts'
import { busyConnections } from './targets.ts'

export type Step = {
  round: number
  connections: number
  workload: WorkloadName
  contender: ContenderName | 'plain insert'
}

type Wanted = { rounds: number; connections: number[]; workloads: WorkloadName[] }

export function planOf({ rounds, connections, workloads }: Wanted): Step[] {
  // The plain insert has its own clients: once in a round is enough.
  const besides = connections.includes(busyConnections) ? busyConnections : connections[0]
  return range(rounds).flatMap((round) =>
    connections.flatMap((count) =>
      workloads.flatMap((workload) => {
        const isBesides = workload === 'purchase' && count === besides
        const contenders = [...contenderNames, ...(isBesides ? (['plain insert'] as const) : [])]
        const inTurn = round % 2 === 1 ? contenders : contenders.toReversed()
        return inTurn.map((contender) => ({ round, connections: count, workload, contender }))
      }),
    ),
  )
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
