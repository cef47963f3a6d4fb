-- What money may go back for. An operation that returns money names the credits it takes, and they have to be there: credits
-- that were paid for, that are not used, and that no other cancel or refund under way takes.

-- The unspent credits of the orders that a cancel could take. Lots are used first in, first out, so what is unspent lies in the
-- newest ones, and only those are read. Operations under way count as done, except `own`: each is decided as if those before it
-- had ended. Volatile, like credits_left_to_reverse: a statement that has locked the account gets the current value.
create function refundable_credits(customer uuid, own uuid default null) returns bigint language plpgsql volatile as $$
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
           case o.status when 'CONFIRMED' then o.credits - coalesce(open.credits_held, 0)
                         when 'REFUNDED' then o.refund_shortfall else 0 end as room
    from orders o
    left join payment_operations open
      on open.customer_id = o.customer_id and open.order_id = o.order_id and open.state = 'OPEN'
        and open.operation_id is distinct from own
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

-- A cancel takes the credits of its order. A full refund takes what is available of them, a refund of the unused part returns
-- the value of what it takes. What a person has accepted was returned by the gateway before. Checked at the end of the statement
-- that begins the operation, when its credits are set aside, under the lock of the account.
create function require_credits() returns trigger language plpgsql as $$
begin
  perform from accounts a where a.customer_id = new.customer_id for no key update;
  if (
    select (new.credits_held = 0 or exists (
        select from ledger_entries e
        where e.customer_id = new.customer_id and e.hold_id = new.operation_id and e.kind = 'HOLD'
          and e.held_delta = new.credits_held))
      and case
        when new.kind = 'CANCEL' then (new.amount, new.credits_held) = (o.amount, o.credits)
          and refundable_credits(new.customer_id, new.operation_id) >= o.credits
        else new.accepted
          or (new.amount, new.credits_held) = (o.amount, least(o.credits, a.balance - a.held + new.credits_held))
          or new.amount = o.amount - (o.credits - new.credits_held) * 1000
            and new.credits_held <= refundable_credits(new.customer_id, new.operation_id)
        end
    from accounts a
    join orders o on o.customer_id = a.customer_id and o.order_id = new.order_id
    where a.customer_id = new.customer_id
  ) is not true then
    raise exception 'the % of the order % takes other credits than there are for it', new.kind, new.order_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger payment_operations_take_credits after insert on payment_operations
  for each row when (new.kind in ('CANCEL', 'REFUND')) execute function require_credits();

create index if not exists orders_with_shortfall on orders (customer_id) where refund_shortfall > 0;

-- What of a customer's used credits was not refunded in money. A full refund pays back used credits, its shortfall, and those are
-- not given back as credits too. What is used follows from the orders, the adjustments and the balance. A full refund under way
-- counts as done. Null when no used credits were refunded. Volatile, as above.
create function used_credits_to_reverse(customer uuid) returns bigint language plpgsql volatile as $$
declare
  refunded bigint := coalesce((
      select sum(o.refund_shortfall) from orders o
      where o.customer_id = customer and o.refund_shortfall > 0 and coalesce(o.refunded_amount, o.amount) = o.amount), 0)
    + coalesce((
      select sum(o.credits - p.credits_held) from payment_operations p
      join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
      where p.customer_id = customer and p.state = 'OPEN' and p.kind = 'REFUND' and p.amount = o.amount), 0);
begin
  if refunded = 0 then
    return null;
  end if;
  return (
    select (
        select sum(case o.status when 'CONFIRMED' then o.credits when 'REFUNDED' then o.refund_shortfall else 0 end)
        from orders o where o.customer_id = customer and o.grant_entry is not null)
      + coalesce((
        select sum(d.credits) from adjustments d where d.customer_id = customer and d.kind <> 'REVERSAL'), 0)
      - a.balance - refunded
    from accounts a where a.customer_id = customer);
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
      and coalesce(used_credits_to_reverse(a.customer_id) >= 0, true))
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

do $$
declare
  name text;
begin
  foreach name in array array['refundable_credits(uuid, uuid)', 'require_credits()', 'used_credits_to_reverse(uuid)',
                              'require_adjustment()']
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
