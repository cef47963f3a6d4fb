-- What the role that serves could write although no statement of the service does: credits without their entries, an order
-- that is born confirmed, has a price of its own, or fails without a refusal, an approved confirm of another amount, an
-- operation or a hold that is over and begins anew, a queue of events that is skipped or deleted.
--
-- A condition on one row stands in `when`: what is allowed calls no function. What concerns several tables is checked at
-- the end of the statement, because a statement of the service writes all of them at once; it is checked for all rows of
-- the statement together, because a function for each row costs a spend in a batch four times as much. Each look is a
-- subquery for one key: no plan can read more of a table than the row.
--
-- The version before writes nothing that is refused here. No row is read or changed by this file; each table is locked for
-- a moment.

-- The name of the trigger is reported as the name of the constraint.
create function refuse_write() returns trigger language plpgsql as $$
begin
  raise exception '%: % is refused', tg_argv[0], tg_op
    using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
end
$$;

create trigger accounts_begin_empty before insert on accounts for each row
  when (new.balance <> 0 or new.held <> 0 or new.last_entry <> 0 or new.last_hash <> '' or new.last_event <> 0)
  execute function refuse_write('an account begins empty');

-- An account is where its last entry has left it. Entries from before version 0.3.0 do not know what is held.
create function require_last_entry() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  select a.customer_id into customer
  from changed a
  where (
    select e.balance_after = a.balance and coalesce(e.held_after = a.held, true) and e.entry_hash = a.last_hash
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

create trigger accounts_are_at_their_last_entry after update on accounts referencing new table as changed
  for each statement execute function require_last_entry();

-- An entry continues the sums of the one before it, its account has come as far, and what it names as its cause says the
-- same: the order, the operation of the order, or the hold. The hashes are compared by the audit: computing each twice
-- would cost a spend as much again as all of this.
create function require_cause() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  select e.customer_id into customer
  from added e
  where (
    case e.entry_number
      when 1 then e.balance_after = e.delta and e.held_after = e.held_delta
      else (
        select e.balance_after = p.balance_after + e.delta
          and e.held_after = coalesce(p.held_after + e.held_delta, e.held_after)
        from ledger_entries p
        where p.customer_id = e.customer_id and p.entry_number = e.entry_number - 1)
      end
    and (select a.last_entry >= e.entry_number from accounts a where a.customer_id = e.customer_id)
    and case
      when e.kind = 'SPEND' then true
      when e.kind in ('HOLD', 'RELEASE') and e.order_id is not null then (
        select p.order_id = e.order_id and p.credits_held = abs(e.held_delta)
        from payment_operations p
        where p.customer_id = e.customer_id and p.operation_id = e.hold_id)
      when e.order_id is null then (
        select h.credits = abs(e.held_delta) and e.entry_number = case e.kind when 'HOLD' then h.opening_entry else h.closing_entry end
          and -e.delta = case e.kind when 'CAPTURE' then h.captured else 0 end
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

create trigger ledger_entries_have_a_cause after insert on ledger_entries referencing new table as added
  for each statement execute function require_cause();

-- src/payments/packages.ts has the catalogue; a test holds the two together.
-- On insert alone: none of the three is ever changed, and an order that is there goes its way whatever it was sold for.
create trigger orders_sold_by_the_catalogue before insert on orders for each row
  when (not ((new.package_type, new.amount, new.credits)
             in (('BASIC', 1000, 1), ('STANDARD', 20000, 21), ('PRO', 100000, 110))))
  execute function refuse_write('an order is sold by the catalogue');

create trigger orders_begin_pending before insert on orders for each row
  when (new.status <> 'PENDING')
  execute function refuse_write('an order begins PENDING');

create trigger orders_keep_what_was_done after update on orders for each row
  when (old.status = new.status
        and (old.confirmed_at, old.grant_entry, old.rollback_entry, old.refund_entry, old.refund_shortfall)
          is distinct from
            (new.confirmed_at, new.grant_entry, new.rollback_entry, new.refund_entry, new.refund_shortfall)
        or old.grant_entry is not null
          and (old.grant_entry, old.confirmed_at) is distinct from (new.grant_entry, new.confirmed_at))
  execute function refuse_write('an order keeps what was done');

-- An order leaves PENDING and CONFIRMED by an operation with that outcome, and its entry is of this order.
create function require_outcome() returns trigger language plpgsql as $$
declare
  refused record;
begin
  select o.order_id, o.status into refused
  from changed o
  where case o.status
    when 'PENDING' then true
    when 'FAILED' then coalesce(
      (select true from payment_operations p
       where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'REJECTED'
       limit 1),
      (select true from payment_operations p
       where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'EXPIRED'
       limit 1))
    else (
        select p.amount = o.amount or p.kind <> 'CONFIRM'
        from payment_operations p
        where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state = 'APPROVED'
          and p.kind = case o.status when 'CONFIRMED' then 'CONFIRM' when 'CANCELLED' then 'CANCEL' else 'REFUND' end
        limit 1)
      and (o.refund_shortfall is not distinct from o.credits or (
        select e.order_id = o.order_id
          and e.kind = case o.status when 'CONFIRMED' then 'GRANT' when 'CANCELLED' then 'ROLLBACK' else 'REFUND' end
        from ledger_entries e
        where e.customer_id = o.customer_id and e.entry_number = case o.status
          when 'CONFIRMED' then o.grant_entry when 'CANCELLED' then o.rollback_entry else o.refund_entry end))
    end is not true
  limit 1;
  if found then
    raise exception 'the order % is not % without an operation of that outcome', refused.order_id, refused.status
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger orders_follow_an_outcome after update on orders referencing new table as changed
  for each statement execute function require_outcome();

-- An expiry is written when it is over.
create trigger payment_operations_begin_open before insert on payment_operations for each row
  when (new.state <> 'OPEN' and new.state <> 'EXPIRED')
  execute function refuse_write('an operation begins OPEN');

create trigger payment_operations_stay_closed before update on payment_operations for each row
  when (old.state <> 'OPEN'
        and ((old.state, old.closed_at, old.closed_by, old.gateway_code, old.transaction_key, old.total_credits)
             is distinct from
               (new.state, new.closed_at, new.closed_by, new.gateway_code, new.transaction_key, new.total_credits)
             or old.answered_by is not null and old.answered_by is distinct from new.answered_by))
  execute function refuse_write('an operation that is closed stays closed');

-- An approved operation is of an order that went on by it. A confirm is of the whole amount.
create function require_order() returns trigger language plpgsql as $$
declare
  refused record;
begin
  select p.order_id, p.kind into refused
  from changed p
  where p.state = 'APPROVED' and (
    select case p.kind
      when 'CONFIRM' then o.grant_entry is not null and o.amount = p.amount
      when 'CANCEL' then o.status = 'CANCELLED'
      when 'REFUND' then o.status = 'REFUNDED'
      else o.status = 'FAILED' end
    from orders o
    where o.customer_id = p.customer_id and o.order_id = p.order_id
  ) is not true
  limit 1;
  if found then
    raise exception 'the % of the order % is approved, and the order does not say so', refused.kind, refused.order_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger payment_operations_approved_with_order after update on payment_operations referencing new table as changed
  for each statement execute function require_order();

create trigger holds_begin_active before insert on holds for each row
  when (new.state <> 'ACTIVE')
  execute function refuse_write('a hold begins ACTIVE');

create trigger holds_stay_ended before update on holds for each row
  when (old.state <> 'ACTIVE'
        and (old.state, old.captured, old.closing_entry) is distinct from (new.state, new.captured, new.closing_entry))
  execute function refuse_write('a hold that has ended stays ended');

-- A queue ends with an event that exists. It goes forward: as far as its holder has come, or, where nothing is left to
-- deliver, to the next event. Whether the endpoint took what its holder passed, no row can tell.
alter table event_queues
  add constraint event_queues_end_with_an_event
    foreign key (customer_id, last_event) references events (customer_id, event_number) not valid,
  add constraint event_queues_next_is_within check (next_event >= 1 and next_event <= last_event + 1) not valid;

create trigger event_queues_go_forward before update on event_queues for each row
  when (new.next_event < old.next_event or new.last_event < old.last_event
        or new.next_event > old.next_event and old.holder_id is null and old.next_event <= old.last_event)
  execute function refuse_write('a queue goes forward, and only its holder passes an event');

create function require_removed_endpoint() returns trigger language plpgsql as $$
begin
  if not exists (select from event_endpoints e where e.endpoint_id = old.endpoint_id and e.status = 'REMOVED') then
    raise exception 'a queue is deleted when its endpoint is removed, and % is not', old.endpoint_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return old;
end
$$;

create trigger event_queues_deleted_with_endpoint before delete on event_queues for each row
  execute function require_removed_endpoint();

-- The tables are those of this schema: a temporary table of the same name does not come first.
do $$
declare
  name text;
begin
  foreach name in array array['require_last_entry', 'require_cause', 'require_outcome', 'require_order', 'require_removed_endpoint']
  loop
    execute format('alter function %I() set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
