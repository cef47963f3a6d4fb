-- What each audit of the books looked at and found, by the worker after each day or by command. A row is written when the
-- audit has ended, whole, and never changed: one that was interrupted says nothing and leaves none. What was found is there
-- by rule, with how often and the first of those it is about. No table that the version before knows is touched; audits of
-- that version leave no row.
create table audits (
  audit_id        uuid        not null constraint audits_pkey primary key,
  cause           text        not null,
  begun_at        timestamptz not null,
  ended_at        timestamptz not null default now(),
  rules           int         not null,
  checked         jsonb       not null,
  violation_count bigint      not null,
  findings        jsonb       not null,
  constraint audits_cause check (cause in ('DAILY', 'COMMAND')),
  constraint audits_ends_after_it_began check (ended_at >= begun_at),
  constraint audits_says_what_it_found check ((violation_count = 0) = (findings = '[]') and violation_count >= 0)
);

create index audits_by_time on audits (ended_at, audit_id);

create trigger audits_append_only before delete or update or truncate on audits
  for each statement execute function refuse_change();
