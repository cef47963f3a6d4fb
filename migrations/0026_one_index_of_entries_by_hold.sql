-- ledger_entries_begin_and_end_a_hold_once does its work. Alone, because it waits for all readers of entries, and no other
-- statement should wait behind it. An index whose concurrent creation was interrupted is there and guards nothing.
do $$
begin
  if not (select indisvalid and indisready from pg_index
          where indexrelid = 'ledger_entries_begin_and_end_a_hold_once'::regclass) then
    raise 'the index ledger_entries_begin_and_end_a_hold_once is not valid: drop it and create it again';
  end if;
end $$;
drop index if exists ledger_entries_held_once_and_ended_once;
