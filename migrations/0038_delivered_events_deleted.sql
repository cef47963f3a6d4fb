-- Old events that every endpoint has are deleted, from the first on: the account counts them, and its last event stays.
alter table accounts add column deleted_events bigint not null default 0;

alter table accounts add constraint accounts_keep_the_last_event
  check (deleted_events >= 0 and (deleted_events = 0 or deleted_events < last_event)) not valid;

create trigger accounts_deleted_events_go_forward before update on accounts for each row
  when (new.deleted_events < old.deleted_events)
  execute function refuse_write('a deleted event does not come back');

create function require_delivery() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  refused record;
begin
  select d.customer_id, d.event_number into refused
  from deleted d
  where d.created_at > now() - interval '30 days'
    or exists (
      select from event_queues q where q.customer_id = d.customer_id and q.next_event <= d.event_number)
    or not exists (
      select from accounts a where a.customer_id = d.customer_id and a.deleted_events >= d.event_number)
  limit 1;
  if found then
    raise exception 'an event is deleted after 30 days, when all endpoints have it and its account counts it: % of %',
      refused.event_number, refused.customer_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end $$;

create trigger events_deleted_after_delivery after delete on events
  referencing old table as deleted for each statement
  execute function require_delivery();
