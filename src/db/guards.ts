// The guards that the guarantees depend on, by their definitions: columns, constraints, unique indexes, triggers and their
// functions. One may have been dropped, disabled or replaced by hand and forgotten, so every start and every audit compares the
// catalog with guards.json. `npm run schema` writes that file from the migrations, so a new guard needs no change here. Besides
// missing and different guards it finds what could undo one: other triggers, rules, row level security, inheritance, and rights
// that the serving role does not need.

import { readFileSync } from 'node:fs'
import { clusterFunctions } from './cluster/prepare-cluster.ts'
import { shardSuffix, tablesInGroups } from './cluster/tables.ts'
import { type Database, statement } from './database.ts'
import { listSurplusRights, rights } from './rights.ts'
import { type Sql, sql } from './sql.ts'

type GuardKind = 'column' | 'constraint' | 'unique index' | 'trigger' | 'function'

/** `table` is empty for a function. */
export type SchemaGuard = { kind: GuardKind; table: string; name: string; definition: string }

/** The result of all migrations. */
export const guards: SchemaGuard[] = JSON.parse(readFileSync(new URL('guards.json', import.meta.url), 'utf8'))

/** All but the journal of the migrations, which no migration creates. */
export const guardedTables = Object.keys(rights).filter((table) => table !== 'schema_migrations')

/** `fault`: what the definition does not show. */
type Found = SchemaGuard & { fault: string | null }

/** CTE `relation`: the tables named by $1. In a group of a cluster those are views, each of a shard with the table's guards. */
const relationText = `relation as (
    select c.*, t.name as table_name, named.oid as named
    from unnest($1::text[]) as t (name)
    join pg_class named on named.oid = to_regclass(t.name)
    left join lateral (
      select d.refobjid from pg_rewrite w
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
      where named.relkind = 'v' and w.ev_class = named.oid and d.refobjid <> named.oid
      limit 1
    ) shard on true
    join pg_class c on c.oid = coalesce(shard.refobjid, named.oid)
  )`

// PostgreSQL's definitions are the same in every version from 15 on and in every schema, as long as that schema is in the search
// path. Empty bytea is written in one form, whatever bytea_output is. Not null is read from the column: only from version 18 on
// it is a constraint too. The lines of a CASE are joined.
const listGuardsStatement = statement.global(
  'db.listGuards',
  `with ${relationText},
  guard as (
    select 'column' as kind, r.table_name, a.attname::text as name,
           case when v.attname is null then 'is not in the view of its group' end as fault,
           format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
           || case when a.attidentity <> '' then ' identity' else '' end
           || case a.attgenerated when '' then coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
                                  else ' generated as ' || pg_get_expr(d.adbin, d.adrelid) end as definition
    from relation r
    join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attribute v on v.attrelid = r.named and v.attname = a.attname
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    union all
    select 'constraint', r.table_name, c.conname, null, pg_get_constraintdef(c.oid, true)
    from relation r
    join pg_constraint c on c.conrelid = r.oid and c.contype in ('p', 'u', 'x', 'f', 'c')
    union all
    select case when i.indisunique then 'unique index' else 'index' end, r.table_name, c.relname,
           case when not (i.indisvalid and i.indisready and i.indislive) then 'is not valid' end,
           pg_get_indexdef(i.indexrelid, 0, true)
    from relation r
    join pg_index i on i.indrelid = r.oid
    join pg_class c on c.oid = i.indexrelid
    where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    union all
    select 'trigger', r.table_name, t.tgname, case when t.tgenabled not in ('O', 'A') then 'is disabled' end,
           pg_get_triggerdef(t.oid, true)
    from relation r
    join pg_trigger t on t.tgrelid = r.oid and not t.tgisinternal
    union all
    select 'function', '', p.proname, null,
           replace(replace(pg_get_functiondef(p.oid), format('FUNCTION %I.', n.nspname), 'FUNCTION '),
                   format(', %L, ''pg_temp''', n.nspname), ', ''public'', ''pg_temp''')
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where p.prokind = 'f' and p.pronamespace in (select relnamespace from relation)
  )
  select kind, table_name as "table", name, fault,
         case kind when 'function' then definition
                   else replace(regexp_replace(regexp_replace(definition, '\\(\\n\\s*', '(', 'g'), '\\n\\s*', ' ', 'g'),
                                '''\\x''::bytea', '''''::bytea') end as "definition"
  from guard
  order by table_name collate "C", kind collate "C", name collate "C", definition collate "C"`,
)

function listGuards(database: Database, tables = guardedTables): Promise<Found[]> {
  return database.run<Found>(listGuardsStatement, [tables])
}

/** For `npm run schema`. Indexes that are not unique are no guards. */
export async function readGuards(database: Database): Promise<SchemaGuard[]> {
  const found = await listGuards(database)
  const kinds: string[] = ['column', 'constraint', 'unique index', 'trigger', 'function'] satisfies GuardKind[]
  return found
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, table, name, definition }) => ({ kind, table, name, definition }))
}

