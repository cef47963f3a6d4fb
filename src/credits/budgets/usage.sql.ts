// What has been used of a budget: the fragments that lock the rows of budget_usage, check a movement by them, count it, and
// give back what a hold did not capture. Each is part of the statement that moves the credits. The order of locks is holds,
// accounts, usage. A statement runs again after a deadlock over two rows of usage, and when another one has inserted its row first.
import { iso, type Sql, sql } from '../../db/sql.ts'
import { hasTooManyLabels } from '../use/details.sql.ts'
import { allCustomers, type BudgetPeriod, type BudgetScope } from './kinds.ts'

/** SQL: the end of a period, in Korean time. */
export function renewalOf(periodStart: Sql, period: Sql): Sql {
  return sql`(${periodStart} at time zone 'Asia/Seoul' + ('1 ' || ${period})::interval) at time zone 'Asia/Seoul'`
}

/** The budget that refuses a movement: of several, the one with the least left. */
export type ExceededBudget = {
  budgetId: string
  scope: BudgetScope
  value: string | null
  period: BudgetPeriod
  credits: number
  left: number
  renewsAt: string
}

export type Verdict = {
  isSuspended: boolean
  /** Its label would be one more than a customer can have. */
  hasTooManyLabels: boolean
  exceeded: ExceededBudget | null
  /** Budgets or suspension changed while the statement waited: nothing was done, and it has to run again. */
  isStale: boolean
}

/** For `unnest(…) as i` of spends and holds: the services that have a budget over all customers together. Almost always none. */
export const servicesWithBudget = `
    cross join (
      select array_agg(b.value) as names from budgets b
      where b.customer_id = '${allCustomers}' and b.removed_at is null
    ) limited`

/** Whether the service of the input `i` is one of them. Looks the name up only where there are such services. */
export const hasServiceBudget = `
           limited.names is not null
             and (select t.name from service_tokens t where t.service_id = i.service_id) = any (limited.names)`

/**
 * CTEs `subject`, `usage`, `verdict` and `allowed`, from a CTE `wanted` of one spend or hold at most (customer_id, credits,
 * at_most, service_id, key_id, user_id, label) and the account that lockAccountsOf('wanted', 'checked') has locked. A subject is a
 * budget that counts the movement; every one of them must have room for it. `granted` credits are those that are wanted, or
 * with at_most those that the account and every budget have, and at least one: no room for that one is a refusal.
 *
 * `of service`: the budgets of the service alone, no suspension and no label. For a capture of what another service holds: the hold was
 * counted for the customer when it was opened, and a hold of a suspended customer can still be captured.
 *
 * Budgets and suspension are read as they were when the statement began, the account as it is after the wait for its lock. When
 * either has changed meanwhile, so has the mark of the account: the verdict is stale, and the statement runs again.
 */
export const checkRestrictions = checkWith(sql`for no key update`)
export const checkServiceBudgets = checkWith(sql`for no key update`, 'of service')

/** The same without locks, for a dry run. */
export const previewRestrictions = checkWith(sql``)

function checkWith(lock: Sql, counted: 'all' | 'of service' = 'all'): Sql {
  const isOfService = counted === 'of service'
  return sql`
  subject as (
    select b.customer_id, b.budget_id, b.scope, b.period, b.credits as most, b.warn_at,
           coalesce(b.value, nullif(label.value, '')) as shown_value,
           case when b.value is null then label.value else '' end as value,
           date_trunc(lower(b.period), a.moved_at, 'Asia/Seoul') as begins
    from wanted w
    join account a using (customer_id)
    cross join lateral (
      select * from budgets b
      where b.customer_id = any (array[w.customer_id, '${allCustomers}']) and b.removed_at is null
    ) b
    cross join lateral (
      select case b.scope
        when 'SERVICE' then (select t.name from service_tokens t where t.service_id = w.service_id)
        when 'KEY' then w.key_id
        when 'USER' then w.user_id
        else '' end as value
    ) label
    where coalesce(b.value, label.value) = label.value${isOfService ? ` and b.scope = 'SERVICE'` : ''}
  ),
  present_usage as (
    select s.*, u.budget_id is not null as is_there, now_used.*,
           ${renewalOf(sql`now_used.period_start`, sql`s.period`)} as renews_at
    from (select * from subject order by customer_id, budget_id, value) s
    left join lateral (
      select * from budget_usage u
      where u.customer_id = s.customer_id and u.budget_id = s.budget_id and u.value = s.value limit 1 ${lock}
    ) u on true
    cross join lateral (
      select greatest(u.period_start, s.begins) as period_start,
             case when u.period_start >= s.begins then u.used else 0 end as used,
             coalesce(u.period_start >= s.begins and u.is_warned, false) as is_warned
    ) now_used
  ),
  sized as (
    select w.customer_id,
           case when w.at_most
                then greatest(least(w.credits, a.available, (select min(u.most - u.used) from present_usage u)), 1)
                else w.credits end as credits
    from wanted w
    join account a using (customer_id)
  ),
  usage as (
    select u.*, g.credits, not u.is_warned and u.used + g.credits >= u.warn_at as is_low
    from present_usage u
    cross join (select credits from sized) g
  ),
  verdict as (
    select a.customer_id, g.credits as granted,
           (select p.restricted_at is distinct from a.restricted_at from accounts p where p.customer_id = a.customer_id)
             as is_stale,
           ${isOfService ? 'false' : '(select c.suspended_at is not null from customers c where c.customer_id = a.customer_id)'}
             as is_suspended,
           ${isOfService ? 'false' : hasTooManyLabels} as has_too_many_labels,
           (select json_build_object(
              'budgetId', u.budget_id, 'scope', u.scope, 'value', u.shown_value, 'period', u.period, 'credits', u.most,
              'left', greatest(u.most - u.used, 0),
              'renewsAt', ${iso(sql`u.renews_at`)})
            from usage u
            where u.used + u.credits > u.most
            order by u.most - u.used, u.renews_at desc, u.budget_id
            limit 1) as exceeded,
           (select count(*) from usage u where u.is_low) as low_budgets
    from account a
    join sized g using (customer_id)
  ),
  allowed as (
    select w.*, v.granted, v.low_budgets
    from wanted w
    join verdict v using (customer_id)
    where not v.is_stale and not v.is_suspended and not v.has_too_many_labels and v.exceeded is null
  )`
}

