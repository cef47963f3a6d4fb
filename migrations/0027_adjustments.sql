-- Adjustments: credits that no payment stands behind. GOODWILL and CORRECTION are made by operators, REVERSAL by the service
-- that spent. Each is a kind of the ledger and a row of `adjustments`, which has the reason and who made it.
--
-- `accounts.adjusted` is how much of the balance comes from adjustments and is not used: it has no cash value. It grows by an
-- adjustment and never exceeds the balance, so whatever else lowers the balance takes paid credits first. Entries have it in
-- `adjusted_after` where it was not zero before or is an adjustment; null everywhere else, and in entries that the version
-- before wrote.
--
-- No row is read or changed by this file; each table is locked for a moment.
alter table accounts add column adjusted bigint not null default 0;
alter table accounts add constraint accounts_adjusted_is_not_negative check (adjusted >= 0) not valid;
alter table ledger_entries add column adjusted_after bigint;

create or replace trigger accounts_begin_empty before insert on accounts for each row
  when (new.balance <> 0 or new.held <> 0 or new.last_entry <> 0 or new.last_hash <> '' or new.last_event <> 0
        or new.adjusted <> 0)
  execute function refuse_write('an account begins empty');

-- The version before moves credits and does not know the column.
create function lower_adjusted() returns trigger language plpgsql as $$
begin
  new.adjusted := greatest(new.balance, 0);
  return new;
end
$$;

create trigger accounts_adjusted_within_balance before update on accounts for each row
  when (new.adjusted > new.balance) execute function lower_adjusted();

alter table ledger_entries
  drop constraint ledger_entries_kind,
  drop constraint ledger_entries_sign,
  drop constraint ledger_entries_cause,
  add constraint ledger_entries_kind check (
    kind in ('GRANT', 'ROLLBACK', 'REFUND', 'SPEND', 'HOLD', 'CAPTURE', 'RELEASE', 'EXPIRE', 'GOODWILL', 'CORRECTION',
             'REVERSAL')) not valid,
  add constraint ledger_entries_sign check (
    case kind
      when 'GRANT' then delta > 0 and coalesce(held_delta = 0, true)
      when 'ROLLBACK' then delta < 0 and coalesce(held_delta = delta, true)
      when 'REFUND' then delta < 0 and coalesce(held_delta = delta, true)
      when 'SPEND' then delta < 0 and coalesce(held_delta = 0, true)
      when 'HOLD' then delta = 0 and coalesce(held_delta > 0, false)
      when 'CAPTURE' then delta < 0 and coalesce(held_delta <= delta, false)
                          and (reference is null or held_delta = delta)
      when 'GOODWILL' then delta > 0 and coalesce(held_delta = 0, false)
      when 'CORRECTION' then delta <> 0 and coalesce(held_delta = 0, false)
      when 'REVERSAL' then delta > 0 and coalesce(held_delta = 0, false)
      else delta = 0 and coalesce(held_delta < 0, false) end) not valid,
  add constraint ledger_entries_cause check (
    case kind
      when 'GRANT' then order_id is not null and reference is null and hold_id is null
      when 'ROLLBACK' then order_id is not null and reference is null
      when 'REFUND' then order_id is not null and reference is null
      when 'SPEND' then order_id is null and reference is not null and hold_id is null
                        and (service_id is not null or held_after is null)
      when 'HOLD' then num_nonnulls(order_id, reference) = 1 and hold_id is not null
                       and (reference is null) = (service_id is null)
      when 'CAPTURE' then order_id is null and hold_id is not null and service_id is not null
      when 'RELEASE' then reference is null and hold_id is not null
      when 'GOODWILL' then num_nonnulls(order_id, reference, hold_id, service_id) = 0
      when 'CORRECTION' then num_nonnulls(order_id, reference, hold_id, service_id) = 0
      when 'REVERSAL' then num_nonnulls(order_id, hold_id) = 0 and num_nonnulls(reference, service_id) = 2
      else order_id is null and reference is null and hold_id is not null end) not valid,
  add constraint ledger_entries_adjusted_is_covered check (
    coalesce(adjusted_after between 0 and balance_after, kind not in ('GOODWILL', 'CORRECTION', 'REVERSAL'))) not valid;

