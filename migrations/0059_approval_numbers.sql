-- The number that a buyer reads on the card slip finds its order.
create index if not exists payment_operations_approved on payment_operations (approval_number)
  where approval_number is not null;
