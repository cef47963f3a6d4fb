-- What operators do is written down, and keys stay where they can be suspended.

-- A key or token is suspended, never deleted: processes that remember one ask who was suspended lately, and a row that is
-- gone would be remembered for a while as if nothing had happened.
create function refuse_deletion() returns trigger language plpgsql as $$
begin
  raise exception '% keeps its rows: % is refused, suspend instead', tg_table_name, tg_op
    using errcode = 'restrict_violation';
end
$$;

create trigger api_keys_never_deleted before delete or truncate on api_keys
  for each statement execute function refuse_deletion();
create trigger service_tokens_never_deleted before delete or truncate on service_tokens
  for each statement execute function refuse_deletion();

-- The trail: two rows for each command that changes something, one before it does anything and one when it has ended. A
-- command that was killed in between has begun and not ended. Append-only, like the ledger. Arguments are the words of the
-- call without secrets; about has the ids of what came of it.
create table operator_actions (
  action_id   uuid        not null,
  step        text        not null,
  happened_at timestamptz not null default now(),
  actor       text,
  command     text,
  arguments   text[],
  outcome     text,
  about       jsonb,
  primary key (action_id, step),
  constraint operator_actions_step check (step in ('BEGUN', 'ENDED')),
  constraint operator_actions_begun_says_what check (
    num_nonnulls(actor, command, arguments) = case step when 'BEGUN' then 3 else 0 end),
  constraint operator_actions_ended_says_how check (
    num_nonnulls(outcome, about) = case step when 'ENDED' then 2 else 0 end)
);

create index operator_actions_by_time on operator_actions (happened_at) where step = 'BEGUN';

create trigger operator_actions_append_only before update or delete or truncate on operator_actions
  for each statement execute function refuse_change();
