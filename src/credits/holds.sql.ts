// Holds: opening one, and ending it by capture, release or expiry. Set-wise. A hold is locked before its account. It ends
// once: a statement that does not find it ACTIVE under its lock changes nothing.
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'
import { emitEvents } from '../events/outbox.sql.ts'
import { giveBackUsage, hasServiceBudget, servicesWithBudget, type Verdict } from './budgets/usage.sql.ts'
import { applyMovements, lockAccountsOf, lowCreditsEvents } from './ledger.sql.ts'
import { withResultOfUsedReferences } from './references.sql.ts'

export type HoldOpening = {
  customerId: string
  holdId: string
  credits: number
  reference: string
  serviceId: string
  expiresInSeconds: number
  /** Labels of the caller, for budgets. */
  keyId?: string | null
  userId?: string | null
}

/**
 * `holdId` is null when the available credits did not cover it, or when the reference has spent credits (`isSpend`);
 * `available` is null when there is no such customer.
 */
export type HoldOpened = {
  holdId: string | null
  credits: number | null
  expiresAt: Date | null
  available: number | null
  isSpend: boolean
  /** It was opened now. */
  isNew: boolean
  /** Nothing moved: budgets or suspension have to be judged (budgets/restricted.sql.ts); then the output has that verdict. */
  isRestricted: boolean
} & Partial<Verdict>

const openings = inputs<HoldOpening>({
  customerId: 'uuid',
  holdId: 'uuid',
  credits: 'bigint',
  reference: 'text',
  serviceId: 'text',
  expiresInSeconds: 'int',
})

const openHoldsStatement = statement(
  'credits.openHolds',
  `with recursive input as (
    select i.*,${hasServiceBudget} as has_service_budget
    from unnest(${openings.arrays}) with ordinality as i (${openings.columns}, ordinal)${servicesWithBudget}
  ),
  known as (
    select i.ordinal, h.hold_id, h.credits, h.expires_at, e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
    left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by ordinal) as turn, 'HOLD' as kind,
           0 as delta, credits as held_delta, null::text as order_id, reference, hold_id, service_id, 0 as events,
           null::timestamptz as not_before
    from input
    where ordinal not in (select ordinal from known) and not has_service_budget
  ),${lockAccountsOf('movement')},${applyMovements},
  opened as (
    insert into holds (customer_id, hold_id, credits, service_id, expires_at, opening_entry)
    select i.customer_id, i.hold_id, i.credits, i.service_id, now() + i.expires_in_seconds * interval '1 second',
           m.last_entry
    from moved m
    join input i using (customer_id, hold_id)
    returning customer_id, hold_id, credits, expires_at
  ),
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select i.ordinal,
         coalesce(k.hold_id, o.hold_id) as "holdId",
         coalesce(k.credits, o.credits) as "credits",
         coalesce(k.expires_at, o.expires_at) as "expiresAt",
         coalesce(k.available, s.balance - s.held) as "available",
         coalesce(k.kind = 'SPEND', false) as "isSpend",
         o.hold_id is not null as "isNew",
         k.ordinal is null and (i.has_service_budget or coalesce(s.is_restricted, false)) as "isRestricted"
  from input i
  left join known k using (ordinal)
  left join opened o on o.customer_id = i.customer_id and o.hold_id = i.hold_id
  left join step s on s.customer_id = i.customer_id and s.hold_id = i.hold_id
  order by i.ordinal`,
)

export async function openHolds(database: Database, all: HoldOpening[]): Promise<HoldOpened[]> {
  return withResultOfUsedHolds(
    database,
    all,
    await database.run<HoldOpened>(openHoldsStatement, openings.valuesOf(all)),
  )
}

export function withResultOfUsedHolds(
  database: Database,
  all: HoldOpening[],
  outputs: HoldOpened[],
): Promise<HoldOpened[]> {
  return withResultOfUsedReferences(database, all, outputs, {
    isRefused: ({ holdId, available, isSpend, isRestricted }) =>
      holdId === null && available !== null && !isSpend && !isRestricted,
    outputOf: ({ kind, holdId, credits, expiresAt, available }) => ({
      holdId,
      credits,
      expiresAt,
      available,
      isSpend: kind === 'SPEND',
      isNew: false,
      isRestricted: false,
    }),
  })
}

