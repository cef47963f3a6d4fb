// What the audit reads to compare adjustments and refunds with the actions of operators. They are keyed by customer, and on a
// cluster on other servers than the actions: each side is read by statements of its own.
import { leastUuid } from '../../core/ids.ts'
import { partsOf } from '../../credits/lots/lots.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import { cancelledElsewhere } from '../kinds.ts'
import { partlyCancelled } from '../recovery/review.ts'
import type { PartOfOrder } from '../refunds/rule.ts'

// The migration wrote the hash of nothing, which no trigger writes, in its own transaction; a copy of the books has a later
// applied_at. So neither an entry that is added later moves the beginning, nor one that is added to books that had none.
const findBeginStatement = statement.global(
  'payments.findBeginOfActions',
  `select coalesce(min(j.written_at), '-infinity')::text as "since"
  from record_journal j
  join schema_migrations m on m.version = 54 and j.written_at < m.applied_at + interval '1 day'
  where j.table_name = 'schema_migrations' and j.row_key = '54' and j.content_hash = sha256('')`,
)

/** From when on every refund and adjustment has its action; migrations/0054_journal_of_endpoints.sql. */
export async function findBeginOfActions(database: Database): Promise<string> {
  const [row] = await database.run<{ since: string }>(findBeginStatement)
  return row?.since ?? '-infinity'
}

export type RowPlace = { customerId: string; id: string }
export const firstRow: RowPlace = { customerId: leastUuid, id: leastUuid }

export type AdjustmentKey = { customerId: string; adjustmentId: string }

/** By an operator. The times are texts, because they have microseconds. */
export type AdjustmentToCheck = AdjustmentKey & {
  entryNumber: number
  kind: string
  credits: number
  actor: string
  approvedBy: string | null
  createdAt: string
  requestedAt: string
}

const listAdjustmentsStatement = statement.ofEachGroup(
  'payments.listAdjustmentsToCheck',
  `select d.customer_id as "customerId", d.adjustment_id as "adjustmentId", d.entry_number as "entryNumber", d.kind,
    d.credits, d.actor, d.approved_by as "approvedBy", d.created_at::text as "createdAt",
    coalesce((select r.requested_at from adjustment_requests r
              where r.customer_id = d.customer_id and r.adjustment_id = d.adjustment_id), d.created_at)::text as "requestedAt"
  from adjustments d
  where (d.customer_id, d.adjustment_id) > ($1::uuid, $2::uuid) and d.kind <> 'REVERSAL' and d.created_at > $3::timestamptz
  order by d.customer_id, d.adjustment_id
  limit $4`,
)

export function listAdjustmentsToCheck(
  group: Database,
  { customerId, id }: RowPlace,
  since: string,
  limit: number,
): Promise<AdjustmentToCheck[]> {
  return group.run<AdjustmentToCheck>(listAdjustmentsStatement, [customerId, id, since, limit])
}

const adjustmentInputs = inputs<AdjustmentToCheck>({
  customerId: 'uuid',
  adjustmentId: 'uuid',
  kind: 'text',
  credits: 'bigint',
  actor: 'text',
  approvedBy: 'text',
  createdAt: 'timestamptz',
  requestedAt: 'timestamptz',
})

/** The action b can have done something at that time: after SVC001 or an interruption it may still have been committed. */
const notRefusedBefore = (time: Sql) => sql`not exists (
          select from operator_actions e
          where e.action_id = b.action_id and e.step = 'ENDED' and e.happened_at < ${time}
            and e.outcome ~ '^(VAL00[0-9]|NOT000|BUS002|PAYMENT_CANCEL_FAILED)')`

/** The actor of an action is a name, with what the console or a command adds to it. */
const isActor = (name: Sql) => sql`(lower(b.actor) = ${name} or starts_with(lower(b.actor), ${name} || ' as ')
             or starts_with(lower(b.actor), ${name} || ' in the console from '))`

