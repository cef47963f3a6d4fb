-- Holds for long jobs: a part of the held credits is captured while the hold stays active, the expiry is moved to a later
-- time, and a hold may have fewer credits than were requested.
--
-- `credits` of a hold is what it still holds, and after its end what it held until then: the version before ends a hold that
-- has parts correctly. What it held at its beginning is credits + captured_in_parts, and what was captured of it in all is
-- captured_in_parts + captured. A part that takes the last credits ends the hold: its entry is the closing entry, and
-- `captured` has its credits.
--
-- No row is read or changed by this file; each table is locked for a moment.
alter table holds
  add column captured_in_parts bigint not null default 0,
  -- The entry of the last part.
  add column part_entry bigint,
  -- What a hold of at most that many credits was requested with; null for a hold of exactly its credits.
  add column requested bigint,
  add column extended_at timestamptz,
  add constraint holds_parts_have_an_entry check (
    captured_in_parts >= 0 and (captured_in_parts > 0) = (part_entry is not null)) not valid,
  add constraint holds_at_most_requested check (credits + captured_in_parts <= requested) not valid,
  add constraint holds_extended_within_a_week check (expires_at <= extended_at + interval '168 hours') not valid;

create trigger holds_begin_whole before insert on holds for each row
  when (new.captured_in_parts <> 0 or new.part_entry is not null or new.extended_at is not null)
  execute function refuse_write('a hold begins without parts');

create trigger holds_keep_their_sum before update on holds for each row
  when (old.credits + old.captured_in_parts <> new.credits + new.captured_in_parts)
  execute function refuse_write('a part is taken from the held credits');

create trigger holds_are_only_extended before update on holds for each row
  when (new.expires_at < old.expires_at
        or new.expires_at > old.expires_at and new.extended_at is null)
  execute function refuse_write('the expiry of a hold is moved to a later time only');

drop trigger holds_stay_ended on holds;
create trigger holds_stay_ended before update on holds for each row
  when (old.state <> 'ACTIVE'
        and (old.state, old.captured, old.closing_entry, old.captured_in_parts, old.part_entry, old.expires_at)
          is distinct from
            (new.state, new.captured, new.closing_entry, new.captured_in_parts, new.part_entry, new.expires_at))
  execute function refuse_write('a hold that has ended stays ended');

-- Parts grow by one later entry of this hold, and by its credits. After the statement, which writes both.
create function require_part() returns trigger language plpgsql as $$
begin
  if (select e.kind = 'CAPTURE' and e.hold_id = new.hold_id and e.reference is not null
        and -e.delta = new.captured_in_parts - old.captured_in_parts
        and e.entry_number > coalesce(old.part_entry, old.opening_entry)
      from ledger_entries e
      where e.customer_id = new.customer_id and e.entry_number = new.part_entry) is not true then
    raise exception 'a part of the hold % has no entry', new.hold_id
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

create trigger holds_parts_are_entries after update on holds for each row
  when ((old.captured_in_parts, old.part_entry) is distinct from (new.captured_in_parts, new.part_entry))
  execute function require_part();

-- A part takes what it captures and releases nothing; it has a reference, by which it is taken once.
alter table ledger_entries
  drop constraint ledger_entries_sign,
  add constraint ledger_entries_sign check (
    case kind when 'GRANT' then delta > 0 and coalesce(held_delta = 0, true)
              when 'ROLLBACK' then delta < 0 and coalesce(held_delta = delta, true)
              when 'REFUND' then delta < 0 and coalesce(held_delta = delta, true)
              when 'SPEND' then delta < 0 and coalesce(held_delta = 0, true)
              when 'HOLD' then delta = 0 and coalesce(held_delta > 0, false)
              when 'CAPTURE' then delta < 0 and coalesce(held_delta <= delta, false)
                and (reference is null or held_delta = delta)
              else delta = 0 and coalesce(held_delta < 0, false) end) not valid,
  drop constraint ledger_entries_cause,
  add constraint ledger_entries_cause check (
    case kind when 'GRANT' then order_id is not null and reference is null and hold_id is null
              when 'ROLLBACK' then order_id is not null and reference is null
              when 'REFUND' then order_id is not null and reference is null
              when 'SPEND' then order_id is null and reference is not null and hold_id is null
                and (service_id is not null or held_after is null)
              when 'HOLD' then num_nonnulls(order_id, reference) = 1 and hold_id is not null
                and (reference is null) = (service_id is null)
              when 'CAPTURE' then order_id is null and hold_id is not null and service_id is not null
              when 'RELEASE' then reference is null and hold_id is not null
              else order_id is null and reference is null and hold_id is not null end) not valid;

-- As before, and an entry of a hold is its first, its last, or its latest part.
create or replace function require_cause() returns trigger language plpgsql as $$
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

-- The tables are those of this schema: a temporary table of the same name does not come first.
do $$
declare
  name text;
begin
  foreach name in array array['require_cause', 'require_part']
  loop
    execute format('alter function %I() set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
