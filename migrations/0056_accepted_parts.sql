-- A part of a payment that was cancelled in the gateway's dashboard and that a person has accepted. The order stays CONFIRMED: an
-- operation PART says what went back and which credits were taken for it, and the rest of the order keeps its value. There may be
-- several; together they return less than the price, and leave at least a credit for each 1,000 won that are left.

create function check_operation_or_part(
  kind text, state text, attempts int, closed_at timestamptz, closed_by uuid, payment_key text, credits_held bigint,
  reason text, receipt_url text, card_number text, approval_number text
) returns boolean language plpgsql immutable parallel safe as $$
declare
  broken constant text := case
    when not (kind in ('CONFIRM', 'CANCEL', 'REFUND', 'RETURN', 'PART')) then 'kind'
    when not (state in ('OPEN', 'APPROVED', 'REJECTED', 'EXPIRED')) then 'state'
    when not (attempts >= 0) then 'attempts_counted'
    when not ((state = 'OPEN') = (closed_at is null) and (closed_at is null) = (closed_by is null))
      then 'open_is_not_closed'
    when not ((state = 'EXPIRED') = (payment_key is null) and (state <> 'EXPIRED' or kind = 'CONFIRM'))
      then 'expired_without_payment'
    when not (kind <> 'PART' or state = 'APPROVED') then 'part_is_approved'
    when not (case kind when 'CONFIRM' then credits_held = 0 and reason is null
                        when 'CANCEL' then credits_held > 0 and reason is not null
                        when 'REFUND' then credits_held >= 0 and reason is not null
                        when 'PART' then credits_held >= 0 and reason is not null
                        else credits_held = 0 and reason is not null end) then 'holds_by_kind'
    when num_nonnulls(receipt_url, card_number, approval_number) = 0 then null
    when not (kind = 'CONFIRM' and state = 'APPROVED') then 'slip_of_approved_confirm'
    when not (card_number ~ '^[0-9]{0,8}\*{3,16}[0-9]{0,4}\*{0,4}$' and length(card_number) <= 20
              and approval_number ~ '^[A-Za-z0-9]{1,8}$'
              and receipt_url ~ '^https?://[!-~]+$' and length(receipt_url) <= 500) then 'slip_well_formed'
    end;
begin
  if broken is null then return true; end if;
  raise check_violation using table = 'payment_operations', constraint = 'payment_operations_' || broken,
    message = format('new row for relation "payment_operations" violates check constraint "payment_operations_%s"', broken);
end
$$;

alter table payment_operations drop constraint payment_operations_rules;
alter table payment_operations add constraint payment_operations_rules check (check_operation_or_part(
  kind, state, attempts, closed_at, closed_by, payment_key, credits_held, reason, receipt_url, card_number,
  approval_number)
) not valid;

-- As payment_operations_one_success, which the next file drops, but with any number of parts.
create unique index if not exists payment_operations_one_success_of_kind on payment_operations (customer_id, order_id, kind, (
  case kind when 'RETURN' then payment_key when 'PART' then operation_id::text else '' end)) where state <> 'REJECTED';

-- As ledger_entries_once_per_order, which a later file drops, but with an entry for each part. On large books create both indexes
-- before, concurrently (docs/operations.md).
create unique index if not exists ledger_entries_once_per_order_or_part on ledger_entries (customer_id, order_id, kind, (
  case kind when 'REFUND' then hold_id end)) nulls not distinct where order_id is not null and delta <> 0;

create index if not exists payment_operations_parts on payment_operations (customer_id, order_id) where kind = 'PART';

drop trigger payment_operations_begin_open on payment_operations;
create trigger payment_operations_begin_open before insert on payment_operations
  for each row when (new.state not in ('OPEN', 'EXPIRED') and new.kind <> 'PART')
  execute function refuse_write('an operation begins OPEN');

