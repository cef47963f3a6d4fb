// The guards that the guarantees rest on, by name: constraints, unique indexes and triggers of the tables that credits, their
// events, the customers, their keys, the operators, their trail, discrepancies, the audits and the journal of these are kept in. Somebody may have dropped or disabled one by hand,
// to get something done, and forgotten it: every start looks, and every audit. A test holds the list against the schema, so
// that a new guard cannot be left out.
import { type Database, statement } from './database.ts'

type Guard = { kind: 'constraint' | 'unique index' | 'trigger'; table: string; name: string }

const constraints: Record<string, string[]> = {
  customers: ['pkey', 'name_key'],
  api_keys: ['pkey', 'customer_id_fkey', 'status', 'hash_is_sha256', 'hash_once'],
  service_tokens: ['pkey', 'status', 'hash_is_sha256', 'hash_once'],
  operator_actions: ['pkey', 'step', 'begun_says_what', 'ended_says_how', 'why_and_what_with_the_beginning'],
  operators: ['pkey', 'name_key', 'name', 'role', 'password_is_hashed', 'status'],
  operator_sessions: ['pkey', 'operator_id_fkey', 'hash_is_sha256'],
  accounts: ['pkey', 'customer_id_fkey', 'balance_is_exact_in_json', 'held_is_covered', 'low_credits'],
  ledger_entries: [
    ...['pkey', 'customer_id_fkey', 'number_from_one', 'kind', 'sign', 'never_negative', 'cause', 'hash_is_sha256'],
    'held_is_covered',
  ],
  holds: [
    ...['pkey', 'customer_id_fkey', 'customer_id_opening_entry_fkey', 'customer_id_closing_entry_fkey', 'state'],
    ...['something', 'ended_means_entered', 'captured_within'],
  ],
  orders: [
    ...['pkey', 'customer_id_fkey', 'customer_id_grant_entry_fkey', 'customer_id_rollback_entry_fkey'],
    ...['customer_id_refund_entry_fkey', 'status', 'package_type', 'payment_method', 'sells_something'],
    ...['confirmed_means_granted', 'cancelled_means_rolled_back', 'refunded_means_accounted_for'],
  ],
  payment_operations: [
    ...['pkey', 'customer_id_order_id_fkey', 'kind', 'state', 'open_is_not_closed', 'holds_by_kind'],
    ...['expired_without_payment', 'attempts_counted'],
  ],
  events: ['pkey', 'customer_id_fkey', 'type'],
  audits: ['pkey', 'cause', 'ends_after_it_began', 'says_what_it_found'],
  discrepancies: ['pkey', 'customer_id_order_id_fkey', 'resolved_means_explained'],
  record_journal: ['pkey', 'number_from_one', 'hashes_are_sha256'],
  record_journal_head: ['pkey', 'only_one'],
}

const uniqueIndexes: Record<string, string[]> = {
  ledger_entries: ['once_per_order', 'once_per_reference', 'held_once_and_ended_once'],
  orders: ['once_per_idempotency_key'],
  payment_operations: ['one_open', 'one_success', 'payment_key'],
  discrepancies: ['open_once'],
}

const triggers: Record<string, string[]> = {
  customers: ['journalled', 'changes_journalled'],
  api_keys: ['note_suspension', 'never_deleted', 'journalled', 'changes_journalled'],
  service_tokens: ['note_suspension', 'never_deleted', 'journalled', 'changes_journalled'],
  operator_actions: ['append_only', 'journalled'],
  operators: ['never_deleted', 'journalled', 'changes_journalled'],
  accounts: ['move_by_entry'],
  ledger_entries: ['append_only'],
  orders: ['transitions'],
  audits: ['append_only', 'journalled'],
  discrepancies: ['journalled', 'changes_journalled'],
  record_journal: ['append_only'],
  record_journal_head: ['never_deleted', 'moves_on'],
}

const named = (kind: Guard['kind'], names: Record<string, string[]>): Guard[] =>
  Object.entries(names).flatMap(([table, ends]) => ends.map((end) => ({ kind, table, name: `${table}_${end}` })))

export const guards: Guard[] = [
  ...named('constraint', constraints),
  ...named('unique index', uniqueIndexes),
  ...named('trigger', triggers),
]

/**
 * Hashes that were computed once: a function that gives another has been changed, and no chain can be trusted. The first
 * is of an entry that does not know what is held, as they were before that was kept.
 */
