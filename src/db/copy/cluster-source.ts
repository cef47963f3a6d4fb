// The source of a backup of a Citus cluster, while services write. Citus has no snapshot over several servers; and a statement
// through the coordinator, after a move of a shard, would read from a server with a snapshot from before the move, where the rows
// are missing without an error. So each group of customers is read on its server, from its shards, in one transaction: all rows
// of a customer are of one moment. Rows that refer to each other across servers are covered by the order of the snapshots:
// 1. The coordinator. A row of it comes after the rows of customers that it is about: a discrepancy after its order, an audit
//    after the rows that it counted, a notification is processed after its effect. (An operator's action is logged before its
//    adjustment is made: of one in these milliseconds the log may be missing.)
// 2. Each group.
// 3. The days of adjustments, on the coordinator again: a day is charged before its adjustment is made in a group.
// Tables with a copy on every server are written in one transaction over all of them, which also opens an account or marks it
// as restricted. Such writes wait from before 1 until after 2, some milliseconds.
// No group may be moved between 1 and 3: otherwise all of this is repeated. Later moves do no harm: the shards that a move leaves
// behind are not written any more, and are not dropped while they are locked.
import type pg from 'pg'
import { sleep } from '../../core/clock.ts'
import { derivedTables, distributedTables, referenceTables } from '../cluster/tables.ts'
import { type Connection, connectionAt, withClient } from '../connect.ts'
import { listApplied } from '../migrate.ts'
import { mergeByCustomer } from './merge.ts'
import { beginSnapshot, countRows, rowsOf, type Source } from './source.ts'
import { listTables, type Table } from './tables.ts'

/** Citus resolves a transaction in doubt once a minute. */
const maxAttempts = 90
const pauseMs = 1_000

/** As `withSnapshot`, for the coordinator of a cluster. */
export async function withClusterSnapshot<Value>(
  connection: Connection,
  place: string,
  names: string[],
  work: (source: Source) => Promise<Value>,
): Promise<Value> {
  const once = () =>
    withClient(connection, place, (coordinator) =>
      withClient(connection, place, async (later) => {
        const shards = await listShards(coordinator)
        return withGroups(connection, groupsOf(shards), async (groups) => {
          const source = await openSource({ coordinator, later, groups, shards, names })
          return source && { value: await work(source) }
        })
      }),
    )
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const ended = await once()
    if (ended) return ended.value
    await sleep(pauseMs)
  }
  throw new Error(
    'Groups of customers are being moved, or customers, keys, tokens, endpoints or budgets are written in a transaction that ' +
      'does not end: see pg_prepared_xacts and pg_stat_activity on each server, and take the backup later.',
  )
}

type Shard = { table: string; id: string; quotedName: string; lowest: number | null; host: string; port: number }

/** The groups' shards, and the copies on the coordinator. */
const listShardsText = `
  select c.relname as "table", s.shardid::text as "id", shard_name(s.logicalrelid, s.shardid) as "quotedName",
    s.shardminvalue::int as "lowest", n.nodename as "host", n.nodeport as "port"
  from pg_dist_shard s
  join pg_class c on c.oid = s.logicalrelid
  join pg_dist_placement p on p.shardid = s.shardid and p.shardstate = 1
  join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.shardminvalue is not null or n.groupid = 0
  order by s.shardminvalue::int, 1`

async function listShards(client: pg.ClientBase): Promise<Shard[]> {
  return (await client.query<Shard>(listShardsText)).rows
}

type Group = { host: string; port: number; shards: Shard[] }

function groupsOf(shards: Shard[]): Group[] {
  const ofGroups = shards.filter(({ lowest }) => lowest !== null)
  return [...Map.groupBy(ofGroups, ({ lowest }) => lowest).values()].map((own) => {
    const [{ host, port }] = own as [Shard, ...Shard[]]
    return { host, port, shards: own }
  })
}

type Reached = Group & { client: pg.ClientBase }

/** A connection for each group: all of them are read at the same time. */
async function withGroups<Value>(
  connection: Connection,
  [group, ...others]: Group[],
  work: (groups: Reached[]) => Promise<Value>,
): Promise<Value> {
  if (!group) return work([])
  return withClient(connectionAt(connection, group), `${group.host}:${group.port}`, (client) =>
    withGroups(connection, others, (reached) => work([{ ...group, client }, ...reached])),
  )
}

