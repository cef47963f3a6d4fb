-- A refund can return less than the price: the part of the order that is unused, or the part that was cancelled at the
-- gateway. What went back is stored with the order. Orders that were refunded before, or by an instance of the version before,
-- have null: the whole price.
alter table orders add column refunded_amount bigint;
alter table orders add constraint orders_refunded_amount
  check (refunded_amount is null or status = 'REFUNDED' and 1 <= refunded_amount and refunded_amount <= amount) not valid;

create or replace trigger orders_keep_what_was_done after update on orders for each row
  when (old.status = new.status
        and (old.confirmed_at, old.grant_entry, old.rollback_entry, old.refund_entry, old.refund_shortfall, old.refunded_amount)
          is distinct from
            (new.confirmed_at, new.grant_entry, new.rollback_entry, new.refund_entry, new.refund_shortfall, new.refunded_amount)
        or old.grant_entry is not null
          and (old.grant_entry, old.confirmed_at) is distinct from (new.grant_entry, new.confirmed_at))
  execute function refuse_write('an order keeps what was done');

-- As before, and the amount of a refund is what the order says went back.
create or replace function require_outcome() returns trigger language plpgsql as $$
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
        select p.amount = coalesce(o.refunded_amount, o.amount) or p.kind = 'CANCEL'
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

create or replace function require_order() returns trigger language plpgsql as $$
declare
  refused record;
begin
  select p.order_id, p.kind into refused
  from changed p
  where p.state = 'APPROVED' and (
    select case p.kind
      when 'CONFIRM' then o.grant_entry is not null and o.amount = p.amount
      when 'CANCEL' then o.status = 'CANCELLED'
      when 'REFUND' then o.status = 'REFUNDED' and coalesce(o.refunded_amount, o.amount) = p.amount
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

-- A function that is replaced loses its settings.
do $$
declare
  name text;
begin
  foreach name in array array['require_outcome', 'require_order']
  loop
    execute format('alter function %I() set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
