// What the pages of the books read: the runs of reconciliation, the days that they covered, discrepancies, and the payments
// of a span. Lists go on behind the key of a row.
import { type Database, statement } from '../../db/database.ts'
import type { Reconciliation } from '../../payments/books/reconcile.ts'
import type { OperationKind } from '../../payments/kinds.ts'

type AddedSince07 =
  | 'outsideCaptured'
  | 'outsideCancelled'
  | 'missingCaptured'
  | 'missingCancelled'
  | 'notListed'
  | 'listedDifferently'

/** Runs of version 0.7.0 did not look at everything that those of today do. */
export type StoredResult = Omit<Reconciliation, AddedSince07> & Partial<Pick<Reconciliation, AddedSince07>>

export type RunRow = {
  reconciliationId: string
  cause: 'DAILY' | 'COMMAND'
  from: Date
  to: Date
  startedAt: Date
  finishedAt: Date | null
  state: 'under way' | 'finished' | 'interrupted'
  result: StoredResult | null
}

const runColumns = `r.reconciliation_id as "reconciliationId", r.cause, r.from_time as "from", r.to_time as "to",
    r.started_at as "startedAt", r.finished_at as "finishedAt", r.result,
    case when r.finished_at is not null then 'finished' when r.lease_until > now() then 'under way'
         else 'interrupted' end as "state"
  from reconciliations r`

const listNewestRunsStatement = statement(
  'console.listNewestRuns',
  `select ${runColumns} order by r.started_at desc, r.reconciliation_id desc limit $1`,
)
const listRunsBehindStatement = statement(
  'console.listRunsBehind',
  `select ${runColumns}
  where (r.started_at, r.reconciliation_id) < (
    select c.started_at, c.reconciliation_id from reconciliations c where c.reconciliation_id = $2)
  order by r.started_at desc, r.reconciliation_id desc
  limit $1`,
)

/** The newest first, behind a run. */
export function listRuns(database: Database, behind: string | null, limit: number): Promise<RunRow[]> {
  return behind === null
    ? database.run<RunRow>(listNewestRunsStatement, [limit])
    : database.run<RunRow>(listRunsBehindStatement, [limit, behind])
}

const findRunStatement = statement('console.findRun', `select ${runColumns} where r.reconciliation_id = $1`)

export async function findRun(database: Database, reconciliationId: string): Promise<RunRow | null> {
  const [run] = await database.run<RunRow>(findRunStatement, [reconciliationId])
  return run ?? null
}

export type DayRun = RunRow & { day: string }

// A run covers a day when it ends with its last second; of today, when it ends with the moment at which it was begun. The
// latest that has finished and the latest of all, which may be under way.
const listRunsOfDaysStatement = statement(
  'console.listRunsOfDays',
  `select to_char(d.day, 'YYYY-MM-DD') as "day", r.*
  from generate_series($1::timestamp, $2::timestamp, interval '1 day') as d (day)
  cross join lateral (select d.day at time zone 'Asia/Seoul' as begins) b
  cross join lateral (
    select distinct on (of_day."state" = 'finished') of_day.*
    from (
      select ${runColumns}
      where r.from_time = b.begins
        and (r.to_time = b.begins + interval '1 day' - interval '1 second'
             or r.to_time < b.begins + interval '1 day' and now() < b.begins + interval '1 day')
    ) of_day
    order by of_day."state" = 'finished', of_day."startedAt" desc
  ) r
  order by 1`,
)

export function listRunsOfDays(database: Database, from: string, to: string): Promise<DayRun[]> {
  return database.run<DayRun>(listRunsOfDaysStatement, [from, to])
}

export type DiscrepancyRow = {
  discrepancyId: string
  kind: string
  subject: string
  customerId: string | null
  orderId: string | null
  detail: Record<string, unknown>
  foundAt: Date
  lastSeenAt: Date
  resolvedAt: Date | null
  resolution: string | null
}

export const discrepancyColumns = `d.discrepancy_id as "discrepancyId", d.kind, d.subject, d.customer_id as "customerId",
    d.order_id as "orderId", d.detail, d.found_at as "foundAt", d.last_seen_at as "lastSeenAt",
    d.resolved_at as "resolvedAt", d.resolution`

export type DiscrepancyState = 'open' | 'resolved'

/** Found up to one moment and seen since another. */
export type Sight = { seenSince: Date | '-infinity'; foundUntil: Date | 'infinity' }
const always: Sight = { seenSince: '-infinity', foundUntil: 'infinity' }
const inSight = `d.last_seen_at >= $2::timestamptz and d.found_at <= $3::timestamptz`

const listDiscrepanciesStatements = {
  open: {
    first: statement(
      'console.listOpenDiscrepancies',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is null and ${inSight} order by d.found_at, d.discrepancy_id limit $1`,
    ),
    behind: statement(
      'console.listOpenDiscrepanciesBehind',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is null and ${inSight} and (d.found_at, d.discrepancy_id) > (
        select c.found_at, c.discrepancy_id from discrepancies c where c.discrepancy_id = $4)
      order by d.found_at, d.discrepancy_id
      limit $1`,
    ),
  },
  resolved: {
    first: statement(
      'console.listResolvedDiscrepancies',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is not null and ${inSight} order by d.resolved_at desc, d.discrepancy_id desc limit $1`,
    ),
    behind: statement(
      'console.listResolvedDiscrepanciesBehind',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is not null and ${inSight} and (d.resolved_at, d.discrepancy_id) < (
        select c.resolved_at, c.discrepancy_id from discrepancies c where c.discrepancy_id = $4)
      order by d.resolved_at desc, d.discrepancy_id desc
      limit $1`,
    ),
  },
}

/** The open ones oldest first, the resolved ones newest first. */
export function listDiscrepancies(
  database: Database,
  state: DiscrepancyState,
  behind: string | null,
  limit: number,
  { seenSince, foundUntil } = always,
): Promise<DiscrepancyRow[]> {
  const { first, behind: next } = listDiscrepanciesStatements[state]
  return behind === null
    ? database.run<DiscrepancyRow>(first, [limit, seenSince, foundUntil])
    : database.run<DiscrepancyRow>(next, [limit, seenSince, foundUntil, behind])
}

export type PaymentRow = {
  closedAt: Date
  orderId: string
  customerId: string
  kind: OperationKind
  amount: number
  paymentKey: string
  transactionKey: string | null
  operationId: string
  /** `closedAt` to the microsecond, to go on behind. */
  place: string
}

const listPaymentsStatement = statement(
  'console.listPayments',
  `select p.closed_at as "closedAt", p.order_id as "orderId", p.customer_id as "customerId", p.kind, p.amount,
    p.payment_key as "paymentKey", p.transaction_key as "transactionKey", p.operation_id as "operationId",
    p.closed_at::text as "place"
  from payment_operations p
  where p.state = 'APPROVED' and p.closed_at < $1 and (p.closed_at, p.operation_id) > ($2::timestamptz, $3::uuid)
  order by p.closed_at, p.operation_id
  limit $4`,
)

/** Approved before a time, in the order of time, behind one. */
export function listPayments(
  database: Database,
  before: Date,
  behind: { place: string; operationId: string },
  limit: number,
): Promise<PaymentRow[]> {
  return database.run<PaymentRow>(listPaymentsStatement, [before, behind.place, behind.operationId, limit])
}
