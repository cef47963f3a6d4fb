// Act three as statements: the outcome and all that follows from it, and the lease of an operation that stays open.
import { applyMovements, lockAccountsOf } from '../credits/ledger.ts'
import { type Database, statement } from '../db/database.ts'
import { columns } from '../db/set-wise.ts'
import { byOperation, type Operation, operationJson } from './begin-sql.ts'
import type { CreditsEffect, OrderStatus } from './order-status.ts'

export type Finish = {
  customerId: string
  operationId: string
  holderId: string
  orderId: string
  state: 'APPROVED' | 'REJECTED'
  from: OrderStatus
  to: OrderStatus
  credits: CreditsEffect
  gatewayCode: string | null
  transactionKey: string | null
}

export type Finished = { operationId: string; credits: number; totalCredits: number | null }

// Order, operation, account: each locked in key order and judged by its own fresh row. The order must still be in the
// state the transition leaves, and the operation still open; whoever comes second finds neither and changes nothing.
const finishOperationsStatement = statement(
  'payments.finishOperations',
  `with input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                         $9::text[], $10::text[])
      as i (customer_id, operation_id, holder_id, order_id, state, from_status, to_status, effect, gateway_code, transaction_key)
  ),
  locked_order as (
    select i.*, o.credits
    from orders o
    join input i using (customer_id, order_id)
    where o.status = i.from_status
    order by o.customer_id, o.order_id
    for no key update of o
  ),
  locked_operation as (
    select l.*, p.credits_held
    from payment_operations p
    join locked_order l using (customer_id, operation_id)
    where p.state = 'OPEN'
    order by p.customer_id, p.operation_id
    for no key update of p
  ),
  movement as (
    select customer_id, order_id, null::text as reference,
           case effect when 'grant' then 'GRANT' when 'take-held' then 'ROLLBACK' end as kind,
           case effect when 'grant' then credits when 'take-held' then -credits else 0 end as delta,
           -credits_held as held_delta
    from locked_operation
    where effect <> 'none'
  ),${lockAccountsOf('movement')},${applyMovements},
  moved_order as (
    update orders o
    set status = l.to_status,
        confirmed_at = case l.effect when 'grant' then now() else o.confirmed_at end,
        grant_entry = case e.kind when 'GRANT' then e.entry_number else o.grant_entry end,
        rollback_entry = case e.kind when 'ROLLBACK' then e.entry_number else o.rollback_entry end
    from locked_operation l
    left join entry e on e.customer_id = l.customer_id and e.order_id = l.order_id
    where o.customer_id = l.customer_id and o.order_id = l.order_id and l.from_status <> l.to_status
  ),
  closed as (
    update payment_operations p
    set state = l.state,
        closed_at = now(),
        closed_by = l.holder_id,
        gateway_code = l.gateway_code,
        transaction_key = l.transaction_key,
        total_credits = m.available
    from locked_operation l
    left join moved m on m.customer_id = l.customer_id
    where p.customer_id = l.customer_id and p.operation_id = l.operation_id
    returning p.operation_id, l.credits, p.total_credits
  )
  select operation_id as "operationId", credits, total_credits as "totalCredits" from closed`,
)

const findFinishesStatement = statement(
  'payments.findFinishes',
  `select p.operation_id as "operationId", o.credits, p.total_credits as "totalCredits"
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as i (customer_id, operation_id, holder_id)
  join payment_operations p using (customer_id, operation_id)
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  where p.closed_by = i.holder_id`,
)

/**
 * Records the outcomes and all that follows; null where somebody else has finished the operation. A statement that was
 * repeated because its connection died may find that its first run has gone through: the holder's id tells, in a second
 * statement, because the snapshot of the repeated one can be older than that commit.
 */
export async function finishOperations(database: Database, inputs: Finish[]): Promise<(Finished | null)[]> {
  const rows = await database.run<Finished>(
    finishOperationsStatement,
    columns(
      inputs,
      ...(['customerId', 'operationId', 'holderId', 'orderId', 'state', 'from', 'to', 'credits'] as const),
      ...(['gatewayCode', 'transactionKey'] as const),
    ),
  )
  const finished = byOperation(inputs, rows)
  const others = inputs.filter((_, index) => finished[index] === null)
  if (others.length === 0) return finished
  const values = columns(others, 'customerId', 'operationId', 'holderId')
  return byOperation(inputs, [...rows, ...(await database.run<Finished>(findFinishesStatement, values))])
}

const claimLeaseStatement = statement(
  'payments.claimLease',
  `update payment_operations p
  set lease_until = now() + $3::int * interval '1 ms', holder_id = $4
  where p.customer_id = $1 and p.operation_id = $2 and p.state = 'OPEN'
    and (p.lease_until <= now() or p.holder_id = $4)
  returning ${operationJson('p')} as "operation"`,
)

/** The operation for its new holder; null when it is closed or somebody else is at work on it. */
export async function claimLease(
  database: Database,
  operation: Operation,
  holderId: string,
  leaseMs: number,
): Promise<Operation | null> {
  const [row] = await database.run<{ operation: Operation }>(claimLeaseStatement, [
    operation.customerId,
    operation.operationId,
    leaseMs,
    holderId,
  ])
  return row?.operation ?? null
}

const renewLeaseStatement = statement(
  'payments.renewLease',
  `update payment_operations
  set sent_at = now(), lease_until = now() + $4::int * interval '1 ms'
  where customer_id = $1 and operation_id = $2 and holder_id = $3 and state = 'OPEN'
  returning operation_id`,
)

/** Before the call is made again: notes the time of the send. False when the lease has gone to somebody else. */
export async function renewLease(database: Database, operation: Operation, leaseMs: number): Promise<boolean> {
  const { customerId, operationId, holderId } = operation
  const rows = await database.run(renewLeaseStatement, [customerId, operationId, holderId, leaseMs])
  return rows.length > 0
}

const releaseLeaseStatement = statement(
  'payments.releaseLease',
  `update payment_operations
  set lease_until = now(), gateway_code = coalesce($4, gateway_code), send_number = $5
  where customer_id = $1 and operation_id = $2 and holder_id = $3 and state = 'OPEN'`,
)

/** Leaves the operation open for whoever comes next; a spent key is given up for the next number. */
export async function releaseLease(
  database: Database,
  operation: Operation,
  unknown: { code: string | null; keySpent?: boolean },
): Promise<void> {
  await database.run(releaseLeaseStatement, [
    operation.customerId,
    operation.operationId,
    operation.holderId,
    unknown.code,
    operation.sendNumber + (unknown.keySpent ? 1 : 0),
  ])
}

const insertDiscrepancyStatement = statement(
  'payments.insertDiscrepancy',
  `insert into discrepancies (customer_id, order_id, kind, detail)
  select customer_id, order_id, $4, $5::jsonb
  from payment_operations
  where customer_id = $1 and operation_id = $2 and state = $3
  on conflict do nothing
  returning order_id`,
)

/** Whether it is new: the operation is in that state, and nobody has reported it before. */
export async function insertDiscrepancy(
  database: Database,
  { customerId, operationId, kind: operationKind }: Operation,
  state: Operation['state'],
  kind: string,
  detail: object,
): Promise<boolean> {
  const text = JSON.stringify({ operationId, operationKind, ...detail })
  const rows = await database.run(insertDiscrepancyStatement, [customerId, operationId, state, kind, text])
  return rows.length > 0
}
