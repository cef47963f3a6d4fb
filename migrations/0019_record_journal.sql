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

create trigger record_journal_head_moves_on before update on record_journal_head for each row
  when (new.last_number <= old.last_number) execute function refuse_journal_step();

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

-- Enters the rows of one statement, but for those that it left as they were. The arguments are the columns of the primary
-- key. Once a statement and not once a row: every version of the head that a transaction leaves behind makes the next one
-- slower.
create function write_record_journal() returns trigger language plpgsql security definer as $$
declare
  keys    text := (select string_agg(format('a.%I', name), ', ' order by place)
                   from unnest(tg_argv) with ordinality as k (name, place));
  changed text := format('select concat_ws('' '', %s) as row_key, null::bytea as before_hash,
                            record_hash(a) as content_hash
                          from added a', keys);
  entry   record;
  number  bigint;
  head    bytea;
begin
  if tg_op = 'UPDATE' then
    changed := format('select c.* from (
                         select concat_ws('' '', %1$s) as row_key, record_hash(f) as before_hash,
                           record_hash(a) as content_hash
                         from added a left join former f on (%1$s) = (%2$s)) c
                       where c.before_hash is distinct from c.content_hash', keys, replace(keys, 'a.', 'f.'));
  end if;
  for entry in execute changed loop
    if number is null then
      insert into record_journal_head default values on conflict do nothing;
      select last_number, last_hash into number, head from record_journal_head for no key update;
    end if;
    number := number + 1;
    insert into record_journal
      (record_number, table_name, row_key, before_hash, content_hash, written_at, journal_hash)
    select number, tg_table_name, entry.row_key, entry.before_hash, entry.content_hash, written,
           record_journal_hash(head, number, tg_table_name, entry.row_key, entry.before_hash, entry.content_hash, written)
    from clock_timestamp() as written
    returning journal_hash into head;
  end loop;
  if number is not null then
    update record_journal_head set last_number = number, last_hash = head;
  end if;
  return null;
end
$$;

-- What runs with the owner's rights looks for names in the schema of the tables, and in no place that another role can
-- write to before it.
do $$
begin
  execute format('alter function write_record_journal() set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;

-- In the order in which a statement that makes a customer takes them. What is never changed has no trigger for changes.
create trigger customers_journalled after insert on customers
  referencing new table as added for each statement execute function write_record_journal('customer_id');
create trigger customers_changes_journalled after update on customers
  referencing old table as former new table as added
  for each statement execute function write_record_journal('customer_id');
create trigger api_keys_journalled after insert on api_keys
  referencing new table as added for each statement execute function write_record_journal('key_id');
create trigger api_keys_changes_journalled after update on api_keys
  referencing old table as former new table as added
  for each statement execute function write_record_journal('key_id');
create trigger service_tokens_journalled after insert on service_tokens
  referencing new table as added for each statement execute function write_record_journal('service_id');
create trigger service_tokens_changes_journalled after update on service_tokens
  referencing old table as former new table as added
  for each statement execute function write_record_journal('service_id');
create trigger operators_journalled after insert on operators
  referencing new table as added for each statement execute function write_record_journal('operator_id');
create trigger operators_changes_journalled after update on operators
  referencing old table as former new table as added
  for each statement execute function write_record_journal('operator_id');
create trigger operator_actions_journalled after insert on operator_actions
  referencing new table as added for each statement execute function write_record_journal('action_id', 'step');
create trigger discrepancies_journalled after insert on discrepancies
  referencing new table as added for each statement execute function write_record_journal('discrepancy_id');
create trigger discrepancies_changes_journalled after update on discrepancies
  referencing old table as former new table as added
  for each statement execute function write_record_journal('discrepancy_id');
create trigger audits_journalled after insert on audits
  referencing new table as added for each statement execute function write_record_journal('audit_id');

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
