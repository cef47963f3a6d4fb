-- True of every row there is, since nobody could write either column before: the trail is read through once, while everybody
-- goes on writing to it. First, before anything is locked.
alter table operator_actions validate constraint operator_actions_why_and_what_with_the_beginning;

-- What people look for, and lists that are read page by page.
create index if not exists customers_by_lower_name on customers (lower(name) text_pattern_ops);
create index if not exists api_keys_by_last_four on api_keys (last_four);
create index if not exists discrepancies_resolved on discrepancies (resolved_at, discrepancy_id) where resolved_at is not null;
create index if not exists discrepancies_open on discrepancies (found_at, discrepancy_id) where resolved_at is null;
create index if not exists reconciliations_by_time on reconciliations (started_at, reconciliation_id);
create index if not exists reconciliations_by_day on reconciliations (from_time);

-- With the id behind the time a page can end between two customers of one moment.
create index if not exists customers_in_time on customers (created_at, customer_id);
