// Distributes the tables over the workers of a Citus cluster: those of customers by customer, in groups of shards that stay
// together; those that are read beside them as a copy on every server; everything else stays on the coordinator. Tables that a
// later migration creates follow in its transaction, and so do the functions that it creates or replaces.
import type pg from 'pg'
import { leastUuid } from '../../core/ids.ts'
import { derivedTables, distributedTables, referenceTables } from './tables.ts'

/** Each has its own plans in every connection, and its own batches. A cluster cannot have more workers than groups. */
const groupCount = 8

type Queryable = Pick<pg.Pool, 'query'>

/** Whether the database is the coordinator of a cluster with workers. */
export async function isCoordinator(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client))) return false
  const workers = await client.query('select from pg_dist_node where shouldhaveshards and isactive')
  return (workers.rowCount ?? 0) > 0
}

async function hasCitus(client: Queryable): Promise<boolean> {
  return (await client.query(`select from pg_extension where extname = 'citus'`)).rowCount === 1
}

export async function isDistributed(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client))) return false
  const found = await client.query(`select from pg_dist_partition where logicalrelid = to_regclass('accounts')`)
  return found.rowCount === 1
}

/**
 * Settings for a transaction that changes tables; without Citus they have no meaning. Each is a query of its own: the first
 * one sends the texts of the others to the workers, as they are.
 */
const settings = [
  `set local citus.propagate_set_commands = 'local'`,
  `set local lock_timeout = '1s'`,
  'set local client_min_messages = warning',
  'set local citus.enable_unsafe_triggers = on',
  'set local citus.multi_shard_modify_mode = sequential',
]

export async function setForCluster(client: pg.ClientBase): Promise<void> {
  for (const setting of settings) await client.query(setting)
}

/** Foreign keys stand in the way of distributing one table after the other. */
const listForeignKeysText = `
  select conrelid::regclass::text as "quotedTable", quote_ident(conname) as "quotedName",
    pg_get_constraintdef(oid) as "quotedDefinition"
  from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0
    and (conrelid = any ($1::text[]::regclass[]) or confrelid = any ($1::text[]::regclass[]))`

type ForeignKey = { quotedTable: string; quotedName: string; quotedDefinition: string }

/** A discrepancy may be about no order of ours: its table is not keyed by customer, and cannot refer to one that is. */
const canBeDistributed = ({ quotedTable }: ForeignKey) => quotedTable !== 'discrepancies'

/** A table that refers to a copied one is known to Citus, and still on the coordinator alone. */
const listMissingText = `
  select t.name
  from unnest($1::text[]) with ordinality as t (name, place)
  join pg_class c on c.oid = to_regclass(t.name)
  where not exists (select from pg_dist_partition p
                    where p.logicalrelid = c.oid and (p.partmethod = 'h' or p.repmodel = 't'))
  order by t.place`

/**
 * As the owner of the tables, in a transaction with the settings above. Rows that are there are moved to their groups. What is
 * distributed already is left as it is.
 */
export async function distribute(client: pg.ClientBase): Promise<void> {
  const isFirst = !(await isDistributed(client))
  if (isFirst) await requireNoBudgetOfAll(client)
  // What the serving role may do in a group: `GROUP` stands for the schema of its views.
  if (isFirst) await client.query('create table if not exists cluster_grants (text text primary key)')
  const copied = [...referenceTables, 'cluster_grants']
  const listed = await client.query<{ name: string }>(listMissingText, [[...copied, ...distributedTables]])
  const missing = listed.rows.map(({ name }) => name)
  if (missing.length === 0) return
  const keys = (await client.query<ForeignKey>(listForeignKeysText, [missing])).rows
  for (const { quotedTable, quotedName } of keys) {
    await client.query(`alter table ${quotedTable} drop constraint ${quotedName}`)
  }
  // Triggers would write again what is moved with the rows: an account, the journal, the current time.
  for (const quotedTable of missing) await client.query(`alter table ${quotedTable} disable trigger user`)
  if (isFirst) await dropForGroups(client)
  const [first] = distributedTables
  for (const table of missing) {
    if (copied.includes(table)) await client.query('select create_reference_table($1)', [table])
    else if (table === first)
      await client.query(`select create_distributed_table($1, 'customer_id', shard_count => $2)`, [table, groupCount])
    else await client.query(`select create_distributed_table($1, 'customer_id', colocate_with => $2)`, [table, first])
  }
  // What was moved is still on the disk of the coordinator.
  for (const table of missing) await client.query('select truncate_local_data_after_distributing_table($1)', [table])
  for (const { quotedTable, quotedName, quotedDefinition } of keys.filter(canBeDistributed)) {
    await client.query(`alter table ${quotedTable} add constraint ${quotedName} ${quotedDefinition}`)
  }
  for (const quotedTable of missing) await client.query(`alter table ${quotedTable} enable trigger user`)
}

/** What is used of it is one row, and spends on several servers would have to lock it. */
export async function requireNoBudgetOfAll(client: pg.ClientBase): Promise<void> {
  const found = await client.query('select from budgets where customer_id = $1 and removed_at is null', [leastUuid])
  if (found.rowCount === 0) return
  throw new Error(
    `There are ${found.rowCount} budgets over all customers, which a cluster cannot have. Remove them where the service runs ` +
      'now; for a restore, take another backup then.',
  )
}

/** Their rows have the key of a group. */
const tablesOfGroups = ['figures_reached', 'hourly_figures']

/** What a group of customers cannot have. */
async function dropForGroups(client: pg.ClientBase): Promise<void> {
  for (const quotedTable of derivedTables) await client.query(`delete from ${quotedTable}`)
  for (const quotedTable of tablesOfGroups) {
    // Unique over all groups, which no server can see.
    await client.query(`alter table ${quotedTable} drop constraint ${quotedTable}_pkey`)
    await client.query(`alter table ${quotedTable} replica identity using index ${quotedTable}_of_groups`)
  }
  // A unique index on a shard cannot see the other shards. A trigger refuses a used id of one customer.
  await client.query('alter table adjustment_requests drop constraint adjustment_requests_adjustment_id_key')
}

/** What this transaction has changed. A function with the rights of its owner keeps its search path on every server. */
const listChangedText = `
  select p.oid::regprocedure::text as "quotedFunction", substring(setting from '^search_path=(.*)') as "quotedPath"
  from pg_proc p cross join unnest(p.proconfig) as setting
  where p.pronamespace = 'public'::regnamespace and p.xmin = pg_current_xact_id()::xid and not p.prosecdef
    and setting like 'search_path=%'`

/**
 * Last in a transaction that may have created or replaced functions: on the workers the guards find the tables of the group
 * that a transaction is in, so there they have no search path of their own.
 */
export async function resetSearchPaths(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ quotedFunction: string; quotedPath: string }>(listChangedText)
  for (const { quotedFunction } of rows) await client.query(`alter function ${quotedFunction} reset search_path`)
  await client.query('set local citus.enable_ddl_propagation = off')
  for (const { quotedFunction, quotedPath } of rows) {
    await client.query(`alter function ${quotedFunction} set search_path = ${quotedPath}`)
  }
}
