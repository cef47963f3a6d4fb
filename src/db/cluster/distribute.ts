// Distributes the tables over the workers of a Citus cluster: those of customers by customer, in groups of shards that stay
// together; those that are read beside them as a copy on every server; everything else stays on the coordinator. On each server
// that has a group, a schema of views gives the group's shards the names of the tables: so a statement, a trigger and a guard are
// the same text as on one machine.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { leastUuid } from '../../core/ids.ts'
import { type Connection, connectionAt, withClient } from '../connect.ts'
import { inLockedTransaction, listApplied } from '../migrate.ts'
import { grantsInGroups } from '../rights.ts'
import { derivedTables, distributedTables, referenceTables } from './tables.ts'

/** Each has its own plans in every connection, and its own batches. A cluster cannot have more workers than groups. */
const groupCount = 8

/** Whether the database is the coordinator of a cluster with workers. */
export async function isCoordinator(client: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const installed = await client.query(`select from pg_extension where extname = 'citus'`)
  if (installed.rowCount === 0) return false
  const workers = await client.query('select from pg_dist_node where shouldhaveshards and isactive')
  return (workers.rowCount ?? 0) > 0
}

/** Foreign keys stand in the way of distributing one table after the other. */
const listForeignKeysText = `
  select conrelid::regclass::text as "quotedTable", quote_ident(conname) as "quotedName",
    pg_get_constraintdef(oid) as "quotedDefinition"
  from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`

const inGroups = [...distributedTables, ...referenceTables]

type ForeignKey = { quotedTable: string; quotedName: string; quotedDefinition: string }

/** A discrepancy may be about no order of ours: its table is not keyed by customer, and cannot refer to one that is. */
const canBeDistributed = ({ quotedTable }: ForeignKey) => quotedTable !== 'discrepancies'

const listFunctionsText = `
  select p.oid::regprocedure::text as "signature"
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`

/** As the owner of the tables. Rows that are there are moved to their groups. A cluster whose tables are distributed already is left as it is. */
async function distribute(client: pg.ClientBase): Promise<void> {
  await inLockedTransaction(client, async () => {
    if (await isDistributed(client)) return
    await requireNoBudgetOfAll(client)
    await client.query(`
      set local client_min_messages = warning;
      set local citus.enable_unsafe_triggers = on;
      set local citus.multi_shard_modify_mode = sequential`)
    const keys = (await client.query<ForeignKey>(listForeignKeysText)).rows
    for (const { quotedTable, quotedName } of keys) {
      await client.query(`alter table ${quotedTable} drop constraint ${quotedName}`)
    }
    // Triggers would write again what is moved with the rows: an account, the journal, the current time.
    for (const quotedTable of inGroups) await client.query(`alter table ${quotedTable} disable trigger user`)
    for (const quotedTable of derivedTables) {
      await client.query(`delete from ${quotedTable}`)
      // Unique over all groups, which no server can see.
      await client.query(`alter table ${quotedTable} drop constraint ${quotedTable}_pkey`)
      await client.query(`alter table ${quotedTable} replica identity using index ${quotedTable}_of_groups`)
    }
    // A unique index on a shard cannot see the other shards. A trigger refuses a used id of one customer.
    await client.query('alter table adjustment_requests drop constraint adjustment_requests_adjustment_id_key')
    // What the serving role may do in a group: `GROUP` stands for the schema of its views.
    await client.query('create table if not exists cluster_grants (text text primary key)')
    for (const table of [...referenceTables, 'cluster_grants'])
      await client.query('select create_reference_table($1)', [table])
    const [first, ...others] = distributedTables
    await client.query(`select create_distributed_table($1, 'customer_id', shard_count => $2)`, [first, groupCount])
    for (const table of others) {
      await client.query(`select create_distributed_table($1, 'customer_id', colocate_with => $2)`, [table, first])
    }
    // What was moved is still on the disk of the coordinator.
    for (const table of inGroups) await client.query('select truncate_local_data_after_distributing_table($1)', [table])
    for (const { quotedTable, quotedName, quotedDefinition } of keys.filter(canBeDistributed)) {
      await client.query(`alter table ${quotedTable} add constraint ${quotedName} ${quotedDefinition}`)
    }
    for (const quotedTable of inGroups) await client.query(`alter table ${quotedTable} enable trigger user`)
  })
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

async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  return (await client.query(`select from pg_dist_partition where logicalrelid = 'accounts'::regclass`)).rowCount === 1
}

