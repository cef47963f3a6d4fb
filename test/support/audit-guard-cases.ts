// Guards of the schema that somebody has taken down, in each of the ways in which one can be down, and what the audit says.

export const brokenGuards: { when: string; damage: string; name: string; fault: string }[] = [
  {
    when: 'a check constraint was dropped',
    damage: 'alter table orders drop constraint orders_status',
    ...{ name: 'orders_status', fault: 'is missing' },
  },
  {
    when: 'a check constraint was put back for new rows only',
    damage: `alter table orders drop constraint orders_status;
      alter table orders add constraint orders_status check (status <> '') not valid`,
    ...{ name: 'orders_status', fault: 'is not validated' },
  },
  {
    when: 'a unique index was put back without being unique',
    damage: `drop index orders_once_per_idempotency_key;
      create index orders_once_per_idempotency_key on orders (customer_id, idempotency_key)`,
    ...{ name: 'orders_once_per_idempotency_key', fault: 'is not unique' },
  },
  {
    when: 'an index was left invalid',
    damage: `update pg_index set indisvalid = false where indexrelid = 'payment_operations_one_open'::regclass`,
    ...{ name: 'payment_operations_one_open', fault: 'is not valid' },
  },
  {
    when: 'the ledger can be changed',
    damage: 'alter table ledger_entries disable trigger ledger_entries_append_only',
    ...{ name: 'ledger_entries_append_only', fault: 'is disabled' },
  },
  {
    when: 'the trigger of the transitions was dropped',
    damage: 'drop trigger orders_transitions on orders',
    ...{ name: 'orders_transitions', fault: 'is missing' },
  },
  {
    when: 'a foreign key does not look any more',
    damage: `update pg_trigger set tgenabled = 'D' where tgconstraint = (
      select oid from pg_constraint where conname = 'payment_operations_customer_id_order_id_fkey')
      and tgrelid = 'payment_operations'::regclass`,
    ...{ name: 'payment_operations_customer_id_order_id_fkey', fault: 'is disabled' },
  },
  {
    when: 'the hash is computed in another way',
    damage: `create or replace function ledger_entry_hash(previous bytea, customer_id uuid, entry_number bigint, kind text,
        delta bigint, balance_after bigint, order_id text, reference text, created_at timestamptz, held_delta bigint,
        held_after bigint, hold_id uuid, service_id text) returns bytea
      language sql stable parallel safe as $$ select sha256(previous) $$`,
    ...{ name: 'ledger_entry_hash', fault: 'gives another hash than it did' },
  },
  {
    when: 'the hash leaves out what is held',
    damage: `create or replace function ledger_entry_hash(previous bytea, customer_id uuid, entry_number bigint, kind text,
        delta bigint, balance_after bigint, order_id text, reference text, created_at timestamptz, held_delta bigint,
        held_after bigint, hold_id uuid, service_id text) returns bytea
      language sql stable parallel safe as $$ select sha256(previous || convert_to(jsonb_build_array(
        customer_id, entry_number, kind, delta, balance_after, order_id, reference, extract(epoch from created_at)
      )::text, 'UTF8')) $$`,
    ...{ name: 'ledger_entry_hash', fault: 'gives another hash than it did' },
  },
  {
    when: 'credits can be set aside twice for one thing',
    damage: 'drop index ledger_entries_held_once_and_ended_once',
    ...{ name: 'ledger_entries_held_once_and_ended_once', fault: 'is missing' },
  },
  {
    when: 'a hold can end without an entry',
    damage: 'alter table holds drop constraint holds_ended_means_entered',
    ...{ name: 'holds_ended_means_entered', fault: 'is missing' },
  },
  {
    when: 'two events can have one number',
    damage:
      'alter table dead_events drop constraint dead_events_customer_id_event_number_fkey; alter table events drop constraint events_pkey',
    ...{ name: 'events_pkey', fault: 'is missing' },
  },
  {
    when: 'keys can be deleted',
    damage: 'drop trigger api_keys_never_deleted on api_keys',
    ...{ name: 'api_keys_never_deleted', fault: 'is missing' },
  },
  {
    when: 'a suspension is not noted',
    damage: 'alter table service_tokens disable trigger service_tokens_note_suspension',
    ...{ name: 'service_tokens_note_suspension', fault: 'is disabled' },
  },
  {
    when: 'the trail of the operators can be changed',
    damage: 'alter table operator_actions disable trigger operator_actions_append_only',
    ...{ name: 'operator_actions_append_only', fault: 'is disabled' },
  },
]
