// The statements on orders, payment_operations and discrepancies, all set-wise: they take arrays, lock in key order, and
// give one row per input that succeeded. Whoever got no row is explained by a second statement, never by a test of
// another table beside a row lock: after the wait only the locked row is fresh.
import { applyMovements, lockAccountsOf } from '../credits/ledger.ts'
import { type Database, statement } from '../db/database.ts'
import type { CreditsEffect, OrderStatus } from './order-status.ts'
import type { PackageType } from './packages.ts'

export type OperationKind = 'CONFIRM' | 'CANCEL'
export type OperationState = 'OPEN' | 'APPROVED' | 'REJECTED'

export type Order = {
  orderId: string
  status: OrderStatus
  packageType: PackageType
  amount: number
  credits: number
  createdAt: Date
  confirmedAt: Date | null
}

/** An intent at the gateway. `leased`: somebody is working on it now. */
export type Operation = {
  customerId: string
  operationId: string
  orderId: string
  kind: OperationKind
  paymentKey: string
  amount: number
  reason: string | null
  state: OperationState
  sendNumber: number
  sentAgoMs: number
  leased: boolean
  totalCredits: number | null
}

const orderColumns = `
  o.order_id as "orderId", o.status, o.package_type as "packageType", o.amount, o.credits,
  o.created_at as "createdAt", o.confirmed_at as "confirmedAt"`

/** An operation as one JSON column, so that a row can carry an order and its operations; null when there is none. */
const operationJson = (alias: string) => `
  case when ${alias}.operation_id is not null then jsonb_build_object(
    'customerId', ${alias}.customer_id, 'operationId', ${alias}.operation_id, 'orderId', ${alias}.order_id,
    'kind', ${alias}.kind, 'paymentKey', ${alias}.payment_key, 'amount', ${alias}.amount, 'reason', ${alias}.reason,
    'state', ${alias}.state, 'sendNumber', ${alias}.send_number,
    'sentAgoMs', extract(epoch from now() - ${alias}.sent_at) * 1000, 'leased', ${alias}.lease_until > now(),
    'totalCredits', ${alias}.total_credits) end`

/** One output per input. Reads answer by the input's place: an order id alone may be another customer's. */
function byOrdinal<Row extends { ordinal: number }>(inputs: unknown[], rows: Row[]): (Row | null)[] {
  const outputs: (Row | null)[] = inputs.map(() => null)
  for (const row of rows) outputs[row.ordinal - 1] = row
  return outputs
}

/** Writes answer by the operation's id: it is new with each intent. */
function byOperation<Row extends { operationId: string }>(
  inputs: { operationId: string }[],
  rows: Row[],
): (Row | null)[] {
  const found = new Map(rows.map((row) => [row.operationId, row]))
  return inputs.map((input) => found.get(input.operationId) ?? null)
}

// ---------------------------------------------------------------------------------------------------- purchase (4.1)

export type NewOrder = {
  customerId: string
  orderId: string
  packageType: PackageType
  paymentMethod: string
  amount: number
  credits: number
  idempotencyKey: string | null
  /** At most so many PENDING orders for this customer; 0: no limit. */
  maxPending: number
}

// Duplicates of one idempotency key may share the statement: the first is inserted, the others do nothing and are
// explained. The count stops at the limit, so a customer with many open orders does not make it slow.
const insertOrdersStatement = statement(
  'payments.insertOrders',
  `with input as (
    select *, row_number() over (partition by customer_id order by ordinal) as place
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::int[])
      with ordinality
      as i (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key, max_pending, ordinal)
  )
  insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key)
  select customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key
  from input i
  where max_pending = 0 or place + (
    select count(*) from (
      select from orders o where o.customer_id = i.customer_id and o.status = 'PENDING' limit i.max_pending
    ) pending) <= max_pending
  order by customer_id, order_id
  on conflict do nothing
  returning order_id as "orderId"`,
)

