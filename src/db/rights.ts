// The rights of the serving role: it reads everything and writes, column by column, what the statements of the service write. It
// owns nothing, so it can neither change the schema nor disable a trigger; ledger entries, audits and operator actions it can
// only insert. The owner of the tables grants the rights after the migrations. A right that no statement needs any more
// is removed from the table one version later: instances of the version before may run until then.
import pg from 'pg'
import { distributedTables, referenceTables, tablesInGroups } from './cluster/tables.ts'
import { type Database, statement } from './database.ts'
import { inLockedTransaction, isAhead } from './migrate.ts'

type Rights = { insert?: true; delete?: true; update?: string[] }

/** Increased with every change of the table below; a test compares the two. An older version does not revoke newer rights. */
export const rightsVersion = 15

export const rights: Record<string, Rights> = {
  schema_migrations: {},
  customers: { insert: true, update: ['suspended_at'] },
  api_keys: { insert: true, update: ['status', 'pepper_version', 'key_hash'] },
  service_tokens: { insert: true, update: ['status', 'pepper_version', 'token_hash'] },
  accounts: {
    insert: true,
    update: [
      'balance',
      'held',
      'adjusted',
      'last_entry',
      'last_hash',
      'moved_at',
      'last_event',
      'deleted_events',
      'low_credits',
      'low_steps',
    ],
  },
  ledger_entries: { insert: true },
  use_labels: { insert: true },
  use_details: { insert: true },
  holds: {
    insert: true,
    update: [
      'state',
      'captured',
      'closing_entry',
      'credits',
      'captured_in_parts',
      'part_entry',
      'expires_at',
      'extended_at',
    ],
  },
  budgets: { insert: true, update: ['credits', 'warn_at', 'removed_at'] },
  budget_usage: { insert: true, update: ['period_start', 'used', 'is_warned'] },
  orders: {
    insert: true,
    update: [
      'status',
      'confirmed_at',
      'grant_entry',
      'rollback_entry',
      'refund_entry',
      'refund_shortfall',
      'refunded_amount',
    ],
  },
  payment_operations: {
    insert: true,
    update: [
      'state',
      'holder_id',
      'lease_until',
      'settle_at',
      'attempts',
      'sent_at',
      'send_number',
      'gateway_code',
      'transaction_key',
      'receipt_url',
      'card_number',
      'approval_number',
      'paid_method',
      'paid_provider',
      'card_amount',
      'wallet_amount',
      'points_amount',
      'total_credits',
      'closed_at',
      'closed_by',
      'answered_by',
    ],
  },
  refund_rules: { insert: true, update: ['full_price_days', 'smallest_amount', 'share_percent'] },
  discrepancies: { insert: true, update: ['last_seen_at', 'detail', 'resolved_at', 'resolution'] },
  webhook_notifications: {
    insert: true,
    delete: true,
    update: ['attempts', 'process_at', 'processed_at', 'outcome'],
  },
  gateway_movements: { insert: true, delete: true },
  reconciliations: { insert: true, update: ['holder_id', 'lease_until', 'finished_at', 'result'] },
  events: { insert: true, delete: true },
  event_endpoints: { insert: true, update: ['status', 'secrets'] },
  event_queues: {
    insert: true,
    delete: true,
    update: [
      'next_event',
      'last_event',
      'attempts',
      'first_failed',
      'last_error',
      'due_at',
      'not_before',
      'lease_until',
      'holder_id',
    ],
  },
  dead_events: { insert: true, delete: true },
  event_attempts: { insert: true, delete: true },
  operator_actions: { insert: true },
  open_actions: { update: ['lease_until'] },
  payment_attempts: { insert: true },
  cancel_keys: { insert: true },
  adjustments: { insert: true },
  adjustment_requests: { insert: true, update: ['state', 'decided_by', 'decided_at'] },
  adjustment_days: { insert: true, update: ['credits', 'charges'] },
  operators: {
    insert: true,
    update: ['role', 'password_hash', 'must_change_password', 'status', 'password_set_at', 'access_version'],
  },
  operator_sessions: { insert: true, delete: true, update: ['last_seen_at', 'access_version'] },
  sign_in_failures: { insert: true, delete: true, update: ['failures', 'last_failed_at'] },
  hourly_figures: { insert: true, delete: true, update: ['count', 'total'] },
  figures_reached: { insert: true, update: ['reached', 'details_reached'] },
  customer_figures: { insert: true, update: ['revenue', 'orders', 'last_purchase_at'] },
  audits: { insert: true },
  daily_audits: { insert: true, update: ['holder_id', 'lease_until', 'audit_id'] },
  log_checkpoints: { insert: true, update: ['published_at'] },
  log_cosignatures: { insert: true },
  sweeping_processes: { insert: true, delete: true, update: ['lease_until'] },
  log_head: { insert: true, update: ['size', 'root', 'note', 'marks', 'appended_at'] },
  log_runs: { insert: true },
  log_tiles: { insert: true, update: ['hashes'] },
  // Written by `restore`, as the owner.
  log_restores: {},
  // Written by triggers that run with the owner's rights.
  record_journal: {},
  record_journal_head: {},
}