-- What accepted parts have returned of an order, and the credits that they took. Volatile: a statement that has locked the order gets
-- the current values.
create function accepted_parts(customer uuid, ordered text, out amount bigint, out credits bigint) language plpgsql volatile as $$
begin
  select coalesce(sum(p.amount), 0), coalesce(sum(p.credits_held), 0) into amount, credits
  from payment_operations p
  where p.customer_id = customer and p.order_id = ordered and p.kind = 'PART';
end
$$;

-- The credits of a part were unspent ones of its order: what is left of the balance is not less than what the newer orders have.
-- While a cancel or refund of the customer is under way, it is not known what is left of the others. Its time is the one that the
-- account has by it: the audit looks for its action around that time. Checked at the end of the
-- statement that accepts it, under the locks of order and account.
create function require_accepted_part() returns trigger language plpgsql as $$
begin
  perform from orders o where o.customer_id = new.customer_id and o.order_id = new.order_id for no key update;
  perform from accounts a where a.customer_id = new.customer_id for no key update;
  if (
    select o.status = 'CONFIRMED'
      and new.amount > 0
      and new.opened_at = a.moved_at and new.closed_at = a.moved_at
      and new.opened_at between now() and now() + interval '1 year'
      and o.amount > part.amount
      and (o.credits - part.credits) * 1000 >= o.amount - part.amount
      and not exists (
        select from payment_operations p
        where p.customer_id = o.customer_id and p.state = 'OPEN' and (p.order_id = o.order_id or p.kind <> 'CONFIRM'))
      and not exists (
        select from adjustment_requests r
        where r.customer_id = o.customer_id and r.discrepancy_id = new.operation_id and r.state = 'PENDING')
      and (new.credits_held = 0 or exists (
        select from ledger_entries e
        where e.customer_id = o.customer_id and e.hold_id = new.operation_id and e.kind = 'REFUND' and e.order_id = o.order_id
          and e.delta = -new.credits_held)
        and a.balance - a.adjusted >= (
          select coalesce(sum(case n.status when 'CONFIRMED' then n.credits else n.refund_shortfall end - newer.credits), 0)
          from orders n
          cross join lateral accepted_parts(n.customer_id, n.order_id) newer
          where n.customer_id = o.customer_id and n.grant_entry > o.grant_entry and n.status <> 'CANCELLED'))
    from orders o
    join accounts a on a.customer_id = o.customer_id
    cross join lateral accepted_parts(o.customer_id, o.order_id) part
    where o.customer_id = new.customer_id and o.order_id = new.order_id
  ) is not true then
    raise exception 'the part of the order % is more than is left of it', new.order_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger payment_operations_accept_part after insert on payment_operations
  for each row when (new.kind = 'PART') execute function require_accepted_part();

-- As in 0055, with the credits of parts, which an order does not have any more.
create or replace function refundable_credits(customer uuid, own uuid default null) returns bigint language plpgsql volatile as $$
declare
  rest       bigint := (
    select a.balance - a.adjusted - coalesce((
      select sum(p.credits_held) from payment_operations p
      where p.customer_id = a.customer_id and p.state = 'OPEN' and p.operation_id is distinct from own), 0)
    from accounts a where a.customer_id = customer);
  refundable bigint := 0;
  lot        record;
begin
  for lot in
    select open.operation_id is null and o.status = 'CONFIRMED' as can_be_refunded,
           case o.status when 'CONFIRMED' then o.credits - part.credits - coalesce(open.credits_held, 0)
                         when 'REFUNDED' then o.refund_shortfall - part.credits else 0 end as room
    from orders o
    left join payment_operations open
      on open.customer_id = o.customer_id and open.order_id = o.order_id and open.state = 'OPEN'
        and open.operation_id is distinct from own
    cross join lateral accepted_parts(o.customer_id, o.order_id) part
    where o.customer_id = customer and o.grant_entry is not null
    order by o.grant_entry desc
  loop
    exit when rest <= 0;
    if lot.can_be_refunded then
      refundable := refundable + least(lot.room, rest);
    end if;
    rest := rest - lot.room;
  end loop;
  return refundable;
end
$$;