/** CTEs `counted` and `first_counted`: the movement of `moved`, in the rows of `usage`. */
export const countUsage = `
  counted as (
    update budget_usage u
    set used = c.used + c.credits,
        period_start = c.period_start,
        is_warned = c.is_warned or c.is_low
    from usage c
    cross join moved
    where c.is_there and u.customer_id = c.customer_id and u.budget_id = c.budget_id and u.value = c.value
  ),
  first_counted as (
    insert into budget_usage (customer_id, budget_id, value, period_start, used, is_warned)
    select c.customer_id, c.budget_id, c.value, c.period_start, c.credits, c.is_low
    from usage c
    cross join moved
    where not c.is_there
    order by c.customer_id, c.budget_id, c.value
  )`

/** For `holds.charged`: where a hold was counted. */
export const chargedUsage = `
    (select jsonb_agg(jsonb_build_object('customer_id', c.customer_id, 'budget_id', c.budget_id, 'value', c.value,
                                         'period_start', c.period_start))
     from usage c)`

/**
 * Rows of a CTE `event`: budgets of which little is left. Once in a period. Their numbers are the first of the movement. The
 * event of a budget of all customers is in the queue of the customer whose movement it was.
 */
export const budgetLowEvents = sql`
    select m.customer_id, m.first_event + c.place - 1 as event_number, 'budget.low' as type,
           json_build_object(
             'customerId', m.customer_id, 'allCustomers', c.customer_id <> m.customer_id, 'budgetId', c.budget_id,
             'scope', c.scope, 'value', c.shown_value, 'period', c.period, 'credits', c.most,
             'used', c.used + c.credits, 'left', c.most - c.used - c.credits,
             'renewsAt', ${iso(sql`c.renews_at`)}) as data,
           m.moved_at
    from moved m
    cross join (
      select *, row_number() over (order by customer_id, budget_id) as place from usage where is_low
    ) c`

/**
 * CTEs `given_back` and `uncounted`: what the holds of `locked_hold` did not capture, in the rows where they were counted, while
 * those are of the same period. Not below zero: a hold can always end. All accounts are locked before the first of these rows.
 */
export const giveBackUsage = `
  given_back as (
    select g.customer_id, g.budget_id, g.value, greatest(u.used - g.credits, 0) as used
    from (
      select c.customer_id, c.budget_id, c.value, c.period_start, sum(l.credits - l.captured) as credits
      from locked_hold l
      join moved m using (customer_id, hold_id)
      cross join (select count(*) from account) all_locked
      cross join lateral jsonb_to_recordset(l.charged)
        as c (customer_id uuid, budget_id uuid, value text, period_start timestamptz)
      where l.charged is not null and l.credits > l.captured
      group by c.customer_id, c.budget_id, c.value, c.period_start
      order by c.customer_id, c.budget_id, c.value
    ) g
    cross join lateral (
      select * from budget_usage u
      where u.customer_id = g.customer_id and u.budget_id = g.budget_id and u.value = g.value limit 1 for no key update
    ) u
    where u.period_start = g.period_start
  ),
  uncounted as (
    update budget_usage u
    set used = g.used
    from given_back g
    where u.customer_id = g.customer_id and u.budget_id = g.budget_id and u.value = g.value
  )`
