-- The rules of refunds that the service has started with, each with the Korean day from which it holds; the first one holds from the
-- beginning, '-infinity'. An order is judged by the rule of the day of its confirm. One whose day has come stays as it is.
create table refund_rules (
  holds_from      date        not null,
  full_price_days int         not null,
  smallest_amount bigint      not null,
  share_percent   int         not null,
  stored_at       timestamptz not null default now(),
  constraint refund_rules_pkey primary key (holds_from),
  constraint refund_rules_day check (holds_from = '-infinity' or holds_from between make_date(2000, 1, 1) and make_date(9999, 12, 31)),
  constraint refund_rules_numbers check (
    full_price_days between 0 and 3650 and smallest_amount between 1 and 100000 and share_percent between 1 and 100)
);

-- An order that is confirmed keeps its rule. A confirm that is under way is waited for. A copy on a server of a cluster cannot look at
-- the orders of all groups: there a new rule always begins on a later day.
create function require_rule_of_later_orders() returns trigger language plpgsql security definer as $$
begin
  if new.holds_from = '-infinity' or new.holds_from > (now() at time zone 'Asia/Seoul')::date then
    return new;
  end if;
  if tg_table_name = 'refund_rules' then
    lock table payment_operations in share mode;
    if not exists (
      select from payment_operations
      where closed_at >= new.holds_from::timestamp at time zone 'Asia/Seoul' and kind = 'CONFIRM' and state = 'APPROVED'
    ) then
      return new;
    end if;
  end if;
  raise exception 'orders were confirmed since %', new.holds_from
    using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
end
$$;
create trigger refund_rules_of_later_orders before insert on refund_rules
  for each row execute function require_rule_of_later_orders();
create trigger refund_rules_never_deleted before delete or truncate on refund_rules
  for each statement execute function refuse_change();
create trigger refund_rules_stay before update on refund_rules
  for each row when (old.holds_from <= (now() at time zone 'Asia/Seoul')::date or old.holds_from <> new.holds_from)
  execute function refuse_write('a rule of refunds stays from its day on');

-- The rule that a refund of the unused part was made by.
alter table payment_operations add column refund_rule date;
alter table payment_operations add constraint payment_operations_refund_rule
  check (refund_rule is null or kind = 'REFUND') not valid;

-- With the rights of its owner: a version that knows nothing of the table may run before the rights on it are granted. 100 before a
-- service has started with rules.
create function refund_share(confirmed timestamptz) returns int language plpgsql stable security definer as $$
begin
  return coalesce((
    select r.share_percent from refund_rules r
    where r.holds_from <= (confirmed at time zone 'Asia/Seoul')::date
    order by r.holds_from desc limit 1), 100);
end
$$;

-- A refund of the unused part returns the share of the value that the rule of its order has.
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
          or new.amount = (rest.amount - (rest.credits - new.credits_held) * 1000) * refund_share(o.confirmed_at) / 100
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

do $$
declare
  name text;
begin
  foreach name in array array['refund_share(timestamptz)', 'require_credits()', 'require_rule_of_later_orders()']
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
