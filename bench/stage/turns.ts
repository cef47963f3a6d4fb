// The order of measurements that compare sides with each other.
import type { WorkloadName } from '../load/workloads.ts'

export type Turn<Side> = { round: number; workload: WorkloadName; side: Side }

/** One side after the other, in reverse order every other round. */
export function takeTurns<Side>(
  rounds: number,
  workloads: readonly WorkloadName[],
  sides: readonly Side[],
): Turn<Side>[] {
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    workloads.flatMap((workload) => {
      const inTurn = round % 2 === 1 ? sides : sides.toReversed()
      return inTurn.map((side) => ({ round, workload, side }))
    }),
  )
}
