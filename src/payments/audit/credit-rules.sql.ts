// The audit rules about credits: accounts, the chain of their entries, holds, adjustments, budgets, and events. The SQL uses
// the names of src/payments/audit/scans.sql.ts. The text of a rule is stored with every finding and is the key of its
// translation: it is not changed.
//
// Entries from before held credits had entries have no held_after, no hold and no service. Held credits are checked from the
// first entry on that has held_after.

import { leastUuid } from '../../core/ids.ts'
import { longestHoldSeconds } from '../../credits/credits.ts'
import { partsOf } from '../../credits/lots/lots.sql.ts'
import { sql } from '../../db/sql.ts'
import type { ScanRule } from './scans.sql.ts'

const largestInJson = Number.MAX_SAFE_INTEGER

/**
 * How much of a balance came from adjustments and was not used, before the entry of a number. An entry that does not say so was
 * written while there was none, or by the version before adjustments: it took from them only what the balance did not cover.
 */
const adjustedBefore = (customerId: string, entryNumber: string) => `coalesce((
      select least(k.adjusted_after, (
        select min(b.balance_after) from ledger_entries b
        where b.customer_id = k.customer_id and b.entry_number > k.entry_number and b.entry_number < ${entryNumber}))
      from ledger_entries k
      where k.customer_id = ${customerId} and k.entry_number < ${entryNumber} and k.adjusted_after is not null
        and k.entry_number >= (
          select max(d.entry_number) from adjustments d
          where d.customer_id = ${customerId} and d.entry_number < ${entryNumber})
      order by k.entry_number desc limit 1), 0)`

// That a balance is the sum of its ledger needs no sum: each entry's balance is the one before it plus its credits, from zero
// and without a gap (the chain, I-3). So the last entry's balance is the sum, and the account must have the same. Held credits
// are checked the same way.
export const accountRules: ScanRule[] = [
  {
    invariant: 'I-1',
    rule: 'every account belongs to a customer',
    holds: '(select true from customers c where c.customer_id = a.customer_id)',
  },
  {
    invariant: 'I-1',
    rule: 'the balance is what the last entry of the ledger left',
    holds: 'a.balance = coalesce(last.balance_after, 0)',
  },
  {
    invariant: 'I-2',
    rule: 'nothing is negative, what is held is covered, and JSON can tell the balance exactly',
    holds: `0 <= a.held and a.held <= a.balance and a.balance <= ${largestInJson}`,
  },
  {
    invariant: 'I-3',
    rule: 'the account knows the number of its last entry',
    holds: 'a.last_entry = coalesce(last.entry_number, 0)',
  },
  {
    invariant: 'I-3',
    rule: 'the account has not forgotten the time of its last entry',
    holds: 'last.held_after is null or a.moved_at >= last.created_at',
  },
  {
    invariant: 'I-15',
    rule: 'the account knows the hash of its last entry',
    holds: `a.last_hash = coalesce(last.entry_hash, ''::bytea)`,
  },
  {
    invariant: 'I-11',
    rule: 'what is held is what open operations and active holds have set aside',
    holds: 'a.held = a.held_by_operations + a.held_by_holds',
  },
  {
    invariant: 'I-11',
    rule: 'what is held is what the last entry of the ledger left of it',
    holds: 'last.held_after is null or a.held = last.held_after',
  },
  {
    invariant: 'I-21',
    rule: 'the account knows how much of its balance comes from adjustments, as the ledger left it',
    holds: `a.adjusted = coalesce(last.adjusted_after, ${adjustedBefore('a.customer_id', 'a.last_entry + 1')})`,
  },
  {
    invariant: 'B-1',
    rule: 'an account is marked as restricted when its customer has a budget or is suspended, and only then',
    holds: `(a.restricted_at is not null) = (
      a.customer_id <> '${leastUuid}'
        and exists (select from budgets b where b.customer_id = a.customer_id and b.removed_at is null)
      or exists (select from customers c where c.customer_id = a.customer_id and c.suspended_at is not null))`,
  },
  {
    invariant: 'I-17',
    rule: 'the account knows the number of its last event',
    holds: 'a.last_event = coalesce(newest_event.event_number, 0)',
  },
  {
    invariant: 'I-17',
    rule: 'the events of a customer begin after those that were deleted',
    holds: 'coalesce(oldest_event.event_number, 1) = a.deleted_events + 1',
  },
  {
    invariant: 'I-17',
    rule: 'no queue of events is past its end, and no end past the last event',
    holds: 'coalesce(queued.in_order, true)',
  },
  // A queue remains when everything in it was delivered. An event at the moment its endpoint was added may have no queue: its
  // statement had begun before. The day allows for a clock that was set back in between.
  {
    invariant: 'I-17',
    rule: 'an endpoint that wants the last event of a customer has a queue that reaches it',
    holds: `not exists (
      select from event_endpoints n
      where n.status <> 'REMOVED' and (n.types = '{}' or newest_event.type = any (n.types))
        and n.created_at < newest_event.created_at - interval '1 day'
        and not exists (select from event_queues q
                        where q.customer_id = a.customer_id and q.endpoint_id = n.endpoint_id
                          and q.last_event >= newest_event.event_number))`,
  },
]

