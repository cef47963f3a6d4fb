// Rows that the console shows and generated books do not have: two years of reconciliations and audits, open and
// resolved discrepancies, the action log, names and keys of customers. Inserted once.
import type pg from 'pg'

const runsText = `
  insert into reconciliations (reconciliation_id, cause, from_time, to_time, started_at, holder_id, lease_until,
                               finished_at, result)
  select md5('run ' || n)::uuid, 'DAILY', day, day + interval '1 day' - interval '1 second',
         day + interval '1 day 31 minutes', md5('run ' || n)::uuid, day + interval '1 day 33 minutes',
         day + interval '1 day 32 minutes', jsonb_build_object(
           'from', day, 'to', day, 'movements', 1000, 'captured', 20000000, 'cancelled', 100000,
           'bookedCaptured', 20000000, 'bookedCancelled', 100000, 'foreign', 0, 'reviewed', jsonb_build_object(
             'agrees', 0, 'repaired', 0, 'disagrees', 0, 'under way', 0, 'unknown', 0))
  from generate_series(1, 730) as n
  cross join lateral (
    select (date_trunc('day', now() at time zone 'Asia/Seoul') - n * interval '1 day') at time zone 'Asia/Seoul' as day
  ) d
  on conflict do nothing`

const auditsText = `
  insert into audits (audit_id, cause, begun_at, ended_at, rules, checked, violation_count, findings)
  select md5('audit ' || n)::uuid, 'DAILY', now() - n * interval '1 day' - interval '1 minute',
         now() - n * interval '1 day', 49, $$
           {"accounts": 1000, "entries": 1000, "holds": 1000, "orders": 1000, "operations": 1000, "events": 1000}
         $$, 0, '[]'
  from generate_series(1, 730) as n
  on conflict do nothing`

const discrepanciesText = `
  insert into discrepancies (discrepancy_id, kind, subject, detail, found_at, last_seen_at, resolved_at, resolution)
  select md5('discrepancy ' || n)::uuid, 'UNKNOWN_ORDER', 'pay_of_nobody_' || n, '{"orderId": "ord_of_nobody"}',
         now() - n * interval '5 minutes', now() - n * interval '5 minutes',
         case when n > 500 then now() - n * interval '4 minutes' end, case when n > 500 then 'another shop' end
  from generate_series(1, 100000) as n
  on conflict do nothing`

const actionsText = `
  insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject, reason, outcome, about)
  select md5('action ' || n)::uuid, step, now() - n * interval '1 minute' + (step = 'ENDED')::int * interval '1 second',
         case step when 'BEGUN' then 'operator' end, case step when 'BEGUN' then 'orders settle' end,
         case step when 'BEGUN' then array['ord_' || n] end, case step when 'BEGUN' then 'ord_' || n % 1000 end,
         case step when 'BEGUN' then 'asked for by the customer' end, case step when 'ENDED' then 'ok' end,
         case step when 'ENDED' then '{}'::jsonb end
  from generate_series(1, 200000) as n cross join (values ('BEGUN'), ('ENDED')) as s (step)
  on conflict do nothing`

// A customer's date is that of its first order, so that the order of customers is the order of orders.
const namesText = `
  update customers c
  set name = 'company ' || left(c.customer_id::text, 13), created_at = o.first_at - interval '1 minute'
  from (select customer_id, min(created_at) as first_at from orders group by customer_id) o
  where c.customer_id = o.customer_id and c.name is null`

const keysText = `
  insert into api_keys (key_id, customer_id, key_hash, last_four, pepper_version)
  select 'key_' || md5(customer_id::text), customer_id, sha256(customer_id::text::bytea), left(md5(customer_id::text), 4), 1
  from customers
  on conflict do nothing`

export async function addRows(client: pg.Client): Promise<void> {
  for (const text of [runsText, auditsText, discrepanciesText, actionsText, namesText, keysText])
    await client.query(text)
  await client.query('vacuum analyze reconciliations, audits, discrepancies, operator_actions, customers, api_keys')
}
