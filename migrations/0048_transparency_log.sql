-- The transparency log over the ledger: a Merkle tree (RFC 6962) whose leaves are the entries, in the order in which the worker
-- appended them. No request writes it. Nothing of it is changed or removed, by no role: it only grows.

-- The leaf of an entry, and its only definition in SQL: what a stranger hashes to check a receipt. Lines in this order, joined by
-- a line feed; what is null has no line. Texts consist of visible ASCII characters, and one that does not is written in
-- hexadecimal under another name: no value can look like further lines, so no two entries have the same leaf.
create function ledger_leaf(
  customer_id uuid, entry_number bigint, created_at timestamptz, kind text, delta bigint, balance_after bigint,
  held_delta bigint, held_after bigint, adjusted_after bigint, order_id text, reference text, hold_id uuid, service_id text
) returns text language sql stable parallel safe as $$
  select concat_ws(E'\n', 'prepaid-credits/entry/v1',
    'customer ' || customer_id,
    'entry ' || entry_number,
    'time ' || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'kind ' || kind,
    'delta ' || delta,
    'balance ' || balance_after,
    'held-delta ' || held_delta,
    'held ' || held_after,
    'adjusted ' || adjusted_after,
    case when order_id collate "C" ~ '^[!-~]+$' then 'order ' || order_id
      else 'order-hex ' || encode(convert_to(order_id, 'UTF8'), 'hex') end,
    case when reference collate "C" ~ '^[!-~]+$' then 'reference ' || reference
      else 'reference-hex ' || encode(convert_to(reference, 'UTF8'), 'hex') end,
    'hold ' || hold_id,
    case when service_id collate "C" ~ '^[!-~]+$' then 'service ' || service_id
      else 'service-hex ' || encode(convert_to(service_id, 'UTF8'), 'hex') end)
$$;

-- The worker finds new entries of every kind by their time, so the index is no longer of those alone that move credits.
create index if not exists ledger_entries_by_time on ledger_entries (created_at);

-- The root is that of the tiles, and the note is the signed checkpoint of size and root. One row, made by the worker: a database
-- without entries has no rows, and can be filled from a copy.
create table log_head (
  only_one    boolean     not null default true constraint log_head_pkey primary key,
  size        bigint      not null,
  root        bytea       not null,
  note        text        not null,
  -- Of each group of customers: entries up to this time are in the log.
  marks       jsonb       not null,
  appended_at timestamptz not null,
  constraint log_head_only_one check (only_one),
  constraint log_head_size_and_root check (size >= 0 and octet_length(root) = 32)
) with (fillfactor = 50);

-- Entries of a customer, one after the other, that are leaves one after the other.
create table log_runs (
  customer_id uuid   not null,
  first_entry bigint not null,
  last_entry  bigint not null,
  first_leaf  bigint not null,
  constraint log_runs_pkey primary key (customer_id, first_entry),
  constraint log_runs_first_leaf unique (first_leaf),
  constraint log_runs_numbers check (first_entry >= 1 and last_entry >= first_entry and first_leaf >= 0)
);

-- The hashes of the tree, as C2SP tlog-tiles has them: a tile of level L has up to 256 hashes, each of 256^L leaves.
create table log_tiles (
  level  int    not null,
  tile   bigint not null,
  hashes bytea  not null,
  constraint log_tiles_pkey primary key (level, tile),
  constraint log_tiles_place check (level between 0 and 6 and tile >= 0),
  constraint log_tiles_hashes check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0)
);
-- Hashes cannot be compressed.
alter table log_tiles alter column hashes set storage external;

create trigger log_head_never_deleted before delete or truncate on log_head
  for each statement execute function refuse_change();
create trigger log_head_only_grows before update on log_head for each row
  when (new.size < old.size or new.size = old.size and new.root <> old.root)
  execute function refuse_write('the log only grows');
create trigger log_runs_append_only before delete or update or truncate on log_runs
  for each statement execute function refuse_change();
create trigger log_tiles_never_deleted before delete or truncate on log_tiles
  for each statement execute function refuse_change();
create trigger log_tiles_only_grow before update on log_tiles for each row
  when (new.level <> old.level or new.tile <> old.tile or octet_length(new.hashes) <= octet_length(old.hashes)
        or substr(new.hashes, 1, octet_length(old.hashes)) <> old.hashes)
  execute function refuse_write('a tile of the log only grows');

-- At the end of the statement, when head, runs and tiles are written: runs continue the leaves before them up to the head, and
-- the entries of their customer.
create function require_runs_in_order() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  broken record;
  behind bigint;
begin
  select r.customer_id, r.first_entry into broken
  from (
    select a.*, lag(a.first_leaf + a.last_entry - a.first_entry + 1) over (order by a.first_leaf) as next_leaf
    from added a) r
  where r.first_leaf <> coalesce(r.next_leaf, (
      select b.first_leaf + b.last_entry - b.first_entry + 1 from log_runs b
      where b.first_leaf < r.first_leaf order by b.first_leaf desc limit 1), 0)
    or r.first_entry <> coalesce((
      select b.last_entry from log_runs b
      where b.customer_id = r.customer_id and b.first_entry < r.first_entry
      order by b.first_entry desc limit 1), 0) + 1
  limit 1;
  if found then
    raise exception 'entry % of % does not continue the log', broken.first_entry, broken.customer_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  select max(a.first_leaf + a.last_entry - a.first_entry + 1) into behind from added a;
  if behind <> (select size from log_head) then
    raise exception 'the log has another size than its runs: %', behind
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end $$;

create trigger log_runs_in_order after insert on log_runs
  referencing new table as added for each statement execute function require_runs_in_order();

-- A tile has as many hashes as the size of the log gives it.
create function require_tiles_of_size() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  broken record;
begin
  select a.level, a.tile into broken
  from added a
  where octet_length(a.hashes) is distinct from 32 * least(256,
    (select h.size from log_head h) / (1::bigint << (8 * a.level)) - a.tile * 256)
  limit 1;
  if found then
    raise exception 'tile %/% does not have the hashes of the log''s size', broken.level, broken.tile
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end $$;

create trigger log_tiles_of_size after insert on log_tiles
  referencing new table as added for each statement execute function require_tiles_of_size();
create trigger log_tiles_grown_to_size after update on log_tiles
  referencing new table as added for each statement execute function require_tiles_of_size();

-- A log that has grown has the runs and the tiles of its size: the last of each level, which are the only ones that may be
-- partial.
create function require_grown_log() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.size > 0 and new.size is distinct from (
    select r.first_leaf + r.last_entry - r.first_entry + 1 from log_runs r order by r.first_leaf desc limit 1)
  or exists (
    select from generate_series(0, 6) as of (level)
    cross join lateral (select new.size / (1::bigint << (8 * of.level)) as hashes) wanted
    where wanted.hashes > 0 and not exists (
      select from log_tiles t
      where t.level = of.level and t.tile = (wanted.hashes - 1) / 256
        and octet_length(t.hashes) = 32 * ((wanted.hashes - 1) % 256 + 1)))
  then
    raise exception 'the log has no runs and tiles for its size %', new.size
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end $$;

create trigger log_head_has_its_tree after insert or update of size on log_head
  for each row execute function require_grown_log();
