-- By time, and whole, as the one of the orders in 0012; what only sets credits aside is in no figure.
create index if not exists ledger_entries_moved on ledger_entries (created_at) where delta <> 0;
