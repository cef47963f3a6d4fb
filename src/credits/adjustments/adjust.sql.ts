// Adjustments by operators: goodwill and corrections, at once or after a second operator has approved them. The day's total of
// an operator is one row, which is raised if the limit allows, once for each adjustment, by the statement that moves the credits:
// a request charges the day of the one who approves it. So two adjustments at once cannot both use what is left. On a cluster the
// row is on another server than the account: there the day is charged first, and stays charged when nothing follows.
import { type Database, defineStep, isRestrictViolation, statement } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { applyMovements, lockAccountsOf, lowCreditsEvents } from '../ledger.sql.ts'
import { movements } from '../movements.ts'
import { type AdjustmentKind, recordAdjustments } from './adjustments.sql.ts'

export type OperatorKind = Exclude<AdjustmentKind, 'REVERSAL'>

/** PART: credits that are taken for a part that was cancelled at the gateway; payments/refunds/accept.ts. */
export type RequestKind = OperatorKind | 'PART'

export type Adjustment = {
  customerId: string
  /** Chosen by the page or the command: a repeat is recognised by it. */
  adjustmentId: string
  kind: OperatorKind
  /** Negative for a correction that takes credits. */
  credits: number
  reason: string
  actor: string
}

/** A day that is charged for it already allows it again; no credits are not charged. */
export const chargeDay = defineStep(
  sql`charged`,
  'credits.chargeDay',
  (rows) => sql`charge as (
    insert into adjustment_days as d (actor, day, credits, charges)
    select $1, (now() at time zone 'Asia/Seoul')::date, abs($2::bigint), array[$3::text] from ${rows}
    where abs($2::bigint) between 1 and $4::bigint
    on conflict (actor, day) do update
    set credits = d.credits + excluded.credits, charges = d.charges || excluded.charges
    where $3::text <> all (d.charges) and d.credits + excluded.credits <= $4::bigint
    returning actor
  ),
  charged as (
    select actor from charge
    union all
    select d.actor from ${rows} cross join adjustment_days d
    where d.actor = $1 and d.day = (now() at time zone 'Asia/Seoul')::date and $3::text = any (d.charges)
    union all
    select $1 from ${rows} where $2::bigint = 0
  )`,
)

const findDayStatement = statement.global(
  'credits.findDay',
  (replicated) => sql`select credits as "used", coalesce($2::text = any (charges), false) as "isCharged"
  from adjustment_days
  where actor = $1 and day = (now() at time zone 'Asia/Seoul')::date and ($2::text is null or ${replicated})`,
)

/** What the day of an actor is charged for. A repeat is the same in all of it. */
export type Charge = Pick<Adjustment, 'customerId' | 'adjustmentId' | 'credits' | 'actor'> & { kind: RequestKind }

const chargeKeyOf = ({ customerId, adjustmentId, kind, credits }: Charge) =>
  [customerId, adjustmentId, kind, credits].join('/')

/** What the actor has used of the Korean day. */
export async function findUsedToday(database: Database, actor: string): Promise<number> {
  const [day] = await database.run<{ used: number }>(findDayStatement, [actor, null])
  return day?.used ?? 0
}

export async function isCharged(database: Database, charge: Charge): Promise<boolean> {
  const [day] = await database.run<{ isCharged: boolean }>(findDayStatement, [charge.actor, chargeKeyOf(charge)])
  return day?.isCharged ?? false
}

/** The values of the step. */
export const chargeValues = (charge: Charge, perDay: number): unknown[] => [
  charge.actor,
  charge.credits,
  chargeKeyOf(charge),
  perDay,
]

/** CTE `movement` and everything that follows from it, from a CTE `cause` with one row. */
const moveByCause = sql`
  movement as (
    select customer_id, turn, kind, credits as delta, 0 as held_delta, null::text as order_id, null::text as reference,
           null::uuid as hold_id, null::text as service_id, 1 as events, null::timestamptz as not_before
    from cause
  ),${applyMovements},${recordAdjustments(sql`cause`)},
  event as (
    select customer_id, first_event as event_number, '${movements.goodwill.event satisfies typeof movements.correction.event}' as type,
           json_build_object('customerId', customer_id, 'kind', kind, 'credits', delta, 'balance', available) as data,
           moved_at
    from moved
    union all${lowCreditsEvents}
  ),${emitEvents}`

const isUnused = `not exists (select from adjustments where customer_id = $1 and adjustment_id = $2)
      and not exists (select from adjustment_requests where customer_id = $1 and adjustment_id = $2)`

