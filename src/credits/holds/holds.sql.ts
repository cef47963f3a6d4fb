// Holds: opening one, extending it, capturing parts of it, and ending it by capture, release or expiry. Set-wise. A hold is
// locked before its account. It ends once: a statement that does not find it ACTIVE under its lock changes nothing. The service
// that opened it extends, captures and releases it; others need the scope manage-holds, and their captures, which count in their
// budgets, are in foreign-capture.sql.ts.
// `credits` of a hold is what it still holds, or held until its end: parts are not in it.
import { type Database, statement } from '../../db/database.ts'
import { takeFromGroups } from '../../db/groups.ts'
import { byOrdinal, inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { giveBackUsage, hasServiceBudget, servicesWithBudget, type Verdict } from '../budgets/usage.sql.ts'
import { applyHolds, applyMovements, lockAccountsOf, lowCreditsEvents } from '../ledger.sql.ts'
import { movements } from '../movements.ts'
import { type ReferenceKind, type ReferenceUse, withResultOfUsedReferences } from '../references.sql.ts'
import { detailColumns, hasNewLabel, storeDetails, type UseDetails } from '../use/details.sql.ts'

export type HoldOpening = {
  customerId: string
  holdId: string
  credits: number
  reference: string
  serviceId: string
  expiresInSeconds: number
  /** Holds what is available, up to `credits`. */
  atMost?: boolean
} & UseDetails

/**
 * `holdId` is null when the available credits did not cover it, or when the reference belongs to something else (`usedFor`);
 * `available` is null when there is no such customer.
 */
export type HoldOpened = {
  holdId: string | null
  /** At its opening. */
  credits: number | null
  /** What a hold with `atMost` was opened with; null for others. */
  requested: number | null
  expiresAt: Date | null
  available: number | null
  usedFor: Exclude<ReferenceKind, 'HOLD'> | null
  /** It was opened now. */
  isNew: boolean
  /** Nothing moved: budgets/restricted.sql.ts has to check first, and the output has its verdict. */
  isRestricted: boolean
} & Partial<Verdict>

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

const openHoldsStatement = statement.ofCustomers(
  'credits.openHolds',
  (replicated) => sql`with recursive input as (
    select i.*,${hasServiceBudget} or ${hasNewLabel} as runs_alone
    from unnest(${openings.arrays}) with ordinality as i (${openings.columns}, ordinal)${servicesWithBudget}
  ),
  known as (
    select i.ordinal, h.hold_id, e.held_delta as credits, h.requested, h.expires_at,
           e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
    left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id and e.kind = 'HOLD'
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by ordinal) as turn, '${movements.hold.entry}' as kind,
           0 as delta, credits as held_delta, null::text as order_id, reference, hold_id, service_id, 0 as events,
           null::timestamptz as not_before, at_most
    from input
    where ordinal not in (select ordinal from known) and not runs_alone
  ),${lockAccountsOf('movement')},${applyHolds},${storeDetails},
  opened as (
    insert into holds (customer_id, hold_id, credits, requested, service_id, expires_at, opening_entry)
    select i.customer_id, i.hold_id, m.held_delta, case when i.at_most then i.credits end, i.service_id,
           now() + i.expires_in_seconds * interval '1 second', m.last_entry
    from moved m
    join input i using (customer_id, hold_id)
    returning customer_id, hold_id, credits, requested, expires_at
  ),
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select i.ordinal,
         coalesce(k.hold_id, o.hold_id) as "holdId",
         case when k.hold_id is not null then k.credits else o.credits end as "credits",
         coalesce(k.requested, o.requested) as "requested",
         coalesce(k.expires_at, o.expires_at) as "expiresAt",
         coalesce(k.available, s.balance - s.held) as "available",
         nullif(k.kind, 'HOLD') as "usedFor",
         o.hold_id is not null as "isNew",
         k.ordinal is null and (i.runs_alone or coalesce(s.is_restricted, false)) as "isRestricted"
  from input i
  left join known k using (ordinal)
  left join opened o on o.customer_id = i.customer_id and o.hold_id = i.hold_id
  left join step s on s.customer_id = i.customer_id and s.hold_id = i.hold_id
  where k.ordinal is null or ${replicated}
  order by i.ordinal`,
)

export async function openHolds(database: Database, all: HoldOpening[]): Promise<HoldOpened[]> {
  const outputs = await database.run<HoldOpened>(openHoldsStatement, openings.valuesOf(all))
  return withResultOfUsedHolds(database, all, outputs)
}

export function withResultOfUsedHolds(
  database: Database,
  all: HoldOpening[],
  outputs: HoldOpened[],
): Promise<HoldOpened[]> {
  return withResultOfUsedReferences(database, all, outputs, {
    isRefused: ({ holdId, available, usedFor, isRestricted }) =>
      holdId === null && available !== null && usedFor === null && !isRestricted,
    outputOf: openedByUse,
  })
}

export function openedByUse(use: ReferenceUse): HoldOpened {
  const { kind, holdId, credits, requested, expiresAt, available } = use
  const hold = { holdId, credits, requested, expiresAt }
  const none = { holdId: null, credits: null, requested: null, expiresAt: null }
  return kind === 'HOLD'
    ? { ...hold, available, usedFor: null, isNew: false, isRestricted: false }
    : { ...none, available, usedFor: kind, isNew: false, isRestricted: false }
}

export type HoldKey = { customerId: string; holdId: string }

/** The service that sends a request about a hold. */
export type HoldCaller = {
  serviceId: string
  /** Its token may end holds of other services. */
  mayManageHolds: boolean
}

/**
 * SQL: whether the service of the input `i` opened the hold `h`. By its name, as budgets and reversals do: a token that replaces
 * another has an id of its own.
 */
export const isOwnHold = `
      (h.service_id = i.service_id or exists (
        select from service_tokens holder
        join service_tokens caller on caller.name = holder.name
        where holder.service_id = h.service_id and caller.service_id = i.service_id))`

export type HoldExtension = HoldKey & HoldCaller & { expiresInSeconds: number }
export type HoldExtended = { holdId: string; credits: number; expiresAt: Date; available: number }

const extensions = inputs<HoldExtension>({
  customerId: 'uuid',
  holdId: 'uuid',
  expiresInSeconds: 'int',
  serviceId: 'text',
  mayManageHolds: 'boolean',
})

// clock_timestamp: a statement that waited past the end must not extend a hold that another has found expired meanwhile.
const extendHoldsStatement = statement.ofCustomers(
  'credits.extendHolds',
  sql`with input as (
    select * from unnest(${extensions.arrays}) with ordinality as i (${extensions.columns}, ordinal)
  ),
  locked_hold as (
    select i.ordinal, i.customer_id, i.hold_id, h.expires_at, h.extended_at,
           now() + i.expires_in_seconds * interval '1 second' as extended_to
    from (select * from input order by customer_id, hold_id) i
    cross join lateral (
      select * from holds h where h.customer_id = i.customer_id and h.hold_id = i.hold_id limit 1 for no key update
    ) h
    where h.state = 'ACTIVE' and h.expires_at > clock_timestamp() and (i.may_manage_holds or ${isOwnHold})
  )
  update holds h
  set expires_at = greatest(l.expires_at, l.extended_to),
      extended_at = case when l.extended_to > l.expires_at then now() else l.extended_at end
  from locked_hold l
  where h.customer_id = l.customer_id and h.hold_id = l.hold_id
  returning l.ordinal, h.hold_id as "holdId", h.credits, h.expires_at as "expiresAt",
    (select a.balance - a.held from accounts a where a.customer_id = h.customer_id) as "available"`,
)

/** With their expiry, which never gets earlier; null where the caller has no active one, or its time is over. */
export async function extendHolds(database: Database, all: HoldExtension[]): Promise<(HoldExtended | null)[]> {
  const rows = await database.run<HoldExtended & { ordinal: number }>(extendHoldsStatement, extensions.valuesOf(all))
  return byOrdinal(all, rows)
}

export type HoldPart = HoldKey & { credits: number; reference: string; serviceId: string }
export type PartCaptured = { captured: number; remaining: number; available: number }

const parts = inputs<HoldPart>({
  customerId: 'uuid',
  holdId: 'uuid',
  credits: 'bigint',
  reference: 'text',
  serviceId: 'text',
})

// The last credits of a hold end it: then the part is its closing capture, and `credits` stays what was held until then.
const capturePartsStatement = statement.ofCustomers(
  'credits.captureParts',
  sql`with recursive input as (
    select * from unnest(${parts.arrays}) with ordinality as i (${parts.columns}, ordinal)
  ),
  locked_hold as (
    select i.ordinal, i.customer_id, i.hold_id, i.credits, i.reference, i.service_id, h.credits as held,
           h.captured_in_parts, h.part_entry, i.credits = h.credits as is_last
    from (select * from input order by customer_id, hold_id) i
    cross join lateral (
      select * from holds h where h.customer_id = i.customer_id and h.hold_id = i.hold_id limit 1 for no key update
    ) h
    where h.state = 'ACTIVE' and h.expires_at > now() and i.credits <= h.credits and ${isOwnHold}
      and not exists (select from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference)
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by hold_id) as turn, '${movements.capture.entry}' as kind,
           -credits as delta, -credits as held_delta, null::text as order_id, reference, hold_id, service_id, 0 as events,
           null::timestamptz as not_before
    from locked_hold
  ),${lockAccountsOf('movement')},${applyMovements}
  update holds h
  set credits = case when l.is_last then l.held else l.held - l.credits end,
      captured_in_parts = case when l.is_last then l.captured_in_parts else l.captured_in_parts + l.credits end,
      part_entry = case when l.is_last then l.part_entry else m.last_entry end,
      state = case when l.is_last then 'CAPTURED' else 'ACTIVE' end,
      captured = case when l.is_last then l.credits end,
      closing_entry = case when l.is_last then m.last_entry end
  from locked_hold l
  join moved m using (customer_id, hold_id)
  where h.customer_id = l.customer_id and h.hold_id = l.hold_id
  returning l.ordinal, l.credits as "captured", l.held - l.credits as "remaining", m.available`,
)

/** What was captured now; null where the reference is used, or the service has no active hold of that many credits. */
export async function captureParts(database: Database, all: HoldPart[]): Promise<(PartCaptured | null)[]> {
  const rows = await database.run<PartCaptured & { ordinal: number }>(capturePartsStatement, parts.valuesOf(all))
  return byOrdinal(all, rows)
}

/** EXPIRE ends a hold whose time is over; the others end it only before. */
export type HoldEnding = HoldKey & {
  ending: 'CAPTURE' | 'RELEASE' | 'EXPIRE'
  /** The credits that a capture takes; null: all. */
  captured: number | null
  /** Null: EXPIRE, which no service requests. */
  serviceId: string | null
  /** The service may release a hold of another one. */
  mayManageHolds?: boolean
}

export type HoldState = 'ACTIVE' | 'CAPTURED' | 'RELEASED' | 'EXPIRED'
export type Hold = {
  holdId: string
  state: HoldState
  /** Without its parts. */
  credits: number
  captured: number | null
  capturedInParts: number
  /** The last part took all that was left. */
  isEndedByPart: boolean
  /** After its end. */
  available: number | null
}

const endings = inputs<HoldEnding>({
  customerId: 'uuid',
  holdId: 'uuid',
  ending: 'text',
  captured: 'bigint',
  serviceId: 'text',
  mayManageHolds: 'boolean',
})

// It releases credits or takes held ones, so the available credits cannot fall below a threshold: no `credits.low`.
const endHoldsStatement = statement.ofCustomers(
  'credits.endHolds',
  sql`with recursive input as (
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
      and (i.ending = 'EXPIRE' or i.ending = 'RELEASE' and i.may_manage_holds or ${isOwnHold})
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
  returning l.ordinal, h.hold_id as "holdId", h.state, h.credits, h.captured, h.captured_in_parts as "capturedInParts",
    false as "isEndedByPart", m.available`,
)

/** The holds that ended now; null where there is no active one, or it cannot end that way. */
export async function endHolds(database: Database, all: HoldEnding[]): Promise<(Hold | null)[]> {
  return byOrdinal(all, await database.run<Hold & { ordinal: number }>(endHoldsStatement, endings.valuesOf(all)))
}

export type HoldSearch = HoldKey & HoldCaller

const searches = inputs<HoldSearch>({
  customerId: 'uuid',
  holdId: 'uuid',
  serviceId: 'text',
  mayManageHolds: 'boolean',
})

const findHoldsStatement = statement.ofCustomers(
  'credits.findHolds',
  (
    replicated,
  ) => sql`select i.ordinal, h.hold_id as "holdId", h.credits, h.captured, h.captured_in_parts as "capturedInParts", h.state,
    e.reference is not null as "isEndedByPart", e.balance_after - e.held_after as "available"
  from unnest(${searches.arrays}) with ordinality as i (${searches.columns}, ordinal)
  join holds h using (customer_id, hold_id)
  left join ledger_entries e on e.customer_id = h.customer_id and e.entry_number = h.closing_entry
  where (i.may_manage_holds or ${isOwnHold}) and ${replicated}`,
)

/** Null where the caller has no such hold. */
export async function findHolds(database: Database, all: HoldSearch[]): Promise<(Hold | null)[]> {
  return byOrdinal(all, await database.run<Hold & { ordinal: number }>(findHoldsStatement, searches.valuesOf(all)))
}

const listDueHoldsStatement = statement.ofEachGroup(
  'credits.listDueHolds',
  `select customer_id as "customerId", hold_id as "holdId"
  from holds
  where state = 'ACTIVE' and expires_at <= now()
  order by expires_at
  limit $1`,
)

/** Those whose time is over, the oldest first. */
export function listDueHolds(database: Database, limit: number): Promise<HoldKey[]> {
  return takeFromGroups(database, limit, (group, left) => group.run<HoldKey>(listDueHoldsStatement, [left]))
}
