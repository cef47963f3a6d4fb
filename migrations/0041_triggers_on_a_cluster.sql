-- On a cluster each server has a copy of some tables, and their triggers run on all of them; there tg_table_name ends with the
-- id of a shard. The journal is kept on the coordinator alone, and an account is on the server of its group. On one server every
-- customer is here; a cluster replaces this function.
create function enter_group_of(customer uuid) returns boolean language sql as 'select true';

create or replace function write_record_journal() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  keys    text := (select string_agg(format('a.%I', name), ', ' order by place)
                   from unnest(tg_argv) with ordinality as k (name, place));
  changed text := format('select concat_ws('' '', %s) as row_key, null::bytea as before_hash,
                            record_hash(a) as content_hash
                          from added a', keys);
  entry   record;
  number  bigint;
  head    bytea;
  named   text := regexp_replace(tg_table_name, '_[0-9]+$', '');
begin
  if named <> tg_table_name and to_regclass('record_journal_head') is null then
    return null;
  end if;
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
    select number, named, entry.row_key, entry.before_hash, entry.content_hash, written,
           record_journal_hash(head, number, named, entry.row_key, entry.before_hash, entry.content_hash, written)
    from clock_timestamp() as written
    returning journal_hash into head;
  end loop;
  if number is not null then
    update record_journal_head set last_number = number, last_hash = head;
  end if;
  return null;
end
$$;

create or replace function mark_restricted_account() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if not enter_group_of(new.customer_id) then
    return null;
  end if;
  if tg_table_name ~ '^budgets' and new.customer_id = '00000000-0000-0000-0000-000000000000' then
    return null;
  end if;
  perform from accounts a where a.customer_id = new.customer_id for no key update;
  if not found then
    raise exception 'there is no account of %', new.customer_id
      using errcode = 'foreign_key_violation', table = tg_table_name, constraint = tg_name;
  end if;
  update accounts a
  set restricted_at = case
    when a.customer_id <> '00000000-0000-0000-0000-000000000000'
        and exists (select from budgets b where b.customer_id = a.customer_id and b.removed_at is null)
      or exists (select from customers c where c.customer_id = a.customer_id and c.suspended_at is not null)
    then greatest(clock_timestamp(), a.restricted_at + interval '1 microsecond') end
  where a.customer_id = new.customer_id;
  return null;
end
$$;

-- A customer has an account from the first moment on, on the server where the account belongs. Versions that open it themselves
-- do so before the trigger.
create function open_account() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if enter_group_of(new.customer_id) then
    insert into accounts (customer_id) values (new.customer_id) on conflict do nothing;
  end if;
  return null;
end
$$;
create trigger customers_have_an_account after insert on customers for each row execute function open_account();
