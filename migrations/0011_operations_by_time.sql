-- By time, and whole, as the one of the orders in 0012.
create index if not exists payment_operations_closed on payment_operations (closed_at, operation_id)
  where closed_at is not null;
