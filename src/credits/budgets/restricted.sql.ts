// Spends and holds that need a check besides the balance: of suspension, of budgets, of a label that is new. One statement for one
// input locks the account and what has been used of each budget, checks, and only then moves and counts: no two movements can
// both take the last of a budget.
import { assert } from '../../core/assert.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import type { HoldOpened, HoldOpening } from '../holds/holds.sql.ts'
import { applyMovements, lockAccountsOf, lowCreditsEvents } from '../ledger.sql.ts'
import { movements } from '../movements.ts'
import { type SpendInput, type SpendOutput, spends } from '../spend.sql.ts'
import { detailColumns, storeDetails, storeNewLabel } from '../use/details.sql.ts'
import {
  budgetLowEvents,
  chargedUsage,
  checkRestrictions,
  countUsage,
  previewRestrictions,
  type Verdict,
} from './usage.sql.ts'

const spendRestrictedStatement = statement.ofCustomers(
  'credits.spendRestricted',
  (replicated) => sql`with recursive input as (
    select *, false as at_most, null::timestamptz as not_before from unnest(${spends.arrays}) as i (${spends.columns})
  ),
  known as (
    select -e.delta as credits, e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
  ),
  wanted as (
    select * from input where not exists (select from known)
  ),${lockAccountsOf('wanted', 'checked')},${checkRestrictions},
  movement as (
    select customer_id, 1 as turn, '${movements.spend.entry}' as kind, -granted as delta, 0 as held_delta, null::text as order_id, reference,
           null::uuid as hold_id, service_id, low_budgets as events, null::timestamptz as not_before
    from allowed
  ),${applyMovements},${storeNewLabel},${storeDetails},${countUsage},
  event as (${budgetLowEvents}
    union all${lowCreditsEvents}
  ),${emitEvents}
  select coalesce(k.credits, -m.delta, 0) as "spent",
         coalesce(k.available, m.available, a.available) as "available",
         nullif(k.kind, 'SPEND') as "usedFor",
         m.customer_id is not null as "isNew",
         false as "isRestricted",
         coalesce(v.is_suspended, false) as "isSuspended",
         coalesce(v.has_too_many_labels, false) as "hasTooManyLabels",
         v.exceeded,
         coalesce(v.is_stale, false) as "isStale"
  from input
  left join known k on true
  left join account a on true
  left join verdict v on true
  left join moved m on true
  where k.kind is null or ${replicated}`,
)

export async function spendRestricted(database: Database, input: SpendInput): Promise<SpendOutput & Verdict> {
  const [row] = await database.run<SpendOutput & Verdict>(spendRestrictedStatement, spends.valuesOf([input]))
  assert(row, 'a statement of one input returned no row')
  return row
}

const openings = inputs<HoldOpening>({
  customerId: 'uuid',
  holdId: 'uuid',
  credits: 'bigint',
  reference: 'text',
  serviceId: 'text',
  expiresInSeconds: 'int',
  atMost: 'boolean',
  ...detailColumns,
})

const openRestrictedHoldStatement = statement.ofCustomers(
  'credits.openRestrictedHold',
  (replicated) => sql`with recursive input as (
    select *, null::timestamptz as not_before from unnest(${openings.arrays}) as i (${openings.columns})
  ),
  known as (
    select h.hold_id, e.held_delta as credits, h.requested, h.expires_at,
           e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
    left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id and e.kind = 'HOLD'
  ),
  wanted as (
    select * from input where not exists (select from known)
  ),${lockAccountsOf('wanted', 'checked')},${checkRestrictions},
  movement as (
    select customer_id, 1 as turn, '${movements.hold.entry}' as kind, 0 as delta, granted as held_delta, null::text as order_id, reference,
           hold_id, service_id, low_budgets as events, null::timestamptz as not_before
    from allowed
  ),${applyMovements},${storeNewLabel},${storeDetails},${countUsage},
  opened as (
    insert into holds (customer_id, hold_id, credits, requested, service_id, expires_at, opening_entry, charged)
    select i.customer_id, i.hold_id, m.held_delta, case when i.at_most then i.credits end, i.service_id,
           now() + i.expires_in_seconds * interval '1 second', m.last_entry, ${chargedUsage}
    from moved m
    join input i using (customer_id, hold_id)
    returning hold_id, credits, requested, expires_at
  ),
  event as (${budgetLowEvents}
    union all${lowCreditsEvents}
  ),${emitEvents}
  select coalesce(k.hold_id, o.hold_id) as "holdId",
         case when k.hold_id is not null then k.credits else o.credits end as "credits",
         coalesce(k.requested, o.requested) as "requested",
         coalesce(k.expires_at, o.expires_at) as "expiresAt",
         coalesce(k.available, m.available, a.available) as "available",
         nullif(k.kind, 'HOLD') as "usedFor",
         o.hold_id is not null as "isNew",
         false as "isRestricted",
         coalesce(v.is_suspended, false) as "isSuspended",
         coalesce(v.has_too_many_labels, false) as "hasTooManyLabels",
         v.exceeded,
         coalesce(v.is_stale, false) as "isStale"
  from input
  left join known k on true
  left join account a on true
  left join verdict v on true
  left join moved m on true
  left join opened o on true
  where k.kind is null or ${replicated}`,
)

export async function openRestrictedHold(database: Database, input: HoldOpening): Promise<HoldOpened & Verdict> {
  const [row] = await database.run<HoldOpened & Verdict>(openRestrictedHoldStatement, openings.valuesOf([input]))
  assert(row, 'a statement of one input returned no row')
  return row
}

export type WantedCredits = Omit<SpendInput, 'reference'> & Pick<HoldOpening, 'atMost'>

const wanted = inputs<WantedCredits>({
  customerId: 'uuid',
  credits: 'bigint',
  serviceId: 'text',
  keyId: 'text',
  userId: 'text',
  label: 'text',
  atMost: 'boolean',
})

const previewMovementStatement = statement.ofCustomers(
  'credits.previewMovement',
  sql`with wanted as (
    select * from unnest(${wanted.arrays}) as i (${wanted.columns})
  ),
  account as (
    select a.customer_id, a.balance - a.held as available, a.restricted_at, greatest(a.moved_at, clock_timestamp()) as moved_at
    from wanted
    join accounts a using (customer_id)
  ),${previewRestrictions}
  select a.available, v.granted, v.is_suspended as "isSuspended",
         v.has_too_many_labels as "hasTooManyLabels", v.exceeded, false as "isStale"
  from account a
  join verdict v using (customer_id)`,
)

/**
 * For a dry run of a spend or a hold, of any account: the credits that it would move when they are available, and the verdict.
 * Locks and writes nothing. Undefined when there is no such customer.
 */
export async function previewMovement(
  database: Database,
  request: WantedCredits,
): Promise<({ available: number; granted: number } & Verdict) | undefined> {
  return (
    await database.run<{ available: number; granted: number } & Verdict>(
      previewMovementStatement,
      wanted.valuesOf([request]),
    )
  )[0]
}