// The day around a time allows for a clock that was set back, and for an adjustment at midnight. An action of the console has the
// id of the adjustment, too, and covers no other one.
const findUnrecordedStatement = statement.global(
  'payments.findUnrecordedAdjustments',
  sql`select i.customer_id as "customerId", i.adjustment_id as "adjustmentId",
    array(
      select b.action_id::text from operator_actions b
      where b.subject = i.customer_id::text and b.step = 'BEGUN'
        and b.command = case i.kind when 'GOODWILL' then 'adjustments grant' else 'adjustments correct' end
        and b.happened_at between i.requested_at - interval '1 day' and i.requested_at + interval '1 day'
        and ${notRefusedBefore(sql`i.requested_at`)}
        and ltrim(b.arguments[array_position(b.arguments, '--credits') + 1], '+') = i.credits::text
        and coalesce(lower(b.arguments[array_position(b.arguments, '--adjustmentId') + 1]) = i.adjustment_id::text, true)
        and ${isActor(sql`asked.actor`)}
      order by b.happened_at, b.action_id) as "actions",
    exists (
      select from adjustment_days d
      where d.actor = coalesce(i.approved_by, i.actor) and d.day between asked.done - 1 and asked.done + 1
        and asked.charge = any (d.charges)) as "isCharged",
    case when i.approved_by is null then not exists (
      select from operator_actions b
      join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED' and e.outcome = 'ok'
      where b.subject = i.customer_id::text and b.step = 'BEGUN' and b.command = 'adjustments approve'
        and lower(b.arguments[1]) = i.adjustment_id::text)
    else exists (
      select from operator_actions b
      where b.subject = i.customer_id::text and b.step = 'BEGUN' and b.command = 'adjustments approve'
        and lower(b.arguments[1]) = i.adjustment_id::text
        and ${isActor(sql`asked.approver`)}
        and ${notRefusedBefore(sql`i.created_at`)}) end as "isApproved"
  from unnest(${adjustmentInputs.arrays}) as i (${adjustmentInputs.columns})
  cross join lateral (
    select (i.created_at at time zone 'Asia/Seoul')::date as done,
      lower(i.actor) as actor, lower(i.approved_by) as approver,
      concat_ws('/', i.customer_id, i.adjustment_id, i.kind, i.credits) as charge
  ) asked
  order by i.requested_at, i.adjustment_id`,
)

/** `actions`: those that can have been the cause, the oldest first. */
export type Evidence = AdjustmentKey & { actions: string[]; isCharged: boolean; isApproved: boolean }

/** In the order in which the adjustments were requested. */
export function findEvidence(database: Database, adjustments: AdjustmentToCheck[]): Promise<Evidence[]> {
  return database.run<Evidence>(findUnrecordedStatement, adjustmentInputs.valuesOf(adjustments))
}

export type DayPlace = { actor: string; day: string }
export const firstDay: DayPlace = { actor: '', day: '-infinity' }
export type WrongDay = DayPlace & { credits: number; charged: number }

// Charges of before are incomplete: a day has them from a later version on, and instances of an older one may run beside the first
// of this one. What is no charge counts as none.
const listWrongDaysStatement = statement.global(
  'payments.listWrongDays',
  `with page as (
    select * from adjustment_days where (actor, day) > ($1::text, $2::date) order by actor, day limit $4
  )
  select (select count(*) from page) as "read",
    (select jsonb_build_object('actor', actor, 'day', day) from page order by actor desc, day desc limit 1) as "last",
    (select coalesce(jsonb_agg(jsonb_build_object('actor', actor, 'day', day, 'credits', credits, 'charged', charged)), '[]')
     from page
     cross join lateral (
       select coalesce(sum(abs(matched[1]::bigint)), 0) as charged
       from unnest(charges) as c (charge)
       cross join lateral regexp_match(charge, '^[^/]+/[^/]+/[A-Z]+/(-?[0-9]{1,15})$') as matched) each
     where charged <> credits and day > ($3::timestamptz at time zone 'Asia/Seoul')::date + 1) as "wrong"`,
)

export type DayPage = { read: number; last: DayPlace | null; wrong: WrongDay[] }

/** The days of operators whose total is not the sum of what they are charged for. */
export async function listWrongDays(
  database: Database,
  { actor, day }: DayPlace,
  since: string,
  limit: number,
): Promise<DayPage> {
  const [page] = await database.run<DayPage>(listWrongDaysStatement, [actor, day, since, limit])
  return page ?? { read: 0, last: null, wrong: [] }
}

export type RefundToCheck = {
  customerId: string
  operationId: string
  orderId: string
  /** By the version before, for a part that was cancelled at the gateway. */
  accepted: boolean
  openedAt: string
}