type Right = { table: string; privilege: string; column: string | null }

function rightsOf(table: string, { insert, update = [], delete: remove }: Rights): Right[] {
  return [
    { table, privilege: 'SELECT', column: null },
    ...(insert ? [{ table, privilege: 'INSERT', column: null }] : []),
    ...(remove ? [{ table, privilege: 'DELETE', column: null }] : []),
    ...update.map((column) => ({ table, privilege: 'UPDATE', column })),
  ]
}

const wanted = Object.entries(rights).flatMap(([table, each]) => rightsOf(table, each))

/**
 * On the coordinator of a cluster: tables of customers are written in their groups alone. Citus has no rights on columns of the
 * tables that it copies to every server.
 */
const wantedOnCoordinator = Object.entries(rights).flatMap(([table, each]) => {
  if (distributedTables.includes(table)) return rightsOf(table, {})
  if (!referenceTables.includes(table)) return rightsOf(table, each)
  const { update, ...others } = each
  return [...rightsOf(table, others), ...(update ? [{ table, privilege: 'UPDATE', column: null }] : [])]
})

const columnsOf = (list: Right[]) => [
  list.map(({ table }) => table),
  list.map(({ privilege }) => privilege),
  list.map(({ column }) => column),
]

// Compares what was granted to the role itself, not what it has as a member of other roles.
const compareText = `
  with wanted as (
    select w.*, to_regclass(w.table_name) as relation
    from unnest($2::text[], $3::text[], $4::text[]) as w (table_name, privilege, column_name)
  ),
  granted as (
    select c.oid as relation, c.relname as table_name, a.privilege_type as privilege, null::text as column_name
    from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
    where c.oid in (select relation from wanted) and r.rolname = $1
    union all
    select c.oid, c.relname, a.privilege_type, t.attname
    from pg_class c join pg_attribute t on t.attrelid = c.oid cross join lateral aclexplode(t.attacl) a
    join pg_roles r on r.oid = a.grantee
    where c.oid in (select relation from wanted) and r.rolname = $1 and not t.attisdropped
  )
  select true as "missing", w.table_name as "table", w.privilege, w.column_name as "column"
  from wanted w
  where not exists (select from granted g where g.relation = w.relation and g.privilege = w.privilege
                      and g.column_name is not distinct from w.column_name)
  union all
  select false, g.table_name, g.privilege, g.column_name
  from granted g
  where not exists (select from wanted w where w.relation = g.relation and w.privilege = g.privilege
                      and w.column_name is not distinct from g.column_name)
  order by 1 desc, 2, 3, 4`

// The tables are in the first schema of the owner's search path. Statements call these functions; functions of triggers need no
// right.
const missingBesidesText = `
  select format('usage on schema %I', current_schema()) as "quotedWhat"
  where not has_schema_privilege($1::name, current_schema()::text, 'usage')
  union all
  select 'execute on function ' || p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = to_regnamespace(current_schema()::text)
    and p.proname in ('ledger_entry_hash', 'ledger_entry_hash_adjusted', 'ledger_leaf', 'credits_left_to_reverse',
                      'used_credits_to_reverse', 'refundable_credits', 'accepted_parts', 'record_hash', 'record_journal_hash')
    and not has_function_privilege($1::name, p.oid, 'execute')`

type Difference = Right & { missing: boolean }

// A comment on the journal of the migrations, which only its owner can change.
const findVersionText = `
  select substring(obj_description(to_regclass('schema_migrations'), 'pg_class') from '^rights ([0-9]{1,9})$')::int as "version"`

/** The newest version whose rights were granted here. */
async function grantedVersion(client: pg.ClientBase): Promise<number> {
  return (await client.query<{ version: number | null }>(findVersionText)).rows[0]?.version ?? 0
}

async function storeVersion(client: pg.ClientBase): Promise<void> {
  if ((await grantedVersion(client)) >= rightsVersion) return
  const quotedNote = client.escapeLiteral(`rights ${rightsVersion}`)
  await client.query(`comment on table schema_migrations is ${quotedNote}`)
}

/** Whether no newer version has migrated it or granted rights. */
export async function isNewest(client: pg.ClientBase): Promise<boolean> {
  return (await grantedVersion(client)) <= rightsVersion && !(await isAhead(client))
}

/**
 * As the owner. Only differences are changed: a grant without an effect would still make every running service plan its
 * statements again. Rights that are not in the table are revoked, unless a newer version has granted its own.
 */
