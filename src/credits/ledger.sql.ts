// The only way credits move. Every movement is a row of a CTE called `movement`. The fragments here lock its accounts in key
// order, change them and write the ledger entries, in the same statement as the cause of the movement. So an account and its
// ledger cannot disagree, and no movement can lack its entry. Entries are chained by a hash; the account has the last one,
// so the chain is continued without reading the last entry.
//
// `movement` needs the columns customer_id, turn, kind, delta, held_delta, order_id, reference, hold_id, service_id, events,
// not_before.
// Movements of one customer are applied one after the other, by `turn` from 1 on, as if each had its own statement: one that
// the remaining credits do not cover is refused, and the next is tried. A spend or a hold of a restricted account, one with
// budgets or of a suspended customer, is refused too: budgets/restricted.sql.ts checks those. `events` is the number of events
// that the statement writes for the movement, `credits.low` and `credits.empty` not counted; a movement of no credits that has
// events writes no entry.
// `not_before` is the time of the movement's cause, such as its order; null where there is none.
//
// `adjusted` is the part of the balance that comes from adjustments and is not used. An adjustment changes it by its credits;
// beyond that it is never more than the balance, so everything else takes paid credits first. Entries of accounts without
// adjusted credits do not mention it.
//
// Statements that use these fragments begin `with recursive`.
import { type Sql, sql } from '../db/sql.ts'
import { adjustmentKindList } from './adjustments/adjustments.sql.ts'

/**
 * CTE `account`: the accounts of the customers in `source`, locked in key order, as they are after the wait for the lock.
 * Everywhere, orders and holds are locked before accounts. The time of an account grows with every statement, and is not before
 * `not_before`: a server that takes over may have a clock that is behind. Each account is read by its key in a subquery of its
 * own, so no plan can read more of the table. If the row has changed during the wait, PostgreSQL evaluates only that row again; so
 * `source` may be a CTE that writes. `checked`: the statement itself looks at budgets and suspension before it moves.
 */
export function lockAccountsOf(
  source: 'movement' | 'locked_order' | 'target' | 'wanted',
  restrictions: 'refused' | 'checked' = 'refused',
): Sql {
  return sql`
  account as (
    select a.customer_id, a.balance, a.held, a.last_entry, a.last_hash, a.last_event, a.low_credits, a.low_steps, a.adjusted,
           a.restricted_at, ${restrictions === 'refused' ? 'a.restricted_at is not null' : 'false'} as is_restricted,
           a.balance - a.held as available, greatest(a.moved_at + interval '1 microsecond', named.not_before, clock_timestamp()) as moved_at
    from (select customer_id, max(not_before) as not_before from ${source} group by customer_id order by customer_id) named
    cross join lateral (
      select * from accounts a where a.customer_id = named.customer_id limit 1 for no key update
    ) a
  )`
}

/** For a step: the available credits after its movement are enough; those that are held are not among them. */
export const enoughCredits = 'l.available >= 0'

/** For a step that fits: its movement takes available credits. */
export const takesAvailable = 'would.fits and would.available < would.available_before'

/** The hash of an entry continues the chain of its account. Of an account without adjusted credits. */
export const chainedHash = `ledger_entry_hash(
                  s.last_hash, s.customer_id, n.entry_number, m.kind, m.delta, n.balance, m.order_id, m.reference,
                  s.moved_at, w.held_delta, n.held, m.hold_id, m.service_id)`

/**
 * CTEs `step`, `moved`, `changed` and `entry`. A step is a movement with the account after it; a refused one has is_moved
 * false and is not in `moved`. The new values come from the locked row, never from `a`: an update starts from the version in
 * its snapshot, and evaluates conditions and check constraints on that before it turns to a row that has changed since.
 */
export const applyMovements = applyWith(sql`m.held_delta`)

/** Operations that hold no credits have no entry. Their time is stored all the same, so that later use comes after them. */
export const keepTimeOf = (operations: 'claimed' | 'accepted') => sql`
    update accounts a set moved_at = c.opened_at
    from ${operations} c
    where a.customer_id = c.customer_id
      and not exists (select from ${operations} other where other.customer_id = c.customer_id and other.credits_held > 0)`

/**
 * The same for a `movement` with a column at_most: such a hold takes what is available, up to its held_delta, and at least
 * one credit. It is refused when there is none.
 */
export const applyHolds = applyWith(
  sql`case when m.at_most then greatest(least(m.held_delta, s.balance - s.held), 1) else m.held_delta end`,
)

/**
 * `heldDelta` may depend on the movement `m` and the step `s` before it. `offset 0` keeps the planner from writing an expression
 * out wherever it is used: each is computed once.
 */