-- The price of what is left, and its credits.
create or replace function require_credits() returns trigger language plpgsql as $$
begin
  perform from accounts a where a.customer_id = new.customer_id for no key update;
  if (
    select (new.credits_held = 0 or exists (
        select from ledger_entries e
        where e.customer_id = new.customer_id and e.hold_id = new.operation_id and e.kind = 'HOLD'
          and e.held_delta = new.credits_held))
      and case
        when new.kind = 'CANCEL' then (new.amount, new.credits_held) = (rest.amount, rest.credits)
          and refundable_credits(new.customer_id, new.operation_id) >= rest.credits
        else (new.amount, new.credits_held) = (rest.amount, least(rest.credits, a.balance - a.held + new.credits_held))
          or new.amount = rest.amount - (rest.credits - new.credits_held) * 1000
            and new.credits_held <= refundable_credits(new.customer_id, new.operation_id)
        end
    from accounts a
    join orders o on o.customer_id = a.customer_id and o.order_id = new.order_id
    cross join lateral (
      select o.amount - part.amount as amount, o.credits - part.credits as credits
      from accepted_parts(o.customer_id, o.order_id) part) rest
    where a.customer_id = new.customer_id
  ) is not true then
    raise exception 'the % of the order % takes other credits than there are for it', new.kind, new.order_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

drop function used_credits_to_reverse(uuid);

-- What can still be reversed of the uses that began up to an entry. A full refund pays back its shortfall, the credits that were
-- used or on hold when it began, without those that the parts of its order have paid back. A part pays back those that its won stand for, together with the won of earlier parts
-- that were less than a credit, and that were not taken. What was paid back is
-- not given back as credits too, whatever was used later. Null when nothing was paid back since the use. Refunds under way count as
-- done. Volatile, as above.
create function used_credits_to_reverse(customer uuid, reversed bigint default 0) returns bigint language plpgsql volatile as $$
begin
  if not exists (select from orders o where o.customer_id = customer and o.refund_shortfall > 0)
    and not exists (
      select from payment_operations p
      where p.customer_id = customer and (p.kind = 'PART' or p.kind = 'REFUND' and p.state = 'OPEN')) then
    return null;
  end if;
  return (
    with paid_back as (
      select (
          select coalesce(max(e.entry_number), 0) from ledger_entries e
          where e.customer_id = customer and e.created_at <= p.opened_at) as at_entry,
        case p.kind when 'PART' then (earlier.amount + p.amount) / 1000 - earlier.amount / 1000
          else o.credits - part.credits - greatest(0, part.amount / 1000 - part.credits) end - p.credits_held as credits
      from payment_operations p
      join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
      cross join lateral accepted_parts(o.customer_id, o.order_id) part
      cross join lateral (
        select coalesce(sum(e.amount), 0)::bigint as amount from payment_operations e
        where e.customer_id = p.customer_id and e.order_id = p.order_id and e.kind = 'PART'
          and (e.opened_at, e.operation_id) < (p.opened_at, p.operation_id)) earlier
      where p.customer_id = customer and p.state <> 'REJECTED'
        and (p.kind = 'PART' and o.status <> 'CANCELLED' or p.kind = 'REFUND' and p.amount = o.amount - part.amount)
    ),
    use as (
      select s.entry_number as began_at, -s.delta as credits
      from ledger_entries s where s.customer_id = customer and s.kind = 'SPEND'
      union all
      select h.opening_entry, -c.delta
      from ledger_entries c join holds h on h.customer_id = c.customer_id and h.hold_id = c.hold_id
      where c.customer_id = customer and c.kind = 'CAPTURE'
      union all
      select a.reversed_entry, -a.credits from adjustments a where a.customer_id = customer and a.kind = 'REVERSAL'
    )
    select min(
      (select coalesce(sum(u.credits), 0) from use u where u.began_at <= r.at_entry)
      - (select sum(greatest(0, x.credits)) from paid_back x where x.at_entry <= r.at_entry))
    from paid_back r
    where r.credits > 0 and r.at_entry >= reversed);
end
$$;

