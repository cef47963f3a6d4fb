-- Checkpoints of the transparency log that are published: one at a time, each of a larger tree than the one before. Two processes
-- that begin one after the same predecessor meet at its unique key. A checkpoint is never changed or deleted; its publication is
-- complete when its event is written.
create table log_checkpoints (
  size          bigint      primary key,
  previous_size bigint      not null,
  root          bytea       not null,
  -- With the signatures of the log.
  note          text        not null,
  -- The verifier keys of those signatures, signed by the keys of that time: a key whose secret is gone can still be looked up.
  keys          text        not null,
  begun_at      timestamptz not null default clock_timestamp(),
  published_at  timestamptz,
  constraint log_checkpoints_one_after_the_other unique (previous_size),
  constraint log_checkpoints_grow check (previous_size >= 0 and size > previous_size),
  constraint log_checkpoints_root check (length(root) = 32)
);
create trigger log_checkpoints_stay before update on log_checkpoints for each row
  when (old.published_at is not null or new.published_at is null or new.size <> old.size
    or new.previous_size <> old.previous_size or new.root <> old.root or new.note <> old.note
    or new.keys <> old.keys or new.begun_at <> old.begun_at)
  execute function refuse_write('a checkpoint is published once and not changed');

-- No other checkpoint than the log's own: stable, so that it sees the head as the statement sees it that publishes.
create function require_checkpoint_of_head() returns trigger language plpgsql stable
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from log_head h where h.size = new.size and h.root = new.root and h.note = new.note) then
    raise exception 'the log has no checkpoint of % entries that could be published', new.size
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return new;
end $$;
create trigger log_checkpoints_of_head before insert on log_checkpoints
  for each row execute function require_checkpoint_of_head();
create trigger log_checkpoints_never_deleted before delete or truncate on log_checkpoints for each statement
  execute function refuse_change();

-- What witnesses have signed: one line of a witness's key for each checkpoint.
create table log_cosignatures (
  size        bigint      not null references log_checkpoints (size),
  vkey        text        not null,
  line        text        not null,
  received_at timestamptz not null default clock_timestamp(),
  primary key (size, vkey),
  constraint log_cosignatures_line check (line ~ '^\u2014 [^[:space:]+]+ [A-Za-z0-9+/]+={0,2}\n$')
);
create trigger log_cosignatures_append_only before update or delete or truncate on log_cosignatures for each statement
  execute function refuse_change();

alter table events drop constraint events_type;
alter table events add constraint events_type check (
  type in ('order.confirmed', 'order.failed', 'order.cancelled', 'order.refunded', 'credits.low', 'credits.reversed',
           'credits.adjusted', 'credits.empty', 'budget.low', 'checkpoint.published')) not valid;
