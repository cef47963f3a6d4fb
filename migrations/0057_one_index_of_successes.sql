-- payment_operations_one_success_of_kind does the same, and allows several parts. Alone, because it waits for all readers of
-- operations. An index whose concurrent creation was interrupted is there and guards nothing.
do $$
begin
  if not (select indisvalid and indisready from pg_index
          where indexrelid = 'payment_operations_one_success_of_kind'::regclass) then
    raise 'the index payment_operations_one_success_of_kind is not valid: drop it and create it again';
  end if;
end $$;
drop index if exists payment_operations_one_success;