const startOfPeriod = (time: string) => `date_trunc(lower(b.period), ${time}, 'Asia/Seoul')`

// That no budget was ever exceeded, no row shows afterwards: a trigger refuses it when it happens.
export const usageRules: ScanRule[] = [
  {
    invariant: 'B-2',
    rule: 'what is used of a budget is not negative, and is of a key or user only where each has the limit for itself',
    holds: `u.used >= 0 and (u.value <> '') = (b.scope in ('KEY', 'USER') and b.value is null)`,
  },
  // The day allows for a clock that was set back.
  {
    invariant: 'B-2',
    rule: 'what is used of a budget is of a period that has begun',
    holds: `u.period_start = ${startOfPeriod('u.period_start')} and u.period_start < now() + interval '1 day'`,
  },
]

const adjusts = 'coalesce(e.held_delta = 0, false) and e.adjusted_after is not null'

const takesBackWhatWasHeld = `e.delta < 0 and coalesce(e.held_delta, e.delta) = e.delta
        and (e.held_delta is null) = (e.hold_id is null)`

/**
 * What an entry must be by its kind. `moves` is its effect on balance and held credits, where the entry has held columns.
 * `names` is what it refers to: an order, a reference, a hold or holding operation, a service. A service moves credits by
 * references and holds, never for an order.
 */
const kinds: Record<string, { moves: string; names: string }> = {
  GRANT: { moves: 'e.delta > 0 and coalesce(e.held_delta, 0) = 0', names: `'order'` },
  ROLLBACK: { moves: takesBackWhatWasHeld, names: `'order', 'order hold'` },
  REFUND: { moves: takesBackWhatWasHeld, names: `'order', 'order hold'` },
  SPEND: { moves: 'e.delta < 0 and coalesce(e.held_delta, 0) = 0', names: `'reference', 'reference service'` },
  HOLD: { moves: 'e.delta = 0 and e.held_delta > 0', names: `'order hold', 'reference hold service'` },
  CAPTURE: {
    moves: 'e.delta < 0 and e.held_delta <= e.delta and (e.reference is null or e.held_delta = e.delta)',
    names: `'hold service', 'reference hold service'`,
  },
  RELEASE: { moves: 'e.delta = 0 and e.held_delta < 0', names: `'order hold', 'hold service'` },
  EXPIRE: { moves: 'e.delta = 0 and e.held_delta < 0', names: `'hold'` },
  GOODWILL: { moves: `e.delta > 0 and ${adjusts}`, names: `''` },
  CORRECTION: { moves: `e.delta <> 0 and ${adjusts}`, names: `''` },
  REVERSAL: { moves: `e.delta > 0 and ${adjusts}`, names: `'reference service'` },
}

const named = `concat_ws(' ', case when e.order_id is not null then 'order' end,
                       case when e.reference is not null then 'reference' end,
                       case when e.hold_id is not null then 'hold' end,
                       case when e.service_id is not null then 'service' end)`

const byKind = Object.entries(kinds)
  .map(([kind, { moves, names }]) => `when '${kind}' then ${moves} and ${named} in (${names})`)
  .join('\n      ')

/** The entry before is missing: after a gap only the gap is reported. */
const followsNothing = 'e.entry_number <> coalesce(e.previous_number, 0) + 1'

const hashed = `coalesce(e.previous_hash, ''::bytea), e.customer_id, e.entry_number, e.kind, e.delta, e.balance_after,
                               e.order_id, e.reference, e.created_at, e.held_delta, e.held_after, e.hold_id, e.service_id`

const isAdjustment = `e.kind in ('GOODWILL', 'CORRECTION', 'REVERSAL')`

