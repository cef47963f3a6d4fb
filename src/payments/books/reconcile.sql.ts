// The statements of reconciliation: runs, the gateway's movements, and what the two comparisons read, in pages that are quick
// whatever the size of the books.
import { assert } from '../../core/assert.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import type { Movement } from '../../gateway/gateway.ts'
import type { OperationKind } from '../kinds.ts'
import type { OrderKey } from '../orders.sql.ts'

/** `from` is included, `to` is not: consecutive spans leave nothing out. */
export type TimeSpan = { from: Date; to: Date }
export type Run = TimeSpan & { reconciliationId: string; holderId: string }

const insertRunStatement = statement.global(
  'payments.insertReconciliation',
  `insert into reconciliations (reconciliation_id, cause, from_time, to_time, holder_id, lease_until, requested_by)
  values ($1, 'COMMAND', $2, $3, $1, now() + $4::int * interval '1 ms', $5)
  on conflict do nothing`,
)

/**
 * The end of a span as the gateway, operators and the table of runs write it: its last second, included. A span that ends
 * within a second, because that was the present, ends with that moment.
 */
export function lastMomentOf({ to }: TimeSpan): Date {
  return to.getTime() % 1_000 === 0 ? new Date(to.getTime() - 1_000) : to
}

export async function insertRun(
  database: Database,
  id: string,
  span: TimeSpan,
  leaseMs: number,
  requestedBy: string | null,
): Promise<Run> {
  await database.run(insertRunStatement, [id, span.from, lastMomentOf(span), leaseMs, requestedBy])
  return { reconciliationId: id, holderId: id, ...span }
}

// Days are Korean, like the gateway's. A day is due half an hour after its end; one that was missed, or that a process left
// unfinished, is claimed again for a week. Days before the first customer have nothing to compare. The row of a day ends with
// its last second, as in version 0.7.0: so the unique index prevents instances of both versions from reconciling a day twice.
const claimDailyRunStatement = statement.global(
  'payments.claimDailyReconciliation',
  `insert into reconciliations as r (reconciliation_id, cause, from_time, to_time, holder_id, lease_until)
  select gen_random_uuid(), 'DAILY', day, day + interval '1 day' - interval '1 second', $1, now() + $2::int * interval '1 ms'
  from (
    select (date_trunc('day', (now() - interval '30 minutes') at time zone 'Asia/Seoul') - n * interval '1 day')
             at time zone 'Asia/Seoul' as day
    from generate_series(7, 1, -1) as n
  ) as days
  where day + interval '1 day' > (select min(created_at) from customers)
    and not exists (select from reconciliations done
                    where done.cause = 'DAILY' and done.from_time = day
                      and (done.finished_at is not null or done.lease_until > now()))
  order by day
  limit 1
  on conflict (from_time, to_time) where cause = 'DAILY'
  do update set holder_id = excluded.holder_id, lease_until = excluded.lease_until
  where r.finished_at is null and r.lease_until <= now()
  returning r.reconciliation_id as "reconciliationId", r.holder_id as "holderId", r.from_time as "from",
    r.from_time + interval '1 day' as "to"`,
)

/** The oldest day that is neither reconciled nor claimed; null when there is none. */
export async function claimDailyRun(database: Database, holderId: string, leaseMs: number): Promise<Run | null> {
  const [run] = await database.run<Run>(claimDailyRunStatement, [holderId, leaseMs])
  return run ?? null
}

const renewRunStatement = statement.global(
  'payments.renewReconciliation',
  `update reconciliations set lease_until = now() + $3::int * interval '1 ms'
  where reconciliation_id = $1 and holder_id = $2 and finished_at is null
  returning reconciliation_id`,
)

/** False when another process has taken the run over. */
export async function renewRun(database: Database, run: Run, leaseMs: number): Promise<boolean> {
  return (await database.run(renewRunStatement, [run.reconciliationId, run.holderId, leaseMs])).length > 0
}

const finishRunStatement = statement.global(
  'payments.finishReconciliation',
  `update reconciliations set finished_at = now(), result = $3::jsonb
  where reconciliation_id = $1 and holder_id = $2
  returning reconciliation_id`,
)

/** False when another process has taken the run over. */
export async function finishRun(database: Database, run: Run, result: object): Promise<boolean> {
  const values = [run.reconciliationId, run.holderId, JSON.stringify(result)]
  return (await database.run(finishRunStatement, values)).length > 0
}

