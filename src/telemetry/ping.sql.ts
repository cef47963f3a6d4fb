// Whether the database answers at all, apart from whether it counts the backlog in time, and on how many servers its commits are.
import { type Database, statement } from '../db/database.ts'

// A role without the right to read statistics sees how many standbys are connected, and not which of them are synchronous.
const pingStatement = statement.global(
  'telemetry.ping',
  `select case when current_setting('synchronous_standby_names') = '' then 0
    else (select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming') end as "standbys"`,
)

/** `standbys`: that are connected where commits wait for one; on a cluster, of the server that has the fewest. */
export type Ping = { standbys: number }

/** A worker that is unavailable has no number of standbys, and the others are served. */
export async function pingDatabase(database: Database, workers: Database[] = []): Promise<Ping> {
  const ping = async (server: Database) => (await server.run<Ping>(pingStatement))[0]?.standbys ?? 0
  const [standbys, ...ofWorkers] = await Promise.all([
    ping(database),
    ...workers.map((worker) => ping(worker).catch(() => Number.POSITIVE_INFINITY)),
  ])
  return { standbys: Math.min(standbys, ...ofWorkers) }
}