/** Held by every transaction in a group, and alone while the views are dropped. */
const viewsLock = `pg_catalog.hashtext('prepaid-credits.views')`

/**
 * On every server. `enter_group` begins a transaction in a group: it waits for a move of the shard to end, as Citus' own
 * statements do, and fails when the shard is elsewhere now. It is a statement of its own before the one of the service, whose
 * snapshot has to be newer. It cannot have a search path of its own, because it sets one: every name in it is qualified.
 * `enter_group_of` is the one of 0041_triggers_on_a_cluster.sql.
 */
export const clusterFunctions = [
  {
    name: 'provide_group',
    head: `provide_group(shard_id bigint) returns text language plpgsql security definer
      set search_path = pg_catalog, pg_temp`,
    body: `
    declare
      group_number int := (select count(*) from pg_dist_shard s
                           join pg_dist_shard own on own.logicalrelid = s.logicalrelid
                           where own.shardid = shard_id and s.shardminvalue::int < own.shardminvalue::int);
      schema_name text := 'group_' || group_number;
      shard record;
    begin
      if to_regclass(schema_name || '.accounts') is not null then
        return schema_name;
      end if;
      perform pg_advisory_xact_lock(hashtext('prepaid-credits.provide_group'), group_number);
      -- Opening a catalog table invalidates what the session remembers of it.
      if exists (select from pg_class c where c.oid = to_regclass(schema_name || '.accounts')) then
        return schema_name;
      end if;
      set local citus.enable_ddl_propagation = off;
      set local citus.override_table_visibility = off;
      set local client_min_messages = warning;
      execute format('drop schema if exists %I cascade', schema_name);
      execute format('create schema %I', schema_name);
      for shard in
        select c.relname as table_name, format('%s_%s', c.relname, s.shardid) as name
        from pg_dist_partition p
        join pg_class c on c.oid = p.logicalrelid
        cross join lateral (
          select s.shardid, row_number() over (order by s.shardminvalue::int) - 1 as number
          from pg_dist_shard s where s.logicalrelid = p.logicalrelid) s
        where p.partmethod = 'n' or s.number = group_number
      loop
        execute format('create view %I.%I as select * from public.%I', schema_name, shard.table_name, shard.name);
      end loop;
      for shard in select text as grant_text from public.cluster_grants loop
        execute replace(shard.grant_text, 'GROUP', schema_name);
      end loop;
      return schema_name;
    end `,
  },
  {
    name: 'enter_group',
    head: 'enter_group(shard_id bigint) returns void language plpgsql security definer',
    body: `
    begin
      perform pg_catalog.pg_advisory_xact_lock_shared(${viewsLock});
      perform pg_catalog.lock_shard_metadata(5, array[shard_id]);
      if not exists (
        select from pg_catalog.pg_dist_placement p
        join pg_catalog.pg_dist_local_group l on l.groupid operator(pg_catalog.=) p.groupid
        where p.shardid operator(pg_catalog.=) shard_id)
      then
        raise exception 'shard % is on another server', shard_id using errcode = 'MV001';
      end if;
      perform pg_catalog.set_config('search_path',
        pg_catalog.concat('pg_catalog, ', public.provide_group(shard_id), ', public, pg_temp'), true);
      perform pg_catalog.set_config('citus.override_table_visibility', 'off', true);
    end `,
  },
  {
    name: 'enter_group_of',
    head: 'enter_group_of(customer uuid) returns boolean language plpgsql',
    body: `
    begin
      perform public.enter_group(pg_catalog.get_shard_id_for_distribution_column('public.accounts', customer));
      return true;
    exception when sqlstate 'MV001' then
      return false;
    end `,
  },
]