const findBookedCancelStatement = statement.ofCustomer(
  'payments.findBookedCancel',
  `select operation_id from payment_operations
  where customer_id = $1 and order_id = $2 and state = 'APPROVED' and kind in ('CANCEL', 'REFUND', 'PART')
    and transaction_key = $3 and payment_key = $4 and amount = $5`,
)

/** Whether a cancel of the gateway's list is one that our books have. */
export async function isBookedCancel(
  database: Database,
  { customerId, orderId }: OrderKey,
  { transactionKey, paymentKey, amount }: Movement,
): Promise<boolean> {
  const values = [customerId, orderId, transactionKey, paymentKey, amount]
  return (await database.run(findBookedCancelStatement, values)).length > 0
}

const movementInputs = inputs<Movement>({
  transactionKey: 'text',
  paymentKey: 'text',
  orderId: 'text',
  direction: 'text',
  amount: 'bigint',
  movedAt: 'timestamptz',
})

const insertMovementsStatement = statement.global(
  'payments.insertGatewayMovements',
  sql`insert into gateway_movements (${movementInputs.columns})
  select * from unnest(${movementInputs.arrays}) as m (${movementInputs.columns})
  order by transaction_key
  on conflict do nothing
  returning 1`,
)

/** Returns how many were new. */
export async function insertMovements(database: Database, movements: Movement[]): Promise<number> {
  return (await database.run(insertMovementsStatement, movementInputs.valuesOf(movements))).length
}

const findMovementsStatement = statement.global(
  'payments.findGatewayMovements',
  `select transaction_key as "transactionKey", payment_key as "paymentKey", order_id as "orderId", direction, amount,
    moved_at as "movedAt"
  from gateway_movements
  where transaction_key = any ($1::text[])`,
)

/** The rows of our table with these transaction keys. */
export function findMovements(database: Database, transactionKeys: string[]): Promise<Movement[]> {
  return database.run<Movement>(findMovementsStatement, [transactionKeys])
}

/** The time is a text, because it has microseconds: a row that did not come from the gateway may have any time. */
export type MovementPlace = { place: string; transactionKey: string }
export const firstPlace: MovementPlace = { place: '-infinity', transactionKey: '' }

export type StoredMovement = Movement & MovementPlace

const listMovementsStatement = statement.global(
  'payments.listGatewayMovements',
  `select transaction_key as "transactionKey", payment_key as "paymentKey", order_id as "orderId", direction, amount,
    moved_at as "movedAt", moved_at::text as "place"
  from gateway_movements
  where moved_at >= $1 and moved_at < $2 and (moved_at, transaction_key) > ($3::timestamptz, $4)
  order by moved_at, transaction_key
  limit $5`,
)

/** The rows of our table in a span, after `after`. */
export function listMovements(
  database: Database,
  { from, to }: TimeSpan,
  after: MovementPlace,
  limit: number,
): Promise<StoredMovement[]> {
  const values = [from, to, after.place, after.transactionKey, limit]
  return database.run<StoredMovement>(listMovementsStatement, values)
}

const findBalanceStatement = statement.global(
  'payments.findBalanceOfMovements',
  `select coalesce(sum(case direction when 'CAPTURE' then amount else -amount end), 0)::bigint as "balance"
  from gateway_movements
  where payment_key = $1 and order_id = $2 and transaction_key <> all ($3::text[])`,
)

/** What is left of a payment after all its movements in our table and this one, as it is listed. Leaves the rejected rows out. */
export async function findBalanceWith(
  database: Database,
  { paymentKey, orderId, transactionKey, direction, amount }: Movement,
  rejectedKeys: string[],
): Promise<number> {
  const values = [paymentKey, orderId, [...rejectedKeys, transactionKey]]
  const [others] = await database.run<{ balance: number }>(findBalanceStatement, values)
  assert(others, 'an aggregate has one row')
  return others.balance + (direction === 'CAPTURE' ? amount : -amount)
}

// By the index of their times. A day that was not reconciled keeps its movements. The row of a day ends with its last second,
// so the day itself is counted from its beginning.
const deleteMovementsStatement = statement.global(
  'payments.deleteGatewayMovements',
  `delete from gateway_movements
  where transaction_key in (
    select m.transaction_key from gateway_movements m
    where m.moved_at < now() - $1::int * interval '1 day'
      and exists (
        select from reconciliations r
        where r.cause = 'DAILY' and r.finished_at is not null
          and r.from_time <= m.moved_at and m.moved_at < r.from_time + interval '1 day')
    limit $2)
  returning transaction_key`,
)

