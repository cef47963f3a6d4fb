-- Which API key a cancel was made with, so that a cancel with a key that was issued a moment before can be noticed. Null where
-- no key made it: everything but a cancel of the public API, cancels of before, and those of an instance of the version before.
-- The column may be added beforehand with its index (docs/operations.md, Large books).
alter table payment_operations add column if not exists key_id text;
create index if not exists payment_operations_cancelled_with_key on payment_operations (opened_at, operation_id) where key_id is not null;