/** EXPIRE ends a hold whose time is over; the others end it only before. */
export type HoldEnding = {
  customerId: string
  holdId: string
  ending: 'CAPTURE' | 'RELEASE' | 'EXPIRE'
  /** The credits that a capture takes; null: all. */
  captured: number | null
  serviceId: string | null
}

export type HoldState = 'ACTIVE' | 'CAPTURED' | 'RELEASED' | 'EXPIRED'
export type Hold = {
  holdId: string
  state: HoldState
  credits: number
  captured: number | null
  /** After its end. */
  available: number | null
}

const endings = inputs<HoldEnding>({
  customerId: 'uuid',
  holdId: 'uuid',
  ending: 'text',
  captured: 'bigint',
  serviceId: 'text',
})

// It releases credits or takes held ones, so the available credits cannot fall below a threshold: no `credits.low`.
const endHoldsStatement = statement(
  'credits.endHolds',
  `with recursive input as (
    select * from unnest(${endings.arrays}) with ordinality as i (${endings.columns}, ordinal)
  ),
  locked_hold as (
    select i.ordinal, i.customer_id, i.hold_id, i.ending, i.service_id, h.credits, h.charged,
           case i.ending when 'CAPTURE' then coalesce(i.captured, h.credits) else 0 end as captured
    from (select * from input order by customer_id, hold_id) i
    cross join lateral (
      select * from holds h where h.customer_id = i.customer_id and h.hold_id = i.hold_id limit 1 for no key update
    ) h
    where h.state = 'ACTIVE' and (h.expires_at <= now()) = (i.ending = 'EXPIRE')
      and coalesce(i.captured <= h.credits, true)
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by hold_id) as turn, ending as kind,
           -captured as delta, -credits as held_delta, null::text as order_id, null::text as reference, hold_id,
           service_id, 0 as events, null::timestamptz as not_before
    from locked_hold
  ),${lockAccountsOf('movement')},${applyMovements},${giveBackUsage}
  update holds h
  set state = case l.ending when 'CAPTURE' then 'CAPTURED' when 'RELEASE' then 'RELEASED' else 'EXPIRED' end,
      captured = nullif(l.captured, 0),
      closing_entry = m.last_entry
  from locked_hold l
  join moved m using (customer_id, hold_id)
  where h.customer_id = l.customer_id and h.hold_id = l.hold_id
  returning l.ordinal, h.hold_id as "holdId", h.state, h.credits, h.captured, m.available`,
)

/** The holds that ended now; null where there is no active one, or it cannot end that way. */
export async function endHolds(database: Database, all: HoldEnding[]): Promise<(Hold | null)[]> {
  return byOrdinal(all, await database.run<Hold & { ordinal: number }>(endHoldsStatement, endings.valuesOf(all)))
}

export type HoldKey = { customerId: string; holdId: string }

const keys = inputs<HoldKey>({ customerId: 'uuid', holdId: 'uuid' })

const findHoldsStatement = statement(
  'credits.findHolds',
  `select i.ordinal, h.hold_id as "holdId", h.credits, h.captured, h.state, e.balance_after - e.held_after as "available"
  from unnest(${keys.arrays}) with ordinality as i (${keys.columns}, ordinal)
  join holds h using (customer_id, hold_id)
  left join ledger_entries e on e.customer_id = h.customer_id and e.entry_number = h.closing_entry`,
)

export async function findHolds(database: Database, all: HoldKey[]): Promise<(Hold | null)[]> {
  return byOrdinal(all, await database.run<Hold & { ordinal: number }>(findHoldsStatement, keys.valuesOf(all)))
}

const listDueHoldsStatement = statement(
  'credits.listDueHolds',
  `select customer_id as "customerId", hold_id as "holdId"
  from holds
  where state = 'ACTIVE' and expires_at <= now()
  order by expires_at
  limit $1`,
)

/** Those whose time is over, the oldest first. */
export function listDueHolds(database: Database, limit: number): Promise<HoldKey[]> {
  return database.run<HoldKey>(listDueHoldsStatement, [limit])
}
