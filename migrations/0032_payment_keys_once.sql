-- One index finds a payment by its key, and keeps a payment to one order of its customer: a refused confirm has its own id in the
-- last column, all others have null there, and nulls are equal. Writers of operations wait while it is made; with many operations
-- it is created beforehand, concurrently.
create unique index if not exists payment_operations_once_per_payment on payment_operations
  (payment_key, customer_id, (case state when 'REJECTED' then operation_id end)) nulls not distinct
  where kind = 'CONFIRM' and payment_key is not null;
