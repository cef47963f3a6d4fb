-- payment_operations_once_per_payment does the work of both. Alone, because it waits for all readers of operations, and no other
-- statement should wait behind it. An index whose concurrent creation was interrupted is there and guards nothing.
do $$
begin
  if not (select indisvalid and indisready from pg_index
          where indexrelid = 'payment_operations_once_per_payment'::regclass) then
    raise 'the index payment_operations_once_per_payment is not valid: drop it and create it again';
  end if;
end $$;
drop index if exists payment_operations_of_payment;
drop index if exists payment_operations_payment_key;