/** Whether each order was inserted. */
export async function insertOrders(database: Database, inputs: NewOrder[]): Promise<boolean[]> {
  const rows = await database.run<{ orderId: string }>(insertOrdersStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.orderId),
    inputs.map((input) => input.packageType),
    inputs.map((input) => input.paymentMethod),
    inputs.map((input) => input.amount),
    inputs.map((input) => input.credits),
    inputs.map((input) => input.idempotencyKey),
    inputs.map((input) => input.maxPending),
  ])
  const inserted = new Set(rows.map((row) => row.orderId))
  return inputs.map((input) => inserted.has(input.orderId))
}

export type OrderOfKeyInput = { customerId: string; orderId: string; idempotencyKey: string | null }
export type OrderOfKey = Order & { paymentMethod: string }

const findOrdersOfKeysStatement = statement(
  'payments.findOrdersOfKeys',
  `select i.ordinal, o.payment_method as "paymentMethod", ${orderColumns}
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as i (customer_id, order_id, idempotency_key, ordinal)
  cross join lateral (
    select * from orders where customer_id = i.customer_id and idempotency_key = i.idempotency_key
    union all
    select * from orders where customer_id = i.customer_id and order_id = i.order_id
    limit 1
  ) o`,
)

/** The order that has the idempotency key, or the very order when its insert was repeated after a lost connection. */
export async function findOrdersOfKeys(database: Database, inputs: OrderOfKeyInput[]): Promise<(OrderOfKey | null)[]> {
  const rows = await database.run<OrderOfKey & { ordinal: number }>(findOrdersOfKeysStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.orderId),
    inputs.map((input) => input.idempotencyKey),
  ])
  return byOrdinal(inputs, rows)
}

// ------------------------------------------------------------------------------------------------------ status (4.3)

export type OrderKey = { customerId: string; orderId: string }

const findOrdersStatement = statement(
  'payments.findOrders',
  `select i.ordinal, ${orderColumns}
  from unnest($1::uuid[], $2::text[]) with ordinality as i (customer_id, order_id, ordinal)
  join orders o using (customer_id, order_id)`,
)

export async function findOrders(database: Database, inputs: OrderKey[]): Promise<(Order | null)[]> {
  const rows = await database.run<Order & { ordinal: number }>(findOrdersStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.orderId),
  ])
  return byOrdinal(inputs, rows)
}

// ----------------------------------------------------------------------------------------------------- confirm (4.2)

export type ConfirmClaim = {
  customerId: string
  operationId: string
  orderId: string
  paymentKey: string
  amount: number
  leaseMs: number
}

const claimConfirmsStatement = statement(
  'payments.claimConfirms',
  `with input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::int[])
      as i (customer_id, operation_id, order_id, payment_key, amount, lease_ms)
  ),
  locked_order as (
    select i.*
    from orders o
    join input i using (customer_id, order_id)
    where o.status = 'PENDING' and o.amount = i.amount
    order by o.customer_id, o.order_id
    for no key update of o
  )
  insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, lease_until)
  select customer_id, operation_id, order_id, 'CONFIRM', payment_key, amount, now() + lease_ms * interval '1 ms'
  from locked_order
  on conflict do nothing
  returning operation_id as "operationId"`,
)

/** Opens the operations; false where the order is not PENDING with that amount, or something else is open already. */
export async function claimConfirms(database: Database, inputs: ConfirmClaim[]): Promise<boolean[]> {
  const rows = await database.run<{ operationId: string }>(claimConfirmsStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.operationId),
    inputs.map((input) => input.orderId),
    inputs.map((input) => input.paymentKey),
    inputs.map((input) => input.amount),
    inputs.map((input) => input.leaseMs),
  ])
  return byOperation(inputs, rows).map((row) => row !== null)
}

export type ConfirmSubject = { order: Order; confirm: Operation | null; paymentKeyTaken: boolean }

