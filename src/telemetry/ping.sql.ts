// Whether the database answers at all, apart from whether it counts the backlog in time, and on how many servers its commits are.
import { serversOf } from '../db/cluster/groups.ts'
import { type Database, statement } from '../db/database.ts'

// A role without the right to read statistics sees how many standbys are connected, and not which of them are synchronous.
const pingStatement = statement(
  'telemetry.ping',
  `select case when current_setting('synchronous_standby_names') = '' then 0
    else (select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming') end as "standbys"`,
)

/** `standbys`: that are connected where commits wait for one; on a cluster, of the server that has the fewest. */
export type Ping = { standbys: number }

export async function pingDatabase(database: Database): Promise<Ping> {
  const pings = await Promise.all(serversOf(database).map((server) => server.run<Ping>(pingStatement)))
  return { standbys: Math.min(...pings.map(([ping]) => ping?.standbys ?? 0)) }
}