export const entryRules: ScanRule[] = [
  {
    invariant: 'I-1',
    rule: 'every ledger belongs to an account',
    holds: `e.previous_number is not null
      or (select true from accounts a where a.customer_id = e.customer_id)`,
  },
  {
    invariant: 'I-3',
    rule: 'the entries of a customer are numbered from one without a gap',
    holds: 'e.entry_number = coalesce(e.previous_number, 0) + 1',
  },
  {
    invariant: 'I-3',
    rule: 'each balance is the one before it plus the credits of the entry',
    holds: `${followsNothing} or e.balance_after = coalesce(e.previous_balance, 0) + e.delta`,
  },
  {
    invariant: 'I-3',
    rule: 'what is held after an entry is what was held before it and what the entry sets aside or gives back',
    holds: `${followsNothing} or case
      when e.previous_number is null then e.held_after is not distinct from e.held_delta
      when e.previous_held is null then true
      else e.held_after = e.previous_held + e.held_delta end`,
  },
  {
    invariant: 'I-3',
    rule: 'the time of an entry is not before that of the one before it',
    holds: `${followsNothing} or e.previous_held is null or e.created_at >= e.previous_time`,
  },
  {
    invariant: 'I-15',
    rule: 'no entry has been changed: its hash is that of the entry and of the hash before it',
    holds: `${followsNothing}
      or e.entry_hash = case when e.adjusted_after is null then ledger_entry_hash(${hashed})
                             else ledger_entry_hash_adjusted(${hashed}, e.adjusted_after) end`,
  },
  {
    invariant: 'I-2',
    rule: 'no balance has ever been negative',
    holds: `e.balance_after between 0 and ${largestInJson}`,
  },
  {
    invariant: 'I-2',
    rule: 'what was held was covered by the balance at any time',
    holds: 'e.held_after is null or e.held_after between 0 and e.balance_after',
  },
  {
    invariant: 'I-20',
    rule: 'the kind of an entry says what it does to the balance and to what is held, and for what',
    holds: `case e.kind
      ${byKind} end`,
  },
  {
    invariant: 'I-21',
    rule: 'credits of adjustments grow by adjustments alone, and are never more than the balance',
    holds: `${followsNothing} or e.adjusted_after is null or e.adjusted_after = greatest(0, least(e.balance_after,
      case when ${isAdjustment} then e.delta else 0 end
      + coalesce(e.previous_adjusted, ${adjustedBefore('e.customer_id', 'e.entry_number')})))`,
  },
  // A full refund returns the price whatever was used, and takes what is there.
  {
    invariant: 'I-21',
    rule: 'a cancel or a refund of a part took credits that were paid for, and that no other one had taken',
    holds: `e.kind <> 'HOLD' or e.order_id is null
      or e.held_delta <= e.balance_after - coalesce(e.adjusted_after, 0) - coalesce((
        select sum(p.credits_held)
        from payment_operations p
        cross join lateral (
          select min(x.entry_number) as begun, max(x.entry_number) filter (where x.kind <> 'HOLD') as ended
          from ledger_entries x where x.customer_id = p.customer_id and x.hold_id = p.operation_id) x
        where p.customer_id = e.customer_id and p.opened_at <= e.created_at and coalesce(p.closed_at >= e.created_at, true)
          and x.begun < e.entry_number and coalesce(x.ended > e.entry_number, true)), 0)
      or (select p.kind = 'REFUND' and (p.accepted or p.amount in (o.amount, o.amount - parts.amount))
          from payment_operations p
          join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
          cross join lateral ${partsOf(sql`o`)} parts
          where p.customer_id = e.customer_id and p.operation_id = e.hold_id)`,
  },
  {
    invariant: 'I-21',
    rule: 'an entry of an adjustment is the one that its record names',
    holds: `not ${isAdjustment} or (
      select (d.kind, d.credits) = (e.kind, e.delta) from adjustments d
      where d.customer_id = e.customer_id and d.entry_number = e.entry_number)`,
  },
  {
    invariant: 'I-15',
    rule: 'an entry names a hold or a service only where its hash covers them',
    holds: `(e.held_after is null) = (e.held_delta is null)
      and (e.held_after is not null or num_nonnulls(e.hold_id, e.service_id) = 0)`,
  },
  {
    invariant: 'I-8',
    rule: 'an entry that moves the credits of an order is the one that the order names, or of an accepted part',
    holds: `e.order_id is null or e.delta = 0 or coalesce(e.entry_number = (
      select case e.kind when 'GRANT' then o.grant_entry when 'ROLLBACK' then o.rollback_entry
                         when 'REFUND' then o.refund_entry end
      from orders o where o.customer_id = e.customer_id and o.order_id = e.order_id), false)
      or e.kind = 'REFUND' and (
        select p.kind = 'PART' and p.order_id = e.order_id from payment_operations p
        where p.customer_id = e.customer_id and p.operation_id = e.hold_id)`,
  },
  {
    invariant: 'I-8',
    rule: 'no reference is used twice',
    holds: `e.reference is null or 1 = (
      select count(*) from ledger_entries twin where twin.customer_id = e.customer_id and twin.reference = e.reference)`,
  },
  {
    invariant: 'I-11',
    rule: 'an entry of a hold is the one that the hold names',
    holds: `e.hold_id is null or e.order_id is not null or (
      select case when e.kind = 'HOLD' then e.entry_number = h.opening_entry
                  when e.reference is null then e.entry_number = h.closing_entry
                  else e.entry_number = h.closing_entry
                    or e.entry_number > h.opening_entry and e.entry_number <= h.part_entry end
      from holds h where h.customer_id = e.customer_id and h.hold_id = e.hold_id)`,
  },
  {
    invariant: 'I-11',
    rule: 'an entry of an operation is about its order and about all that it holds, and ends it as it ended',
    holds: `e.hold_id is null or e.order_id is null or (
      select p.order_id = e.order_id and p.credits_held = abs(e.held_delta)
        and case e.kind when 'HOLD' then p.kind in ('CANCEL', 'REFUND', 'PART')
                        when 'ROLLBACK' then p.kind = 'CANCEL' and p.state = 'APPROVED'
                        when 'REFUND' then p.kind in ('REFUND', 'PART') and p.state = 'APPROVED'
                        else p.kind in ('CANCEL', 'REFUND') and p.state = 'REJECTED' end
      from payment_operations p where p.customer_id = e.customer_id and p.operation_id = e.hold_id)`,
  },
  {
    invariant: 'I-11',
    rule: 'what is set aside is set aside once and ends once',
    // Parts are not ends.
    holds: `e.hold_id is null or e.kind = 'CAPTURE' and e.reference is not null or 1 = (
      select count(*) from ledger_entries twin
      where twin.customer_id = e.customer_id and twin.hold_id = e.hold_id
        and (twin.kind = 'HOLD') = (e.kind = 'HOLD') and (twin.kind <> 'CAPTURE' or twin.reference is null))`,
  },
]

