-- ledger_entries_begin_and_end_a_hold_once does its work. Alone, because it has to wait for everybody who reads entries, and
-- nobody should wait for it meanwhile.
drop index if exists ledger_entries_held_once_and_ended_once;