const adjustStatement = statement.ofCustomerAndStep(
  'credits.adjust',
  chargeDay,
  (charged) => sql`with recursive target as (
    select $1::uuid as customer_id, null::timestamptz as not_before
    where ${isUnused}
  ),${lockAccountsOf('target')},
  covered as (
    select from account where available + $4::bigint >= 0
  ),
  ${charged(sql`covered`)},
  cause as (
    select $1::uuid as customer_id, 1::bigint as turn, $2::uuid as adjustment_id, $3::text as kind, $4::bigint as credits,
           null::bigint as reversed_entry, $6::text as actor, null::text as approved_by, $5::text as reason
    from charged
  ),${moveByCause}
  select available from moved`,
)

/** Available credits afterwards; undefined when nothing moved. */
export async function insertAdjustment(
  database: Database,
  adjustment: Adjustment,
  perDay: number,
): Promise<number | undefined> {
  const values = [...valuesOf(adjustment), ...chargeValues(adjustment, perDay)]
  const [moved] = await database.run<{ available: number }>(adjustStatement, values)
  return moved?.available
}

const requestStatement = statement.ofCustomer(
  'credits.requestAdjustment',
  `with covered as (
    select from accounts where customer_id = $1 and balance - held + $4::bigint >= 0 and ${isUnused} for no key update
  )
  insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by)
  select $1, $2, $3, $4, $5, $6 from covered
  returning adjustment_id`,
)

/** Returns whether it was stored. */
export async function insertRequest(database: Database, adjustment: Adjustment): Promise<boolean> {
  return (await database.run(requestStatement, valuesOf(adjustment))).length > 0
}

function valuesOf({ customerId, adjustmentId, kind, credits, reason, actor }: Adjustment): unknown[] {
  return [customerId, adjustmentId, kind, credits, reason, actor]
}

// The request is read again under its lock: another operator may have decided it during the wait for the account.
const approveStatement = statement.ofCustomerAndStep(
  'credits.approveAdjustment',
  chargeDay,
  (charged) => sql`with recursive target as (
    select customer_id, null::timestamptz as not_before
    from adjustment_requests
    where customer_id = $1 and adjustment_id = $2 and state = 'PENDING' and requested_by <> $3
  ),${lockAccountsOf('target')},
  request as (
    select r.customer_id, r.adjustment_id, r.kind, r.credits, r.requested_by, r.reason
    from account a
    cross join lateral (
      select * from adjustment_requests r
      where r.customer_id = a.customer_id and r.adjustment_id = $2 limit 1 for no key update
    ) r
    where r.state = 'PENDING' and a.available + r.credits >= 0
  ),
  ${charged(sql`request`)},
  cause as (
    select customer_id, 1::bigint as turn, adjustment_id, kind, credits, null::bigint as reversed_entry,
           requested_by as actor, $3::text as approved_by, reason
    from request cross join charged
  ),${moveByCause},
  decided as (
    update adjustment_requests r
    set state = 'APPROVED', decided_by = $3, decided_at = m.moved_at
    from moved m
    where r.customer_id = m.customer_id and r.adjustment_id = $2
  )
  select available from moved`,
)

/** Available credits afterwards; undefined when nothing moved. */
export async function approveRequest(database: Database, charge: Charge, perDay: number): Promise<number | undefined> {
  const { customerId, adjustmentId, actor } = charge
  const values = [customerId, adjustmentId, actor, ...chargeValues(charge, perDay)]
  const [moved] = await database.run<{ available: number }>(approveStatement, values)
  return moved?.available
}

const rejectStatement = statement.ofCustomer(
  'credits.rejectAdjustment',
  `update adjustment_requests set state = 'REJECTED', decided_by = $3, decided_at = now()
  where customer_id = $1 and adjustment_id = $2 and state = 'PENDING'
  returning adjustment_id`,
)

/** Returns whether it was pending. */
export async function rejectRequest(
  database: Database,
  { customerId, adjustmentId }: RequestKey,
  actor: string,
): Promise<boolean> {
  return (await database.run(rejectStatement, [customerId, adjustmentId, actor])).length > 0
}

type RequestKey = Pick<AdjustmentRequest, 'customerId' | 'adjustmentId'>