export async function grantRights(client: pg.ClientBase, role: string, isCluster = false): Promise<void> {
  const wantedColumns = columnsOf(isCluster ? wantedOnCoordinator : wanted)
  const compare = async () => (await client.query<Difference>(compareText, [role, ...wantedColumns])).rows
  const quotedRole = pg.escapeIdentifier(role)
  const besides = async () => (await client.query<{ quotedWhat: string }>(missingBesidesText, [role])).rows
  const revokesNow = await isNewest(client)
  const differs = (await compare()).some(({ missing }) => missing || revokesNow)
  if (!differs && (await besides()).length === 0 && (await grantedVersion(client)) >= rightsVersion) return
  await inLockedTransaction(client, async () => {
    if (isCluster) await client.query('set local citus.multi_shard_modify_mode = sequential')
    for (const { quotedWhat } of await besides()) await client.query(`grant ${quotedWhat} to ${quotedRole}`)
    // Checked under the lock: a newer version may have granted its rights meanwhile.
    const surplus = (await isNewest(client)) ? (await compare()).filter(({ missing }) => !missing) : []
    for (const quotedSurplus of quotedByTable(surplus)) {
      await client.query(`revoke ${quotedSurplus} from ${quotedRole}`)
    }
    // Compared again: revoking from a table revokes from its columns too.
    const missing = (await compare()).filter((each) => each.missing)
    for (const quotedMissing of quotedByTable(missing)) {
      await client.query(`grant ${quotedMissing} to ${quotedRole}`)
    }
    await storeVersion(client)
  })
}

function quotedByTable(list: Right[], prefix = ''): string[] {
  return [...Map.groupBy(list, ({ table }) => table)].map(([table, ofTable]) => {
    const privileges = ofTable.map(({ privilege, column }) =>
      column === null ? privilege : `${privilege} (${pg.escapeIdentifier(column)})`,
    )
    return `${privileges.join(', ')} on ${prefix}${pg.escapeIdentifier(table)}`
  })
}

/** What the serving role may do with the views of a group. */
export function grantsInGroups(schema: string): string[] {
  return quotedByTable(
    wanted.filter(({ table }) => tablesInGroups.includes(table)),
    `${schema}.`,
  )
}

// Effective rights, also through membership in other roles.
const listMissingStatement = statement.global(
  'db.listMissingRights',
  `select w.table_name as "table", w.privilege, w.column_name as "column"
  from unnest($1::text[], $2::text[], $3::text[]) as w (table_name, privilege, column_name)
  left join pg_class c on c.oid = to_regclass(w.table_name)
  left join pg_attribute a on a.attrelid = c.oid and a.attname = w.column_name and not a.attisdropped
  where case when w.column_name is null then has_table_privilege(c.oid, w.privilege)
             else has_column_privilege(c.oid, a.attnum, w.privilege) end is not true
  order by 1, 2, 3`,
)

// The opposite, for a role that does not own the tables: an owner may do everything. Rights from other roles and from PUBLIC
// count too. Where a newer version has granted its rights, this one does not check.
const listSurplusStatement = statement.global(
  'db.listSurplusRights',
  `with relation as (
    select c.oid, c.relname::text as table_name
    from unnest($1::text[]) as t (name) join pg_class c on c.oid = to_regclass(t.name)
    where not pg_has_role(c.relowner, 'usage')
      and coalesce(substring(obj_description(to_regclass('schema_migrations'), 'pg_class') from '^rights ([0-9]{1,9})$')::int, 0) <= $5
  ),
  wanted as (
    select * from unnest($2::text[], $3::text[], $4::text[]) as w (table_name, privilege, column_name)
  ),
  held as (
    select r.table_name, p.privilege, null as column_name
    from relation r cross join unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) as p (privilege)
    where has_table_privilege(r.oid, p.privilege)
    union all
    select r.table_name, p.privilege, a.attname
    from relation r
    join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    cross join unnest(array['INSERT', 'UPDATE']) as p (privilege)
    where has_column_privilege(r.oid, a.attnum, p.privilege) and not has_table_privilege(r.oid, p.privilege)
  )
  select h.table_name as "table", h.privilege || coalesce(' ' || h.column_name, '') as "name"
  from held h
  where not exists (select from wanted w where w.table_name = h.table_name and w.privilege = h.privilege
                      and w.column_name is not distinct from h.column_name)
  order by 1, 2`,
)

const wantedBy = ({ groups }: Database) => columnsOf(groups ? wantedOnCoordinator : wanted)

/** Rights to write that the role has and no statement needs: `DELETE`, `UPDATE delta`. */
export function listSurplusRights(database: Database): Promise<{ table: string; name: string }[]> {
  return database.run(listSurplusStatement, [Object.keys(rights), ...wantedBy(database), rightsVersion])
}

const verbs: Record<string, string> = { SELECT: 'select from', INSERT: 'insert into', DELETE: 'delete from' }

/** Rights that the role needs and does not have. */
export async function listMissingRights(database: Database): Promise<string[]> {
  const rows = await database.run<Right>(listMissingStatement, wantedBy(database))
  return rows.map(({ table, privilege, column }) =>
    column ? `update ${column} of ${table}` : `${verbs[privilege]} ${table}`,
  )
}