type Opening = {
  coordinator: pg.ClientBase
  /** To the coordinator too: stops the writes of copies, then has the last snapshot. */
  later: pg.ClientBase
  groups: Reached[]
  shards: Shard[]
  names: string[]
}

/** Undefined when it has to be tried again. */
async function openSource({ coordinator, later, groups, shards, names }: Opening): Promise<Source | undefined> {
  // Writes of copies that have begun are committed on every server when they release their lock.
  await later.query('begin')
  if (!(await lock(later, quotedCopies, 'share'))) return undefined
  // Unless that server was unavailable: then they are still prepared there.
  const inDoubt = await Promise.all([coordinator, ...groups.map(({ client }) => client)].map(isInDoubt))
  if (inDoubt.includes(true)) return undefined
  await beginSnapshot(coordinator)
  const migrations = await listApplied(coordinator)
  const areHere = await Promise.all(groups.map(beginInGroup))
  await later.query('commit')
  await beginSnapshot(later)
  const isMoved = JSON.stringify(await listShards(later)) !== JSON.stringify(shards)
  if (isMoved || areHere.includes(false)) return undefined

  const partsOf = (table: Table): { client: pg.ClientBase; table: Table }[] => {
    if (distributedTables.includes(table.name)) {
      return groups.map((group) => ({ client: group.client, table: shardOf(table, group.shards) }))
    }
    if (referenceTables.includes(table.name)) return [{ client: coordinator, table: shardOf(table, shards) }]
    return [{ client: table.name === 'adjustment_days' ? later : coordinator, table }]
  }
  const tables = inOrder(
    await listTables(
      coordinator,
      names.filter((name) => !derivedTables.includes(name)),
    ),
  )
  let totalRows = 0
  for (const table of tables) {
    const counts = await Promise.all(partsOf(table).map((part) => countRows(part.client, [part.table])))
    totalRows += counts.reduce((sum, count) => sum + count)
  }
  return {
    migrations,
    totalRows,
    async *tables() {
      for (const table of tables) {
        const [first, ...others] = partsOf(table).map((part) => rowsOf(part.client, part.table))
        if (!first) continue
        const rows = [first, ...others].map((part) => part.rows)
        const merged = () => mergeByCustomer(rows, table.columns.indexOf('customer_id'))
        yield others.length === 0 ? first : { ...first, rows: merged() }
      }
    },
  }
}

/** Not by the name of the table: Citus could read that on another server, outside of the snapshot. */
function shardOf(table: Table, shards: Shard[]): Table {
  const shard = shards.find((each) => each.table === table.name)
  if (!shard) {
    throw new Error(
      `The coordinator has no copy of ${table.name}: call citus_set_coordinator_host there, as a superuser.`,
    )
  }
  return { ...table, quotedName: shard.quotedName }
}

/** Referenced tables come first, also where a cluster has no foreign key: from the coordinator to the groups. */
function inOrder(tables: Table[]): Table[] {
  const rank = ({ name }: Table) => (referenceTables.includes(name) ? 0 : distributedTables.includes(name) ? 1 : 2)
  return tables.toSorted((one, other) => rank(one) - rank(other))
}

const quotedCopies = referenceTables.join(', ')

const lockTimeout = '55P03'

/**
 * On this server alone: all writes of copies go through the coordinator, and a shard is on one server. False when it takes longer
 * than a writer should have to wait, and shorter than the server waits before it ends a deadlock.
 */
async function lock(
  client: pg.ClientBase,
  quotedNames: string,
  quotedMode: 'share' | 'access share',
): Promise<boolean> {
  await client.query(`set local lock_timeout = '500ms'; set local citus.enable_ddl_propagation = off`)
  try {
    await client.query(`lock table ${quotedNames} in ${quotedMode} mode`)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === lockTimeout) return false
    throw error
  }
}

async function isInDoubt(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_prepared_xacts where database = current_database()')
  return rowCount !== 0
}

const findHereText = `
  select from pg_dist_placement p join pg_dist_local_group l on l.groupid = p.groupid
  where p.shardid = any ($1::bigint[])`

/** False when the group is elsewhere, or being changed. */
async function beginInGroup({ client, shards }: Reached): Promise<boolean> {
  await beginSnapshot(client)
  const { rowCount } = await client.query(findHereText, [shards.map(({ id }) => id)])
  if (rowCount !== shards.length) return false
  return lock(client, shards.map(({ quotedName }) => quotedName).join(', '), 'access share')
}
