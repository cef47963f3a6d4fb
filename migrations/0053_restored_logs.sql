-- A restore of a backup, with the names under which the log of the backup, or the log that it replaces, was signed. Entries after
-- the backup may have been signed under them too: nothing is signed under such a name again, unless the setting of the service
-- names this restore. Written by the owner alone; the serving role only reads it.
create table log_restores (
  restore_number bigint      primary key,
  restore_id     uuid        not null,
  origins        text[]      not null,
  -- Of the log in the backup.
  size           bigint      not null,
  restored_at    timestamptz not null default clock_timestamp(),
  constraint log_restores_id unique (restore_id),
  constraint log_restores_numbers check (restore_number >= 1 and size >= 0 and cardinality(origins) >= 1)
);
create trigger log_restores_append_only before update or delete or truncate on log_restores for each statement
  execute function refuse_change();