-- The hash of an entry that has adjusted_after. All others have ledger_entry_hash alone.
create function ledger_entry_hash_adjusted(
  previous bytea, customer_id uuid, entry_number bigint, kind text, delta bigint, balance_after bigint, order_id text,
  reference text, created_at timestamptz, held_delta bigint, held_after bigint, hold_id uuid, service_id text,
  adjusted_after bigint
) returns bytea language sql stable parallel safe as $$
  select sha256(
    ledger_entry_hash(previous, customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                      held_delta, held_after, hold_id, service_id)
    || convert_to(adjusted_after::text, 'UTF8'))
$$;

-- What an operator wants above the limit of one person: a second one approves or rejects it. An approval makes the adjustment
-- of the same id.
create table adjustment_requests (
  customer_id   uuid        not null references accounts (customer_id),
  adjustment_id uuid        not null,
  kind          text        not null,
  credits       bigint      not null,
  reason        text        not null,
  requested_by  text        not null,
  requested_at  timestamptz not null default now(),
  state         text        not null default 'PENDING',
  decided_by    text,
  decided_at    timestamptz,
  constraint adjustment_requests_pkey primary key (customer_id, adjustment_id),
  constraint adjustment_requests_adjustment_id_key unique (adjustment_id),
  constraint adjustment_requests_kind check (
    case kind when 'GOODWILL' then credits > 0 when 'CORRECTION' then credits <> 0 else false end),
  constraint adjustment_requests_reason check (char_length(reason) between 1 and 200),
  constraint adjustment_requests_state check (state in ('PENDING', 'APPROVED', 'REJECTED')),
  constraint adjustment_requests_decided_once check (
    (state = 'PENDING') = (decided_by is null) and (decided_by is null) = (decided_at is null)),
  constraint adjustment_requests_second_person check (state <> 'APPROVED' or decided_by <> requested_by)
);

create index adjustment_requests_pending on adjustment_requests (requested_at, adjustment_id) where state = 'PENDING';

create trigger adjustment_requests_never_deleted before delete or truncate on adjustment_requests
  for each statement execute function refuse_deletion();
create trigger adjustment_requests_begin_pending before insert on adjustment_requests for each row
  when (new.state <> 'PENDING') execute function refuse_write('a request begins PENDING');
create trigger adjustment_requests_stay_decided before update on adjustment_requests for each row
  when (old.state <> 'PENDING'
        or (old.customer_id, old.adjustment_id, old.kind, old.credits, old.reason, old.requested_by, old.requested_at)
           is distinct from
             (new.customer_id, new.adjustment_id, new.kind, new.credits, new.reason, new.requested_by, new.requested_at))
  execute function refuse_write('a request is decided once, as it was made');

-- What an operator has adjusted, requested and approved on a Korean day, in credits, whatever their sign.
create table adjustment_days (
  actor   text   not null,
  day     date   not null,
  credits bigint not null,
  constraint adjustment_days_pkey primary key (actor, day),
  constraint adjustment_days_something check (credits > 0)
);

create trigger adjustment_days_never_deleted before delete or truncate on adjustment_days
  for each statement execute function refuse_deletion();
create trigger adjustment_days_only_grow before update on adjustment_days for each row
  when (new.credits <= old.credits or (new.actor, new.day) is distinct from (old.actor, old.day))
  execute function refuse_write('what was adjusted on a day only grows');

-- `reversed_entry` is the SPEND, or the HOLD that was captured. `actor` is the operator who made or requested it.
create table adjustments (
  customer_id    uuid        not null,
  adjustment_id  uuid        not null,
  kind           text        not null,
  credits        bigint      not null,
  entry_number   bigint      not null,
  reversed_entry bigint,
  service_id     text,
  actor          text,
  approved_by    text,
  reason         text        not null,
  created_at     timestamptz not null,
  constraint adjustments_pkey primary key (customer_id, adjustment_id),
  constraint adjustments_of_entry unique (customer_id, entry_number),
  constraint adjustments_customer_id_entry_number_fkey foreign key (customer_id, entry_number)
    references ledger_entries (customer_id, entry_number),
  constraint adjustments_customer_id_reversed_entry_fkey foreign key (customer_id, reversed_entry)
    references ledger_entries (customer_id, entry_number),
  constraint adjustments_cause check (
    case kind
      when 'REVERSAL' then reversed_entry < entry_number and service_id is not null and num_nonnulls(actor, approved_by) = 0
      when 'GOODWILL' then num_nonnulls(reversed_entry, service_id) = 0 and actor is not null
      when 'CORRECTION' then num_nonnulls(reversed_entry, service_id) = 0 and actor is not null
      else false end is true),
  constraint adjustments_second_person check (approved_by <> actor),
  constraint adjustments_reason check (char_length(reason) between 1 and 200)
);

