// The statements of reconciliation: runs, the gateway's movements, and the two comparisons, each in pieces that are quick
// whatever the size of the books.
import { type Database, statement } from '../db/database.ts'
import { columns } from '../db/set-wise.ts'
import type { Movement } from '../gateway/gateway.ts'

export type Span = { from: Date; to: Date }
export type Run = Span & { reconciliationId: string; holderId: string }

const insertRunStatement = statement(
  'payments.insertReconciliation',
  `insert into reconciliations (reconciliation_id, cause, from_time, to_time, holder_id, lease_until)
  values ($1, 'COMMAND', $2, $3, $1, now() + $4::int * interval '1 ms')
  on conflict do nothing`,
)

export async function insertRun(database: Database, id: string, { from, to }: Span, leaseMs: number): Promise<Run> {
  await database.run(insertRunStatement, [id, from, to, leaseMs])
  return { reconciliationId: id, holderId: id, from, to }
}

// Days are Korean, as the gateway's are. A day is due half an hour after its end; one that was missed, or that a process
// left unfinished, is made up for within a week. Days before the first customer have nothing to compare.
const claimDailyRunStatement = statement(
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
    r.to_time as "to"`,
)

/** The oldest day that nobody has reconciled and nobody is at; null when there is none. */
export async function claimDailyRun(database: Database, holderId: string, leaseMs: number): Promise<Run | null> {
  const [run] = await database.run<Run>(claimDailyRunStatement, [holderId, leaseMs])
  return run ?? null
}

const renewRunStatement = statement(
  'payments.renewReconciliation',
  `update reconciliations set lease_until = now() + $3::int * interval '1 ms'
  where reconciliation_id = $1 and holder_id = $2 and finished_at is null
  returning reconciliation_id`,
)

/** False when somebody else has taken the run over. */
export async function renewRun(database: Database, run: Run, leaseMs: number): Promise<boolean> {
  return (await database.run(renewRunStatement, [run.reconciliationId, run.holderId, leaseMs])).length > 0
}

const finishRunStatement = statement(
  'payments.finishReconciliation',
  `update reconciliations set finished_at = now(), result = $3::jsonb
  where reconciliation_id = $1 and holder_id = $2
  returning reconciliation_id`,
)

/** False when somebody else has taken the run over. */
export async function finishRun(database: Database, run: Run, result: object): Promise<boolean> {
  const values = [run.reconciliationId, run.holderId, JSON.stringify(result)]
  return (await database.run(finishRunStatement, values)).length > 0
}

const insertMovementsStatement = statement(
  'payments.insertGatewayMovements',
  `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])
    as m (transaction_key, payment_key, order_id, direction, amount, moved_at)
  order by transaction_key
  on conflict do nothing`,
)

export async function insertMovements(database: Database, movements: Movement[]): Promise<void> {
  const names = ['transactionKey', 'paymentKey', 'orderId', 'direction', 'amount', 'movedAt'] as const
  if (movements.length > 0) await database.run(insertMovementsStatement, columns(movements, ...names))
}

/** `customerId` is null for an order that is not ours, `booked` says that an operation of ours accounts for it. */
export type ComparedMovement = Movement & { customerId: string | null; booked: boolean }

// The amount of a capture or a whole cancel is the order's. What was cancelled in parts is not booked by any one row, and
// is looked at.
const compareMovementsStatement = statement(
  'payments.compareGatewayMovements',
  `with page as (
    select *
    from gateway_movements
    where moved_at between $1 and $2 and (moved_at, transaction_key) > ($3, $4)
    order by moved_at, transaction_key
    limit $5
  )
  select m.transaction_key as "transactionKey", m.payment_key as "paymentKey", m.order_id as "orderId", m.direction,
    m.amount, m.moved_at as "movedAt", o.customer_id as "customerId",
    exists (select from payment_operations p
            where p.customer_id = o.customer_id and p.order_id = o.order_id and p.payment_key = m.payment_key
              and p.amount = m.amount and p.state = 'APPROVED'
              and (p.kind = 'CONFIRM') = (m.direction = 'CAPTURE')) as "booked"
  from page m
  left join orders o on o.order_id = m.order_id
  order by m.moved_at, m.transaction_key`,
)

export type MovementPlace = { movedAt: Date; transactionKey: string }

export function compareMovements(
  database: Database,
  { from, to }: Span,
  after: MovementPlace,
  limit: number,
): Promise<ComparedMovement[]> {
  const values = [from, to, after.movedAt, after.transactionKey, limit]
  return database.run<ComparedMovement>(compareMovementsStatement, values)
}

export type UnmovedOperation = { customerId: string; operationId: string; orderId: string; paymentKey: string }

// By the time at which they were opened: it never changes, so an operation belongs to exactly one span, and the rows of a
// span lie together. What is still open then is settled by asking the gateway. The slice is read by itself and each of its
// rows looked up by its key: a plan that is made once for all slices would rather walk the whole table in the order of the
// answer, or read all movements.
const listUnmovedStatement = statement(
  'payments.listUnmovedOperations',
  `with slice as materialized (
    select p.customer_id, p.operation_id, p.order_id, p.payment_key, p.kind
    from payment_operations p
    where p.opened_at >= $1 and p.opened_at < $2 and p.state = 'APPROVED'
      and (p.customer_id, p.operation_id) > ($3, $4)
  )
  select p.customer_id as "customerId", p.operation_id as "operationId", p.order_id as "orderId",
    p.payment_key as "paymentKey"
  from slice p
  left join lateral (
    select true as moved
    from gateway_movements m
    where m.payment_key = p.payment_key and (m.direction = 'CAPTURE') = (p.kind = 'CONFIRM')
    limit 1
  ) found on true
  where found.moved is null
  order by p.customer_id, p.operation_id
  limit $5`,
)

/** Approved operations of a span that the gateway's list has no movement for. */
export function listUnmoved(
  database: Database,
  { from, to }: Span,
  after: Pick<UnmovedOperation, 'customerId' | 'operationId'>,
  limit: number,
): Promise<UnmovedOperation[]> {
  const values = [from, to, after.customerId, after.operationId, limit]
  return database.run<UnmovedOperation>(listUnmovedStatement, values)
}
