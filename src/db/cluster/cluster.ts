// The connections to a Citus cluster: the pool of its coordinator, and one of each worker. What runs in a group of customers
// begins with the guard of the group, and is one local transaction of the worker that has the group now.
import type pg from 'pg'
import { connectionAt } from '../connect.ts'
import {
  type Cluster,
  type Connections,
  confirmCommits,
  createPool,
  type NamedQuery,
  type PoolSettings,
} from '../database.ts'
import { type Layout, readLayout, requireSameHash } from './layout.ts'
import { routeByGroup } from './route.ts'
import { shardSuffix } from './tables.ts'

/** The group has left its server, and nothing has happened. */
const movedAway = 'MV001'

const enterGroup = (shard: number): NamedQuery => ({
  name: 'cluster.enterGroup',
  text: 'select enter_group($1)',
  values: [shard],
})

/** Adds the workers to the pool of the coordinator. Their pools are like it, and end with it. */
export async function connectWorkers(coordinator: pg.Pool, settings: PoolSettings): Promise<void> {
  let layout: Layout = await readLayout(coordinator)
  await requireSameHash(coordinator, layout)
  const pools = new Map<string, pg.Pool>()

  function poolOf(number: number): { pool: pg.Pool; shard: number } {
    const { host, port, shard } = layout.group(number)
    const address = `${host}:${port}`
    const connection = connectionAt(settings.connection, { host, port })
    const pool = pools.get(address) ?? createPool({ ...settings, connection, pipeline: true })
    pools.set(address, pool)
    return { pool, shard }
  }

  /** Once for all statements that fail together. When the coordinator is unavailable too, the next failure tries again. */
  let reading: Promise<void> | undefined
  function readAgain(): Promise<void> {
    reading ??= readLayout(coordinator)
      .then(
        (read) => {
          layout = read
        },
        () => undefined,
      )
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  function connectionsOf(number: number): Connections {
    async function run(query: NamedQuery, confirms: boolean) {
      const { pool, shard } = poolOf(number)
      try {
        return await runInGroup(pool, shard, { ...query, name: `${query.name}/${number}` }, confirms)
      } catch (error) {
        if (isElsewhere(error)) await readAgain()
        throw error
      }
    }
    return { query: (query) => run(query, false), queryAndConfirm: (query) => run(query, true) }
  }

  const endCoordinator = coordinator.end.bind(coordinator) as () => Promise<void>
  const end = async () => {
    await Promise.all([endCoordinator(), ...[...pools.values()].map((pool) => pool.end())])
  }
  const cluster: Cluster = {
    anchors: layout.anchors(),
    connectionsOf,
    route: (database, groups) => ({
      ...routeByGroup(database, groups, layout.groupOf),
      workers: () => groups.filter((_, number) => layout.firstOfServers().includes(number)),
    }),
  }
  Object.assign(coordinator, { cluster, end })
}

/** The group has moved, or its server is unavailable or accepts no connection: a standby may have its place in pg_dist_node. */
function isElsewhere(error: unknown): boolean {
  return (error as { code?: string }).code === movedAway || !isRefusal(error)
}

/** In one round trip: what follows a statement that has failed fails too, and the last one rolls back. */
async function runInGroup(
  pool: pg.Pool,
  shard: number,
  query: NamedQuery,
  confirms: boolean,
): Promise<{ rows: unknown[] }> {
  const client = await pool.connect()
  try {
    const ends = await Promise.allSettled([
      client.query('begin'),
      client.query(enterGroup(shard)),
      client.query(query),
      client.query('commit'),
      ...(confirms ? [client.query(confirmCommits)] : []),
    ])
    const failure = ends.find(({ status }) => status === 'rejected')
    if (failure) throw (failure as PromiseRejectedResult).reason
    client.release()
    return (ends[2] as PromiseFulfilledResult<{ rows: unknown[] }>).value
  } catch (error) {
    // A statement that was refused has been rolled back: the connection can be used again.
    client.release(isRefusal(error) ? undefined : (error as Error))
    throw withoutShard(error)
  }
}

/** The names of a shard, of its indexes and its triggers end with its id: those of the tables are what is looked for. */
function withoutShard(error: unknown): unknown {
  const named = error as { table?: string; constraint?: string }
  for (const field of ['table', 'constraint'] as const) {
    const name = named[field]
    if (name) named[field] = name.replace(shardSuffix, '')
  }
  return error
}

const sqlstate = /^[0-9A-Z]{5}$/

function isRefusal(error: unknown): boolean {
  const { code = '', severity } = error as { code?: string; severity?: string }
  return sqlstate.test(code) && severity !== 'FATAL' && !/^(08|57P|25006)/.test(code)
}