// One that was found cancelled at the gateway was not begun by an operator. Its reason shows that: a refund with it is never sent,
// and no role changes a reason. The gateway's code alone could be written by the serving role for a refund that was sent.
const listRefundsStatement = statement.ofEachGroup(
  'payments.listRefundsToCheck',
  `with page as (
    select * from payment_operations
    where (customer_id, operation_id) > ($1::uuid, $2::uuid)
    order by customer_id, operation_id
    limit $4
  )
  select (select count(*) from page) as "read",
    (select jsonb_build_object('customerId', customer_id, 'id', operation_id)
     from page order by customer_id desc, operation_id desc limit 1) as "last",
    (select coalesce(jsonb_agg(jsonb_build_object(
       'customerId', customer_id, 'operationId', operation_id, 'orderId', order_id, 'accepted', accepted,
       'openedAt', opened_at)), '[]')
     from page
     where kind = 'REFUND' and coalesce(closed_at, now()) > $3::timestamptz
       and not (coalesce(reason = $6, false) and (state <> 'APPROVED' or coalesce(gateway_code = $5, false)))) as "refunds"`,
)

export type RefundPage = { read: number; last: RowPlace | null; refunds: RefundToCheck[] }

export async function listRefundsToCheck(
  group: Database,
  { customerId, id }: RowPlace,
  since: string,
  limit: number,
): Promise<RefundPage> {
  const [page] = await group.run<RefundPage>(listRefundsStatement, [
    customerId,
    id,
    since,
    limit,
    cancelledAtGateway,
    cancelledElsewhere,
  ])
  return page ?? { read: 0, last: null, refunds: [] }
}

const refundInputs = inputs<RefundToCheck>({
  customerId: 'uuid',
  operationId: 'uuid',
  orderId: 'text',
  accepted: 'boolean',
  openedAt: 'timestamptz',
})

const quotedBeforeOpening = `b.happened_at between i.opened_at - interval '1 day' and i.opened_at + interval '1 minute'`

// An action opens its refund after it began: the minute is for the clocks of two servers. The version before refunded an order of
// which a part was cancelled at the gateway as the end of its discrepancy.
const findUnorderedStatement = statement.global(
  'payments.findRefundsWithoutAction',
  sql`select i.customer_id as "customerId", i.operation_id as "operationId", i.order_id as "orderId"
  from unnest(${refundInputs.arrays}) as i (${refundInputs.columns})
  where not exists (
      select from operator_actions b
      where b.subject = i.order_id and b.step = 'BEGUN' and b.command = 'orders refund'
        and ${quotedBeforeOpening}
        and ${notRefusedBefore(sql`i.opened_at`)})
    and not (i.accepted and exists (
      select from discrepancies d
      join operator_actions b on b.subject = d.discrepancy_id::text and b.step = 'BEGUN' and b.command = 'discrepancies accept'
      where d.customer_id = i.customer_id and d.order_id = i.order_id and ${quotedBeforeOpening}))`,
)

export type UnorderedRefund = Pick<RefundToCheck, 'customerId' | 'operationId' | 'orderId'>

export function findRefundsWithoutAction(database: Database, refunds: RefundToCheck[]): Promise<UnorderedRefund[]> {
  return database.run<UnorderedRefund>(findUnorderedStatement, refundInputs.valuesOf(refunds))
}

/** A part that was cancelled at the gateway and accepted, with the request that was approved by it. */
export type PartToCheck = PartOfOrder & {
  customerId: string
  operationId: string
  orderId: string
  credits: number
  requestId: string | null
  requestedBy: string | null
  approvedBy: string | null
  requestedAt: string
  acceptedAt: string
  /** Its entry is before. */
  leftAt: string
}

const listPartsStatement = statement.ofEachGroup(
  'payments.listPartsToCheck',
  sql`select p.customer_id as "customerId", p.operation_id as "operationId", p.order_id as "orderId", p.credits_held as "credits",
    p.amount, earlier.amount as "amountBefore", earlier.credits as "creditsBefore",
    o.amount as "paid", o.credits as "creditsOfTheOrder",
    r.adjustment_id as "requestId", r.requested_by as "requestedBy", r.decided_by as "approvedBy",
    coalesce(r.requested_at, p.opened_at)::text as "requestedAt", p.opened_at::text as "acceptedAt",
    (p.opened_at + interval '1 microsecond')::text as "leftAt"
  from payment_operations p
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  cross join lateral ${partsOf(sql`p`, sql`(part.opened_at, part.operation_id) < (p.opened_at, p.operation_id)`)} earlier
  left join adjustment_requests r
    on r.customer_id = p.customer_id and r.discrepancy_id = p.operation_id and r.kind = 'PART' and r.state = 'APPROVED'
  where p.kind = 'PART' and (p.customer_id, p.operation_id) > ($1::uuid, $2::uuid)
  order by p.customer_id, p.operation_id
  limit $3`,
)