create index adjustments_of_reversed on adjustments (customer_id, reversed_entry) where reversed_entry is not null;

create trigger adjustments_append_only before delete or update or truncate on adjustments
  for each statement execute function refuse_change();

-- What a SPEND, or the captures of a HOLD, spent and no reversal has given back; null for any other entry. Volatile: each call
-- sees what has been committed by then. So a statement that has locked the account gets the current value, although its own
-- snapshot is older than the wait for the lock.
create function credits_left_to_reverse(customer uuid, entry bigint) returns bigint language plpgsql volatile as $$
begin
  return (
    select case e.kind
        when 'SPEND' then -e.delta
        when 'HOLD' then case when e.order_id is null then (
          select coalesce(-sum(c.delta), 0) from ledger_entries c
          where c.customer_id = e.customer_id and c.hold_id = e.hold_id and c.kind = 'CAPTURE') end
        end - coalesce((
          select sum(a.credits) from adjustments a
          where a.customer_id = e.customer_id and a.reversed_entry = e.entry_number), 0)
    from ledger_entries e
    where e.customer_id = customer and e.entry_number = entry);
end
$$;

-- An adjustment says what its entry says, reverses no more than was spent, and was approved by the one it names.
create function require_adjustment() returns trigger language plpgsql as $$
declare
  refused record;
begin
  select a.customer_id, a.adjustment_id into refused
  from added a
  where (
    (select e.kind = a.kind and e.delta = a.credits and e.created_at = a.created_at
       and e.service_id is not distinct from a.service_id
     from ledger_entries e
     where e.customer_id = a.customer_id and e.entry_number = a.entry_number)
    and (a.reversed_entry is null or credits_left_to_reverse(a.customer_id, a.reversed_entry) >= 0)
    and (a.approved_by is null or (
      select (r.state, r.kind, r.credits, r.requested_by, r.decided_by)
        = ('APPROVED', a.kind, a.credits, a.actor, a.approved_by)
      from adjustment_requests r
      where r.customer_id = a.customer_id and r.adjustment_id = a.adjustment_id))
  ) is not true
  limit 1;
  if found then
    raise exception 'the adjustment % of % is not what its entry, its request or what it reverses allow',
      refused.adjustment_id, refused.customer_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

-- One id is one adjustment: made at once, or requested and approved. Both statements lock the account first, so the second sees
-- the first; it runs again and finds it.
create function refuse_used_adjustment_id() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
    join adjustments a using (customer_id, adjustment_id)
    join adjustment_requests r using (customer_id, adjustment_id)
    where a.approved_by is null
  ) then
    raise exception 'the id was used for an adjustment and for a request'
      using errcode = 'unique_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger adjustments_have_an_own_id after insert on adjustments referencing new table as added
  for each statement execute function refuse_used_adjustment_id();
create trigger adjustment_requests_have_an_own_id after insert on adjustment_requests referencing new table as added
  for each statement execute function refuse_used_adjustment_id();

create trigger adjustments_are_allowed after insert on adjustments referencing new table as added
  for each statement execute function require_adjustment();

-- An approved request has its adjustment.
create function require_approved_adjustment() returns trigger language plpgsql as $$
declare
  refused uuid;
begin
  select r.adjustment_id into refused
  from changed r
  where r.state = 'APPROVED' and (
    select a.approved_by = r.decided_by from adjustments a
    where a.customer_id = r.customer_id and a.adjustment_id = r.adjustment_id
  ) is not true
  limit 1;
  if found then
    raise exception 'the request % is approved without its adjustment', refused
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger adjustment_requests_approved_with_adjustment after update on adjustment_requests
  referencing new table as changed for each statement execute function require_approved_adjustment();

