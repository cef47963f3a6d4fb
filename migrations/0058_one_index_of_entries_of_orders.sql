-- ledger_entries_once_per_order_or_part does the same, and allows several parts. Alone, because it waits for all readers of entries.
-- An index whose concurrent creation was interrupted is there and guards nothing.
do $$
begin
  if not (select indisvalid and indisready from pg_index
          where indexrelid = 'ledger_entries_once_per_order_or_part'::regclass) then
    raise 'the index ledger_entries_once_per_order_or_part is not valid: drop it and create it again';
  end if;
end $$;
drop index if exists ledger_entries_once_per_order;