/** One per line, so that branches which add guards to different tables can be merged. */
export function writeGuards(list: SchemaGuard[]): string {
  return `[\n${list.map((guard) => JSON.stringify(guard)).join(',\n')}\n]\n`
}

/**
 * Known results of the hash functions: with another result a function was changed, or calls functions that shadow the intended
 * ones, and no chain can be trusted. The first entry has no `held`, as entries of earlier versions; the last two are of the
 * journal of records.
 */
const knownHashes = [
  {
    name: 'ledger_entry_hash',
    table: 'ledger_entries',
    values: `'\\x00ff'::bytea, '11111111-1111-4111-8111-111111111111', 2, 'GRANT', 21, 42, 'ord_1', null,
      '2026-01-02 03:04:05.678901+00', null, null, null, null`,
    hash: 'd8309b77b5c624ef0013ecb33568c285e8ddae07451a11a31d82a41c472d18c1',
  },
  {
    name: 'ledger_entry_hash',
    table: 'ledger_entries',
    values: `'\\x00ff'::bytea, '11111111-1111-4111-8111-111111111111', 2, 'CAPTURE', -21, 42, null, null,
      '2026-01-02 03:04:05.678901+00', -22, 7, '22222222-2222-4222-8222-222222222222', 'svc_1'`,
    hash: '75889f71befa11cd1e54651682aeea8278ce3df458ed7aef4cf6e3d2a172cc26',
  },
  {
    name: 'ledger_entry_hash_adjusted',
    table: 'ledger_entries',
    values: `'\\x00ff'::bytea, '11111111-1111-4111-8111-111111111111', 2, 'SPEND', -21, 42, null, 'analysis-1',
      '2026-01-02 03:04:05.678901+00', 0, 7, null, 'svc_1', 5`,
    hash: 'b5464919f30d52190f9b9a737d2222285355aedae051004643f4caf788d13fae',
  },
  {
    name: 'record_hash',
    table: 'record_journal',
    values: `row(2, 'operators', 'opr_1', null, '\\x01', '2026-01-02 03:04:05.678901+00', '\\x02')::record_journal`,
    hash: 'ae3fb717d0821edd90e4c57ca83d579a65c83d6943a92e1917e1bf85d2d1270b',
  },
  {
    name: 'record_journal_hash',
    table: 'record_journal',
    values: `'\\x00ff', 2, 'operators', 'opr_1', null, '\\x01', '2026-01-02 03:04:05.678901+00'`,
    hash: '25f0f10928df10ef9f4a742466cc5faa6531676f4f86b6446ba365df31e346fe',
  },
]

const computed = knownHashes
  .map(({ name, table, values, hash }) => `('${name}', '${table}', encode(${name}(${values}), 'hex'), '${hash}')`)
  .join(',\n    ') as Sql

// What undoes a guard without changing it. A foreign key is enforced by internal triggers, which can be disabled too; they are
// reported by the name of their constraint.
const undoneText = `with ${relationText}
  select distinct 'trigger' as "kind", r.table_name as "table", c.conname::text as "name", 'is disabled' as "fault"
  from relation r
  join pg_trigger t on t.tgrelid = r.oid and t.tgisinternal and t.tgenabled not in ('O', 'A')
  join pg_constraint c on c.oid = t.tgconstraint
  union all
  select 'rule', r.table_name, w.rulename, 'is not part of the schema'
  from relation r join pg_rewrite w on w.ev_class = r.oid
  union all
  select 'table', table_name, table_name, f.fault
  from relation r
  cross join lateral (values
    (relkind <> 'r' or relpersistence <> 'p', 'is not an ordinary table'),
    (relrowsecurity, 'has row level security'),
    (exists (select from pg_inherits i where r.oid in (i.inhrelid, i.inhparent)), 'inherits or is inherited')
  ) as f (found, fault)
  where f.found
  union all
  select 'setting', 'all tables', 'session_replication_role', 'keeps triggers from firing'
  where current_setting('session_replication_role') <> 'origin'`

const listUndoneStatement = statement.global(
  'db.listUndoneGuards',
  sql`${undoneText}
  union all
  select distinct 'function', table_name, name, 'gives another hash than it did'
  from (values
    ${computed}
  ) as f (name, table_name, computed, known)
  where f.computed <> f.known
  order by 1, 2, 3, 4`,
)

const listUndoneInGroupStatement = statement.global('db.listUndoneGuardsInGroup', undoneText)

export type BrokenGuard = { kind: string; table: string; name: string; fault: string }

/** In a newer schema this version cannot assess other differences; a disabled guard is always wrong. */
export const isSwitchedOff = ({ kind, fault }: BrokenGuard) => kind === 'setting' || fault === 'is disabled'

