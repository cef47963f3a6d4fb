-- Which API key a cancel was made with, so that a cancel with a key that was issued a moment before can be noticed. A table of
-- its own, not a column of the operations: nothing that is there is locked, read or changed. Cancels of before have no row,
-- nor have those of an instance of the version before.
create table cancel_keys (
  customer_id  uuid        not null,
  operation_id uuid        not null,
  key_id       text        not null,
  opened_at    timestamptz not null,
  constraint cancel_keys_pkey primary key (customer_id, operation_id),
  constraint cancel_keys_customer_id_operation_id_fkey foreign key (customer_id, operation_id)
    references payment_operations (customer_id, operation_id)
);

create index cancel_keys_in_time on cancel_keys (opened_at, operation_id);

create trigger cancel_keys_append_only before delete or update or truncate on cancel_keys
  for each statement execute function refuse_change();
