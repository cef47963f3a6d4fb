-- The index of payments the other way round: it finds a payment whose customer is not known, too.
create index if not exists payment_operations_of_payment on payment_operations (payment_key, customer_id) where kind = 'CONFIRM';