export type AdjustmentRequest = {
  customerId: string
  adjustmentId: string
  kind: RequestKind
  credits: number
  reason: string
  requestedBy: string
  requestedAt: Date
  state: 'PENDING' | 'APPROVED' | 'REJECTED'
  decidedBy: string | null
  decidedAt: Date | null
  /** Only for a PART; the amount is in KRW. */
  discrepancyId: string | null
  orderId: string | null
  amount: number | null
}

const requestColumns = `r.customer_id as "customerId", r.adjustment_id as "adjustmentId", r.kind, r.credits, r.reason,
    r.requested_by as "requestedBy", r.requested_at as "requestedAt", r.state, r.decided_by as "decidedBy",
    r.decided_at as "decidedAt", r.discrepancy_id as "discrepancyId", r.order_id as "orderId", r.amount`

const findRequestStatement = statement.global(
  'credits.findAdjustmentRequest',
  (replicated) => sql`select ${requestColumns} from adjustment_requests r where r.adjustment_id = $1 and ${replicated}`,
)

export async function findRequest(database: Database, adjustmentId: string): Promise<AdjustmentRequest | undefined> {
  const [row] = await database.run<AdjustmentRequest>(findRequestStatement, [adjustmentId])
  return row
}

export type AcceptanceRequest = Omit<Adjustment, 'kind'> & { discrepancyId: string; orderId: string; amount: number }

const requestPartStatement = statement.ofCustomer(
  'credits.requestPart',
  `insert into adjustment_requests
    (customer_id, adjustment_id, kind, credits, reason, requested_by, discrepancy_id, order_id, amount)
  values ($1, $2, 'PART', $3, $4, $5, $6, $7, $8)
  on conflict do nothing`,
)

/** Nothing is stored when one about the same part waits, or the part was accepted. */
export async function insertPartRequest(database: Database, request: AcceptanceRequest): Promise<void> {
  const { customerId, adjustmentId, credits, reason, actor, discrepancyId, orderId, amount } = request
  const values = [customerId, adjustmentId, credits, reason, actor, discrepancyId, orderId, amount]
  await database.run(requestPartStatement, values).catch((error) => {
    if (!isRestrictViolation(error)) throw error
  })
}

export type StoredPart = { adjustmentId: string; credits: number; amount: number }

const findPartRequestStatement = statement.ofCustomer(
  'credits.findPartRequest',
  (replicated) => sql`select adjustment_id as "adjustmentId", credits, amount
  from adjustment_requests
  where customer_id = $1 and discrepancy_id = $2 and kind = 'PART' and state = 'PENDING' and ${replicated}`,
)

export async function findPartRequest(
  database: Database,
  { customerId, discrepancyId }: Pick<AcceptanceRequest, 'customerId' | 'discrepancyId'>,
): Promise<StoredPart | undefined> {
  const [request] = await database.run<StoredPart>(findPartRequestStatement, [customerId, discrepancyId])
  return request
}

const listPendingStatement = statement.global(
  'credits.listPendingAdjustments',
  `select ${requestColumns}
  from adjustment_requests r
  where r.state = 'PENDING' and ($1::uuid is null or r.customer_id = $1)
  order by r.requested_at, r.adjustment_id
  limit $2`,
)

/** The oldest first; of a customer or of all. */
export function listPendingRequests(
  database: Database,
  customerId: string | null,
  limit: number,
): Promise<AdjustmentRequest[]> {
  return database.run<AdjustmentRequest>(listPendingStatement, [customerId, limit])
}

export type AdjustmentState = {
  /** What the account has now; null: there is no such customer. */
  available: number | null
  /** The adjustment of this id, with the available credits after it. */
  done: { kind: AdjustmentKind; credits: number; available: number } | null
}

const findStateStatement = statement.ofCustomer(
  'credits.findAdjustmentState',
  (replicated) => sql`select (select balance - held from accounts where customer_id = $1) as "available",
    (select json_build_object('kind', a.kind, 'credits', a.credits, 'available', e.balance_after - e.held_after)
     from adjustments a
     join ledger_entries e on e.customer_id = a.customer_id and e.entry_number = a.entry_number
     where a.customer_id = $1 and a.adjustment_id = $2) as "done"
  where $2::uuid is null or ${replicated}`,
)

/** To explain why nothing moved. */
export async function findAdjustmentState(
  database: Database,
  { customerId, adjustmentId }: { customerId: string; adjustmentId: string | null },
): Promise<AdjustmentState> {
  const [row] = await database.run<AdjustmentState>(findStateStatement, [customerId, adjustmentId])
  return row as AdjustmentState
}
