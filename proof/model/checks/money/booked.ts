// Reads the books at the end: the references of sibling services, holds, adjustments, events, and the course of each balance.
import type { HoldState } from '../../../../src/credits/holds/holds.sql.ts'
import type { OrderStatus } from '../../../../src/payments/kinds.ts'
import type { Books } from '../../../world/postgres.ts'

/** The use of a reference. CAPTURE: a part of a hold. REVERSAL: of the spend or hold with the reference `reversed`. */
export type BookedUse = {
  customerId: string
  reference: string
  kind: 'SPEND' | 'HOLD' | 'CAPTURE' | 'REVERSAL'
  credits: number
  /** The limit of a hold of at most that many credits; null otherwise. */
  requested: number | null
  /** Available after it, as in the answer. */
  balance: number
  serviceId: string | null
  holdId: string | null
  reversed: string | null
  entryNumber: number
  /** How many entries have it. */
  entries: number
}

const usesText = `
  select e.customer_id as "customerId", e.reference, e.kind, greatest(abs(e.delta), e.held_delta)::float8 as credits,
    case e.kind when 'HOLD' then h.requested end::float8 as requested,
    (e.balance_after - e.held_after)::float8 as balance, e.service_id as "serviceId", e.hold_id as "holdId",
    r.reference as reversed, e.entry_number::float8 as "entryNumber",
    (count(*) over (partition by e.customer_id, e.reference))::int as entries
  from ledger_entries e
  left join holds h using (customer_id, hold_id)
  left join adjustments a on a.customer_id = e.customer_id and a.entry_number = e.entry_number
  left join ledger_entries r on r.customer_id = a.customer_id and r.entry_number = a.reversed_entry
  where e.reference is not null`

export const readUses = (books: Books) => books.query<BookedUse>(usesText)

export type BookedHold = {
  customerId: string
  holdId: string
  reference: string
  /** Without parts: what it holds, or held until its end. */
  credits: number
  state: HoldState
  /** By its end, without parts. */
  captured: number | null
  capturedInParts: number
  expiresAt: Date
  isExtended: boolean
  /** ACTIVE past its expiry. */
  isOverdue: boolean
  /** How many entries begin it, and how many end it. */
  openings: number
  endings: number
  end: {
    kind: string
    delta: number
    heldDelta: number
    balance: number
    serviceId: string | null
    /** The reference of the part that took the last credits. */
    reference: string | null
  } | null
  /** How much too early it expired. */
  earlyMs: number | null
}

const holdsText = `
  select h.customer_id as "customerId", h.hold_id as "holdId", o.reference, h.credits::float8 as credits, h.state,
    h.captured::float8 as captured, h.captured_in_parts::float8 as "capturedInParts", h.expires_at as "expiresAt",
    h.extended_at is not null as "isExtended", h.state = 'ACTIVE' and h.expires_at < now() as "isOverdue",
    (select count(*)::int from ledger_entries e
     where e.customer_id = h.customer_id and e.hold_id = h.hold_id and e.kind = 'HOLD') as openings,
    (select count(*)::int from ledger_entries e
     where e.customer_id = h.customer_id and e.hold_id = h.hold_id and e.kind <> 'HOLD'
       and (e.reference is null or e.entry_number = h.closing_entry)) as endings,
    case when c.entry_number is not null then jsonb_build_object('kind', c.kind, 'delta', c.delta,
      'heldDelta', c.held_delta, 'balance', c.balance_after - c.held_after, 'serviceId', c.service_id,
      'reference', c.reference) end as end,
    case when c.kind = 'EXPIRE' and c.created_at < h.expires_at
         then extract(epoch from h.expires_at - c.created_at)::float8 * 1000 end as "earlyMs"
  from holds h
  join ledger_entries o on o.customer_id = h.customer_id and o.entry_number = h.opening_entry
  left join ledger_entries c on c.customer_id = h.customer_id and c.entry_number = h.closing_entry`

export const readHolds = (books: Books) => books.query<BookedHold>(holdsText)

export type BookedEvent = {
  customerId: string
  eventNumber: number
  eventId: string
  type: string
  data: Record<string, unknown>
  createdAt: Date
}

export const readEvents = (books: Books) =>
  books.query<BookedEvent>(
    `select customer_id as "customerId", event_number::float8 as "eventNumber", event_id as "eventId", type, data,
      created_at as "createdAt"
    from events order by customer_id, event_number`,
  )

export type OrderWithEvents = {
  orderId: string
  /** Null when there is no such order. */
  status: OrderStatus | null
  order: Record<string, unknown>
  events: { type: string; data: Record<string, unknown> }[]
}

