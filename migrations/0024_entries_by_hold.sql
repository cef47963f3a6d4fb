-- A hold may be captured in parts: entries of kind CAPTURE with a reference of their own. It still begins once and ends once
-- otherwise. This index takes the place of ledger_entries_held_once_and_ended_once and finds all entries of a hold. Writers of
-- the ledger wait while it is made; with many entries it is created beforehand, concurrently.
create unique index if not exists ledger_entries_begin_and_end_a_hold_once on ledger_entries
  (customer_id, hold_id, (kind = 'HOLD'), coalesce(case kind when 'CAPTURE' then reference end, ''))
  where hold_id is not null;