-- As before, and what comes from adjustments changes with an entry only.
create or replace trigger accounts_move_by_entry before update on accounts for each row
  when ((old.balance is distinct from new.balance or old.held is distinct from new.held
         or old.adjusted is distinct from new.adjusted)
        and (new.last_entry <= old.last_entry or new.last_hash = old.last_hash))
  execute function refuse_unentered();

-- As before, and the account has what its last entry says of adjustments.
create or replace function require_last_entry() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  select a.customer_id into customer
  from changed a
  where (
    select e.balance_after = a.balance and coalesce(e.held_after = a.held, true) and e.entry_hash = a.last_hash
      and coalesce(e.adjusted_after = a.adjusted, true)
    from ledger_entries e
    where e.customer_id = a.customer_id and e.entry_number = a.last_entry
  ) is not true and (a.balance, a.held, a.last_entry, a.last_hash) is distinct from (0, 0, 0, '\x'::bytea)
  limit 1;
  if found then
    raise exception 'the account of % is not where its last entry has left it', customer
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

-- As before, and for adjustments: the entry has its row of `adjustments`, and adjusted_after continues the one before it.
create or replace function require_cause() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  select e.customer_id into customer
  from added e
  where (
    case e.entry_number
      when 1 then e.balance_after = e.delta and e.held_after = e.held_delta
        and coalesce(e.adjusted_after = e.delta, true)
      else (
        select e.balance_after = p.balance_after + e.delta
          and e.held_after = coalesce(p.held_after + e.held_delta, e.held_after)
          and (e.adjusted_after is null or p.adjusted_after is null or e.adjusted_after = greatest(0, least(
            p.adjusted_after + case when e.kind in ('GOODWILL', 'CORRECTION', 'REVERSAL') then e.delta else 0 end,
            e.balance_after)))
        from ledger_entries p
        where p.customer_id = e.customer_id and p.entry_number = e.entry_number - 1)
      end
    and (select a.last_entry >= e.entry_number from accounts a where a.customer_id = e.customer_id)
    and case
      when e.kind = 'SPEND' then true
      when e.kind in ('GOODWILL', 'CORRECTION', 'REVERSAL') then (
        select a.kind = e.kind and a.credits = e.delta
        from adjustments a
        where a.customer_id = e.customer_id and a.entry_number = e.entry_number)
      when e.kind in ('HOLD', 'RELEASE') and e.order_id is not null then (
        select p.order_id = e.order_id and p.credits_held = abs(e.held_delta)
        from payment_operations p
        where p.customer_id = e.customer_id and p.operation_id = e.hold_id)
      when e.order_id is null then (
        select case
          when e.kind = 'HOLD' then e.entry_number = h.opening_entry and e.held_delta = h.credits + h.captured_in_parts
          when e.entry_number = h.closing_entry then -e.held_delta = h.credits
            and -e.delta = case e.kind when 'CAPTURE' then h.captured else 0 end
          else e.kind = 'CAPTURE' and e.entry_number = h.part_entry end
        from holds h
        where h.customer_id = e.customer_id and h.hold_id = e.hold_id)
      else (
        select e.entry_number = case e.kind when 'GRANT' then o.grant_entry when 'ROLLBACK' then o.rollback_entry else o.refund_entry end
          and e.delta = case e.kind when 'GRANT' then o.credits when 'ROLLBACK' then -o.credits else o.refund_shortfall - o.credits end
        from orders o
        where o.customer_id = e.customer_id and o.order_id = e.order_id)
      end
  ) is not true
  limit 1;
  if found then
    raise exception 'an entry of % that its account, the entry before it or its cause does not know', customer
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

do $$
declare
  name text;
begin
  foreach name in array array['require_last_entry()', 'require_cause()', 'require_adjustment()', 'require_approved_adjustment()',
                              'credits_left_to_reverse(uuid, bigint)']
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;

alter table events drop constraint events_type;
alter table events add constraint events_type check (
  type in ('order.confirmed', 'order.failed', 'order.cancelled', 'order.refunded', 'credits.low', 'credits.reversed',
           'credits.adjusted')) not valid;
