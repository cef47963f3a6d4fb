// Provides the servers of a Citus cluster with what a statement needs there: on each server that has a group of customers, a schema
// of views gives the group's shards the names of the tables; so a statement, a trigger and a guard are the same text as on one
// machine. Every server has the functions that enter a group, and the rights of the serving role on its views.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { type Connection, connectionAt, withClient } from '../connect.ts'
import { changeSchema, listApplied } from '../migrate.ts'
import { grantsInGroups, isNewest } from '../rights.ts'
import { distribute } from './distribute.ts'
import { listWorkers } from './layout.ts'

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
      schema_name text := 'group_' || shard_id;
      group_number int;
      shard record;
    begin
      if to_regclass(schema_name || '.accounts') is not null then
        return schema_name;
      end if;
      perform pg_advisory_xact_lock(hashtext('prepaid-credits.provide_group'), hashtext(schema_name));
      -- Opening a catalog table invalidates what the session remembers of it.
      if exists (select from pg_class c where c.oid = to_regclass(schema_name || '.accounts')) then
        return schema_name;
      end if;
      set local citus.enable_ddl_propagation = off;
      set local citus.override_table_visibility = off;
      set local client_min_messages = warning;
      execute format('drop schema if exists %I cascade', schema_name);
      execute format('create schema %I', schema_name);
      select count(*) into group_number from pg_dist_shard s
      join pg_dist_shard own on own.logicalrelid = s.logicalrelid
      where own.shardid = shard_id and s.shardminvalue::int < own.shardminvalue::int;
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

const listFunctionsText = `
  select p.oid::regprocedure::text as "signature"
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`

/**
 * After the migrations, as the owner: distributes the tables, and provides every server with the functions and the rights of the
 * serving role. Views are made again by the next transaction, because a migration may have changed their tables. A cluster that
 * is prepared already, or by a newer version, is only read.
 */
export async function prepareCluster(
  client: pg.ClientBase,
  owner: Connection,
  role: string | undefined,
): Promise<void> {
  if (!(await isNewest(client))) return
  await changeSchema(client, async () => {
    if (await isNewest(client)) await distribute(client)
  })
  const workers = await listWorkers(client)
  const grants = role === undefined ? [] : grantsInGroup(role)
  const parts = [createFunctionTexts, grants, workers, await listApplied(client)]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const isPrepared = (await client.query<{ digest: string }>(findDigestText)).rows[0]?.digest === digest
  if (!isPrepared && !(await changeSchema(client, () => provideFunctions(client, grants, role)))) return
  for (const worker of workers) {
    await withClient(connectionAt(owner, worker), `${worker.host}:${worker.port}`, async (at) => {
      await at.query(resetSearchPathText)
      if (!isPrepared) await changeSchema(at, () => dropViews(at))
    })
  }
  const quotedDigest = client.escapeLiteral(digest)
  if (!isPrepared) await client.query(`comment on table cluster_grants is ${quotedDigest}`)
}

/** False when a newer version has done so while it waited for the lock. */
async function provideFunctions(client: pg.ClientBase, grants: string[], role: string | undefined): Promise<boolean> {
  if (!(await isNewest(client))) return false
  for (const text of createFunctionTexts) await client.query(text)
  for (const { signature } of (await client.query<{ signature: string }>(listFunctionsText)).rows) {
    await client.query('select create_distributed_function($1)', [signature])
  }
  await client.query(`revoke execute on ${executables} from public`)
  const quotedRole = role && pg.escapeIdentifier(role)
  if (quotedRole) await client.query(`grant execute on ${executables} to ${quotedRole}`)
  await client.query('delete from cluster_grants')
  await client.query('insert into cluster_grants select unnest($1::text[])', [grants])
  return true
}

async function dropViews(worker: pg.ClientBase): Promise<void> {
  await worker.query(`select pg_catalog.pg_advisory_xact_lock(${viewsLock})`)
  for (const { quotedSchema } of (await worker.query<{ quotedSchema: string }>(listViewsText)).rows) {
    await worker.query(`drop schema ${quotedSchema} cascade`)
  }
}

/** A comment, which only the owner can change. */
const findDigestText = `select obj_description('cluster_grants'::regclass, 'pg_class') as "digest"`

const listViewsText = `select quote_ident(nspname) as "quotedSchema" from pg_namespace where nspname ~ '^group_[0-9]+$'`

function grantsInGroup(role: string): string[] {
  const quotedRole = pg.escapeIdentifier(role)
  return ['usage on schema GROUP', ...grantsInGroups('GROUP')].map(
    (quotedWhat) => `grant ${quotedWhat} to ${quotedRole}`,
  )
}
