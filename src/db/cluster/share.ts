// Shares out the sweeps of a cluster. Each process that runs them has a row with a lease, and the groups are dealt out to the
// processes in the order of their ids. Every minute each group goes to the next process: one that lives but does not reach the
// gateway, or a worker, delays a group for so long. This only saves work: rows are claimed with locks and leases of their own, so
// a group that two processes sweep for some seconds is harmless. A process that cannot reach the coordinator sweeps all groups.
import { assert } from '../../core/assert.ts'
import { newOperationId } from '../../core/ids.ts'
import { type Database, statement } from '../database.ts'

/** Renewed every three seconds, and much shorter than the lease of an operation, which a process that has died may have left. */
const shareLeaseMs = 10_000
const minuteMs = 60_000

// Rows that others delete or renew at the same moment are left to them.
const claimShareStatement = statement.global(
  'db.claimShareOfSweeps',
  `with ended as (
    delete from sweeping_processes
    where process_id in (select process_id from sweeping_processes
                         where process_id <> $1 and lease_until <= now()
                         for update skip locked)
  ),
  renewed as (
    insert into sweeping_processes (process_id, lease_until) values ($1, now() + $2::int * interval '1 ms')
    on conflict (process_id) do update set lease_until = excluded.lease_until
  )
  select count(*) + 1 as "processes",
    (count(*) filter (where process_id < $1) + (extract(epoch from now()) * 1000)::bigint / $3) % (count(*) + 1) as "place"
  from sweeping_processes
  where process_id <> $1 and lease_until > now()`,
)

export type Share = {
  /** Claims the share, or renews it: as many groups as another process has, or one more or less. */
  claim(): Promise<{ more: boolean }>
  giveUp(): Promise<void>
}

export function createShare(database: Database, groups: Database[], { turnMs = minuteMs } = {}): Share {
  const processId = newOperationId()
  async function claimFor(leaseMs: number): Promise<{ processes: number; place: number }> {
    const values = [processId, leaseMs, turnMs]
    const [share] = await database.run<{ processes: number; place: number }>(claimShareStatement, values)
    assert(share, 'a count has one row')
    return share
  }
  return {
    async claim() {
      try {
        const { processes, place } = await claimFor(shareLeaseMs)
        database.sweptGroups = groups.filter((_, number) => number % processes === place)
      } catch (error) {
        database.sweptGroups = groups
        throw error
      }
      return { more: false }
    },
    async giveUp() {
      // If it fails, the lease ends by itself.
      await claimFor(0).catch(() => undefined)
    },
  }
}
