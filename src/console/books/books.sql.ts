// The statements of the pages of the books: reconciliation runs, the days that they cover, and the payments of a period. A list
// continues after the key of a row.

import type { PaidWith } from '../../core/paid-with.ts'
import { paidWithJson } from '../../credits/lots/lots.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, sql } from '../../db/sql.ts'
import { quotedEnd, subjectsInProgress } from '../../operators/action-log.sql.ts'
import type { LinkedLine } from '../../payments/books/bridge.ts'
import { isExplained } from '../../payments/books/reconcile.sql.ts'
import type { Reconciliation } from '../../payments/books/reconcile.ts'
import type { OperationKind } from '../../payments/kinds.ts'
import type { OrderKey } from '../../payments/orders.sql.ts'
import type { RefundAction } from '../orders/ended.ts'

type AddedSince07 =
  | 'outsideCaptured'
  | 'outsideCancelled'
  | 'missingCaptured'
  | 'missingCancelled'
  | 'notListed'
  | 'listedDifferently'

/** Lines and rest are read for one run alone. Times come as text, from the JSON. */
type StoredLine = Omit<LinkedLine, 'at'> & { at: string }
type AddedSince014 = 'otherServices' | 'unknownOrders' | 'rest' | 'lines'
type AddedLater = AddedSince07 | AddedSince014

/** Runs of earlier versions compared less than those of later ones. */
export type StoredResult = Omit<Reconciliation, AddedLater> &
  Partial<Pick<Reconciliation, Exclude<AddedLater, 'lines'>>> & { lines?: StoredLine[] }

export type RunRow = {
  reconciliationId: string
  cause: 'DAILY' | 'COMMAND'
  /** Null: the worker, or a run of an earlier version. */
  requestedBy: string | null
  from: Date
  to: Date
  startedAt: Date
  finishedAt: Date | null
  state: 'under way' | 'finished' | 'interrupted'
  result: StoredResult | null
  /** Each line is settled, or its discrepancy is resolved by now; all lines are stored. */
  isExplained: boolean
}

const quotedRun = `r.reconciliation_id as "reconciliationId", r.cause, r.requested_by as "requestedBy",
    r.from_time as "from", r.to_time as "to", r.started_at as "startedAt",
    case when not a.is_open then r.finished_at end as "finishedAt",
    case when a.is_open then 'under way' when r.finished_at is not null then 'finished'
         when r.lease_until > now() then 'under way' else 'interrupted' end as "state", ${isExplained} as "isExplained"`

// A run whose action has no end yet is under way, whatever its row has: a reader finds the end of what is over.
const quotedRuns = `from reconciliations r
  cross join lateral (select r.reconciliation_id::text = any (${subjectsInProgress}) as is_open) a`

/** For a list: without the lines of the result. */
const runColumns = `${quotedRun}, case when not a.is_open then r.result - '{lines,rest}'::text[] end as "result"
  ${quotedRuns}`

const listNewestRunsStatement = statement.global(
  'console.listNewestRuns',
  `select ${runColumns} order by r.started_at desc, r.reconciliation_id desc limit $1`,
)
const listRunsBehindStatement = statement.global(
  'console.listRunsBehind',
  `select ${runColumns}
  where (r.started_at, r.reconciliation_id) < (
    select c.started_at, c.reconciliation_id from reconciliations c where c.reconciliation_id = $2)
  order by r.started_at desc, r.reconciliation_id desc
  limit $1`,
)

/** Newest first, after a run. */
export function listRuns(database: Database, after: string | null, limit: number): Promise<RunRow[]> {
  return after === null
    ? database.run<RunRow>(listNewestRunsStatement, [limit])
    : database.run<RunRow>(listRunsBehindStatement, [limit, after])
}

const findRunStatement = statement.global(
  'console.findRun',
  `select ${quotedRun}, case when not a.is_open then r.result end as "result"
  ${quotedRuns}
  where r.reconciliation_id = $1`,
)

export async function findRun(database: Database, reconciliationId: string): Promise<RunRow | null> {
  const [run] = await database.run<RunRow>(findRunStatement, [reconciliationId])
  return run ?? null
}

export type DayRun = RunRow & { day: string }

// A run covers a day when it ends with the last second of the day; for today, when it ends with the moment it was started. Per day
// the latest finished run and the latest one of all, which may be in progress.
const listRunsOfDaysStatement = statement.global(
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

export type PaymentRow = {
  closedAt: Date
  orderId: string
  customerId: string
  kind: OperationKind
  amount: number
  /** What it took back. */
  creditsHeld: number
  paymentKey: string
  transactionKey: string | null
  reason: string | null
  gatewayCode: string | null
  /** ISO. */
  openedAt: string
  operationId: string
  /** `closedAt` to the microsecond, to continue after. */
  place: string
  paidWith: PaidWith | null
}

const listPaymentsStatement = statement.global(
  'console.listPayments',
  sql`select p.closed_at as "closedAt", p.order_id as "orderId", p.customer_id as "customerId", p.kind, p.amount,
    p.credits_held as "creditsHeld", p.payment_key as "paymentKey", p.transaction_key as "transactionKey", p.reason, p.gateway_code as "gatewayCode",
    ${iso(sql`p.opened_at`)} as "openedAt", p.operation_id as "operationId", p.closed_at::text as "place",
    (select ${paidWithJson(sql`c`)} from payment_operations c
     where c.customer_id = p.customer_id and c.order_id = p.order_id and c.kind = 'CONFIRM' and c.state = 'APPROVED') as "paidWith"
  from payment_operations p
  where p.state = 'APPROVED' and p.closed_at < $1 and (p.closed_at, p.operation_id) > ($2::timestamptz, $3::uuid)
  order by p.closed_at, p.operation_id
  limit $4`,
)

/** Approved before a time, oldest first, after a payment. */
export function listPayments(
  database: Database,
  before: Date,
  after: { place: string; operationId: string },
  limit: number,
): Promise<PaymentRow[]> {
  return database.run<PaymentRow>(listPaymentsStatement, [before, after.place, after.operationId, limit])
}

// The subject of an action is the order, or a discrepancy of it.
const findRefundActionsStatement = statement.global(
  'console.findRefundActions',
  sql`with subjects as (
    select i.order_id, i.order_id as subject from unnest($2::text[]) as i (order_id)
    union all
    select d.order_id, d.discrepancy_id::text
    from unnest($1::uuid[], $2::text[]) as i (customer_id, order_id)
    join discrepancies d on d.customer_id = i.customer_id and d.order_id = i.order_id
  )
  select s.order_id as "orderId", b.actor, b.command, ${iso(sql`b.happened_at`)} as "at", ${iso(sql`e.ended_at`)} as "endedAt"
  from subjects s
  join operator_actions b on b.subject = s.subject
  ${quotedEnd}
  where b.step = 'BEGUN' and b.command in ('orders refund', 'discrepancies accept')
  order by b.happened_at`,
)

/** Actions that refund one of these orders or accept a refund, oldest first, by order. */
export async function findRefundActions(database: Database, orders: OrderKey[]): Promise<Map<string, RefundAction[]>> {
  if (orders.length === 0) return new Map()
  const rows = await database.run<RefundAction & { orderId: string }>(findRefundActionsStatement, [
    orders.map(({ customerId }) => customerId),
    orders.map(({ orderId }) => orderId),
  ])
  return Map.groupBy(rows, ({ orderId }) => orderId)
}