const knownHashes = [
  {
    values: `'\\x00ff'::bytea, '11111111-1111-4111-8111-111111111111', 2, 'GRANT', 21, 42, 'ord_1', null,
      '2026-01-02 03:04:05.678901+00', null, null, null, null`,
    hash: 'd8309b77b5c624ef0013ecb33568c285e8ddae07451a11a31d82a41c472d18c1',
  },
  {
    values: `'\\x00ff'::bytea, '11111111-1111-4111-8111-111111111111', 2, 'CAPTURE', -21, 42, null, null,
      '2026-01-02 03:04:05.678901+00', -22, 7, '22222222-2222-4222-8222-222222222222', 'svc_1'`,
    hash: '75889f71befa11cd1e54651682aeea8278ce3df458ed7aef4cf6e3d2a172cc26',
  },
]

/** The same for the journal of records: the hash of a row, and that of an entry. */
const knownJournalHashes = [
  'ae3fb717d0821edd90e4c57ca83d579a65c83d6943a92e1917e1bf85d2d1270b',
  '25f0f10928df10ef9f4a742466cc5faa6531676f4f86b6446ba365df31e346fe',
]

const computed = knownHashes.map(({ values }) => `encode(ledger_entry_hash(${values}), 'hex')`).join(', ')

// A foreign key works by triggers of its own, which can be disabled too; they count by the name of their constraint.
// `conenforced` is there from PostgreSQL 18 on, hence the look through jsonb.
const findBrokenGuardsStatement = statement(
  'db.findBrokenGuards',
  `with guard as (
    select g.*, to_regclass(g.table_name) as relation
    from unnest($1::text[], $2::text[], $3::text[]) as g (kind, table_name, name)
  ),
  state as (
    select g.kind, g.table_name, g.name, case g.kind
      when 'constraint' then (
        select case when not c.convalidated then 'is not validated'
                    when to_jsonb(c) ->> 'conenforced' = 'false' then 'is not enforced' else '' end
        from pg_constraint c where c.conrelid = g.relation and c.conname = g.name)
      when 'unique index' then (
        select case when not i.indisunique then 'is not unique'
                    when not (i.indisvalid and i.indisready and i.indislive) then 'is not valid' else '' end
        from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = g.relation and c.relname = g.name)
      else (
        select '' from pg_trigger t where t.tgrelid = g.relation and t.tgname = g.name and not t.tgisinternal)
      end as fault
    from guard g
  )
  select kind, table_name as "table", name, coalesce(fault, 'is missing') as "fault"
  from state where fault is distinct from ''
  union all
  select distinct 'trigger', r.table_name, coalesce(c.conname, t.tgname), 'is disabled'
  from (select distinct table_name, relation from guard) r
  join pg_trigger t on t.tgrelid = r.relation
  left join pg_constraint c on c.oid = t.tgconstraint
  where t.tgenabled not in ('O', 'A')
  union all
  select 'setting', 'all tables', 'session_replication_role', 'keeps triggers from firing'
  where current_setting('session_replication_role') <> 'origin'
  union all
  select 'function', 'ledger_entries', 'ledger_entry_hash', 'gives another hash than it did'
  where array[${computed}] <> $4::text[]
  union all
  select 'function', 'record_journal', f.name, 'gives another hash than it did'
  from (values
    ('record_hash', encode(record_hash(
      row(2, 'operators', 'opr_1', null, '\\x01', '2026-01-02 03:04:05.678901+00', '\\x02')::record_journal), 'hex'), $5::text),
    ('record_journal_hash', encode(record_journal_hash('\\x00ff', 2, 'operators', 'opr_1', null, '\\x01',
      '2026-01-02 03:04:05.678901+00'), 'hex'), $6::text)
  ) as f (name, computed, known)
  where f.computed <> f.known
  order by 1, 2, 3`,
)

export type BrokenGuard = { kind: string; table: string; name: string; fault: string }

/** Where a newer version has been the older one is not the one to judge; what somebody has switched off is wrong anywhere. */
export const isSwitchedOff = ({ kind, fault }: BrokenGuard) => kind === 'setting' || fault === 'is disabled'

export function findBrokenGuards(database: Database): Promise<BrokenGuard[]> {
  return database.run<BrokenGuard>(findBrokenGuardsStatement, [
    guards.map(({ kind }) => kind),
    guards.map(({ table }) => table),
    guards.map(({ name }) => name),
    knownHashes.map(({ hash }) => hash),
    ...knownJournalHashes,
  ])
}
