-- The id of an adjustment is used once: for an adjustment that is made at once, or for a request. Two statements with one id at
-- the same time, of which one adjusts and the other one requests, do not see each other in their snapshots, but both have
-- locked the account. The look of the trigger is a query of its own, after that lock: it sees what was committed meanwhile. The
-- error is a unique violation, so the statement is run once more, and finds the other one.
create function refuse_used_adjustment_id() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'adjustments'
      and exists (select from adjustment_requests r where r.adjustment_id = new.adjustment_id)
    or tg_table_name = 'adjustment_requests'
      and exists (select from adjustments a
                  where a.customer_id = new.customer_id and a.adjustment_id = new.adjustment_id) then
    raise exception 'the id % of an adjustment is used', new.adjustment_id
      using errcode = 'unique_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return new;
end
$$;

create trigger adjustments_use_an_id_once before insert on adjustments for each row
  when (new.actor is not null and new.approved_by is null)
  execute function refuse_used_adjustment_id();
create trigger adjustment_requests_use_an_id_once before insert on adjustment_requests for each row
  execute function refuse_used_adjustment_id();

-- The tables are those of this schema: a temporary table of the same name does not come first.
do $$
begin
  execute format('alter function refuse_used_adjustment_id() set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;
