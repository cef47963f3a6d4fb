-- The journal of records has two tables more: the endpoints of events, where a changed address would get every event, and the
-- published checkpoints of the transparency log. Each has few rows, and no request of a customer writes one.
create trigger event_endpoints_journalled after insert on event_endpoints
  referencing new table as added for each statement execute function write_record_journal('endpoint_id');
create trigger event_endpoints_changes_journalled after update on event_endpoints
  referencing old table as former new table as added
  for each statement execute function write_record_journal('endpoint_id');
create trigger log_checkpoints_journalled after insert on log_checkpoints
  referencing new table as added for each statement execute function write_record_journal('size');
create trigger log_checkpoints_changes_journalled after update on log_checkpoints
  referencing old table as former new table as added
  for each statement execute function write_record_journal('size');

-- Rows of before are entered once, as they are now. The last entry is this migration itself, if there are books already: from
-- its time on the audit expects an action of an operator for every refund and adjustment, and earlier versions did not write
-- all of them. It is in the journal, so that a copy of the books has it. New books have none.
do $$
declare
  row_of  record;
  number  bigint;
  head    bytea;
  written timestamptz := clock_timestamp();
begin
  select last_number, last_hash into number, head from record_journal_head for no key update;
  if number is null then
    return;
  end if;
  for row_of in
    select each.* from (
      select 'event_endpoints' as table_name, endpoint_id as row_key, record_hash(t) as content_hash from event_endpoints t
      union all select 'log_checkpoints', size::text, record_hash(t) from log_checkpoints t
      union all select 'schema_migrations', '54', sha256('')) each
    order by each.table_name, each.row_key
  loop
    number := number + 1;
    head := record_journal_hash(head, number, row_of.table_name, row_of.row_key, null, row_of.content_hash, written);
    insert into record_journal (record_number, table_name, row_key, content_hash, written_at, journal_hash)
    values (number, row_of.table_name, row_of.row_key, row_of.content_hash, written, head);
  end loop;
  update record_journal_head set last_number = number, last_hash = head;
end
$$;
