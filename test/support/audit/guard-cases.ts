// Guards of the schema that were removed or disabled, in every possible way, and what the start and the audit report: the
// name of the guard and its fault.

export type Sabotage = {
  when: string
  /** Run by the owner. `SERVING` is the service role. */
  damage: string
  found: [kind: string, table: string, name: string, fault: string][]
}

const [missing, different, foreign] = ['is missing', 'is not as schema.sql has it', 'is not part of the schema']

const hashFunction = (returns: string) => `
  create or replace function ledger_entry_hash(previous bytea, customer_id uuid, entry_number bigint, kind text,
    delta bigint, balance_after bigint, order_id text, reference text, created_at timestamptz, held_delta bigint,
    held_after bigint, hold_id uuid, service_id text) returns bytea
  language sql stable parallel safe as $$ ${returns} $$`
const wrongHash: Sabotage['found'] = [
  ['function', '', 'ledger_entry_hash', different],
  ['function', 'ledger_entries', 'ledger_entry_hash', 'gives another hash than it did'],
  ['function', 'ledger_entries', 'ledger_entry_hash_adjusted', 'gives another hash than it did'],
]

export const brokenGuards: Sabotage[] = [
  {
    when: 'a check constraint was dropped',
    damage: 'alter table orders drop constraint orders_rules',
    found: [['constraint', 'orders', 'orders_rules', missing]],
  },
  {
    when: 'a check constraint was restored for new rows only',
    damage: `alter table accounts drop constraint accounts_low_credits;
      alter table accounts add constraint accounts_low_credits check (low_credits > 0) not valid`,
    found: [['constraint', 'accounts', 'accounts_low_credits', 'is not validated']],
  },
  {
    when: 'a check constraint accepts everything',
    damage: `alter table accounts drop constraint accounts_held_is_covered;
      alter table accounts add constraint accounts_held_is_covered check (true)`,
    found: [['constraint', 'accounts', 'accounts_held_is_covered', different]],
  },
  {
    when: 'a foreign key is not enforced',
    damage: `alter table payment_operations
      alter constraint payment_operations_customer_id_order_id_fkey not enforced`,
    found: [['constraint', 'payment_operations', 'payment_operations_customer_id_order_id_fkey', 'is not enforced']],
  },
  {
    when: 'a foreign key cascades deletes',
    damage: `alter table payment_attempts drop constraint payment_attempts_customer_id_operation_id_fkey;
      alter table payment_attempts add constraint payment_attempts_customer_id_operation_id_fkey
        foreign key (customer_id, operation_id) references payment_operations on delete cascade`,
    found: [['constraint', 'payment_attempts', 'payment_attempts_customer_id_operation_id_fkey', different]],
  },
  {
    when: 'the triggers of a foreign key are disabled',
    damage: `update pg_trigger set tgenabled = 'D' where tgconstraint = (
      select oid from pg_constraint where conname = 'payment_operations_customer_id_order_id_fkey')
      and tgrelid = 'payment_operations'::regclass`,
    found: [['trigger', 'payment_operations', 'payment_operations_customer_id_order_id_fkey', 'is disabled']],
  },
  {
    when: 'two events can have one number',
    damage: 'alter table events drop constraint events_pkey cascade',
    found: [
      ['constraint', 'dead_events', 'dead_events_customer_id_event_number_fkey', missing],
      ['constraint', 'event_queues', 'event_queues_end_with_an_event', missing],
      ['constraint', 'events', 'events_pkey', missing],
    ],
  },
  {
    when: 'a unique index was restored without being unique',
    damage: `drop index orders_once_per_idempotency_key;
      create index orders_once_per_idempotency_key on orders (customer_id, idempotency_key)`,
    found: [['unique index', 'orders', 'orders_once_per_idempotency_key', different]],
  },
  {
    when: 'a unique index is on other columns',
    damage: `drop index ledger_entries_once_per_order_or_part;
      create unique index ledger_entries_once_per_order_or_part on ledger_entries (customer_id, entry_number, kind)`,
    found: [['unique index', 'ledger_entries', 'ledger_entries_once_per_order_or_part', different]],
  },
  {
    when: 'an index was left invalid',
    damage: `update pg_index set indisvalid = false where indexrelid = 'payment_operations_one_open'::regclass`,
    found: [['unique index', 'payment_operations', 'payment_operations_one_open', 'is not valid']],
  },
  {
    when: 'credits can be held twice for one hold',
    damage: 'drop index ledger_entries_begin_and_end_a_hold_once',
    found: [['unique index', 'ledger_entries', 'ledger_entries_begin_and_end_a_hold_once', missing]],
  },
  {
    when: 'the ledger can be changed',
    damage: 'alter table ledger_entries disable trigger ledger_entries_append_only',
    found: [['trigger', 'ledger_entries', 'ledger_entries_append_only', 'is disabled']],
  },
  {
    when: 'a trigger fires for replicas only',
    damage: 'alter table audits enable replica trigger audits_append_only',
    found: [['trigger', 'audits', 'audits_append_only', 'is disabled']],
  },
  {
    when: 'the trigger of the transitions was dropped',
    damage: 'drop trigger orders_transitions on orders',
    found: [['trigger', 'orders', 'orders_transitions', missing]],
  },
  {
    when: 'a trigger has a condition that never holds',
    damage: `drop trigger orders_transitions on orders;
      create trigger orders_transitions before update of status on orders for each row
        when (false) execute function refuse_transition()`,
    found: [['trigger', 'orders', 'orders_transitions', different]],
  },
  {
    when: 'a trigger refuses one operation of three',
    damage: `drop trigger ledger_entries_append_only on ledger_entries;
      create trigger ledger_entries_append_only before truncate on ledger_entries
        for each statement execute function refuse_change()`,
    found: [['trigger', 'ledger_entries', 'ledger_entries_append_only', different]],
  },
  {
    when: 'the function of a trigger refuses nothing',
    damage: `create or replace function refuse_change() returns trigger language plpgsql as $$ begin return new; end $$`,
    found: [['function', '', 'refuse_change', different]],
  },
  {
    when: 'the function of a trigger runs with the rights of its owner',
    damage: 'alter function require_cause() security definer',
    found: [['function', '', 'require_cause', different]],
  },
  {
    when: 'the function of a trigger has another search_path',
    damage: 'alter function require_cause() set search_path = elsewhere',
    found: [['function', '', 'require_cause', different]],
  },
  {
    when: 'a function is missing',
    damage: 'drop function refuse_deletion() cascade',
    found: [
      ['function', '', 'refuse_deletion', missing],
      ['trigger', 'adjustment_days', 'adjustment_days_never_deleted', missing],
      ['trigger', 'adjustment_requests', 'adjustment_requests_never_deleted', missing],
      ['trigger', 'api_keys', 'api_keys_never_deleted', missing],
      ['trigger', 'operators', 'operators_never_deleted', missing],
      ['trigger', 'record_journal_head', 'record_journal_head_never_deleted', missing],
      ['trigger', 'service_tokens', 'service_tokens_never_deleted', missing],
    ],
  },
  { when: 'the hash is computed in another way', damage: hashFunction('select sha256(previous)'), found: wrongHash },
  {
    when: 'the hash omits the held credits',
    damage: hashFunction(`select sha256(previous || convert_to(jsonb_build_array(
      customer_id, entry_number, kind, delta, balance_after, order_id, reference, extract(epoch from created_at)
    )::text, 'UTF8'))`),
    found: wrongHash,
  },
  {
    when: 'the hash function returns the stored hash of an existing entry',
    damage: hashFunction(`select coalesce(
      (select e.entry_hash from ledger_entries e where e.customer_id = $2 and e.entry_number = $3),
      sha256(previous || convert_to((
        jsonb_build_array(customer_id, entry_number, kind, delta, balance_after, order_id, reference,
                          extract(epoch from created_at))
        || case when held_after is null then '[]' else jsonb_build_array(held_delta, held_after, hold_id, service_id) end
      )::text, 'UTF8')))`),
    found: [['function', '', 'ledger_entry_hash', different]],
  },
  {
    when: 'a function of the same name takes other arguments',
    damage: `create function ledger_entry_hash(bytea, uuid, bigint, text, integer) returns bytea
      language sql as $$ select $1 $$`,
    found: [['function', '', 'ledger_entry_hash', foreign]],
  },
  {
    when: 'the hash calls a function that shadows that of PostgreSQL',
    damage: `create function sha256(bytea) returns bytea language sql as $$ select pg_catalog.sha256('') $$;
      set local search_path = public, pg_catalog`,
    found: [
      ['function', 'ledger_entries', 'ledger_entry_hash', 'gives another hash than it did'],
      ['function', 'ledger_entries', 'ledger_entry_hash_adjusted', 'gives another hash than it did'],
      ['function', 'record_journal', 'record_hash', 'gives another hash than it did'],
      ['function', 'record_journal', 'record_journal_hash', 'gives another hash than it did'],
    ],
  },
  {
    when: 'a rule writes nothing instead',
    damage: 'create rule no_trail as on insert to operator_actions do instead nothing',
    found: [['rule', 'operator_actions', 'no_trail', foreign]],
  },
  {
    when: 'rows are hidden by row level security',
    damage: 'alter table orders enable row level security',
    found: [['table', 'orders', 'orders', 'has row level security']],
  },
  {
    when: 'a table has another trigger',
    damage: `create function pay_out() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger pay_out before update on accounts for each row execute function pay_out()`,
    found: [['trigger', 'accounts', 'pay_out', foreign]],
  },
  {
    when: 'rows can be stored in a table that inherits',
    damage: 'create table other_orders () inherits (orders)',
    found: [['table', 'orders', 'orders', 'inherits or is inherited']],
  },
  {
    when: 'rows are shown as those of a table that another one inherits from',
    damage: 'create table all_orders (order_id text); alter table orders inherit all_orders',
    found: [['table', 'orders', 'orders', 'inherits or is inherited']],
  },
  {
    when: 'a table does not survive a crash',
    damage: 'alter table gateway_movements set unlogged',
    found: [['table', 'gateway_movements', 'gateway_movements', 'is not an ordinary table']],
  },
  {
    when: 'a column has another default',
    damage: `alter table orders alter column status set default 'CONFIRMED'`,
    found: [['column', 'orders', 'status', different]],
  },
  {
    when: 'a column may be empty',
    damage: 'alter table ledger_entries alter column entry_hash drop not null',
    found: [['column', 'ledger_entries', 'entry_hash', different]],
  },
  {
    when: 'the service role may change the ledger',
    damage: 'grant update (delta), delete on ledger_entries to SERVING',
    found: [
      ['right', 'ledger_entries', 'DELETE', 'is more than the service needs'],
      ['right', 'ledger_entries', 'UPDATE delta', 'is more than the service needs'],
    ],
  },
  {
    when: 'PUBLIC may truncate a table',
    damage: 'grant truncate on events to public',
    found: [['right', 'events', 'TRUNCATE', 'is more than the service needs']],
  },
  {
    when: 'the service role is a member of one that may write the journal of the migrations',
    damage: `create role journalist; grant insert on schema_migrations to journalist; grant journalist to SERVING`,
    found: [['right', 'schema_migrations', 'INSERT', 'is more than the service needs']],
  },
]
