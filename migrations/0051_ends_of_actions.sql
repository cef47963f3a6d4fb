-- Every action of the log gets an end. An action that has begun is open until then, with a lease that its process renews. When
-- the lease is over, the worker ends the action with the step LOST and the outcome unknown. The process may live nevertheless,
-- cut off or paused: its own end, ENDED, is added whenever it comes, and counts instead.
create table open_actions (
  action_id   uuid        not null constraint open_actions_pkey primary key,
  lease_until timestamptz not null default now() + interval '30 seconds'
);

create index open_actions_by_lease on open_actions (lease_until);

alter table operator_actions drop constraint operator_actions_step;
alter table operator_actions drop constraint operator_actions_ended_says_how;
alter table operator_actions add constraint operator_actions_step check (step in ('BEGUN', 'ENDED', 'LOST'));
alter table operator_actions add constraint operator_actions_ended_says_how check (
  num_nonnulls(outcome, about) = case when step in ('ENDED', 'LOST') then 2 else 0 end);
alter table operator_actions add constraint operator_actions_lost_is_unknown check (step <> 'LOST' or outcome = 'unknown');

-- A trigger, so that actions of the version before are open too. With the rights of the owner: the role that serves can renew
-- a lease, and not remove an action from the open ones other than by its end.
create function keep_open_actions() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into open_actions (action_id)
  select action_id from added where step = 'BEGUN'
  on conflict do nothing;
  delete from open_actions where action_id in (select action_id from added where step <> 'BEGUN');
  return null;
end $$;

create trigger operator_actions_open after insert on operator_actions
  referencing new table as added for each statement execute function keep_open_actions();

-- Of processes that were killed before, or that run now.
insert into open_actions (action_id)
select b.action_id from operator_actions b
where b.step = 'BEGUN' and not exists (
  select from operator_actions e where e.action_id = b.action_id and e.step = 'ENDED');