create or replace function require_adjustment() returns trigger language plpgsql as $$
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
    and (a.reversed_entry is null or credits_left_to_reverse(a.customer_id, a.reversed_entry) >= 0
      and coalesce(used_credits_to_reverse(a.customer_id, a.reversed_entry) >= 0, true))
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

-- The entry of a part is that of its operation, and a cancel rolls back what parts have left of the order's credits.
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
          and e.delta = case e.kind when 'GRANT' then o.credits when 'ROLLBACK' then (
            select part.credits - o.credits from accepted_parts(o.customer_id, o.order_id) part) else o.refund_shortfall - o.credits end
        from orders o
        where o.customer_id = e.customer_id and o.order_id = e.order_id)
        or e.kind = 'REFUND' and (
          select p.kind = 'PART' and p.order_id = e.order_id and -e.delta = p.credits_held
          from payment_operations p
          where p.customer_id = e.customer_id and p.operation_id = e.hold_id)
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

-- Accepting a part may need a second person. The id of the operation is that of the discrepancy, so that it is accepted once.
alter table adjustment_requests add column discrepancy_id uuid;
alter table adjustment_requests add column order_id text;
alter table adjustment_requests add column amount bigint;
alter table adjustment_requests drop constraint adjustment_requests_kind;
alter table adjustment_requests add constraint adjustment_requests_kind check (case kind
  when 'GOODWILL' then credits > 0
  when 'CORRECTION' then credits <> 0
  when 'PART' then credits >= 0 and num_nonnulls(discrepancy_id, order_id, amount) = 3
  else false end) not valid;
create unique index if not exists adjustment_requests_one_pending_of_discrepancy
  on adjustment_requests (customer_id, discrepancy_id) where state = 'PENDING' and kind = 'PART';

-- Under the lock of the order, as an acceptance: either it waits for a second person, or it is done.
create function require_unaccepted_part() returns trigger language plpgsql as $$
begin
  perform from orders o where o.customer_id = new.customer_id and o.order_id = new.order_id for no key update;
  if exists (
    select from payment_operations p where p.customer_id = new.customer_id and p.operation_id = new.discrepancy_id
  ) then
    raise exception 'the part % was accepted', new.discrepancy_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger adjustment_requests_of_open_parts after insert on adjustment_requests
  for each row when (new.kind = 'PART') execute function require_unaccepted_part();

drop trigger adjustment_requests_stay_decided on adjustment_requests;
create trigger adjustment_requests_stay_decided before update on adjustment_requests
  for each row when (old.state <> 'PENDING'
    or (old.customer_id, old.adjustment_id, old.kind, old.credits, old.reason, old.requested_by, old.requested_at,
        old.discrepancy_id, old.order_id, old.amount)
      is distinct from (new.customer_id, new.adjustment_id, new.kind, new.credits, new.reason, new.requested_by,
        new.requested_at, new.discrepancy_id, new.order_id, new.amount))
  execute function refuse_write('a request is decided once, as it was made');

create or replace function require_approved_adjustment() returns trigger language plpgsql as $$
declare
  refused uuid;
begin
  select r.adjustment_id into refused
  from changed r
  where r.state = 'APPROVED' and case r.kind
    when 'PART' then (
      select (p.kind, p.order_id, p.amount, p.credits_held) = ('PART', r.order_id, r.amount, r.credits)
      from payment_operations p
      where p.customer_id = r.customer_id and p.operation_id = r.discrepancy_id)
    else (
      select a.approved_by = r.decided_by from adjustments a
      where a.customer_id = r.customer_id and a.adjustment_id = r.adjustment_id)
    end is not true
  limit 1;
  if found then
    raise exception 'the request % is approved without its adjustment', refused
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

do $$
declare
  name text;
begin
  foreach name in array array['accepted_parts(uuid, text)', 'require_accepted_part()', 'require_unaccepted_part()', 'refundable_credits(uuid, uuid)', 'require_credits()',
                              'used_credits_to_reverse(uuid, bigint)', 'require_adjustment()', 'require_cause()', 'require_approved_adjustment()']
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
