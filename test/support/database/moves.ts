// Moves groups of customers from worker to worker of a cluster.
import { withClient } from '../../../src/db/connect.ts'
import type { OwnTestDatabase, TestDatabase } from './database.ts'

type Placement = { shard: number; host: string; port: number }

/** The shard of each group's accounts, with which the others move. */
export function placements(database: TestDatabase): Promise<Placement[]> {
  return database.query<Placement>(
    `select s.shardid as shard, n.nodename as host, n.nodeport as port
     from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
     where s.logicalrelid = 'accounts'::regclass order by s.shardid`,
  )
}

/** The first groups, each to the next worker, one after the other, without a time limit. */
export async function moveGroups(database: OwnTestDatabase, count = Number.POSITIVE_INFINITY): Promise<void> {
  const places = await placements(database)
  const ports = [...new Set(places.map(({ port }) => port))]
  await withClient(database.ownerConnection, 'of the tests', async (client) => {
    for (const { shard, host, port } of places.slice(0, count)) {
      const next = ports[(ports.indexOf(port) + 1) % ports.length]
      const values = [shard, host, port, next]
      await client.query(`select citus_move_shard_placement($1, $2, $3, $2, $4, 'force_logical')`, values)
    }
  })
}
