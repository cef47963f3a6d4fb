-- What the token of a service may do. Null: a token that was issued before there were scopes, or by a version that does not know
-- them. It may do everything, as it could then. No row is changed, and the hash of a row leaves out what is null, so the journal of
-- records still agrees with every token. The version before opens every route to every token: scopes limit when all instances are of
-- this one.
alter table service_tokens add column scopes text[];
alter table service_tokens add constraint service_tokens_scopes check (
  cardinality(scopes) > 0
  and scopes <@ array['spend', 'hold', 'refund', 'read', 'manage-holds']
  and ('hold' = any (scopes) or 'manage-holds' <> all (scopes))) not valid;

-- In budgets the smallest UUID stands for all customers; the largest stands for the platform, whose row has no name and no key and
-- is for its events alone. Not a check: a customer that has such an id already keeps its rows, and a copy of them can be loaded.
create trigger customers_have_ids_of_their_own before insert on customers for each row
  when (new.customer_id = '00000000-0000-0000-0000-000000000000'
        or new.customer_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' and new.name is not null)
  execute function refuse_write('the id stands for all customers, or for the platform');
create trigger api_keys_are_of_customers before insert on api_keys for each row
  when (new.customer_id in ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  execute function refuse_write('the id stands for all customers, or for the platform');