/** The closing entry that a hold must have. */
const ending = (kind: string, delta: string) =>
  `(closing.kind, closing.delta, closing.held_delta, closing.hold_id) = ('${kind}', ${delta}, -h.credits, h.hold_id)`

export const holdRules: ScanRule[] = [
  {
    invariant: 'B-2',
    rule: 'a hold is counted in budgets of its customer and of all customers',
    holds: `h.charged is null or not exists (
      select from jsonb_to_recordset(h.charged) as c (customer_id uuid, budget_id uuid)
      where (select true from budgets b
             where b.customer_id = c.customer_id and b.budget_id = c.budget_id
               and b.customer_id in (h.customer_id, '${leastUuid}')) is null)`,
  },
  {
    invariant: 'I-11',
    rule: 'a hold begins with the entry that sets its credits aside for its service',
    holds: `(opening.kind, opening.held_delta, opening.hold_id, opening.service_id)
      = ('HOLD', h.credits + h.captured_in_parts, h.hold_id, h.service_id) and opening.order_id is null`,
  },
  {
    invariant: 'I-11',
    rule: 'a hold ends by one later entry, of the kind that its state says, and an active one has not ended',
    holds: `case h.state when 'ACTIVE' then h.closing_entry is null
                         when 'CAPTURED' then ${ending('CAPTURE', '-h.captured')}
                         when 'RELEASED' then ${ending('RELEASE', '0')}
                         when 'EXPIRED' then ${ending('EXPIRE', '0')} end
      and coalesce(coalesce(h.part_entry, h.opening_entry) < h.closing_entry, true)`,
  },
  {
    invariant: 'I-11',
    rule: 'what is captured is part of what was held',
    holds: `h.credits > 0 and case h.state when 'CAPTURED' then h.captured between 1 and h.credits
                                           else h.captured is null end`,
  },
  {
    invariant: 'I-11',
    rule: 'what was captured of a hold, in parts and at its end, is what its entries took',
    holds: `h.captured_in_parts + coalesce(h.captured, 0) = (
      select coalesce(sum(-e.delta), 0) from ledger_entries e
      where e.customer_id = h.customer_id and e.hold_id = h.hold_id and e.kind = 'CAPTURE')`,
  },
  // The expiry is counted from the beginning of the statement, the entry has the time after the wait for the account.
  {
    invariant: 'I-11',
    rule: 'no hold lasts longer than a hold may',
    holds: `coalesce(
      h.expires_at <= coalesce(h.extended_at, opening.created_at) + interval '${longestHoldSeconds + 60} seconds', true)`,
  },
  {
    invariant: 'I-13',
    rule: 'no hold is left active when its time is over',
    holds: `h.state <> 'ACTIVE' or h.expires_at > now() - interval '10 minutes'`,
    isLiveness: true,
  },
]