/** Deletes movements of days that were reconciled long ago, and returns how many there were. */
export async function deleteMovements(database: Database, keptDays: number, limit: number): Promise<number> {
  return (await database.run(deleteMovementsStatement, [keptDays, limit])).length
}

export type ApprovedOperation = {
  customerId: string
  operationId: string
  orderId: string
  paymentKey: string
  kind: OperationKind
  amount: number
  /** The gateway's key of the movement; null where its answer had none that could be stored. */
  transactionKey: string | null
  openedAt: Date
}

export type PaymentOfOrder = { customerId: string; orderId: string; paymentKey: string }

const paymentInputs = inputs<PaymentOfOrder>({ customerId: 'uuid', orderId: 'text', paymentKey: 'text' })

// The offset makes PostgreSQL read the operations order by order.
const findApprovedStatement = statement.ofCustomers(
  'payments.findApprovedOperations',
  sql`select p.customer_id as "customerId", p.operation_id as "operationId", p.order_id as "orderId",
    p.payment_key as "paymentKey", p.kind, p.amount, p.transaction_key as "transactionKey", p.opened_at as "openedAt"
  from unnest(${paymentInputs.arrays}) as i (${paymentInputs.columns})
  cross join lateral (
    select * from payment_operations p
    where p.customer_id = i.customer_id and p.order_id = i.order_id and p.payment_key = i.payment_key and p.state = 'APPROVED'
    offset 0
  ) p`,
)

/** The approved operations of payments of orders. */
export function findApprovedOperations(database: Database, payments: PaymentOfOrder[]): Promise<ApprovedOperation[]> {
  return database.run<ApprovedOperation>(findApprovedStatement, paymentInputs.valuesOf(payments))
}

// By the time at which they were opened: it never changes, so an operation belongs to exactly one span, and the rows of a
// span lie together. Open ones are resolved by looking the payment up. No index has this order, and a sort needs all rows of
// the span: so the limit does not lead PostgreSQL to a plan that reads the table from its start.
const listApprovedStatement = statement.global(
  'payments.listApprovedOperations',
  `select customer_id as "customerId", operation_id as "operationId", order_id as "orderId", payment_key as "paymentKey",
    kind, amount, transaction_key as "transactionKey", opened_at as "openedAt"
  from payment_operations
  where opened_at >= $1 and opened_at < $2 and state = 'APPROVED'
  order by opened_at
  limit $3`,
)

/** The first ones that were opened in a span; all of them when the limit is null. */
export function listApprovedOperations(
  database: Database,
  { from, to }: TimeSpan,
  limit: number | null,
): Promise<ApprovedOperation[]> {
  return database.run<ApprovedOperation>(listApprovedStatement, [from, to, limit])
}

const findOfPaymentsStatement = statement.global(
  'payments.findMovementsOfPayments',
  `select transaction_key as "transactionKey", payment_key as "paymentKey", order_id as "orderId", direction, amount,
    moved_at as "movedAt"
  from gateway_movements
  where payment_key = any ($1::text[])
  order by moved_at, transaction_key`,
)

/** All that our table has of these payments, on any day, in the order of their times. */
export function findMovementsOfPayments(database: Database, paymentKeys: string[]): Promise<Movement[]> {
  return database.run<Movement>(findOfPaymentsStatement, [paymentKeys])
}

/**
 * Whether each line of a run `r` is settled, or its discrepancy is resolved by now, and all lines are stored. The gateway has
 * returned what an unknown order without a discrepancy had paid.
 */
export const isExplained = `(coalesce(r.result #>> '{rest,lines}' = '0', false)
      and coalesce((r.result ->> 'notListed')::int + (r.result ->> 'listedDifferently')::int = 0, false)
      and not exists (
        select from jsonb_to_recordset(r.result -> 'lines') as l (result text, "discrepancyId" uuid)
        where l.result not in ('agrees', 'repaired', 'other service')
          and (l.result <> 'unknown order' or l."discrepancyId" is not null)
          and not exists (select from discrepancies d where d.discrepancy_id = l."discrepancyId" and d.resolved_at is not null)))`

const findExplainedStatement = statement.global(
  'payments.findExplainedRun',
  `select ${isExplained} as "isExplained" from reconciliations r where r.reconciliation_id = $1`,
)

export async function isRunExplained(database: Database, reconciliationId: string): Promise<boolean> {
  const [run] = await database.run<{ isExplained: boolean }>(findExplainedStatement, [reconciliationId])
  return run?.isExplained === true
}
