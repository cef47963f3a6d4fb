-- The audit of each Korean day: which process has it, until when, and the audit that came of it. It needs no gateway, so it
-- no longer waits for the reconciliation of the day. The version before audits after its reconciliation and does not know
-- this table; its row in `audits` counts for the day as well.
create table daily_audits (
  day         date        not null constraint daily_audits_pkey primary key,
  holder_id   uuid        not null,
  lease_until timestamptz not null,
  audit_id    uuid        constraint daily_audits_audit_id_fkey references audits (audit_id)
);

-- A clock of the database that stepped back between purchase and confirm could leave an order that was confirmed before it
-- was created, and no audit of these books could pass again. The time of the confirmation is part of the ledger's chain; the
-- time of the order is not, and it was the one that the wrong clock gave.
update orders set created_at = confirmed_at where confirmed_at < created_at;