export function listPartsToCheck(group: Database, { customerId, id }: RowPlace, limit: number): Promise<PartToCheck[]> {
  return group.run<PartToCheck>(listPartsStatement, [customerId, id, limit])
}

/** `difference`: what it took less or more than its won stand for. */
export type ComparedPart = PartToCheck & { difference: number }

const partInputs = inputs<ComparedPart>({
  customerId: 'uuid',
  operationId: 'uuid',
  orderId: 'text',
  credits: 'bigint',
  difference: 'bigint',
  requestId: 'uuid',
  requestedBy: 'text',
  approvedBy: 'text',
  requestedAt: 'timestamptz',
  acceptedAt: 'timestamptz',
})

/** A charge of at least the difference. */
const isChargeOfPart = `starts_with(c.charge, concat_ws('/', i.customer_id, i.operation_id, 'PART', ''))
        and (regexp_match(c.charge, '/PART/([0-9]{1,15})$'))[1]::bigint >= i.difference`

// The operation has the id of the discrepancy that it ends. The action of the one who accepted it names the credits, unless they
// are those that its won stand for, and the request where it has stored one. The minute is for the clocks of two servers, the days
// are for clocks that were set back.
const findPartEvidenceStatement = statement.global(
  'payments.findPartEvidence',
  sql`select i.customer_id as "customerId", i.operation_id as "operationId", i.order_id as "orderId",
    accepting.found and exists (
      select from discrepancies d
      where d.discrepancy_id = i.operation_id and d.customer_id = i.customer_id and d.order_id = i.order_id
        and d.kind = $11) as "isAccepted",
    i.difference = 0 or case when i.approved_by is null then accepting.charged else exists (
      select from adjustment_days d cross join lateral unnest(d.charges) as c (charge)
      where d.actor = i.approved_by and d.day between asked.done - 1 and asked.done + 1
        and ${isChargeOfPart}) end as "isCharged",
    i.request_id is null or exists (
      select from operator_actions b
      where b.subject = i.customer_id::text and b.step = 'BEGUN' and b.command = 'adjustments approve'
        and lower(b.arguments[1]) = i.request_id::text and ${isActor(sql`asked.approver`)}
        and ${notRefusedBefore(sql`i.accepted_at`)}) as "isApproved"
  from unnest(${partInputs.arrays}) as i (${partInputs.columns})
  cross join lateral (
    select (i.requested_at at time zone 'Asia/Seoul')::date as day, (i.accepted_at at time zone 'Asia/Seoul')::date as done,
      lower(i.requested_by) as actor, lower(i.approved_by) as approver
  ) asked
  cross join lateral (
    select count(*) > 0 as found, coalesce(bool_or(exists (
      select from adjustment_days d cross join lateral unnest(d.charges) as c (charge)
      where ${isActor(sql`lower(d.actor)`)} and d.day between asked.day - 1 and asked.day + 1
        and ${isChargeOfPart})), false) as charged
    from operator_actions b
    where b.subject = i.operation_id::text and b.step = 'BEGUN' and b.command = 'discrepancies accept'
      and (asked.actor is null or ${isActor(sql`asked.actor`)})
      and b.happened_at between i.requested_at - interval '1 day' and i.requested_at + interval '1 minute'
      and coalesce(b.arguments[array_position(b.arguments, '--credits') + 1] = i.credits::text, i.difference = 0)
      and not exists (
        select from operator_actions e
        where e.action_id = b.action_id and e.step = 'ENDED' and e.about ->> 'requestId' <> coalesce(i.request_id::text, ''))
      and ${notRefusedBefore(sql`i.requested_at`)}) accepting`,
)

export type PartEvidence = Pick<PartToCheck, 'customerId' | 'operationId' | 'orderId'> & {
  isAccepted: boolean
  isCharged: boolean
  isApproved: boolean
}

export function findPartEvidence(database: Database, parts: ComparedPart[]): Promise<PartEvidence[]> {
  return database.run<PartEvidence>(findPartEvidenceStatement, [...partInputs.valuesOf(parts), partlyCancelled])
}