const findConfirmSubjectsStatement = statement(
  'payments.findConfirmSubjects',
  `select i.ordinal, ${orderColumns}, ${operationJson('p')} as "confirm",
    exists (select from payment_operations other
            where other.customer_id = o.customer_id and other.payment_key = i.payment_key
              and other.kind = 'CONFIRM' and other.state <> 'REJECTED'
              and other.order_id <> o.order_id) as "paymentKeyTaken"
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as i (customer_id, order_id, payment_key, ordinal)
  join orders o using (customer_id, order_id)
  left join payment_operations p
    on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state <> 'REJECTED'`,
)

/** What a confirm that could not be claimed has met. */
export async function findConfirmSubjects(
  database: Database,
  inputs: (OrderKey & { paymentKey: string })[],
): Promise<(ConfirmSubject | null)[]> {
  type Row = Order & Omit<ConfirmSubject, 'order'> & { ordinal: number }
  const rows = await database.run<Row>(findConfirmSubjectsStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.orderId),
    inputs.map((input) => input.paymentKey),
  ])
  return byOrdinal(inputs, rows).map(
    (row) => row && { order: row, confirm: row.confirm, paymentKeyTaken: row.paymentKeyTaken },
  )
}

// ------------------------------------------------------------------------------------------------------ cancel (4.6)

export type CancelClaim = {
  customerId: string
  operationId: string
  paymentKey: string
  reason: string
  leaseMs: number
}

// The account is locked before the claim, so that the credits are known to be there; they are held by what was claimed.
// An approved confirm never changes again, so joining it beside the lock of its order is safe.
const claimCancelsStatement = statement(
  'payments.claimCancels',
  `with input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int[])
      as i (customer_id, operation_id, payment_key, reason, lease_ms)
  ),
  locked_order as (
    select i.*, o.order_id, o.amount, o.credits
    from input i
    join payment_operations p
      on p.customer_id = i.customer_id and p.payment_key = i.payment_key and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
    where o.status = 'CONFIRMED'
    order by o.customer_id, o.order_id
    for no key update of o
  ),${lockAccountsOf('locked_order')},
  claimed as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held, lease_until)
    select customer_id, operation_id, order_id, 'CANCEL', payment_key, amount, reason, credits,
           now() + lease_ms * interval '1 ms'
    from locked_order
    join account using (customer_id)
    where account.available >= locked_order.credits
    on conflict do nothing
    returning customer_id, operation_id, order_id, amount, credits_held
  ),
  movement as (
    select customer_id, null::text as kind, 0 as delta, credits_held as held_delta, order_id, null::text as reference
    from claimed
  ),${applyMovements}
  select operation_id as "operationId", order_id as "orderId", amount from claimed`,
)

export type CancelClaimed = { operationId: string; orderId: string; amount: number }

/** Opens the operations and sets the credits aside; null where the order is not CONFIRMED, busy, or its credits spent. */
export async function claimCancels(database: Database, inputs: CancelClaim[]): Promise<(CancelClaimed | null)[]> {
  const rows = await database.run<CancelClaimed>(claimCancelsStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.operationId),
    inputs.map((input) => input.paymentKey),
    inputs.map((input) => input.reason),
    inputs.map((input) => input.leaseMs),
  ])
  return byOperation(inputs, rows)
}

export type CancelSubject = { order: Order; confirm: Operation; cancel: Operation | null; available: number }

const findCancelSubjectStatement = statement(
  'payments.findCancelSubject',
  `select ${orderColumns}, ${operationJson('p')} as "confirm", ${operationJson('c')} as "cancel",
    a.balance - a.held as "available"
  from payment_operations p
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  join accounts a on a.customer_id = p.customer_id
  left join payment_operations c
    on c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CANCEL' and c.state <> 'REJECTED'
  where p.customer_id = $1 and p.payment_key = $2 and p.kind = 'CONFIRM'
  order by p.state = 'REJECTED', p.opened_at desc
  limit 1`,
)

/** What a cancel that could not be claimed has met. A refused confirm is found only when no other has its payment key. */
export async function findCancelSubject(
  database: Database,
  input: { customerId: string; paymentKey: string },
): Promise<CancelSubject | null> {
  const [row] = await database.run<Order & Omit<CancelSubject, 'order'>>(findCancelSubjectStatement, [
    input.customerId,
    input.paymentKey,
  ])
  return row ? { order: row, confirm: row.confirm, cancel: row.cancel, available: row.available } : null
}