function applyWith(heldDelta: Sql): Sql {
  return sql`
  step as (
    select customer_id, 0::bigint as turn, false as is_moved, false as has_moved,
           null::text as kind, 0::bigint as delta, 0::bigint as held_delta, null::text as order_id,
           null::text as reference, null::uuid as hold_id, null::text as service_id,
           balance, held, adjusted, null::bigint as adjusted_after, last_entry, last_hash, moved_at, low_credits,
           low_steps, is_restricted, 0::bigint as first_event, last_event, null::bigint as low_step, false as is_empty
    from account
    union all
    select s.customer_id, m.turn, would.fits, s.has_moved or would.fits,
           m.kind, m.delta, w.held_delta, m.order_id, m.reference, m.hold_id, m.service_id,
           n.balance, n.held, coalesce(j.adjusted_after, s.adjusted), j.adjusted_after, n.entry_number,
           case when n.entry_number = s.last_entry then s.last_hash
                when j.adjusted_after is null then ${chainedHash}
                else ledger_entry_hash_adjusted(
                  s.last_hash, s.customer_id, n.entry_number, m.kind, m.delta, n.balance, m.order_id, m.reference,
                  s.moved_at, w.held_delta, n.held, m.hold_id, m.service_id, j.adjusted_after) end,
           s.moved_at, s.low_credits, s.low_steps, s.is_restricted, s.last_event + 1,
           s.last_event + case when would.fits
             then m.events + (n.low_step is not null)::int + n.is_empty::int else 0 end,
           n.low_step, n.is_empty
    from step s
    join movement m on m.customer_id = s.customer_id and m.turn = s.turn + 1
    cross join lateral (select ${heldDelta} as held_delta) w
    cross join lateral (
      select l.available, s.balance - s.held as available_before,
             ${enoughCredits}
               and not (s.is_restricted and m.kind in ('SPEND', 'HOLD') and m.order_id is null) as fits
      from (select s.balance - s.held + m.delta - w.held_delta as available) l
      offset 0) would
    cross join lateral (
      select case when would.fits then s.balance + m.delta else s.balance end as balance,
             case when would.fits then s.held + w.held_delta else s.held end as held,
             case when would.fits and (m.delta <> 0 or w.held_delta <> 0)
                  then s.last_entry + 1 else s.last_entry end as entry_number,
             case when ${takesAvailable} then least(
               case when would.available < s.low_credits and would.available_before >= s.low_credits
                    then s.low_credits end,
               case when s.low_steps is not null then (
                 select min(t.step) from unnest(s.low_steps) as t (step)
                 where t.step < s.low_credits and would.available < t.step and would.available_before >= t.step) end)
             end as low_step,
             would.fits and would.available = 0 and would.available_before > 0 as is_empty
      offset 0) n
    cross join lateral (
      select case when n.entry_number = s.last_entry then null
                  when m.kind in (${adjustmentKindList}) then greatest(0, least(s.adjusted + m.delta, n.balance))
                  when s.adjusted > 0 then least(s.adjusted, n.balance) end as adjusted_after) j
  ),
  moved as (
    select *, balance - held as available from step where is_moved
  ),
  changed as (
    update accounts a
    set balance = s.balance,
        held = s.held,
        adjusted = s.adjusted,
        last_entry = s.last_entry,
        last_hash = s.last_hash,
        moved_at = s.moved_at,
        last_event = s.last_event
    from (select distinct on (customer_id) * from step order by customer_id, turn desc) s
    where a.customer_id = s.customer_id and s.has_moved
  ),
  entry as (
    insert into ledger_entries
      (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, held_delta, held_after,
       hold_id, service_id, entry_hash, adjusted_after)
    select customer_id, last_entry, kind, delta, balance, order_id, reference, moved_at, held_delta, held, hold_id,
           service_id, last_hash, adjusted_after
    from moved
    where delta <> 0 or held_delta <> 0
    returning customer_id, entry_number, kind, order_id, hold_id, created_at
  )`
}

/**
 * Rows of a CTE `event`: customers whose available credits fell below a step, with the lowest step that they fell below, and
 * customers who have none left. Of the events of a movement they have the last numbers. For the statements that lower the
 * available credits: spends, holds, corrections, cancels and refunds that begin.
 */
export const lowCreditsEvents = `
    select customer_id, last_event - is_empty::int as event_number, 'credits.low' as type,
           json_build_object('customerId', customer_id, 'credits', available, 'threshold', low_step) as data,
           moved_at
    from moved
    where low_step is not null
    union all
    select customer_id, last_event, 'credits.empty', json_build_object('customerId', customer_id, 'credits', available),
           moved_at
    from moved
    where is_empty`
