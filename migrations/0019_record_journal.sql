-- The journal of records: what the ledger's chain of hashes is for credits, for rows outside the ledger. Each row that is
-- added to or changed in customers, api_keys, service_tokens, operators, operator_actions, discrepancies or audits leaves
-- an entry with the hash of the row, chained to the entry before it. It holds hashes alone, no values. The audit compares:
-- a row that was changed, removed or put in past the triggers differs from its last entry or has none.
--
-- Triggers write it, so the version before writes it too. They run with the rights of the owner: the role that serves can
-- read the journal and cannot write it by hand. One entry is written at a time, behind a lock on the head. No request of
-- a customer or of a service writes one of these tables; a key that is hashed under a newer secret does, after its answer.
create table record_journal (
  record_number bigint      not null constraint record_journal_pkey primary key,
  table_name    text        not null,
  row_key       text        not null,
  -- Of the row before the change, null when the row was added: a change that was made past the trigger shows here, too,
  -- after the next one that was not.
  before_hash   bytea,
  content_hash  bytea       not null,
  written_at    timestamptz not null,
  journal_hash  bytea       not null,
  constraint record_journal_number_from_one check (record_number >= 1),
  constraint record_journal_hashes_are_sha256 check (
    octet_length(content_hash) = 32 and octet_length(journal_hash) = 32 and coalesce(octet_length(before_hash) = 32, true))
);

create index record_journal_of_row on record_journal (table_name, row_key, record_number);

create trigger record_journal_append_only before delete or update or truncate on record_journal
  for each statement execute function refuse_change();

-- One row, made with the first entry: a database that has no entries has no rows, and can be filled from a copy.
create table record_journal_head (
  only_one    boolean not null default true constraint record_journal_head_pkey primary key,
  last_number bigint  not null default 0,
  last_hash   bytea   not null default '',
  constraint record_journal_head_only_one check (only_one)
) with (fillfactor = 50);

create trigger record_journal_head_never_deleted before delete or truncate on record_journal_head
  for each statement execute function refuse_deletion();

create function refuse_journal_step() returns trigger language plpgsql as $$
begin
  raise exception 'the journal of records does not go from % to %', old.last_number, new.last_number
    using errcode = 'restrict_violation';
end
$$;

create trigger record_journal_head_moves_by_one before update on record_journal_head for each row
  when (new.last_number <> old.last_number + 1) execute function refuse_journal_step();

-- The hash of a row of one of the tables. Left out: last_seen_at of a discrepancy, which every look at it renews, and
-- columns that are null, so that a column which is added later changes no hash of before. The settings make the text of
-- times and bytes the same in every session.
create function record_hash(row_value anyelement) returns bytea
language sql stable parallel safe set timezone = 'UTC' set bytea_output = 'hex' as $$
  select sha256(convert_to((
    select jsonb_object_agg(member.key, member.value) filter (where member.value <> 'null')
    from jsonb_each(to_jsonb(row_value) - 'last_seen_at') member)::text, 'UTF8'))
$$;

create function record_journal_hash(
  previous bytea, record_number bigint, table_name text, row_key text, before_hash bytea, content_hash bytea,
  written_at timestamptz
) returns bytea language sql stable parallel safe as $$
  select sha256(previous || convert_to(jsonb_build_array(
    record_number, table_name, row_key, encode(before_hash, 'hex'), encode(content_hash, 'hex'),
    extract(epoch from written_at))::text, 'UTF8'))
$$;

-- Its arguments are the columns of the primary key. The tables are named by the schema of the row, and nothing else is on
-- the path: what runs with the owner's rights finds nothing that another role has put there.
create function write_record_journal() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  key     text;
  before  bytea;
  content bytea;
  number  bigint;
  head    bytea;
  written timestamptz;
begin
  execute format('select %I.record_hash($1)', tg_table_schema) into content using new;
  if tg_op = 'UPDATE' then
    execute format('select %I.record_hash($1)', tg_table_schema) into before using old;
    if before = content then return null; end if;
  end if;
  select string_agg(to_jsonb(new) ->> name, ' ' order by place) into key
  from unnest(tg_argv) with ordinality as k (name, place);
  execute format('insert into %I.record_journal_head default values on conflict do nothing', tg_table_schema);
  execute format('select last_number + 1, last_hash from %I.record_journal_head for no key update', tg_table_schema)
    into number, head;
  -- Behind the lock, so that times are in the order of the numbers while the clock goes on.
  written := clock_timestamp();
  execute format(
    'with entry as (
      insert into %1$I.record_journal
        (record_number, table_name, row_key, before_hash, content_hash, written_at, journal_hash)
      values ($2, $3, $4, $5, $6, $7, %1$I.record_journal_hash($1, $2, $3, $4, $5, $6, $7))
      returning record_number, journal_hash)
    update %1$I.record_journal_head set last_number = e.record_number, last_hash = e.journal_hash from entry e',
    tg_table_schema) using head, number, tg_table_name::text, key, before, content, written;
  return null;
end
$$;

-- In the order in which a statement that makes a customer takes them.
create trigger customers_journalled after insert or update on customers
  for each row execute function write_record_journal('customer_id');
create trigger api_keys_journalled after insert or update on api_keys
  for each row execute function write_record_journal('key_id');
create trigger service_tokens_journalled after insert or update on service_tokens
  for each row execute function write_record_journal('service_id');
create trigger operators_journalled after insert or update on operators
  for each row execute function write_record_journal('operator_id');
create trigger operator_actions_journalled after insert or update on operator_actions
  for each row execute function write_record_journal('action_id', 'step');
create trigger discrepancies_journalled after insert or update on discrepancies
  for each row execute function write_record_journal('discrepancy_id');
create trigger audits_journalled after insert or update on audits
  for each row execute function write_record_journal('audit_id');

-- Rows of before are entered once, as they are now. Writers of these tables wait meanwhile; readers do not.
do $$
declare
  row_of  record;
  number  bigint := 0;
  head    bytea := '';
  written timestamptz := now();
begin
  for row_of in
    select 'customers' as table_name, customer_id::text as row_key, record_hash(t) as content_hash from customers t
    union all select 'api_keys', key_id, record_hash(t) from api_keys t
    union all select 'service_tokens', service_id, record_hash(t) from service_tokens t
    union all select 'operators', operator_id, record_hash(t) from operators t
    union all select 'operator_actions', action_id || ' ' || step, record_hash(t) from operator_actions t
    union all select 'discrepancies', discrepancy_id::text, record_hash(t) from discrepancies t
    union all select 'audits', audit_id::text, record_hash(t) from audits t
  loop
    number := number + 1;
    head := record_journal_hash(head, number, row_of.table_name, row_of.row_key, null, row_of.content_hash, written);
    insert into record_journal (record_number, table_name, row_key, content_hash, written_at, journal_hash)
    values (number, row_of.table_name, row_of.row_key, row_of.content_hash, written, head);
  end loop;
  if number > 0 then
    insert into record_journal_head (last_number, last_hash) values (number, head);
  end if;
end
$$;