/** On a cluster these are not there: cluster/distribute.ts says why. */
const notOnClusters = [
  'adjustment_requests_adjustment_id_key',
  'discrepancies_customer_id_order_id_fkey',
  'figures_reached_pkey',
  'hourly_figures_pkey',
  'enter_group_of',
]

const distributedGuards = guards.filter(({ name }) => !notOnClusters.includes(name))

/** On the workers: of the tables that are there, and with functions that find the tables of the group. */
const groupGuards = distributedGuards
  .filter(({ kind, table }) => kind === 'function' || tablesInGroups.includes(table))
  .map((guard) => ({ ...guard, definition: withoutSearchPath(guard.definition) }))

function withoutSearchPath(definition: string): string {
  return definition.includes('SECURITY DEFINER') ? definition : definition.replace(/\n SET search_path TO [^\n]*/, '')
}

async function findBrokenInGroup(group: Database): Promise<BrokenGuard[]> {
  const found = await listGuards(group, tablesInGroups)
  const named = found.map((each) => ({
    ...each,
    name: each.name.replace(shardSuffix, ''),
    definition: each.definition.replace(shardSuffix, ''),
  }))
  const undone = await group.run<BrokenGuard>(listUndoneInGroupStatement, [tablesInGroups])
  const replaced = clusterFunctions
    .filter(({ name, body }) => !named.some((each) => each.name === name && each.definition.includes(body)))
    .map(({ name }) => ({ kind: 'function', table: '', name, fault: 'is not as this version has it' }))
  return [...compare(groupGuards, named), ...undone, ...replaced]
}

export async function findBrokenGuards(database: Database): Promise<BrokenGuard[]> {
  const found = await listGuards(database)
  // The statement cannot be planned without these functions.
  const functions = new Set(found.flatMap(({ kind, name }) => (kind === 'function' ? [name] : [])))
  const undone = knownHashes.every(({ name }) => functions.has(name))
    ? await database.run<BrokenGuard>(listUndoneStatement, [guardedTables])
    : []
  const surplus = await listSurplusRights(database)
  const broken = [
    ...compare(database.groups ? distributedGuards : guards, found),
    ...undone,
    ...(await Promise.all((database.groups ?? []).map(findBrokenInGroup))).flat(),
    ...surplus.map(({ table, name }) => ({ kind: 'right', table, name, fault: 'is more than the service needs' })),
  ]
  const place = ({ kind, table, name }: BrokenGuard) => `${kind} ${table} ${name}`
  return broken.sort((one, other) => (place(one) < place(other) ? -1 : 1))
}

/** An index that is no longer unique is compared with the unique one of its name. */
const keyOf = ({ kind, table, name }: Omit<SchemaGuard, 'definition'>) =>
  `${kind === 'unique index' ? 'index' : kind} ${table} ${name}`

function compare(expected: SchemaGuard[], found: Found[]): BrokenGuard[] {
  const byKey = Map.groupBy(found, keyOf)
  const faults = expected.flatMap((guard) => {
    const there = byKey.get(keyOf(guard)) ?? []
    const fault = faultOf(guard, there)
    return fault === null ? [] : [{ kind: guard.kind, table: guard.table, name: guard.name, fault }]
  })
  return [...faults, ...foreignAmong(expected, found)]
}

/** A function may be overloaded, and PostgreSQL may call another one: one of them has to be the guard. */
function faultOf({ definition }: SchemaGuard, there: Found[]): string | null {
  const [first] = there
  if (!first) return 'is missing'
  const same = there.find((each) => withoutState(each.definition) === withoutState(definition))
  if (!same) return 'is not as schema.sql has it'
  if (same.fault !== null) return same.fault
  for (const [ending, fault] of states) {
    if (same.definition.endsWith(ending) && !definition.endsWith(ending)) return fault
  }
  return null
}

/** The endings of definitions of constraints that are not enforced for all rows. */
const states = [
  [' NOT ENFORCED', 'is not enforced'],
  [' NOT VALID', 'is not validated'],
] as const

const withoutState = (definition: string) => definition.replace(/ NOT (VALID|ENFORCED)$/, '')

/** Foreign triggers on our tables, and overloads of our functions. */
function foreignAmong(expected: SchemaGuard[], found: Found[]): BrokenGuard[] {
  const known = new Map(expected.map((guard) => [keyOf(guard), guard]))
  return found
    .filter((each) => {
      const guard = known.get(keyOf(each))
      if (each.kind === 'trigger') return guard === undefined
      if (each.kind !== 'function' || guard === undefined) return false
      return (
        each.definition !== guard.definition &&
        found.some((twin) => keyOf(twin) === keyOf(each) && twin.definition === guard.definition)
      )
    })
    .map(({ kind, table, name }) => ({ kind, table, name, fault: 'is not part of the schema' }))
}