/** Each order with its events, in one statement: unpaid orders still expire. */
export const readOrdersWithEvents = (books: Books) =>
  books.query<OrderWithEvents>(
    `with by_order as (
      select data ->> 'orderId' as order_id,
        jsonb_agg(jsonb_build_object('type', type, 'data', data::jsonb || jsonb_build_object('customerId', customer_id))
          order by customer_id, event_number) as events
      from events where type like 'order.%' group by data ->> 'orderId'
    )
    select order_id as "orderId", o.status, coalesce(by_order.events, '[]') as events,
      jsonb_build_object('customerId', o.customer_id, 'orderId', order_id, 'packageType', o.package_type,
        'amount', o.amount, 'credits', o.credits) as order
    from orders o full join by_order using (order_id)`,
  )

/** The account after an entry; `at` is wall clock. */
export type Step = { entryNumber: number; available: number; at: number }

/** The available credits after each entry, in order, by customerId. */
export async function readCourses(books: Books): Promise<Map<string, Step[]>> {
  const rows = await books.query<Step & { customerId: string }>(
    `select customer_id as "customerId", entry_number::float8 as "entryNumber",
      (balance_after - held_after)::float8 as available, extract(epoch from created_at)::float8 * 1000 as at
    from ledger_entries order by customer_id, entry_number`,
  )
  return Map.groupBy(rows, ({ customerId }) => customerId)
}

/** A change of what a customer has used, or of what of that was paid back in money. */
export type UsedStep = {
  at: number
  /** The reference of the spend or the hold; null for a full refund. */
  reference: string | null
  /** When the use or the refund began. */
  begunAt: number
  /** Negative when it was given back by a reversal. */
  used: number
  /**
   * What a full refund did not take back of its order, from its beginning on; negative when the gateway has refused it. Of an
   * accepted part what its won stand for and was not taken.
   */
  refunded: number
}

/**
 * In order, by customerId. A full refund that takes no credits has no entry. Its times are of the account, like those of
 * entries; between equal ones it counts as short as possible.
 */
export async function readUsedCredits(books: Books): Promise<Map<string, UsedStep[]>> {
  const rows = await books.query<UsedStep & { customerId: string }>(
    `with step as (
      select customer_id, created_at as at, 1 as place, entry_number, reference, created_at as begun_at, -delta as used,
        0 as refunded
      from ledger_entries where kind = 'SPEND'
      union all
      select c.customer_id, c.created_at, 1, c.entry_number, o.reference, o.created_at, -c.delta, 0
      from ledger_entries c join ledger_entries o using (customer_id, hold_id)
      where c.kind = 'CAPTURE' and o.kind = 'HOLD'
      union all
      select a.customer_id, e.created_at, 1, a.entry_number, o.reference, o.created_at, -e.delta, 0
      from adjustments a
      join ledger_entries e using (customer_id, entry_number)
      join ledger_entries o on o.customer_id = a.customer_id and o.entry_number = a.reversed_entry
      union all
      select p.customer_id, coalesce(e.created_at, moment.at), case when e.entry_number is null then moment.place else 1 end,
        e.entry_number, null, p.opened_at, 0, moment.sign * (o.credits - part.paid_by_parts - p.credits_held)
      from payment_operations p
      join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
      cross join lateral (
        values ('HOLD', p.opened_at, 2, 1), ('RELEASE', case p.state when 'REJECTED' then p.closed_at end, 0, -1)
      ) moment (entry_kind, at, place, sign)
      left join ledger_entries e
        on e.customer_id = p.customer_id and e.hold_id = p.operation_id and e.kind = moment.entry_kind
      cross join lateral (
        select coalesce(sum(amount), 0) as amount,
          greatest(coalesce(sum(credits_held), 0), floor(coalesce(sum(amount), 0) / 1000)) as paid_by_parts
        from payment_operations
        where customer_id = o.customer_id and order_id = o.order_id and kind = 'PART') part
      where p.kind = 'REFUND' and p.amount = o.amount - part.amount and o.credits - part.paid_by_parts > p.credits_held
        and moment.at is not null
      union all
      select p.customer_id, p.closed_at, 2, null, null, p.closed_at, 0, p.stands_for - p.credits_held
      from (
        select *, floor(sum(amount) over parts / 1000) - floor((sum(amount) over parts - amount) / 1000) as stands_for
        from payment_operations where kind = 'PART'
        window parts as (partition by customer_id, order_id order by closed_at, operation_id)) p
      join orders o using (customer_id, order_id)
      where p.stands_for > p.credits_held and o.status <> 'CANCELLED'
    )
    select customer_id as "customerId", extract(epoch from at)::float8 * 1000 as at, reference,
      extract(epoch from begun_at)::float8 * 1000 as "begunAt", used::float8 as used,
      refunded::float8 as refunded
    from step order by customer_id, step.at, place, entry_number`,
  )
  return Map.groupBy(rows, ({ customerId }) => customerId)
}

