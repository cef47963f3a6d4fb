-- Budgets: how many credits a customer, a service, a key or a user of the customer may spend in an hour, a day or a month of
-- Korean time. A spend or a hold is judged by the statement that moves its credits. Also here: suspending a customer, several
-- steps of credits.low, and the events budget.low and credits.empty.
--
-- The version before neither counts nor refuses: budgets are set, and customers suspended, when all instances are of this one.

-- Null unless the customer has a budget or is suspended; otherwise when that last changed. The statement that moves credits
-- without looking at budgets refuses a spend or a hold of such an account. low_steps: further steps below low_credits.
alter table accounts
  add column restricted_at timestamptz,
  add column low_steps bigint[],
  add constraint accounts_low_steps check (0 < all (low_steps)) not valid;

alter table customers add column suspended_at timestamptz;

create index if not exists customers_suspended on customers (suspended_at) where suspended_at is not null;

-- The rows of budget_usage that the hold is counted in, as an array of their keys and periods; null when it is in none.
alter table holds add column charged jsonb;

alter table events
  drop constraint events_type,
  add constraint events_type check (
    type in ('order.confirmed', 'order.failed', 'order.cancelled', 'order.refunded', 'credits.low', 'credits.reversed',
             'credits.adjusted', 'credits.empty', 'budget.low')) not valid;

-- The smallest UUID as the customer: the budget of a service over all customers together. A customer of that id cannot have
-- budgets of its own. A service is named by the name of its tokens, so a new token has no new budget. KEY and USER without a
-- value: each value has the limit for itself.
create table budgets (
  customer_id uuid        not null,
  budget_id   uuid        not null,
  scope       text        not null,
  value       text,
  period      text        not null,
  credits     bigint      not null,
  warn_at     bigint      not null,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz,
  constraint budgets_pkey primary key (customer_id, budget_id),
  constraint budgets_scope check (scope in ('CUSTOMER', 'SERVICE', 'KEY', 'USER')),
  constraint budgets_period check (period in ('HOUR', 'DAY', 'MONTH')),
  constraint budgets_value check (
    case scope when 'CUSTOMER' then value is null when 'SERVICE' then coalesce(value, '') <> '' else value <> '' end),
  constraint budgets_of_all_customers check (
    customer_id <> '00000000-0000-0000-0000-000000000000' or scope = 'SERVICE'),
  constraint budgets_credits check (
    credits between 0 and 9007199254740991 and warn_at between 1 and greatest(credits, 1))
);

create unique index budgets_once_per_subject on budgets (customer_id, scope, coalesce(value, ''), period)
  where removed_at is null;
create unique index budgets_id_once on budgets (budget_id);

create trigger budgets_keep_their_subject before update on budgets for each row
  when ((old.customer_id, old.budget_id, old.scope, old.value, old.period, old.created_at)
          is distinct from (new.customer_id, new.budget_id, new.scope, new.value, new.period, new.created_at)
        or old.removed_at is not null)
  execute function refuse_write('a budget keeps its subject, and a removed one does not come back');
create trigger budgets_never_deleted before delete or truncate on budgets
  for each statement execute function refuse_write('a budget keeps its row');
create trigger budgets_journalled after insert on budgets
  referencing new table as added for each statement execute function write_record_journal('customer_id', 'budget_id');
create trigger budgets_changes_journalled after update on budgets
  referencing old table as former new table as added
  for each statement execute function write_record_journal('customer_id', 'budget_id');

-- What has been used in the present period: one row per budget, or per budget and value where each value has the limit for
-- itself. A new period begins in the same row.
create table budget_usage (
  customer_id  uuid        not null,
  budget_id    uuid        not null,
  value        text        not null default '',
  period_start timestamptz not null,
  used         bigint      not null,
  is_warned    boolean     not null default false,
  constraint budget_usage_pkey primary key (customer_id, budget_id, value),
  constraint budget_usage_customer_id_budget_id_fkey foreign key (customer_id, budget_id) references budgets,
  constraint budget_usage_never_negative check (used >= 0)
) with (fillfactor = 50);

-- What is used is within the limit when it is counted. Not a check: the limit can be lowered afterwards. Read by a query of its
-- own, which sees a limit that was lowered after the statement began.
create function refuse_over_limit() returns trigger language plpgsql as $$
begin
  if new.used > (select b.credits from budgets b where b.customer_id = new.customer_id and b.budget_id = new.budget_id) then
    raise exception 'the budget % is exceeded', new.budget_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return new;
end
$$;

create trigger budget_usage_begins_within_limit before insert on budget_usage for each row
  execute function refuse_over_limit();
create trigger budget_usage_stays_within_limit before update on budget_usage for each row
  when (new.used > old.used or new.period_start > old.period_start)
  execute function refuse_over_limit();
create trigger budget_usage_goes_forward before update on budget_usage for each row
  when (new.period_start < old.period_start
        or (old.customer_id, old.budget_id, old.value) is distinct from (new.customer_id, new.budget_id, new.value))
  execute function refuse_write('a period does not go back');

-- The mark of the account follows from budgets and customers, with the owner's rights: the role that serves cannot set it by
-- hand. Each look is a query of its own, after the lock: it sees what was committed meanwhile. The mark only goes forward, so a
-- statement that was waiting for the account can see that what it has read is out of date.
create function mark_restricted_account() returns trigger language plpgsql security definer as $$
begin
  if tg_table_name = 'budgets' and new.customer_id = '00000000-0000-0000-0000-000000000000' then
    return null;
  end if;
  perform from accounts a where a.customer_id = new.customer_id for no key update;
  if not found then
    raise exception 'there is no account of %', new.customer_id
      using errcode = 'foreign_key_violation', table = tg_table_name, constraint = tg_name;
  end if;
  update accounts a
  set restricted_at = case
    when a.customer_id <> '00000000-0000-0000-0000-000000000000'
        and exists (select from budgets b where b.customer_id = a.customer_id and b.removed_at is null)
      or exists (select from customers c where c.customer_id = a.customer_id and c.suspended_at is not null)
    then greatest(clock_timestamp(), a.restricted_at + interval '1 microsecond') end
  where a.customer_id = new.customer_id;
  return null;
end
$$;

create trigger budgets_mark_the_account after insert or update on budgets for each row
  execute function mark_restricted_account();
create trigger customers_mark_the_account after update of suspended_at on customers for each row
  when (old.suspended_at is distinct from new.suspended_at)
  execute function mark_restricted_account();

-- The tables are those of this schema: a temporary table of the same name does not come first.
do $$
declare
  name text;
begin
  foreach name in array array['refuse_over_limit', 'mark_restricted_account']
  loop
    execute format('alter function %I() set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