const createFunctionTexts = clusterFunctions.map(
  ({ head, body }) => `create or replace function ${head} as $$${body}$$`,
)

const executables = 'function provide_group(bigint), enter_group(bigint)'

/** The guards find the tables of the group that the transaction is in. */
const resetSearchPathText = `
  set citus.enable_ddl_propagation = off;
  do $$
  declare
    guard regprocedure;
  begin
    for guard in
      select p.oid from pg_proc p
      where p.pronamespace = 'public'::regnamespace and not p.prosecdef
        and p.proconfig::text like '%search_path%'
    loop
      execute format('alter function %s reset search_path', guard);
    end loop;
  end $$`

/**
 * After the migrations, as the owner: distributes the tables, and provides every server with the functions and the rights of the
 * serving role. Views are made again by the next transaction, because a migration may have changed their tables. A cluster that
 * is prepared already is only read.
 */
export async function prepareCluster(
  client: pg.ClientBase,
  owner: Connection,
  role: string | undefined,
): Promise<void> {
  await distribute(client)
  const workers = (await client.query<Address>(listWorkersText)).rows
  const grants = role === undefined ? [] : grantsInGroup(role)
  const parts = [createFunctionTexts, grants, workers, await listApplied(client)]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const isPrepared = (await client.query<{ digest: string }>(findDigestText)).rows[0]?.digest === digest
  if (!isPrepared) await provideFunctions(client, grants, role)
  for (const worker of workers) {
    await withClient(connectionAt(owner, worker), `${worker.host}:${worker.port}`, async (at) => {
      await at.query(resetSearchPathText)
      if (!isPrepared) await dropViews(at)
    })
  }
  const quotedDigest = client.escapeLiteral(digest)
  if (!isPrepared) await client.query(`comment on table cluster_grants is ${quotedDigest}`)
}

async function provideFunctions(client: pg.ClientBase, grants: string[], role: string | undefined): Promise<void> {
  await inLockedTransaction(client, async () => {
    for (const text of createFunctionTexts) await client.query(text)
    for (const { signature } of (await client.query<{ signature: string }>(listFunctionsText)).rows) {
      await client.query('select create_distributed_function($1)', [signature])
    }
    await client.query(`revoke execute on ${executables} from public`)
    const quotedRole = role && pg.escapeIdentifier(role)
    if (quotedRole) await client.query(`grant execute on ${executables} to ${quotedRole}`)
    await client.query('delete from cluster_grants')
    await client.query('insert into cluster_grants select unnest($1::text[])', [grants])
  })
}

async function dropViews(worker: pg.ClientBase): Promise<void> {
  await worker.query('begin')
  await worker.query(`select pg_catalog.pg_advisory_xact_lock(${viewsLock})`)
  for (const { quotedSchema } of (await worker.query<{ quotedSchema: string }>(listViewsText)).rows) {
    await worker.query(`drop schema ${quotedSchema} cascade`)
  }
  await worker.query('commit')
}

/** A comment, which only the owner can change. */
const findDigestText = `select obj_description('cluster_grants'::regclass, 'pg_class') as "digest"`

const listViewsText = `select quote_ident(nspname) as "quotedSchema" from pg_namespace where nspname ~ '^group_[0-9]+$'`

type Address = { host: string; port: number }

const listWorkersText = `
  select nodename as "host", nodeport as "port" from pg_dist_node
  where isactive and noderole = 'primary' and groupid <> 0`

function grantsInGroup(role: string): string[] {
  const quotedRole = pg.escapeIdentifier(role)
  return ['usage on schema GROUP', ...grantsInGroups('GROUP')].map(
    (quotedWhat) => `grant ${quotedWhat} to ${quotedRole}`,
  )
}