/**
 * What a spend or a hold took, or what the end of a hold gave back. `serviceId` and `reference` are of the spend or hold. Or
 * what a service captured of a hold of another one: that took it before, and counts for the budgets of this service too.
 */
export type UsageEntry = {
  customerId: string
  serviceId: string
  reference: string
  /** Negative when it was given back. */
  credits: number
  at: number
  /** When the spend or hold, or the capture of another service's hold, took them. */
  takenAt: number
  isOfAnother: boolean
}

/** By customer, in the order of the ledger. */
export const readUsage = (books: Books) =>
  books.query<UsageEntry>(
    `select e.customer_id as "customerId", o.service_id as "serviceId", o.reference,
      (e.held_delta - e.delta)::float8 as credits, extract(epoch from e.created_at)::float8 * 1000 as at,
      extract(epoch from o.created_at)::float8 * 1000 as "takenAt", false as "isOfAnother", e.entry_number
    from ledger_entries e
    left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
    join ledger_entries o
      on o.customer_id = e.customer_id and o.entry_number = coalesce(h.opening_entry, e.entry_number)
    where e.kind = 'SPEND' or h.hold_id is not null
    union all
    select e.customer_id, e.service_id, o.reference, -e.delta, extract(epoch from e.created_at)::float8 * 1000,
      extract(epoch from e.created_at)::float8 * 1000, true, e.entry_number
    from ledger_entries e
    join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
    join ledger_entries o on o.customer_id = h.customer_id and o.entry_number = h.opening_entry
    where e.kind = 'CAPTURE' and e.service_id <> o.service_id
    order by "customerId", entry_number`,
  )

/** What the service has counted of a budget in its latest period; `value` is empty where the budget has one for all. */
export type CountedUsage = { budgetId: string; value: string; periodStart: number; used: number }

export const readCountedUsage = (books: Books) =>
  books.query<CountedUsage>(
    `select budget_id as "budgetId", value, extract(epoch from period_start)::float8 * 1000 as "periodStart",
      used::float8 as used
    from budget_usage order by budget_id, value`,
  )

/** Goodwill or a correction, or the request for one. */
export type BookedAdjustment = {
  customerId: string
  adjustmentId: string
  kind: string
  credits: number
  actor: string
  approvedBy: string | null
  /** Null: it was done at once. */
  requestState: 'PENDING' | 'APPROVED' | 'REJECTED' | null
  decidedBy: string | null
  /** Available credits after it; null: no credits were moved. */
  available: number | null
  /** The Korean days of the request, or of what was done at once, and of the approval. */
  day: string
  approvalDay: string | null
}

/** What was charged to an operator on a day, for adjustments that were made and for some that were not. */
export type AdjustmentDay = { actor: string; day: string; credits: number; charges: string[] }

export const readAdjustmentDays = (books: Books) =>
  books.query<AdjustmentDay>('select actor, day::text, credits::int, charges from adjustment_days')

export const readAdjustments = (books: Books) =>
  books.query<BookedAdjustment>(
    `select customer_id as "customerId", adjustment_id as "adjustmentId", coalesce(a.kind, r.kind) as kind,
      coalesce(a.credits, r.credits)::float8 as credits, coalesce(a.actor, r.requested_by) as actor,
      a.approved_by as "approvedBy", r.state as "requestState", r.decided_by as "decidedBy",
      (e.balance_after - e.held_after)::float8 as available,
      (coalesce(r.requested_at, a.created_at) at time zone 'Asia/Seoul')::date::text as day,
      case when r.state = 'APPROVED' then (a.created_at at time zone 'Asia/Seoul')::date::text end as "approvalDay"
    from (select * from adjustments where kind <> 'REVERSAL') a
    full join adjustment_requests r using (customer_id, adjustment_id)
    left join ledger_entries e using (customer_id, entry_number)`,
  )

/** A reference belongs to its customer. */
export function keyOfUse({ customerId, reference }: { customerId: string; reference: string }): string {
  return `${customerId}/${reference}`
}

/** An entry is committed a little after its time. */
const commitMs = 5_000

/** Whether such a step may have been the last one at some moment of the call. */
export function wasDuring<Of extends { at: number }>(
  { invokedAtMs, endedAtMs }: { invokedAtMs: number; endedAtMs: number },
  steps: Of[],
  isSuch: (step: Of) => boolean,
): boolean {
  const wallClock = (ms: number) => performance.timeOrigin + ms
  return steps.some(
    (step, place) =>
      isSuch(step) &&
      step.at <= wallClock(endedAtMs + commitMs) &&
      (steps[place + 1]?.at ?? Number.POSITIVE_INFINITY) >= wallClock(invokedAtMs - commitMs),
  )
}
