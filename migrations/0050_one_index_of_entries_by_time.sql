-- ledger_entries_by_time does its work. Alone: it waits for all readers of entries, and in the transaction that creates the other
-- index each of a reader that writes next and this would wait for the other. An index whose concurrent creation was interrupted
-- is there and finds nothing.
do $$
begin
  if not (select indisvalid and indisready from pg_index where indexrelid = 'ledger_entries_by_time'::regclass) then
    raise 'the index ledger_entries_by_time is not valid: drop it and create it again';
  end if;
end $$;
drop index if exists ledger_entries_moved;
