-- The one that finds a payment without its customer does its work. Alone, because it has to wait for everybody who reads
-- operations, and nobody should wait for it meanwhile.
drop index if exists payment_operations_by_payment_key;
