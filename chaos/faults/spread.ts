// The faults of a database that is spread over servers: its parts move while they are used, and each server can crash.
import type { SpreadDatabase } from '../cluster/citus.ts'
import type { Fault } from './faults.ts'

export function spreadFaults(database: SpreadDatabase): Fault[] {
  return [
    {
      name: 'group moved',
      every: [4, 9],
      leastPerMinute: 1,
      async strike({ random, count }) {
        // A worker that is down cannot give or take; the move is rolled back.
        const isMoved = await database.moveGroup(random).then(
          () => true,
          () => false,
        )
        if (isMoved) count('group moved')
      },
    },
    {
      name: 'worker crashed',
      every: [12, 20],
      leastPerMinute: 1,
      async strike({ random, count }) {
        await random.shuffled(database.workers)[0]?.crash()
        count('worker crashed')
      },
    },
    {
      name: 'coordinator crashed',
      every: [25, 40],
      leastPerMinute: 0.5,
      async strike({ count }) {
        await database.coordinator.crash()
        count('coordinator crashed')
      },
    },
  ]
}