export const adjustmentRules: ScanRule[] = [
  {
    invariant: 'I-21',
    rule: 'an adjustment has an entry of its kind and credits',
    holds: `(e.kind, e.delta, e.created_at) = (d.kind, d.credits, d.created_at)
      and e.service_id is not distinct from d.service_id`,
  },
  {
    invariant: 'I-21',
    rule: 'no more is reversed than was spent',
    holds: `d.kind <> 'REVERSAL' or credits_left_to_reverse(d.customer_id, d.reversed_entry) >= 0`,
  },
  {
    invariant: 'I-21',
    rule: 'an adjustment above the limit of one person has the approval of a second one',
    holds: `d.approved_by is null and r.adjustment_id is null
      or (r.state, r.kind, r.credits, r.requested_by, r.decided_by)
        = ('APPROVED', d.kind, d.credits, d.actor, d.approved_by)
        and d.approved_by <> d.actor`,
  },
]

// Whether an order has its event is not checked from the order: events are found by their number alone. A duplicate event is
// found within a chunk; in another chunk by its time, if the event has an entry.
export const eventRules: ScanRule[] = [
  {
    invariant: 'I-17',
    rule: 'the events of a customer are numbered from one without a gap',
    holds: 'coalesce(v.event_number = v.previous_number + 1, true)',
  },
  {
    invariant: 'I-17',
    rule: 'the time of an event is not before that of the one before it',
    holds: 'coalesce(v.created_at >= v.previous_time, true)',
  },
  {
    invariant: 'I-17',
    rule: 'an event about an order tells what has become of it',
    holds: `case when v.type not like 'order.%' then v.data ->> 'customerId' = v.customer_id::text
      else v.data ->> 'customerId' = o.customer_id::text and v.data ->> 'status' = v.status
        and (o.status = v.status or v.status = 'CONFIRMED' and o.status in ('CANCELLED', 'REFUNDED')) end`,
  },
  {
    invariant: 'I-17',
    rule: 'an event about an order has the package, the amount and the credits of the order',
    holds: `o.order_id is null or (v.data ->> 'packageType', v.data ->> 'amount', v.data ->> 'credits')
      = (o.package_type, o.amount::text, o.credits::text)`,
  },
  {
    invariant: 'I-17',
    rule: 'an event about an order has the balance and the time of its ledger entry',
    holds: `e.entry_number is null
      or (v.data ->> 'balance', v.created_at) = ((e.balance_after - e.held_after)::text, e.created_at)`,
  },
  {
    invariant: 'I-17',
    rule: 'an order has one event for each state',
    holds: 'v.order_id is null or v.same_events = 1',
  },
  {
    invariant: 'I-17',
    rule: 'an event about few credits has fewer than its threshold',
    holds: `v.type <> 'credits.low' or case
      when json_typeof(v.data -> 'credits') = 'number' and json_typeof(v.data -> 'threshold') = 'number'
      then (v.data ->> 'credits')::numeric < (v.data ->> 'threshold')::numeric end`,
  },
  {
    invariant: 'I-17',
    rule: 'credits.empty has no credits, and what is left of a budget is its limit less its use',
    holds: `case v.type when 'credits.empty' then v.data ->> 'credits' = '0'
      when 'budget.low' then case
        when json_typeof(v.data -> 'credits') = 'number' and json_typeof(v.data -> 'used') = 'number'
          and json_typeof(v.data -> 'left') = 'number'
        then (v.data ->> 'used')::numeric + (v.data ->> 'left')::numeric = (v.data ->> 'credits')::numeric end
      else true end`,
  },
]