// ----------------------------------------------------------------------------------------------- finish, both kinds

export type Finish = {
  customerId: string
  operationId: string
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
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                         $9::text[])
      as i (customer_id, operation_id, order_id, state, from_status, to_status, effect, gateway_code, transaction_key)
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
  )
  update payment_operations p
  set state = l.state,
      closed_at = now(),
      gateway_code = l.gateway_code,
      transaction_key = l.transaction_key,
      total_credits = m.available
  from locked_operation l
  left join moved m on m.customer_id = l.customer_id
  where p.customer_id = l.customer_id and p.operation_id = l.operation_id
  returning p.operation_id as "operationId", l.credits, p.total_credits as "totalCredits"`,
)

/** Records the outcomes and all that follows; null where somebody else has finished the operation. */
export async function finishOperations(database: Database, inputs: Finish[]): Promise<(Finished | null)[]> {
  const rows = await database.run<Finished>(finishOperationsStatement, [
    inputs.map((input) => input.customerId),
    inputs.map((input) => input.operationId),
    inputs.map((input) => input.orderId),
    inputs.map((input) => input.state),
    inputs.map((input) => input.from),
    inputs.map((input) => input.to),
    inputs.map((input) => input.credits),
    inputs.map((input) => input.gatewayCode),
    inputs.map((input) => input.transactionKey),
  ])
  return byOperation(inputs, rows)
}

// ------------------------------------------------------------------------------------------ the lease of an operation

const claimLeaseStatement = statement(
  'payments.claimLease',
  `update payment_operations p
  set lease_until = now() + $3::int * interval '1 ms'
  where p.customer_id = $1 and p.operation_id = $2 and p.state = 'OPEN' and p.lease_until <= now()
  returning ${operationJson('p')} as "operation"`,
)

/** The operation for whoever got the lease; null when it is closed or somebody else is at work on it. */
export async function claimLease(database: Database, operation: Operation, leaseMs: number): Promise<Operation | null> {
  const [row] = await database.run<{ operation: Operation }>(claimLeaseStatement, [
    operation.customerId,
    operation.operationId,
    leaseMs,
  ])
  return row?.operation ?? null
}

const updateSentStatement = statement(
  'payments.updateSent',
  `update payment_operations
  set sent_at = now()
  where customer_id = $1 and operation_id = $2 and state = 'OPEN'`,
)

/** Notes that the call is about to be made again: not being found at the gateway proves nothing for a while. */
export async function updateSent(database: Database, operation: Operation): Promise<void> {
  await database.run(updateSentStatement, [operation.customerId, operation.operationId])
}

const releaseLeaseStatement = statement(
  'payments.releaseLease',
  `update payment_operations
  set lease_until = now(), gateway_code = $3, send_number = case when $5 then $4::int + 1 else send_number end
  where customer_id = $1 and operation_id = $2 and state = 'OPEN' and send_number = $4`,
)

/** Leaves the operation open for whoever comes next; a spent key is given up for the next number. */
export async function releaseLease(
  database: Database,
  operation: Operation,
  unknown: { code: string; keySpent?: boolean },
): Promise<void> {
  await database.run(releaseLeaseStatement, [
    operation.customerId,
    operation.operationId,
    unknown.code,
    operation.sendNumber,
    unknown.keySpent ?? false,
  ])
}

const insertDiscrepancyStatement = statement(
  'payments.insertDiscrepancy',
  `insert into discrepancies (customer_id, order_id, kind, detail)
  values ($1, $2, $3, $4::jsonb)
  on conflict do nothing`,
)

export async function insertDiscrepancy(
  database: Database,
  input: OrderKey & { kind: string; detail: Record<string, unknown> },
): Promise<void> {
  await database.run(insertDiscrepancyStatement, [
    input.customerId,
    input.orderId,
    input.kind,
    JSON.stringify(input.detail),
  ])
}
