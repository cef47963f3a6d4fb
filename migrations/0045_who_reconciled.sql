-- Who asked for a reconciliation. Null: the worker, or a run of an earlier version.
alter table reconciliations add column requested_by text;
